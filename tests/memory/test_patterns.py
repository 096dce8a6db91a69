"""Patterns of strangers: those with a bound on their work run, within it; the others do not."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.memory.patterns import LONGEST_PATTERN, read_pattern, slashed


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "expected"),
    [
        ("dragons?", "i", "Two DRAGONS", True),
        ("dragons?", "", "Two DRAGONS", False),
        (r"\b(?:dragon|drake)s?\b", "gi", "the Drakes", True),
        (r"(?:^|\W)elf(?:$|\W)", "", "an elf.", True),
        (r"(?:^|\W)elf(?:$|\W)", "", "shelf", False),
        ("龍|竜", "u", "竜の巣", True),
        (r"(?=.*sword)(?=.*shield)", "", "a shield and a sword", True),
        (r"(?=.*sword)(?=.*shield)", "", "a sword", False),
        (r"(?<name>iron|steel) gate", "", "a steel gate", True),
        (r"(?<!no )fire", "", "no fire", False),
        ("a.b", "s", "a\nb", True),
        ("^b$", "m", "a\nb", True),
        (r"\/path\/", "", "/path/", True),
        (r"[[\]&&~]x", "", "]x", True),
        (r"\d{3,}", "", "12345", True),
        ("(?:ha){2,}", "", "hahaha", True),
        (".*?end", "", "the end", True),
    ],
)
def test_what_people_write_runs(pattern: str, flags: str, text: str, expected: bool) -> None:
    read = read_pattern(pattern, flags)

    assert read is not None
    assert read.is_in(text) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(a+)+$",
            "(a|a)*$",
            "(a|aa)+$",
            "(a*)*",
            "(.*)*x",
            "(?:a?){30}b",
            ".*.*.*x",
            "a?" * 20,
            "(a|b|ab)*c",
            "(x+x+)+y",
        ),
        *("(?:a{0,99}){99}", "a{99999}", r"(\w)\1", r"(?P<a>.)(?P=a)", r"\k<a>", "(?(1)a|b)", "(?R)"),
        *("(", ")", "[", "*a", "a**", r"\p{L}", "a{2,1}", "(?x)a #)", "a{}", "x" * (LONGEST_PATTERN + 1)),
    ],
)
def test_what_might_hang_or_is_broken_is_refused(pattern: str) -> None:
    assert read_pattern(pattern) is None


def test_only_the_end_of_a_long_text_is_looked_at() -> None:
    pattern = read_pattern("lamp")

    assert pattern is not None
    assert pattern.is_in("x" * 5_000 + "lamp")
    assert not pattern.is_in("lamp" + "x" * 5_000)
    assert pattern.cost("x" * 9_000) < 10 * pattern.cost("x" * 2_000)


@pytest.mark.parametrize(
    ("key", "expected"),
    [("/a/", ("a", "")), (" /a/b/gi ", ("a/b", "gi")), ("a/b/c", None), ("//", None), ("/a", None), ("/a/ b", None)],
)
def test_a_key_between_slashes(key: str, expected: tuple[str, str] | None) -> None:
    assert slashed(key) == expected


PIECES = st.sampled_from(
    [
        "a",
        "b",
        ".",
        "[ab]",
        r"\w",
        "(",
        "(?:",
        "(?=",
        "(?!",
        ")",
        "|",
        "*",
        "+",
        "?",
        "{2}",
        "{1,3}",
        "{2,}",
        "*?",
        "++",
        "^",
        "$",
        "aa",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=14).map("".join))
def test_the_bound_holds_for_any_pattern(pattern: str) -> None:
    read = read_pattern(pattern)
    if read is None:
        return
    for text in ("a" * 2_000, "ab" * 1_000):
        start = time.process_time()
        read.is_in(text)
        assert time.process_time() - start < 2


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=8).map("".join), st.text("ab", max_size=12))
def test_what_runs_finds_what_it_would_find_without_a_bound(pattern: str, text: str) -> None:
    read = read_pattern(pattern)
    if read is not None:
        assert read.is_in(text) is (re.search(pattern, text) is not None)
