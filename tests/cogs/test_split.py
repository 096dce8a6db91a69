"""Long texts as several messages: nothing lost, nothing too long, nothing torn."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogs._marks import closed
from cogs._split import LONGEST, split


def units(text: str) -> int:
    """UTF-16 units: the stricter way to count."""
    return len(text.encode("utf-16-le")) // 2


def words_of(parts: list[str]) -> str:
    """What is left when marks and white space are taken away."""
    return re.sub(r'[\s*_`~|“”「」『』">]', "", "".join(parts))


@given(st.text(st.characters(codec="utf-8"), max_size=300), st.integers(40, 80))
def test_no_part_is_too_long_or_empty_and_no_character_is_lost(text: str, limit: int) -> None:
    parts = split(text, limit)

    assert all(0 < units(part) <= limit for part in parts)
    assert words_of(parts) == (re.sub(r'[\s*_`~|“”「」『』">]', "", text) if text.strip() else "…")


def test_a_text_of_exactly_the_limit_stays_whole() -> None:
    assert split("a" * LONGEST) == ["a" * LONGEST]
    assert len(split("a" * (LONGEST + 1))) == 2


def test_an_empty_text_becomes_an_ellipsis() -> None:
    assert split(" \n ") == ["…"]


@pytest.mark.parametrize(
    ("sentence", "end"),
    [
        ("She crosses the river and says nothing. ", "."),
        ("雨が静かに降っている。", "。"),
        ("她轻声问道：“你是谁？”", "”"),
    ],
)
def test_it_is_cut_at_the_end_of_a_sentence(sentence: str, end: str) -> None:
    parts = split(sentence * 400)

    assert len(parts) > 1
    assert {part[-1] for part in parts} == {end}


def test_it_is_rather_cut_between_paragraphs_than_between_sentences() -> None:
    paragraph = "One sentence. Another one. " * 40

    assert split(f"{paragraph}\n\n{paragraph}") == [paragraph.strip(), paragraph.strip()]


def test_it_is_cut_outside_of_an_action_where_that_is_possible() -> None:
    parts = split('*She walks. She stops. She looks back.* "Come." ' * 60)

    assert all(part.count("*") % 2 == 0 and part.endswith('"Come."') for part in parts)


@pytest.mark.parametrize("mark", ["*", "**", "***", "_", "__", "~~", "||", "`"])
def test_markup_that_runs_through_a_cut_is_closed_and_opened_again(mark: str) -> None:
    parts = split(mark + "word " * 900 + "end" + mark)

    assert len(parts) > 1
    assert all(part.startswith(mark) and part.endswith(mark) for part in parts)


def test_a_block_of_code_keeps_its_language() -> None:
    parts = split("```py\n" + "x = 1\n" * 600 + "```")

    assert len(parts) == 2
    assert all(part.startswith("```py\n") and part.endswith("\n```") for part in parts)


@pytest.mark.parametrize(("opener", "closer"), ["“”", "「」", "『』", '""'])
def test_speech_that_runs_through_a_cut_is_closed_and_opened_again(opener: str, closer: str) -> None:
    parts = split(f"{opener}{'I have seen the lights. ' * 200}That is all.{closer} And she goes.")

    assert len(parts) > 1
    assert all(part.startswith(opener) for part in parts)
    assert all(part.endswith(closer) for part in parts[:-1])
    assert parts[-1].endswith(f"That is all.{closer} And she goes.")


def test_it_is_cut_outside_of_speech_where_that_is_possible() -> None:
    parts = split("She waits. “Not yet. Not now. Not ever.” " * 70)

    assert len(parts) > 1
    assert all(part.count("“") == part.count("”") and part.endswith(("waits.", "”")) for part in parts)


def test_inches_open_no_speech() -> None:
    parts = split('A 5" nail. ' + "And so on it went. " * 200)

    assert sum(part.count('"') for part in parts) == 1


@pytest.mark.parametrize("mark", ["> ", ">>> "])
def test_a_quotation_that_runs_through_a_cut_goes_on_as_one(mark: str) -> None:
    parts = split(mark + "word " * 900)

    assert len(parts) > 1
    assert all(part.startswith(mark + "word") for part in parts)


def test_a_quotation_ends_with_its_line() -> None:
    parts = split("> A line of a song.\n\n" + "And so on it went. " * 200)

    assert sum(part.count(">") for part in parts) == 1


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("*She walks", "*She walks*"),
        ("||**Who", "||**Who**||"),
        ("```py\nx = 1", "```py\nx = 1\n```"),
        ("“Wait", "“Wait”"),
        ('He says "no" and "ye', 'He says "no" and "ye"'),
        ("*Done.* “Go.”", "*Done.* “Go.”"),
        ("「待って", "「待って」"),
    ],
)
def test_what_a_text_leaves_open_is_closed(text: str, whole: str) -> None:
    assert closed(text) == whole


def test_a_stray_asterisk_opens_nothing() -> None:
    parts = split("Five *stars, they said. " * 1 + "And so on it went. " * 200)

    assert sum(part.count("*") for part in parts) == 1


@pytest.mark.parametrize("picture", ["👨‍👩‍👧", "👍🏽", "❤️", "🇯🇵", "か\u3099"])
def test_what_is_shown_as_one_is_never_torn(picture: str) -> None:
    parts = split(picture * 1_500)

    assert len(parts) > 1
    assert all(part == picture * (len(part) // len(picture)) for part in parts)
