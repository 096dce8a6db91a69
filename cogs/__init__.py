"""Discord in, one engine call, Discord out."""
