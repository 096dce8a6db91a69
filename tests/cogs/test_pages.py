"""The pages of ``/memory show``."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.catalogue import Catalogue
from bot.memory.memories import Chapter, Content, Memory, MemoryKind, MemoryStatus, SessionMemory
from bot.memory.story import Fold, FoldKind, FoldState
from cogs._lines import Say, bound, plain_line
from cogs._pages import LONGEST, memory_pages, page_with


@pytest.fixture
def say() -> Say:
    return bound(Catalogue().text, "en-US")


def remembered(number: int, kind: MemoryKind, text: str, *, chapter: int | None = 2, **more: object) -> Memory:
    content = Content(kind, text, speaker="Rin" if kind in (MemoryKind.CLAIM, MemoryKind.SECRET) else "")
    return Memory(number, content, chapter=chapter, **more)  # type: ignore[arg-type]


def story(*memories: Memory) -> SessionMemory:
    return SessionMemory((Chapter(1, 1, 40, absorbed=True), Chapter(2, 41, 80)), memories)


def test_sections_come_from_the_oldest_to_what_is_not_folded_yet(say: Say) -> None:
    memory = story(
        remembered(1, MemoryKind.EVENT, "They met at the ferry.", chapter=None),
        remembered(2, MemoryKind.FACT, "Mio is left-handed."),
        remembered(3, MemoryKind.CLAIM, "the bridge burnt down"),
        remembered(4, MemoryKind.LOOSE_END, "Who rang the bell?"),
        remembered(5, MemoryKind.QUOTE, "The river keeps nothing."),
    )

    (page,) = memory_pages(memory, 12, say)

    assert page.splitlines() == [
        "**Long ago**",
        "`#1` • They met at the ferry.",
        "",
        "**Chapter 2 (turns 41–80)**",
        "`#2` ✔ Mio is left-handed.",
        "`#3` 💬 Rin said: the bridge burnt down",
        "",
        "**Still open**",
        "`#4` ❓ Who rang the bell?",
        "",
        "**Quotes**",
        "`#5` ❝ The river keeps nothing.",
        "",
        "The newest 12 turns aren't folded yet; they are remembered word for word.",
    ]


def test_only_the_outward_side_of_a_secret_is_shown(say: Say) -> None:
    secret = Memory(1, Content(MemoryKind.SECRET, "Rin smiles at the guard", "Rin", actual="she fears him"), chapter=2)

    page = memory_pages(story(secret), 0, say)[0]

    assert "🎭 Rin smiles at the guard" in page
    assert "fears" not in page


def test_what_only_a_thought_shows_is_not_shown(say: Say) -> None:
    content = Content(MemoryKind.FACT, "Rin failed the exam twice.", private=True)

    (page,) = memory_pages(story(Memory(7, content, chapter=2)), 3, say)

    assert "exam" not in page
    assert "`#7` 🔒 something that a character keeps to themselves" in page
    assert "exam" not in plain_line(Memory(7, content), 100)


def test_what_is_not_in_use_is_left_out(say: Say) -> None:
    unused = [s for s in MemoryStatus if s not in (MemoryStatus.ACTIVE, MemoryStatus.STALE)]
    memory = story(*(remembered(n, MemoryKind.EVENT, "Gone.", status=s) for n, s in enumerate(unused, 1)))

    assert memory_pages(memory, 3, say) == ["No memories yet: all 3 turns so far are remembered word for word."]


def test_corrected_and_repeated_lines_are_marked(say: Say) -> None:
    memory = story(
        remembered(1, MemoryKind.CLAIM, "the bridge burnt down", corrected=True),
        remembered(2, MemoryKind.CLAIM, "the bridge is ash", restates=1),
    )

    page = memory_pages(memory, 0, say)[0]

    assert "`#1` 💬 Rin said: the bridge burnt down ✎" in page
    assert "`#2` 💬 Rin said: the bridge is ash (repeats the corrected #1)" in page


def test_markup_and_mentions_in_a_memory_are_shown_as_text(say: Say) -> None:
    page = memory_pages(story(remembered(1, MemoryKind.FACT, "*Mio*\n# calls @everyone")), 0, say)[0]

    assert r"\*Mio\* # calls" in page
    assert "@everyone" not in page


def test_a_long_memory_fills_several_pages_and_its_heading_goes_with_it(say: Say) -> None:
    memory = story(*(remembered(n, MemoryKind.EVENT, f"Event {n}. " + "word " * 60) for n in range(1, 61)))

    pages = memory_pages(memory, 5, say)

    assert len(pages) > 3
    assert all(len(page) <= LONGEST and page.startswith("**Chapter 2") for page in pages)
    assert [n for n in range(1, 61) if sum(f"`#{n}` " in page for page in pages) != 1] == []


@pytest.mark.parametrize("language", ["en-US", "ja", "zh-CN"])
def test_every_kind_has_a_line_in_every_language(language: str) -> None:
    memory = story(*(remembered(n, kind, "text") for n, kind in enumerate(MemoryKind, 1)))

    page = memory_pages(memory, 1, bound(Catalogue().text, language))[0]

    assert [sign for sign in "•✔💬🎭❓❝" if sign not in page] == []


def test_one_kind_can_be_shown_alone(say: Say) -> None:
    memory = story(
        remembered(1, MemoryKind.EVENT, "They met."), remembered(2, MemoryKind.QUOTE, "The river keeps nothing.")
    )

    (quotes,) = memory_pages(memory, 3, say, MemoryKind.QUOTE)

    assert "They met." not in quotes
    assert "`#2` ❝" in quotes
    assert memory_pages(memory, 3, say, MemoryKind.CLAIM) == ["There's no memory of this kind."]


def test_the_page_of_a_number_is_found(say: Say) -> None:
    memory = story(*(remembered(n, MemoryKind.EVENT, f"Like `#3` {n}. " + "word " * 60) for n in range(1, 61)))
    pages = memory_pages(memory, 5, say)

    found = [page_with(pages, n) for n in (1, 3, 60, 61)]

    assert found == [0, 0, len(pages) - 1, None]


def test_what_is_redone_and_what_could_not_be_folded_is_said_in_plain_words(say: Say) -> None:
    memory = story(
        remembered(1, MemoryKind.EVENT, "They met."),
        remembered(2, MemoryKind.EVENT, "Hidden words.", status=MemoryStatus.STALE),
    )
    at = datetime(2026, 4, 1, tzinfo=UTC)
    failed = [
        Fold(1, 1, FoldKind.FOLD, FoldState.FAILED, at, 3, "refused"),
        Fold(2, 1, FoldKind.FOLD, FoldState.FAILED, at, 3, "length"),
        Fold(3, 1, FoldKind.REFOLD, FoldState.FAILED, at, 3, "refused", 2),
        Fold(4, 1, FoldKind.MAJOR, FoldState.DUE, at, 1, "no-shrink"),
    ]

    (page,) = memory_pages(memory, 5, say, folds=failed)

    text = Catalogue().text
    assert page.splitlines()[3::2] == [
        "The newest 5 turns aren't folded yet; they are remembered word for word.",
        "One memory is out of sight until its chapter is written anew: a message that it rests on was changed.",
        "⚠ " + text("failed-fold", chapter=0),
        "⚠ " + text("failed-refold", chapter=2),
    ]
    assert "Hidden words" not in page
