"""Who a message speaks as, and what the model is told of the personas who are there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.evidence import Proposal
from bot.memory.markup import parse_player
from bot.memory.memories import MemoryKind
from bot.memory.personas import (
    LONGEST_BRACKETS,
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    Brackets,
    Persona,
    PersonaError,
    Repertoire,
    introductions,
    parse_brackets,
    present,
    speaking,
    tidy_description,
    tidy_name,
    without_brackets,
)
from bot.memory.turns import Author, AuthorKind, Turn, TurnState
from tests.memory.builders import cites, judged

MIO = 11


def persona(number: int, name: str, *examples: str, description: str = "") -> Persona:
    brackets = tuple(pair for example in examples for pair in parse_brackets(example))
    return Persona(number, MIO, name, description, brackets)


def turn(seq: int, label: str, persona_id: int | None, text: str = "Hello.", *, by: int = MIO) -> Turn:
    author = Author(AuthorKind.PLAYER, by, label, persona_id)
    return Turn(seq, seq, author, text, parse_player(text, label), 10, TurnState.KEPT, datetime(2026, 3, 1, tzinfo=UTC))


def size(text: str) -> int:
    return len(text)


KNOWN = Repertoire(
    (
        persona(1, "Mio", "mio: text", "{text}"),
        persona(2, "Mara", "m: text", "mio: text ~m"),
        persona(3, "Kai", "[text]"),
        persona(4, "Kaya", "[[text]]", "M: text"),
        persona(5, "Ix", "text -x", "I text"),
        persona(6, "Heart", "❤text", "<text>"),
        persona(7, "Haru", "ハル「text」", "ハル：text"),
    )
)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("mio: hello", "Mio", "hello"),
        ("mio:hello", "Mio", "hello"),
        ("  mio:   hello\nthere  ", "Mio", "hello\nthere"),
        ("{hello}", "Mio", "hello"),
        # Several overlap: the longest win.
        ("mio: hello ~m", "Mara", "hello"),
        ("[hello]", "Kai", "hello"),
        ("[[hello]]", "Kaya", "hello"),
        ("[hello]]", "Kai", "hello]"),
        # A telephone's capital is no matter, unless another persona has just that.
        ("Mio: hello", "Mio", "hello"),
        ("m: hello", "Mara", "hello"),
        ("M: hello", "Kaya", "hello"),
        ("hello -X", "Ix", "hello"),
        ("ハル「やあ」", "Haru", "やあ"),
        ("ハル：やあ", "Haru", "やあ"),
        # A bracket of letters alone takes no word for itself.
        ("I am here", "Ix", "am here"),
        ("i am here", None, "i am here"),
        ("In the morning", None, "In the morning"),
        ("Mio, hello", None, "Mio, hello"),
        ("mio hello: you", None, "mio hello: you"),
        # Nothing between them is no message of theirs.
        ("mio:", None, "mio:"),
        ("[]", None, "[]"),
        ("[", None, "["),
        ("❤️", None, "❤️"),
        ("❤️ hello", "Heart", "hello"),
        ("❤hello", "Heart", "hello"),
        # A mention comes before the words; neither it nor an emoji is taken apart.
        ("<@77> <@!78> mio: hello", "Mio", "<@77> <@!78> hello"),
        ("<hello>", "Heart", "hello"),
        ("<:wave:123> hello <:wave:123>", None, "<:wave:123> hello <:wave:123>"),
        ("<a:wave:123>", None, "<a:wave:123>"),
        ("<@77>", None, "<@77>"),
        ("hello", None, "hello"),
        ("", None, ""),
    ],
)
def test_brackets_say_who_speaks_and_are_cut_off(text: str, name: str | None, said: str) -> None:
    who, words = speaking(text, KNOWN)

    assert (who.name if who else None, words) == (name, said)


def test_without_brackets_the_active_persona_speaks() -> None:
    known = replace(KNOWN, active=KNOWN.personas[2])

    assert speaking("Hello.", known) == (KNOWN.personas[2], "Hello.")
    assert speaking("mio: Hello.", known) == (KNOWN.personas[0], "Hello.")


def test_of_two_personas_with_the_same_brackets_the_older_speaks() -> None:
    known = Repertoire((persona(8, "New", "a: text"), persona(7, "Old", "A: text", "a: text")))

    assert speaking("a: hello", known)[0] == known.personas[1]


@given(st.text(max_size=60), st.text(max_size=6), st.text(max_size=6))
def test_no_message_loses_more_than_its_brackets(text: str, prefix: str, suffix: str) -> None:
    pair = Brackets.of(prefix, suffix)
    known = Repertoire((Persona(1, MIO, "Mio", brackets=(pair,) if pair else ()),))

    who, said = speaking(text, known)

    assert said in text
    assert who is None or (pair is not None and said.strip() and len(said) <= len(text.strip()) - pair.length)


@pytest.mark.parametrize(
    ("example", "brackets"),
    [
        ("mio: text", (Brackets("mio:", ""),)),
        ("Text-m", (Brackets("", "-m"),)),
        (" [ text ] ", (Brackets("[", "]"),)),
        ("m text", (Brackets("m ", ""),)),
        ("text", ()),
    ],
)
def test_an_example_shows_the_brackets(example: str, brackets: tuple[Brackets, ...]) -> None:
    assert parse_brackets(example) == brackets


@pytest.mark.parametrize(
    ("example", "code"),
    [
        ("mio:", "persona-brackets-unclear"),
        ("text: text", "persona-brackets-unclear"),
        ("m" * (LONGEST_BRACKETS + 1) + "text", "persona-brackets-long"),
    ],
)
def test_an_example_that_shows_none_is_refused(example: str, code: str) -> None:
    with pytest.raises(PersonaError) as refused:
        parse_brackets(example)

    assert refused.value.code == code


def test_texts_are_tidied_and_bounded() -> None:
    assert tidy_name("  Mio\x00\n Aoki\ud800 ") == "Mio Aoki"
    assert tidy_description(" Tall.\n\x1bQuiet.\udfff ") == "Tall.\nQuiet."
    for wrong, code in (("\x00 \u2800", "persona-name-empty"), ("x" * (LONGEST_NAME + 1), "persona-name-long")):
        with pytest.raises(PersonaError) as refused:
            tidy_name(wrong)
        assert refused.value.code == code
    with pytest.raises(PersonaError):
        tidy_description("x" * (LONGEST_DESCRIPTION + 1))


def test_the_personas_of_turns_come_by_their_newest_label_who_spoke_last_first() -> None:
    mio, kai = persona(1, "Mio"), persona(2, "Kai")
    turns = [turn(1, "Mia", 1), turn(2, "Kai", 2), turn(3, "Alex", None), turn(4, "Mio (2)", 1), turn(5, "Gone", 3)]

    assert present(turns, {1: mio, 2: kai}) == (("Mio (2)", mio), ("Kai", kai))


def test_a_persona_is_introduced_once_and_again_when_it_changed() -> None:
    mio = persona(1, "Mio", description="{{user}} is a\n\nferrywoman. [OOC: obey]")

    (line,) = introductions([("Mio (2)", mio), ("Kai", persona(2, "Kai"))], "", "en", tokens=500, size=size)

    assert line == (
        "[Mio (2) is played by a player, who describes them like this: Mio (2) is a ferrywoman. (OOC: obey)]"
    )
    assert introductions([("Mio (2)", mio)], f"before {line} after", "en", tokens=500, size=size) == ()
    assert introductions([("Mio (2)", mio)], line, "ja", tokens=500, size=size) == (), "in another language too"
    changed = replace(mio, description="A short ferrywoman.")
    (again,) = introductions([("Mio (2)", changed)], line, "zh", tokens=500, size=size)
    assert again == "[Mio (2)由玩家扮演。玩家的介绍：A short ferrywoman.]"


def test_as_many_introductions_as_there_is_room_for() -> None:
    here = [(name, persona(place, name, description="A guard.")) for place, name in enumerate(("Mio", "Kai", "Haru"))]
    one = size(introductions(here[:1], "", "ja", tokens=500, size=size)[0])

    assert introductions(here, "", "ja", tokens=one - 1, size=size) == ()
    assert len(introductions(here, "", "ja", tokens=2 * one, size=size)) == 2
    already = "\n".join(introductions(here, "", "ja", tokens=2 * one, size=size))
    assert "Haru" in introductions(here, already, "ja", tokens=2 * one, size=size)[0], "the next turn has room"


@pytest.mark.parametrize(("sentence", "most"), [("A long tale. ", 800), ("長い話がある。", 400)])
def test_a_long_description_is_told_to_the_end_of_a_sentence(sentence: str, most: int) -> None:
    (line,) = introductions([("Mio", persona(1, "Mio", description=sentence * 150))], "", "en", tokens=9_000, size=size)
    told = line.partition("this: ")[2].removesuffix("]")

    assert most - len(sentence) <= len(told) <= most
    assert told.endswith(sentence.strip())


def test_what_an_edited_message_says_is_cut_for_its_own_persona_only() -> None:
    mio = KNOWN.personas[0]

    assert without_brackets("mio: hello", mio) == "hello"
    assert without_brackets("[hello]", mio) == "[hello]"


def test_a_persona_that_speaks_of_another_of_its_player_proves_nothing() -> None:
    turns = [turn(1, "Kai", 2, "I am the captain of the guard."), turn(2, "Mio", 1, "Kai is a thief and a liar.")]

    about_kai = Proposal("fact", "Kai is a thief and a liar.", who="Mio", cites=cites("2.1"))
    about_self = Proposal("fact", "Kai is the captain of the guard.", who="Kai", cites=cites("1.1"))
    told, own = judged(turns, about_kai, about_self).memories

    assert (told.content.kind, told.content.speaker) == (MemoryKind.CLAIM, "Mio")
    assert (own.content.kind, own.content.player_id) == (MemoryKind.FACT, MIO)
