"""A session's memory in leaves of so many lines, as people turn them: which lines stand on which, from counts alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.memory.memories import Chapter, Memory, MemoryKind
from bot.memory.story import Fold

LINES: Final = 16
"""Lines of a leaf: as many as 4,000 characters hold of the longest events, which have 240 each."""


@dataclass(frozen=True, slots=True)
class Section:
    """Lines under one heading: of a young ``chapter``, the loose ends or quotes (``kind``), or with neither the synopsis."""

    chapter: Chapter | None = None
    kind: MemoryKind | None = None


@dataclass(frozen=True, slots=True)
class Closing:
    """What the last leaf ends with: how many turns are raw, how many memories wait to be written anew, and the open folds."""

    raw_turns: int
    stale: int = 0
    folds: tuple[Fold, ...] = ()


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf, the one of ``index`` (from 0) of ``count``. A section that it cannot hold goes on on the next.

    ``kind`` is the kind that was asked for alone. Only the last has a closing.
    """

    index: int = 0
    count: int = 1
    sections: tuple[tuple[Section, tuple[Memory, ...]], ...] = ()
    kind: MemoryKind | None = None
    closing: Closing | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no line at all."""
        return not self.sections


def leaves(lines: int) -> int:
    """How many leaves so many lines take; one at least."""
    return max(1, -(-lines // LINES))


def on_leaf(counts: Sequence[int], index: int) -> Iterator[tuple[int, int, int]]:
    """Which lines of sections with so many lines stand on a leaf: the section's place, the first of its lines, and how many."""
    first = index * LINES
    last = first + LINES
    before = 0
    for place, count in enumerate(counts):
        start, end = max(first - before, 0), min(last - before, count)
        if start < end:
            yield place, start, end - start
        before += count
