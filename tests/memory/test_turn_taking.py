"""Who of a cast answers: called by name or by a reply, else in turn; and how long characters go on among themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.markup import parse_player, parse_reply
from bot.memory.prompt import Card
from bot.memory.story import Character, Member, Scope
from bot.memory.turn_taking import goes_on, named_in, next_speaker
from bot.memory.turns import Author, AuthorKind, Turn, TurnState

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RIN, BROM, KAI = 1, 2, 3
MIO = 11
Line = tuple[int, str]


def member(number: int, name: str, nickname: str = "", since: int = 0) -> Member:
    return Member(Character(number, Scope(1, 9), Card(name, "", nickname=nickname), "", NOON), since)


SCENE = (member(RIN, "Rin"), member(BROM, "Brom"), member(KAI, "Kai"))


def told(lines: Sequence[Line], cast: Sequence[Member] = SCENE) -> tuple[Turn, ...]:
    """Turns from (who, text); the ids of players have two digits."""
    names = {one.character.id: one.character.card.name for one in (*SCENE, *cast)}
    turns = []
    for seq, (who, text) in enumerate(lines, start=1):
        is_player = who > 9
        name = f"P{who}" if is_player else names[who]
        beats = parse_player(text, name) if is_player else parse_reply(text, name)
        author = Author(AuthorKind.PLAYER if is_player else AuthorKind.CHARACTER, who, name)
        turns.append(Turn(100 + seq, seq, author, text, beats, 5, TurnState.KEPT, NOON))
    return tuple(turns)


def speaker(lines: Sequence[Line], cast: Sequence[Member] = SCENE, addressed: Mapping[int, int] | None = None) -> int:
    return next_speaker(cast, told(lines, cast), addressed=addressed or {}).character.id


def second(lines: Sequence[Line], cast: Sequence[Member] = SCENE) -> int | None:
    """Who answers although nobody waits, if anybody does."""
    turns = told(lines, cast)
    return next_speaker(cast, turns, addressed={}).character.id if goes_on(cast, turns, addressed={}) else None


# Names in a text

TRIOS = {
    "en": (member(1, "Mara Voss"), member(2, "Tom Voss", "Tommy"), member(3, "Rin")),
    "ja": (member(1, "橘 凛"), member(2, "リン"), member(3, "さくら")),
    "zh": (member(1, "林小雨"), member(2, "阿杰"), member(3, "凛")),
}


@pytest.mark.parametrize(
    ("language", "text", "called"),
    [
        ("en", "Mara, where is Rin?", [1, 3]),
        ("en", "Rin, where is Mara?", [3, 1]),
        ("en", "Tommy!", [2]),
        ("en", "Voss, come here.", []),
        ("en", "Tom Voss, come here.", [2]),
        ("en", "MARA VOSS and tom", [1, 2]),
        ("en", "The ring is in the spring.", []),
        ("ja", "凛さん、リンはどこ？", [1, 2]),
        ("ja", "ねえさくら、橘さんを見た？", [3, 1]),
        ("ja", "プリンが食べたい", []),
        ("ja", "ﾘﾝ、待って", [2]),
        ("zh", "林小雨，你看到阿杰了吗？", [1, 2]),
        ("zh", "阿杰你好，凛呢？", [2, 3]),
        ("zh", "今天凛冽的风", []),
    ],
)  # fmt: skip
def test_those_are_called_whose_names_stand_in_a_text_in_its_order(language: str, text: str, called: list[int]) -> None:
    assert [one.character.id for one in named_in(text, TRIOS[language])] == called


def test_a_part_of_a_name_calls_whose_whole_name_it_is() -> None:
    cast = (member(1, "Rin Tachibana"), member(2, "Rin"))

    assert [one.character.id for one in named_in("Rin?", cast)] == [2]
    assert [one.character.id for one in named_in("Rin Tachibana?", cast)] == [1]
    assert [one.character.id for one in named_in("Tachibana, and you, Rin?", cast)] == [1, 2]


# Who answers a player


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        ([(MIO, "Hello.")], RIN),
        ([(RIN, "“Who is there?”"), (MIO, "Me.")], BROM),
        ([(RIN, "“Aye.”"), (MIO, "One."), (BROM, "“Two.”"), (MIO, "Three.")], KAI),
        ([(KAI, "“Aye.”"), (MIO, "And now?")], RIN),
        ([(RIN, "“Aye.”"), (MIO, "Kai, what do you think?")], KAI),
        ([(RIN, "“Aye.”"), (MIO, "Rin, really?")], RIN),
        ([(MIO, "What a day."), (12, "Kai?"), (13, "Brom!")], KAI),
        ([(MIO, "((Kai is great)) Hello.")], RIN),
        ([(BROM, "“Aye.”"), (MIO, "((brb))"), (MIO, "Back.")], KAI),
    ],
    ids=["lead first", "in turn", "round", "from the start again", "by name", "twice in a row", "first called", "ooc", "aside"],
)  # fmt: skip
def test_who_is_called_answers_and_else_each_in_turn(lines: list[Line], answers: int) -> None:
    assert speaker(lines) == answers


@pytest.mark.parametrize(
    ("language", "text", "answers"),
    [("en", "Tommy, look!", 2), ("ja", "さくらちゃん、見て！", 3), ("zh", "阿杰，你看！", 2)],
)
def test_a_name_calls_in_each_language(language: str, text: str, answers: int) -> None:
    assert speaker([(1, "…"), (MIO, text)], TRIOS[language]) == answers


def test_a_reply_to_somebodys_message_calls_them_unless_the_words_call_another() -> None:
    lines = [(RIN, "“Aye.”"), (MIO, "What?"), (13, "And you, Brom?")]

    assert speaker(lines[:2], addressed={102: KAI}) == KAI
    assert speaker([lines[0], lines[2]], addressed={102: KAI}) == BROM
    assert speaker(lines, addressed={102: KAI}) == KAI
    assert speaker(lines[:2], addressed={102: 99}) == BROM


def test_who_left_is_not_called_and_who_came_later_was_not_meant() -> None:
    assert speaker([(RIN, "“Aye.”"), (KAI, "“Aye.”"), (MIO, "Kai?")], SCENE[:2]) == RIN
    late = (*SCENE[:2], member(KAI, "Kai", since=3))
    assert speaker([(BROM, "“Aye.”"), (MIO, "Kai?"), (MIO, "Well.")], late) == KAI  # in turn
    assert second([(BROM, "“Aye.”"), (MIO, "Rin, is Kai here?"), (RIN, "“No.”")], late) is None


# Messages that came while a reply was written


def test_each_message_is_answered_by_whom_it_calls_however_they_come() -> None:
    lines: list[Line] = [(MIO, "Rin, one?"), (12, "Brom, two?")]
    assert speaker(lines) == RIN
    lines += [(RIN, "“One.”"), (13, "Kai, three?")]
    assert speaker(lines) == BROM
    lines += [(BROM, "“Two.”")]
    assert second(lines) == KAI
    lines += [(KAI, "“Three.”")]
    assert second(lines) is None


def test_a_call_that_nobody_heeded_is_forgotten_once_as_many_replies_were_given_as_there_are_members() -> None:
    lines = [(MIO, "Rin, one?"), (12, "Kai, two?"), (RIN, "“Aye.”"), (MIO, "So."), (BROM, "“Aye.”"), (MIO, "So.")]

    assert speaker(lines) == KAI
    assert speaker([*lines, (RIN, "“Aye.”"), (MIO, "Well.")]) == BROM


# Characters among themselves


@pytest.mark.parametrize(
    ("lines", "then"),
    [
        ([(MIO, "Hello."), (RIN, "“Hello.”")], None),
        ([(MIO, "Hello."), (RIN, "“Brom, say hello.”")], BROM),
        ([(MIO, "Hello."), (RIN, "“I am Rin.”")], None),
        ([(MIO, "Hello."), (RIN, "`Brom must not know.` “Hello.”")], None),
        ([(MIO, "Hello."), (RIN, "*She looks at Brom.* “Hello.”")], None),
        ([(MIO, "Rin, Kai, hello!"), (RIN, "“Hello.”")], KAI),
        ([(MIO, "Hello."), (RIN, "“Brom, say hello.”"), (BROM, "“Hello. Kai, you too.”")], None),
        ([(MIO, "Rin, Brom, Kai!"), (RIN, "“Aye.”"), (BROM, "“Aye.”")], None),
        ([(RIN, "“Brom, say hello.”")], BROM),
    ],
    ids=["nobody", "called", "herself", "thought", "told of", "by the player", "bound", "bound for players", "greeting"],
)  # fmt: skip
def test_another_answers_too_when_called_but_not_for_long(lines: list[Line], then: int | None) -> None:
    assert second(lines) == then


def test_a_players_new_message_goes_first() -> None:
    turns = told([(MIO, "Hello."), (RIN, "“Brom, say hello.”"), (MIO, "Kai!")])

    assert not goes_on(SCENE, turns, addressed={})
    assert next_speaker(SCENE, turns, addressed={}).character.id == KAI


def test_who_spoke_last_goes_on_when_nobody_waits_or_is_called() -> None:
    assert speaker([(MIO, "Hello."), (RIN, "“Hello.”"), (MIO, "Brom!"), (BROM, "“Aye.”")]) == BROM
    assert speaker([]) == RIN


TEXTS = st.sampled_from(["Rin!", "Hello.", "“Kai, Brom?”", "((Rin))"])


def lines_of(*who: int) -> st.SearchStrategy[list[Line]]:
    return st.lists(st.tuples(st.sampled_from(who), TEXTS), max_size=12)


@given(lines_of(RIN, MIO, 12))
def test_a_cast_of_one_always_answers_and_never_goes_on(lines: list[Line]) -> None:
    alone = SCENE[:1]
    turns = told(lines, alone)

    assert next_speaker(alone, turns, addressed={}) == alone[0]
    assert not goes_on(alone, turns, addressed={})


@given(lines_of(RIN, BROM, KAI, MIO, 12))
def test_a_cast_never_goes_on_for_ever(lines: list[Line]) -> None:
    """However much they call each other: after the words of players come no more replies than messages, and one."""
    played = list(lines)
    while goes_on(SCENE, told(played), addressed={}):
        played.append((speaker(played), "“Rin! Brom! Kai!”"))
        assert len(played) <= len(lines) + len(SCENE)
