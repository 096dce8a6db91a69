"""Characters' names as Discord accepts them for webhooks."""

from __future__ import annotations

import pytest

from cogs._webhooks import webhook_name


@pytest.mark.parametrize("name", ["Rin", "渡し守の凛", "Everyone's Friend", "Hereward", "O'Neil"])
def test_an_ordinary_name_stays_as_it_is(name: str) -> None:
    assert webhook_name(name) == name


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("Clyde", "clyde"),
        ("Bonnie & CLYDE", "clyde"),
        ("Discordia", "discord"),
        ("Everyone", "everyone"),
        ("here", "here"),
    ],
)
def test_a_refused_name_is_altered_and_still_reads_the_same(name: str, refused: str) -> None:
    altered = webhook_name(name)

    assert refused not in altered.casefold()
    assert altered.replace("\u200a", "") == name


def test_a_name_has_one_to_eighty_characters_and_no_reserved_signs() -> None:
    assert webhook_name("  ") == "?"
    assert len(webhook_name("n" * 100)) == 80
    assert len(webhook_name("discord " * 20)) == 80
    assert webhook_name("@all #1: ```") == "＠all ＃1： ˋˋˋ"
