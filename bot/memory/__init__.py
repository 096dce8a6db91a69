"""The domain: turns, beats, evidence, memories, prompts. Pure, synchronous, standard library only."""
