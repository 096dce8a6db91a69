"""Macros: filled in any case, the same each time."""

from __future__ import annotations

import time

import pytest

from bot.memory.macros import filled


def fill(text: str, seed: str = "", original: str = "") -> str:
    return filled(text, char="Mio", user="Rin", seed=seed, original=original)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{char}} and {{user}}", "Mio and Rin"),
        ("{{Char}} {{USER}} {{ user }}", "Mio Rin Rin"),
        ("<USER>, <user>, <BOT>, <Bot>, <char>", "Rin, Rin, Mio, Mio, Mio"),
        ("a{{// not seen}}b{{comment: nor this}}c{{hidden_key:lamp}}d", "abcd"),
        ("{{//}}x{{// a\nb}}y", "xy"),
        ("{{reverse:Hello}} {{Reverse::abc}} {{reverse:灯台}}", "olleH cba 台灯"),
        ("{{reverse:{{char}}}}", "oiM"),
        ("{{random:{{user}},{{user}}}}", "Rin"),
        (r"{{pick:a\,b}}", "a,b"),
        ("{{pick::only}}", "only"),
        ("{{newline}}{{noop}}", "\n"),
        ("{{roll:1}} {{roll:d1}} {{roll:3d1}} {{roll:2d1+4}}", "1 1 3 6"),
    ],
)
def test_a_macro_is_filled(text: str, expected: str) -> None:
    assert fill(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{{tomorrows:macro}}",
        "{{getvar::x}}",
        "{{}}",
        "{{ }}",
        "{char}",
        "{{char",
        "<users>",
        "{{roll:many}}",
        "{{roll:0}}",
        "{{random:}}",
    ],
)
def test_what_is_unknown_stays(text: str) -> None:
    assert fill(text) == text


def test_the_original_prompt_is_put_in() -> None:
    assert fill("{{original}} More.", original="Write {{user}}.") == "Write {{user}}. More."


def test_further_values() -> None:
    assert filled("{{Persona}}/{{scenario}}", char="", user="", values={"persona": "a smith"}) == "a smith/{{scenario}}"


def test_a_name_is_never_read_as_a_macro() -> None:
    assert filled("{{user}}", char="Mio", user="{{char}}<BOT>{{random:a,b}}") == "{{char}}<BOT>{{random:a,b}}"
    assert filled("<user>", char="Mio", user="{{char}}") == "{{char}}"


def test_lots_are_the_same_for_the_same_seed() -> None:
    text = "{{random:a,b,c,d}} {{pick::e::f::g}} {{roll:d20}} {{roll:2d6+1}}"

    assert fill(text, "one") == fill(text, "one")
    assert len({fill(text, str(seed)) for seed in range(20)}) > 10


def test_every_choice_is_drawn_and_no_other() -> None:
    drawn = {fill("{{random:a, b ,c}}{{roll:6}}", str(seed)) for seed in range(300)}

    assert drawn == {f"{letter}{number}" for letter in "abc" for number in range(1, 7)}


def test_picks_agree_within_a_text_and_rolls_do_not() -> None:
    many = 40

    assert len(set(fill("{{pick:a,b,c,d}}" * many))) == 1
    assert len(set(fill("{{random:a,b,c,d}}" * many))) == 4


@pytest.mark.parametrize("text", ["{{char}}", "<BOT>", "{{original}}", "{{{{user}}}}"])
def test_a_text_grows_no_further_than_there_is_room(text: str) -> None:
    long = "n" * 90_000
    found = filled(text * 5_000, char=long, user=long, original=long)

    assert found.startswith("{" * text.count("{{{") * 2 + long)
    assert found.endswith(text)
    assert len(found) <= len(text) * 5_000 + 100_000


def test_names_are_put_in_however_often_a_long_text_has_them() -> None:
    assert fill("{{char}} " * 100_000) == "Mio " * 100_000


@pytest.mark.parametrize("dice", ["99d6", "999d6", "99d999999"])
def test_a_text_full_of_dice_is_filled_in_no_time(dice: str) -> None:
    text = f"{{{{roll:{dice}}}}}" * 50_000
    start = time.process_time()

    assert fill(text).endswith(f"{{{{roll:{dice}}}}}")
    assert time.process_time() - start < 2
