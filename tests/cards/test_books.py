"""Lorebooks as files have them: fields, decorators, SillyTavern's extensions."""

from __future__ import annotations

from typing import Any

import pytest

from bot.cards.books import MOST_ENTRIES, read_book, without_decorators
from bot.memory.lore import LoreEntry, Secondary


def entry(**fields: Any) -> LoreEntry:
    book = read_book({"entries": [{"keys": ["lamp"], "content": "x", **fields}]})
    assert book is not None
    return book.entries[0]


def test_the_fields_of_the_specification() -> None:
    read = entry(
        secondary_keys=["oil"],
        selective=True,
        constant=False,
        priority=3,
        insertion_order=7,
        case_sensitive=True,
        position="before_char",
        name="Lamp",
    )

    assert read == LoreEntry(
        keys=("lamp",),
        content="x",
        name="Lamp",
        order=7,
        priority=3,
        case_sensitive=True,
        secondary_keys=("oil",),
        before_card=True,
    )


def test_secondary_keys_count_only_where_they_are_switched_on() -> None:
    assert entry(secondary_keys=["oil"], selective=False).secondary_keys == ()


def test_sillytaverns_extensions() -> None:
    read = entry(
        use_regex=True,
        secondary_keys=["oil"],
        selective=True,
        extensions={
            "display_index": 0,
            "selectiveLogic": 2,
            "scan_depth": 6,
            "match_whole_words": True,
            "case_sensitive": True,
            "exclude_recursion": True,
            "prevent_recursion": True,
            "probability": 50,
            "useProbability": True,
        },
    )

    assert (read.secondary, read.scan_depth, read.whole_words, read.case_sensitive) == (
        Secondary.NOT_ANY,
        6,
        True,
        True,
    )
    assert (read.found_by_entries, read.finds_entries, read.enabled) == (False, False, True)
    # It sets the flag on every entry that it exports, whatever the keys are.
    assert not read.use_regex


def test_a_probability_of_nothing_switches_an_entry_off() -> None:
    assert not entry(extensions={"probability": 0, "useProbability": True}).enabled
    assert entry(extensions={"probability": 0, "useProbability": False}).enabled


def test_a_pattern_of_v3_is_one() -> None:
    assert entry(use_regex=True).use_regex


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("@@activate\nThe lamp.", {"constant": True}),
        ("@@dont_activate\nThe lamp.", {"enabled": False}),
        ("@@dont_activate\n@@activate\nThe lamp.", {"constant": True, "enabled": True}),
        ("@@scan_depth 9\n\nThe lamp.", {"scan_depth": 9}),
        ("@@scan_depth 9\n@@scan_depth 2\nThe lamp.", {"scan_depth": 9}),
        ("@@activate_only_after 5\n@@activate_only_every 3\nThe lamp.", {"after": 5, "every": 3}),
        ("@@additional_keys a, b\n@@additional_keys c\nThe lamp.", {"additional_keys": (("a", "b"), ("c",))}),
        ("@@exclude_keys day,noon\nThe lamp.", {"exclude_keys": ("day", "noon")}),
        ("@@position before_desc\nThe lamp.", {"before_card": True}),
        ("@@depth 4\n@@@activate\n@@role system\n@@@activate\nThe lamp.", {"constant": False}),
        ("@@instruct_depth 4\n@@@scan_depth 5\nThe lamp.", {"scan_depth": 5}),
        ("@@position elsewhere\n@@@position before_desc\nThe lamp.", {"before_card": True}),
        ("@@scan_depth -2\nThe lamp.", {"scan_depth": None}),
        ("@@tomorrows 4\nThe lamp.", {"scan_depth": None}),
        ("@@tomorrows 4\n@@@scan_depth 8\nThe lamp.", {"scan_depth": 8}),
        ("@@tomorrows 4\n@@@also_unknown\n@@@scan_depth 8\n@@@scan_depth 1\nThe lamp.", {"scan_depth": 8}),
        ("@@scan_depth 3\n@@@activate\nThe lamp.", {"scan_depth": 3, "constant": False}),
        ("@@scan_depth many\n@@@activate\nThe lamp.", {"scan_depth": None, "constant": True}),
        ("\n@@activate\n\n\nThe lamp.\n", {"constant": True}),
    ],
)
def test_decorators(content: str, expected: dict[str, Any]) -> None:
    read = entry(content=content)

    assert read.content == "The lamp." == without_decorators(content)
    assert {name: getattr(read, name) for name in expected} == expected


@pytest.mark.parametrize("content", ["\n The lamp.\n@@activate\n", "mail me @@home", "@ @activate", "", "\n\n"])
def test_what_is_no_decorator_stays(content: str) -> None:
    read = entry(content=content)

    assert (read.content, read.constant) == (content, False)


def test_a_book_is_read_up_to_the_limit() -> None:
    book = read_book({"entries": [{"keys": ["k"] * 1_000, "content": "x"}] * (MOST_ENTRIES + 1)})

    assert book is not None
    assert len(book.entries) == MOST_ENTRIES
    assert len(book.entries[0].keys) == 200


def test_the_books_own_settings() -> None:
    book = read_book(
        {"name": "Coast", "scan_depth": 2, "token_budget": 300, "recursive_scanning": True, "entries": [{"keys": []}]}
    )

    assert book is not None
    assert (book.name, book.scan_depth, book.token_budget, book.recursive) == ("Coast", 2, 300, True)
