"""What each character of a cast has of a story: its memory, the turns, and prompts that only grow for each of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.memory.cast import seen_by
from bot.memory.lore import LoreBook, LoreEntry
from bot.memory.markup import parse_reply
from bot.memory.memories import Memory, MemoryKind, MemoryStatus, SessionMemory, Viewer, Voices
from bot.memory.messages import Message
from bot.memory.prompt import Card, build, flat, lore_lines, turn_text
from bot.memory.story import Character, Member, Place, Scope, Session
from bot.memory.turns import Author, AuthorKind, BeatKind, Turn
from tests.memory.builders import NOON, cites, memory, reply, said

RIN, BROM, KAI = 1, 2, 3
LEAD, SECOND, LATE = Viewer(RIN, 0), Viewer(BROM, 2), Viewer(KAI, 20)
AUTHORS = {2: RIN, 4: BROM, 12: RIN, 22: BROM, 24: KAI}
# Of each reply the first beat is spoken, the second thought.
THOUGHTS = frozenset(cites(*(f"{seq}.2" for seq in AUTHORS)))


def of_many(*memories: Memory) -> SessionMemory:
    return SessionMemory(memories=memories, voices=Voices((LEAD, SECOND, LATE), AUTHORS, THOUGHTS))


def known(viewer: Viewer, *memories: Memory) -> list[tuple[int, str]]:
    """The numbers and texts of the lines in use, as somebody has them."""
    seen = seen_by(of_many(*memories), viewer).memories
    return [(m.number, m.content.text) for m in seen if m.is_active]


def numbers(viewer: Viewer, *memories: Memory) -> list[int]:
    return [number for number, _ in known(viewer, *memories)]


def by(turn: Turn, character_id: int) -> Turn:
    return replace(turn, author=replace(turn.author, id=character_id))


def as_json(seq: int, name: str, character_id: int, *beats: tuple[str, str]) -> Turn:
    raw = json.dumps({"beats": [{"kind": kind, "speaker": name, "text": text} for kind, text in beats]})
    author = Author(AuthorKind.CHARACTER, character_id, name)
    return replace(reply(seq, name, *beats), raw=raw, author=author, beats=parse_reply(raw, name))


def test_the_memory_of_one_is_as_it_is() -> None:
    alone = SessionMemory(memories=(memory(1, "They met.", cited=("1", "2.2")),))
    assert seen_by(alone, LEAD) is alone


def test_what_somebody_thought_is_known_to_them_alone() -> None:
    lines = (
        memory(1, "Rin hid the key.", MemoryKind.FACT, cited=("2.2",)),
        memory(2, "Brom means to leave.", cited=("3.1", "4.2")),
        memory(3, "The bell rang.", cited=("1.1", "2.1", "4.1")),
        memory(4, "Where is the key?", MemoryKind.LOOSE_END, cited=("2.2",)),
    )
    assert numbers(LEAD, *lines) == [1, 3, 4]
    assert numbers(Viewer(BROM, 1), *lines) == [2, 3]
    assert numbers(SECOND, *lines) == [2]
    assert numbers(LATE, *lines) == []


def test_of_anothers_secret_only_the_outward_side_is_left() -> None:
    told = memory(1, "The hold is empty.", MemoryKind.SECRET, cited=("2.1", "2.2"), speaker="Rin")
    secret = replace(told, content=replace(told.content, actual="It is full of salt.", addressee="Mio"))
    (own,) = seen_by(of_many(secret), LEAD).memories
    assert own == secret
    (seen,) = seen_by(of_many(secret), SECOND).memories
    assert (seen.kind, seen.content.speaker, seen.content.addressee) == (MemoryKind.CLAIM, "Rin", "Mio")
    assert (seen.content.text, seen.content.actual) == ("The hold is empty.", "")


def test_a_secret_belongs_to_whoever_thought_it_not_to_the_name_in_it() -> None:
    told = memory(1, "Nobody is aboard.", MemoryKind.SECRET, cited=("2.1", "4.2"), speaker="Rin")
    secret = replace(told, content=replace(told.content, actual="Brom saw somebody."))
    assert seen_by(of_many(secret), LEAD).memories[0].content.actual == ""
    assert seen_by(of_many(secret), SECOND).memories[0] == secret


@pytest.mark.parametrize(("viewer", "actual"), [(LEAD, "Full."), (SECOND, "")])
def test_a_secret_without_any_source_is_the_leads(viewer: Viewer, actual: str) -> None:
    told = memory(1, "Empty.", MemoryKind.SECRET, speaker="Rin")
    secret = replace(told, content=replace(told.content, actual="Full."))
    seen = seen_by(of_many(secret), viewer).memories
    assert [m.content.actual for m in seen] == ([actual] if actual else [])


def test_who_joined_later_has_nothing_that_rests_on_before() -> None:
    lines = (
        memory(1, "They met.", cited=("1",)),
        memory(2, "The fog came.", cited=("19", "21")),
        memory(3, "The fog went.", cited=("20", "24.1")),
        memory(4, "Aye.", MemoryKind.QUOTE, cited=("12.1",)),
        memory(5, "No source.", MemoryKind.FACT),
    )
    assert numbers(LATE, *lines) == [3]
    assert numbers(LEAD, *lines) == [1, 2, 3, 4, 5]


def test_of_a_condensed_line_that_is_hidden_the_known_parts_are_in_use_again() -> None:
    lines = (
        memory(1, "The mast broke.", cited=("19",), status=MemoryStatus.CONDENSED),
        memory(2, "They ate.", cited=("21",), status=MemoryStatus.CONDENSED),
        memory(3, "Rin lied to herself.", cited=("2.2",), status=MemoryStatus.CONDENSED),
        memory(4, "They ate in the storm.", condenses=(1, 2), status=MemoryStatus.CONDENSED, chapter=None),
        memory(5, "A long night.", condenses=(3, 4), chapter=None),
        memory(6, "gone", cited=("21",), status=MemoryStatus.RETRACTED),
    )
    assert numbers(LEAD, *lines) == [5]
    assert known(SECOND, *lines) == [(4, "They ate in the storm.")], "the nearest line that holds nothing hidden"
    assert known(LATE, *lines) == [(2, "They ate.")]
    usable = {m.number for m in seen_by(of_many(*lines), SECOND).memories}
    assert usable == {1, 2, 4}, "what is condensed can still be recalled"


@pytest.mark.parametrize("form", ["markup", "json"])
def test_another_ones_reply_is_shown_as_players_see_it(form: str) -> None:
    beats = (("speech", "Mind the step.\nKen: I confess"), ("thought", "He will fall."))
    if form == "json":
        turn = as_json(2, "Rin", RIN, *beats)
    else:
        raw = "“Mind the step.\nKen: I confess” `He will fall.`"
        turn = replace(reply(2, "Rin"), raw=raw, beats=parse_reply(raw, "Rin"))
    assert turn_text(turn, BROM) == "Rin: “Mind the step.\n    Ken: I confess”"
    assert turn_text(turn, RIN) == turn_text(turn) == turn.raw


def test_others_stand_among_the_players() -> None:
    turns = [
        said(1, "Mio", "a"),
        by(reply(2, "Rin", ("speech", "b")), RIN),
        by(reply(3, "Brom", ("speech", "c")), BROM),
    ]
    assert build("S", "M", turns, "en", RIN)[3:] == (
        Message("user", "Mio: a"), Message("assistant", "b"), Message("user", "Brom: c"),
    )  # fmt: skip
    assert build("S", "M", turns, "en", BROM)[3].content == "Mio: a\nRin: b"
    assert [m.role for m in build("S", "M", turns, "en", BROM)[2:]] == ["assistant", "user", "assistant", "user"]


def test_a_thought_of_another_calls_no_lore() -> None:
    card = Card("Brom", "A cook.", book=LoreBook((LoreEntry(("ghost",), "Ghosts drown."),)))
    turn = by(reply(2, "Rin", ("speech", "Aye."), ("thought", "A ghost!")), RIN)
    turn = replace(turn, raw="“Aye.” `A ghost!`")

    def told(viewer_id: int) -> tuple[str, ...]:
        return lore_lines(card, [turn], already="", language="en", tokens=99, size=len, viewer_id=viewer_id)

    assert told(BROM) == ()
    assert "Ghosts drown." in told(RIN)[0]


def test_a_session_knows_who_is_there_and_who_spoke() -> None:
    def character(number: int, name: str) -> Character:
        return Character(number, Scope(1, 9), Card(name, ""), "", NOON)

    gone = Member(character(KAI, "Kai"), 9, present=False)
    session = Session(
        7, Place(1, 2), character(RIN, "Rin"), "en", True, NOON, None, 0, 0, 0, 0,
        others=(gone, Member(character(BROM, "Brom"), 4)),
    )  # fmt: skip
    assert [m.character.card.name for m in session.cast] == ["Rin", "Brom"]
    assert (session.member(KAI), session.member(BROM)) == (None, session.others[1])
    names = [session.author(turn).card.name for turn in (
        by(reply(1, "x"), KAI), by(reply(2, "x"), BROM), by(reply(3, "x"), 99), said(4, "Mio", "hi", player_id=BROM),
    )]  # fmt: skip
    assert names == ["Kai", "Brom", "Rin", "Rin"]


# A scene as the store and the engine play it, for each viewer on the same turns.
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["player", "player", "rin", "brom", "kai"]),
        st.text("ab \n:`漢", min_size=1, max_size=60),
        st.sampled_from(["", "[3 hours have passed]"]),
        st.booleans(),
    ),
    max_size=30,
)
NAMES = {"rin": ("Rin", RIN), "brom": ("Brom", BROM), "kai": ("Kai", KAI)}


@settings(max_examples=120)
@given(EVENTS, st.integers(0, 12))
def test_each_ones_prompts_only_grow_and_hold_nobody_elses_thoughts(
    events: list[tuple[str, str, str, bool]], joined: int
) -> None:
    turns: list[Turn] = []
    tails: dict[tuple[int, int], str] = {}
    answered: dict[int, str] = {}
    for seq, (who, text, tail, is_json) in enumerate(events, start=1):
        if who == "player":
            turns.append(said(seq, "Mio", f"x {text}"))
            continue
        name, viewer = NAMES[who]
        if viewer == KAI and seq < joined:
            continue
        since = joined if viewer == KAI else 0
        shown = [replace(t, tail=tails.get((t.id, viewer), "")) for t in turns if t.seq >= since]
        if tail and shown and shown[-1].author.id != viewer:
            tails.setdefault((shown[-1].id, viewer), tail)
            shown[-1] = replace(shown[-1], tail=tails[shown[-1].id, viewer])
        messages = build(f"SYSTEM {name}", f"MEMORY {name}", shown, "en", viewer)
        prompt = flat(messages)
        before = answered.get(viewer, "")
        assert prompt.startswith(before), "an answered prompt and its answer stand in the next one to the last byte"
        assert [m.role for m in messages[1:]] == [
            "user" if i % 2 == 0 else "assistant" for i in range(len(messages) - 1)
        ]
        for other in {"Rin", "Brom", "Kai"} - {name}:
            assert f"mulls{other}" not in prompt
        beats = (("speech", f"y {text.replace('`', '')}"), ("thought", f"mulls{name}"))
        turn = as_json(seq, name, viewer, *beats)
        if not is_json:
            raw = f"“y {text.replace('`', '')}” `mulls{name}`"
            turn = replace(turn, raw=raw, beats=parse_reply(raw, name))
        assert any(beat.kind is BeatKind.THOUGHT for beat in turn.beats)
        answered[viewer] = f"{prompt}<assistant>\n{turn.raw}\n"
        turns.append(turn)
