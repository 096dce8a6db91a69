"""Lore: what stands in every prompt, and what the talk calls for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from bot.memory.lore import SCAN_DEPTH, LoreBook, LoreEntry, Secondary, constant_entries, matching, with_keys


def entry(content: str, *keys: str, **more: Any) -> LoreEntry:
    return LoreEntry(keys=keys, content=content, **more)


def words(text: str) -> int:
    return len(text.split())


def found(
    entries: Sequence[LoreEntry], *texts: str, budget: int = 1_000, replies: int | None = None, **book: Any
) -> list[str]:
    """The contents that these texts, the newest last, call for."""
    return [each.content for each in matching(LoreBook(tuple(entries), **book), texts, budget, words, replies=replies)]


def test_an_entry_is_found_by_any_of_its_keys() -> None:
    lamp, storm = entry("lamp", "lamp", "灯台"), entry("storm", "storm")

    assert found([lamp, storm], "She lights the LAMP.") == ["lamp"]
    assert found([lamp, storm], "灯台へ行こう") == ["lamp"]
    assert found([lamp, storm], "The storm takes the lamp.") == ["lamp", "storm"]
    assert found([lamp, storm], "Nothing of the kind.") == []


def test_case_and_whole_words() -> None:
    assert found([entry("x", "Rose", case_sensitive=True)], "a rose") == []
    assert found([entry("x", "Rose", case_sensitive=True)], "Rose") == ["x"]
    assert found([entry("x", "art", whole_words=True)], "the start") == []
    assert found([entry("x", "art", whole_words=True)], "the Art of it") == ["x"]
    assert found([entry("x", "c++", whole_words=True)], "in C++.") == ["x"]


@pytest.mark.parametrize(
    ("logic", "text", "expected"),
    [
        (Secondary.ANY, "lamp oil", True),
        (Secondary.ANY, "lamp", False),
        (Secondary.ALL, "lamp oil", False),
        (Secondary.ALL, "lamp oil wick", True),
        (Secondary.NOT_ANY, "lamp", True),
        (Secondary.NOT_ANY, "lamp oil", False),
        (Secondary.NOT_ALL, "lamp oil", True),
        (Secondary.NOT_ALL, "lamp oil wick", False),
        (Secondary.ANY, "oil", False),
    ],
)
def test_secondary_keys(logic: Secondary, text: str, expected: bool) -> None:
    selective = entry("x", "lamp", secondary_keys=("oil", "wick"), secondary=logic)

    assert bool(found([selective], text)) is expected


def test_additional_and_excluding_keys() -> None:
    strict = entry("x", "lamp", additional_keys=(("oil", "wick"), ("night",)), exclude_keys=("day",))

    assert found([strict], "lamp, wick, night") == ["x"]
    assert found([strict], "lamp, wick") == []
    assert found([strict], "lamp, oil, night and day") == []


def test_only_the_newest_texts_are_looked_at() -> None:
    texts = ["lamp", *["and on"] * SCAN_DEPTH]

    assert found([entry("x", "lamp")], *texts) == []
    assert found([entry("x", "lamp")], *texts[:SCAN_DEPTH]) == ["x"]
    assert found([entry("x", "lamp")], *texts, scan_depth=9) == ["x"]
    assert found([entry("x", "lamp", scan_depth=9)], *texts) == ["x"]
    assert found([entry("x", "lamp", scan_depth=0)], "lamp") == []


def test_the_order_is_the_books() -> None:
    entries = [entry("c", "k", order=300), entry("a", "k", order=-1), entry("b", "k"), entry("b2", "k")]

    assert found(entries, "k") == ["a", "b", "b2", "c"]


def test_over_the_budget_the_lowest_priority_leaves_first() -> None:
    entries = [
        entry("one two three", "k", priority=1, order=1),
        entry("four five", "k", priority=9, order=3),
        entry("six", "k", priority=5, order=2),
    ]

    assert found(entries, "k", budget=6) == ["one two three", "six", "four five"]
    assert found(entries, "k", budget=5) == ["six", "four five"]
    assert found(entries, "k", budget=50, token_budget=2) == ["four five"]
    assert found(entries, "k", budget=0) == []


def test_without_priorities_the_lower_order_leaves_first() -> None:
    assert found([entry("a b", "k", order=1), entry("c d", "k", order=2)], "k", budget=3) == ["c d"]


def test_constant_entries_are_the_books_alone() -> None:
    book = LoreBook(
        (
            entry("late", constant=True, order=200),
            entry("early", "never said", constant=True, order=1),
            entry("off", constant=True, enabled=False),
            entry(" \n", constant=True),
            entry("waits", constant=True, after=3),
            entry("called for", "k"),
        )
    )

    assert [each.content for each in constant_entries(book)] == ["early", "late"]
    assert [each.content for each in matching(book, ["k"], 100, words, replies=2)] == ["called for"]
    assert [each.content for each in matching(book, ["x"], 100, words, replies=3)] == ["waits"]


def test_entries_that_count_replies() -> None:
    third = entry("x", "k", after=6, every=3)

    assert [replies for replies in range(13) if found([third], "k", replies=replies)] == [6, 9, 12]
    assert found([third], "k") == ["x"]


def test_an_entry_that_is_off_or_empty_is_never_found() -> None:
    assert found([entry("x", "k", enabled=False), entry("  ", "k"), entry("y", ""), entry("z")], "k") == []


def test_entries_find_entries_where_the_book_says_so() -> None:
    entries = [entry(f"leads to k{number + 1}.", f"k{number}.") for number in range(6)]

    assert found(entries, "k0.") == ["leads to k1."]
    assert found(entries, "k0.", recursive=True) == [f"leads to k{number}." for number in range(1, 5)]


def test_a_circle_of_entries_ends_and_holds_each_once() -> None:
    assert found([entry("a b", "a"), entry("b a", "b")], "a", recursive=True) == ["a b", "b a"]


def test_constant_entries_find_others_too() -> None:
    assert found([entry("the lamp", constant=True), entry("x", "lamp")], "-", recursive=True) == ["x"]


def test_entries_may_stay_out_of_it() -> None:
    assert found([entry("a b", "a", finds_entries=False), entry("x", "b")], "a", recursive=True) == ["a b"]
    assert found([entry("a b", "a"), entry("x", "b", found_by_entries=False)], "a", recursive=True) == ["a b"]


def test_comments_find_nothing_and_hidden_keys_do() -> None:
    entries = [
        entry("a {{// lamp}}{{comment: lamp}}{{hidden_key: storm}}", "a"),
        entry("x", "lamp"),
        entry("y", "storm"),
    ]

    assert found(entries, "a", recursive=True) == [entries[0].content, "y"]


def test_patterns_between_slashes() -> None:
    assert found([entry("x", "/dragons?\\b/i")], "Two DRAGONS!") == ["x"]
    assert found([entry("x", "/Dragon/")], "a dragon") == []
    assert found([entry("x", "/^b.c$/ms")], "a\nb\nc") == ["x"]
    assert found([entry("x", "and/or")], "this and/or that") == ["x"]


def test_with_use_regex_every_key_is_a_pattern_and_secondary_keys_do_not_count() -> None:
    assert found([entry("x", "dragons?$", use_regex=True)], "a Dragon") == ["x"]
    assert found([entry("x", "dragon", use_regex=True, secondary_keys=("y",), exclude_keys=("a",))], "a dragon") == [
        "x"
    ]
    assert found([entry("x", "(", use_regex=True)], "(") == []


def test_keys_with_macros_are_filled_and_patterns_are_not() -> None:
    book = with_keys(LoreBook((entry("x", "{{user}}", "/{{user}}/"),)), lambda key: key.replace("{{user}}", "Mio"))

    assert book.entries[0].keys == ("Mio", "/{{user}}/")
    assert matching(book, ["Mio!"], 10, words) == book.entries


def test_the_same_texts_call_for_the_same() -> None:
    entries = [entry(str(number), "k", order=number % 3) for number in range(20)]

    assert found(entries, "k") == found(entries, "k")


@pytest.mark.parametrize("recursive", [False, True])
@pytest.mark.parametrize(
    "key", ["/(a+)+$/", "/.*.*x/", "/a?a?a?a?a?a?a?a?aaaaaaaab/", "b", "/(?:a|a)(?:a|a)(?:a|a)(?:a|a)b/"]
)
def test_a_hostile_book_takes_its_time_and_no_more(key: str, recursive: bool) -> None:
    entries = [entry("a" * 8_000, *[f"{key[:-1]}{'c' * (number % 3)}{key[-1]}"] * 50) for number in range(400)]
    entries.append(entry("a" * 8_000, "aa"))
    start = time.process_time()

    found(entries, *["a" * 4_000] * SCAN_DEPTH, recursive=recursive)

    assert time.process_time() - start < 5
