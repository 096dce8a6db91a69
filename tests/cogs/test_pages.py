"""The pages of ``/memory show``: what a leaf of the memory looks like."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.catalogue import Catalogue
from bot.memory.leaves import LINES, Closing, Leaf, Section
from bot.memory.memories import Chapter, Content, Memory, MemoryKind
from bot.memory.story import Fold, FoldKind, FoldState
from cogs._lines import Say, bound, plain_line
from cogs._pages import LONGEST, memory_page


@pytest.fixture
def say() -> Say:
    return bound(Catalogue().text, "en-US")


def remembered(number: int, kind: MemoryKind, text: str, *, chapter: int | None = 2, **more: object) -> Memory:
    content = Content(kind, text, speaker="Rin" if kind in (MemoryKind.CLAIM, MemoryKind.SECRET) else "")
    return Memory(number, content, chapter=chapter, **more)  # type: ignore[arg-type]


CHAPTER = Section(Chapter(2, 41, 80))


def leaf(*memories: Memory, raw_turns: int = 0, **more: object) -> Leaf:
    """The only leaf of a memory whose lines are all of the second chapter."""
    return Leaf(sections=((CHAPTER, memories),), closing=Closing(raw_turns), **more)  # type: ignore[arg-type]


def test_sections_come_from_the_oldest_to_what_is_not_folded_yet(say: Say) -> None:
    sections = (
        (Section(), (remembered(1, MemoryKind.EVENT, "They met at the ferry.", chapter=None),)),
        (
            CHAPTER,
            (
                remembered(2, MemoryKind.FACT, "Mio is left-handed."),
                remembered(3, MemoryKind.CLAIM, "the bridge burnt down"),
            ),
        ),
        (Section(kind=MemoryKind.LOOSE_END), (remembered(4, MemoryKind.LOOSE_END, "Who rang the bell?"),)),
        (Section(kind=MemoryKind.QUOTE), (remembered(5, MemoryKind.QUOTE, "The river keeps nothing."),)),
    )

    page = memory_page(Leaf(sections=sections, closing=Closing(12)), say)

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

    page = memory_page(leaf(secret), say)

    assert "🎭 Rin smiles at the guard" in page
    assert "fears" not in page


def test_what_only_a_thought_shows_is_not_shown(say: Say) -> None:
    content = Content(MemoryKind.FACT, "Rin failed the exam twice.", private=True)

    page = memory_page(leaf(Memory(7, content, chapter=2), raw_turns=3), say)

    assert "exam" not in page
    assert "`#7` 🔒 something that a character keeps to themselves" in page
    assert "exam" not in plain_line(Memory(7, content), 100)


def test_a_memory_without_a_line_says_so(say: Say) -> None:
    empty = "No memories yet: all 3 turns so far are remembered word for word."

    assert memory_page(Leaf(closing=Closing(3)), say) == empty
    assert memory_page(Leaf(closing=Closing(3), kind=MemoryKind.CLAIM), say) == "There's no memory of this kind."


def test_corrected_and_repeated_lines_are_marked(say: Say) -> None:
    page = memory_page(
        leaf(
            remembered(1, MemoryKind.CLAIM, "the bridge burnt down", corrected=True),
            remembered(2, MemoryKind.CLAIM, "the bridge is ash", restates=1),
        ),
        say,
    )

    assert "`#1` 💬 Rin said: the bridge burnt down ✎" in page
    assert "`#2` 💬 Rin said: the bridge is ash (repeats the corrected #1)" in page


def test_markup_and_mentions_in_a_memory_are_shown_as_text(say: Say) -> None:
    page = memory_page(leaf(remembered(1, MemoryKind.FACT, "*Mio*\n# calls @everyone")), say)

    assert r"\*Mio\* # calls" in page
    assert "@everyone" not in page


def test_the_longest_events_there_are_stand_whole_on_a_page(say: Say) -> None:
    page = memory_page(leaf(*(remembered(n, MemoryKind.EVENT, "e" * 232) for n in range(101, 101 + LINES))), say)

    assert len(page) <= LONGEST
    assert page.count("e" * 232) == LINES


@pytest.mark.parametrize("text", ["word " * 100, "*" * 500, "長い話" * 160])
def test_only_the_longest_lines_are_cut_where_a_page_cannot_hold_them(say: Say, text: str) -> None:
    short = [remembered(n, MemoryKind.EVENT, f"Short {n}.") for n in range(1, 5)]
    long = [remembered(n, MemoryKind.EVENT, text) for n in range(5, LINES + 1)]

    page = memory_page(leaf(*short, *long, raw_turns=9), say)

    assert LONGEST - LINES <= len(page) <= LONGEST
    assert all(f"`#{n}` • Short {n}.\n" in page for n in range(1, 5))
    assert page.count("…\n") == len(long)
    assert "\\…" not in page
    assert page.endswith("remembered word for word.")


def test_only_the_last_leaf_tells_how_the_folding_stands(say: Say) -> None:
    line = remembered(1, MemoryKind.EVENT, "They met.")

    assert memory_page(Leaf(0, 2, ((CHAPTER, (line,)),)), say).splitlines()[1:] == ["`#1` • They met."]


@pytest.mark.parametrize("language", ["en-US", "ja", "zh-CN"])
def test_every_kind_has_a_line_in_every_language(language: str) -> None:
    whole = leaf(*(remembered(n, kind, "text") for n, kind in enumerate(MemoryKind, 1)))

    page = memory_page(whole, bound(Catalogue().text, language))

    assert [sign for sign in "•✔💬🎭❓❝" if sign not in page] == []


def test_what_is_redone_and_what_could_not_be_folded_is_said_in_plain_words(say: Say) -> None:
    at = datetime(2026, 4, 1, tzinfo=UTC)
    failed = [
        Fold(1, 1, FoldKind.FOLD, FoldState.FAILED, at, 3, "refused"),
        Fold(2, 1, FoldKind.FOLD, FoldState.FAILED, at, 3, "length"),
        Fold(3, 1, FoldKind.REFOLD, FoldState.FAILED, at, 3, "refused", 2),
        Fold(4, 1, FoldKind.MAJOR, FoldState.DUE, at, 1, "no-shrink"),
    ]

    line = remembered(1, MemoryKind.EVENT, "They met.")

    page = memory_page(Leaf(sections=((CHAPTER, (line,)),), closing=Closing(5, 1, tuple(failed))), say)

    text = Catalogue().text
    assert page.splitlines()[3::2] == [
        "The newest 5 turns aren't folded yet; they are remembered word for word.",
        "One memory is out of sight until its chapter is written anew: a message that it rests on was changed.",
        "⚠ " + text("failed-fold", chapter=0),
        "⚠ " + text("failed-refold", chapter=2),
    ]
