"""What each character of a cast has of a story's memory: nothing from before they joined, and nobody else's thoughts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus, SessionMemory, Viewer, Voices


@dataclass(frozen=True, slots=True)
class _Sources:
    """What a line rests on, through all that it condenses: the first seq, who thought of it, and who spoke of it."""

    first: int | None
    thinkers: frozenset[int]
    authors: frozenset[int]


def seen_by(memory: SessionMemory, viewer: Viewer) -> SessionMemory:
    """The memory as one character has it: all lines in use, and the condensed ones that they may know.

    Of another's secret only the outward side is left, as a claim of its speaker; a line that rests on another's thoughts is
    left out, and for who joined later one that rests on anything before. Of a condensed line that is left out, the lines that
    it stands for are in use again as far as they may be known. As it is while nobody but the lead ever spoke.
    """
    if memory.voices is None:
        return memory
    sources = _sources(memory, memory.voices)
    usable = (MemoryStatus.ACTIVE, MemoryStatus.CONDENSED)
    seen = {
        m.number: line
        for m in memory.memories
        if m.status in usable and (line := _as_seen(m, sources[m.number], viewer)) is not None
    }
    hidden = [m for m in memory.memories if m.is_active and m.number not in seen]
    by_number = {m.number: m for m in memory.memories}
    for number in _parts(hidden, by_number, seen):
        seen[number] = replace(seen[number], status=MemoryStatus.ACTIVE)
    return replace(memory, memories=tuple(seen[number] for number in sorted(seen)))


def _as_seen(memory: Memory, sources: _Sources, viewer: Viewer) -> Memory | None:
    """A line as a character knows it; None when they do not."""
    if viewer.since and (sources.first is None or sources.first < viewer.since):
        return None
    foreign = sources.thinkers - {viewer.character_id}
    if memory.kind is not MemoryKind.SECRET:
        return None if foreign else memory
    # A secret that cites nobody's words is as old as the story, or a moderator's.
    owners = sources.thinkers or sources.authors
    if not foreign and (viewer.character_id in owners or not (owners or viewer.since)):
        return memory
    what = memory.content
    return replace(memory, content=Content(MemoryKind.CLAIM, what.text, what.speaker, what.addressee))


def _parts(hidden: list[Memory], memories: Mapping[int, Memory], seen: Mapping[int, Memory]) -> Iterator[int]:
    """The numbers of what some lines stand for, as near to them as it may be known."""
    waiting = [number for m in hidden for number in m.condenses]
    while waiting:
        part = memories.get(waiting.pop())
        if part is None or part.status is not MemoryStatus.CONDENSED:
            continue
        if part.number in seen:
            yield part.number
        else:
            waiting += part.condenses


def _sources(memory: SessionMemory, voices: Voices) -> dict[int, _Sources]:
    """What each line rests on. A line is numbered after all that it condenses."""
    found: dict[int, _Sources] = {}
    for m in sorted(memory.memories, key=lambda m: m.number):
        below = [found[number] for number in m.condenses if number in found]
        firsts = [*(cite.seq for cite in m.cites), *(s.first for s in below if s.first is not None)]
        cited = {cite: voices.authors[cite.seq] for cite in m.cites if cite.seq in voices.authors}
        found[m.number] = _Sources(
            min(firsts, default=None),
            frozenset(author for cite, author in cited.items() if cite in voices.thoughts).union(
                *(s.thinkers for s in below)
            ),
            frozenset(cited.values()).union(*(s.authors for s in below)),
        )
    return found
