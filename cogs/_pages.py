"""A session's memory as pages to leaf through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.memory.leaves import Closing, Leaf, Section
from bot.memory.memories import MemoryKind
from bot.memory.story import FoldState
from cogs._lines import Say, memory_line

LONGEST: Final = 4_000
"""Characters of a page; Discord takes 4,096 in an embed's description, and a phone shows such a page in a few screens."""


def memory_page(leaf: Leaf, say: Say) -> str:
    """A leaf of the memory: each section under its heading, and on the last how the folding stands.

    Where its lines are longer than a page, the longest are cut; ``/memory history`` shows each as a whole.
    """
    if leaf.kind is not None and leaf.is_empty:
        return say("memory-none-of-kind")
    sections = [
        (f"**{_heading(section, say)}**", [memory_line(m, say) for m in found]) for section, found in leaf.sections
    ]
    closing = [*_closing(leaf.closing, say, is_empty=leaf.is_empty)] if leaf.closing else []
    around = sum(len(heading) + 2 for heading, _ in sections) + sum(len(line) + 2 for line in closing)
    longest = _longest([len(line) for _, lines in sections for line in lines], LONGEST - around)
    blocks = ["\n".join([heading, *(_cut(line, longest) for line in lines)]) for heading, lines in sections]
    return "\n\n".join([*blocks, *closing])


def _longest(lengths: Sequence[int], room: int) -> int:
    """How long a line may be so that lines of such lengths, each with a line break, have room together."""
    left = room - len(lengths)
    for place, length in enumerate(sorted(lengths)):
        if length * (len(lengths) - place) > left:
            return left // (len(lengths) - place)
        left -= length
    return LONGEST


def _cut(line: str, longest: int) -> str:
    return line if len(line) <= longest else line[: longest - 1].rstrip("\\") + "…"


def _closing(closing: Closing, say: Say, *, is_empty: bool) -> Iterator[str]:
    """What waits to be folded, what is out of sight until it is, and what could not be, each kind of that once."""
    yield say("memory-empty" if is_empty else "memory-raw", turns=closing.raw_turns)
    if closing.stale:
        yield say("memory-redone", count=closing.stale)
    failed = {(fold.kind, fold.chapter) for fold in closing.folds if fold.state is FoldState.FAILED}
    for kind, chapter in sorted(failed, key=lambda of: (of[0], of[1] or 0)):
        yield "⚠ " + say(f"failed-{kind}", chapter=chapter or 0)


def _heading(section: Section, say: Say) -> str:
    if section.chapter is not None:
        chapter = section.chapter
        return say("memory-chapter", ordinal=chapter.ordinal, first=chapter.first, last=chapter.last)
    apart = {MemoryKind.LOOSE_END: "memory-loose-ends", MemoryKind.QUOTE: "memory-quotes"}
    return say(apart[section.kind] if section.kind else "memory-synopsis")
