"""A session's memory as pages to leaf through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bot.memory.memories import Memory, SessionMemory
from cogs._lines import Say, memory_line

LONGEST: Final = 4_000
"""Characters of a page; Discord takes 4,096 in an embed's description, and a phone shows such a page in a few screens."""


def memory_pages(memory: SessionMemory, raw_turns: int, say: Say) -> list[str]:
    """The synopsis, the chapters from the oldest, loose ends, quotes, and how much is not folded yet.

    A section that a page cannot hold goes on under its own heading on the next. There is always one page.
    """
    pages = [""]
    for heading, lines in _sections(memory, say):
        title = f"**{heading}**"
        if not _fits(pages[-1], title, *lines[:1]):
            pages.append("")
        pages[-1] = _joined(pages[-1], "", title)
        for line in lines:
            if not _fits(pages[-1], line):
                pages.append(title)
            pages[-1] = _joined(pages[-1], line)
    closing = say("memory-raw", turns=raw_turns) if pages != [""] else say("memory-empty", turns=raw_turns)
    if not _fits(pages[-1], "", closing):
        pages.append("")
    pages[-1] = _joined(pages[-1], "", closing)
    return pages


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
