"""A session's memory as pages to leaf through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from bot.memory.memories import Memory, MemoryKind, MemoryStatus, SessionMemory
from bot.memory.story import Fold, FoldState
from cogs._lines import Say, memory_line

LONGEST: Final = 4_000
"""Characters of a page; Discord takes 4,096 in an embed's description, and a phone shows such a page in a few screens."""


def memory_pages(
    memory: SessionMemory, raw_turns: int, say: Say, kind: MemoryKind | None = None, *, folds: Sequence[Fold] = ()
) -> list[str]:
    """The synopsis, the chapters from the oldest, loose ends, quotes, and how the folding stands; or one kind alone.

    A section that a page cannot hold goes on under its own heading on the next. There is always one page.
    """
    pages = [""]
    if kind is not None:
        memory = replace(memory, memories=tuple(m for m in memory.memories if m.kind is kind))
    for heading, lines in _sections(memory, say):
        title = f"**{heading}**"
        if not _fits(pages[-1], title, *lines[:1]):
            pages.append("")
        pages[-1] = _joined(pages[-1], "", title)
        for line in lines:
            if not _fits(pages[-1], line):
                pages.append(title)
            pages[-1] = _joined(pages[-1], line)
    if kind is not None and pages == [""]:
        return [say("memory-none-of-kind")]
    for closing in _closing(memory, raw_turns, folds, say, is_empty=pages == [""]):
        if not _fits(pages[-1], "", closing):
            pages.append("")
        pages[-1] = _joined(pages[-1], "", closing)
    return pages


def page_with(pages: Sequence[str], number: int) -> int | None:
    """The index of the page that shows a memory; None when none does."""
    return next((index for index, page in enumerate(pages) if f"`#{number}` " in page), None)


def _closing(
    memory: SessionMemory, raw_turns: int, folds: Sequence[Fold], say: Say, *, is_empty: bool
) -> Iterator[str]:
    """What waits to be folded, what is out of sight until it is, and what could not be, each kind of that once."""
    yield say("memory-empty" if is_empty else "memory-raw", turns=raw_turns)
    redone = sum(m.status is MemoryStatus.STALE for m in memory.memories)
    if redone:
        yield say("memory-redone", count=redone)
    failed = {(fold.kind, fold.chapter) for fold in folds if fold.state is FoldState.FAILED}
    for kind, chapter in sorted(failed, key=lambda of: (of[0], of[1] or 0)):
        yield "⚠ " + say(f"failed-{kind}", chapter=chapter or 0)


def _sections(memory: SessionMemory, say: Say) -> Iterator[tuple[str, Sequence[str]]]:
    yield from _section(say("memory-synopsis"), memory.of_synopsis(), say)
    for chapter in memory.chapters:
        if not chapter.absorbed:
            heading = say("memory-chapter", ordinal=chapter.ordinal, first=chapter.first, last=chapter.last)
            yield from _section(heading, memory.of_chapter(chapter), say)
    yield from _section(say("memory-loose-ends"), memory.open_ends(), say)
    yield from _section(say("memory-quotes"), memory.quotes(), say)


def _section(heading: str, memories: Iterable[Memory], say: Say) -> Iterator[tuple[str, Sequence[str]]]:
    lines = [memory_line(memory, say) for memory in memories]
    if lines:
        yield heading, lines


def _fits(page: str, *lines: str) -> bool:
    return len(_joined(page, *lines)) <= LONGEST


def _joined(page: str, *lines: str) -> str:
    return "\n".join(line for line in (page, *lines) if line or page).strip("\n")
