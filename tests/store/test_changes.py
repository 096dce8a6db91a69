from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.memory.memories import Content as MemoryContent
from bot.memory.memories import MemoryKind, NewMemory, SessionMemory
from bot.memory.story import Head
from bot.memory.turns import Beat, BeatKind, Citation, Telling, TurnState
from bot.store import Store
from bot.store.tables import folds, turns
from tests.store.tale import Tale, begin, event, later, never, render, rows, said


def _not_asked(_: SessionMemory) -> Head:
    raise AssertionError("the head is not touched by turns that no chapter covers")


async def test_an_edit_gives_a_turn_another_text_and_revision(tale: Tale) -> None:
    turn = await tale.player("Hello.")
    touched = await tale.store.edit_turn(turn.id, "Good evening.", said("Good evening."), 15, later(), _not_asked)

    (edited,) = await tale.store.turns(tale.session_id, 1, 1)
    assert touched == {tale.session_id}
    assert (edited.raw, edited.tokens, edited.revision) == ("Good evening.", 15, 2)
    assert edited.beats == said("Good evening.", "Mio")
    assert (edited.author, edited.at, edited.seq) == (turn.author, turn.at, turn.seq)
    assert await rows(tale.store, folds) == []


async def test_an_edit_that_changes_nothing_is_none(tale: Tale) -> None:
    turn = await tale.player("Hello.")
    touched = await tale.store.edit_turn(turn.id, "Hello.", said("Hello."), 10, later(), _not_asked)

    assert touched == frozenset()
    assert await tale.store.turns(tale.session_id, 1, 1) == (turn,)


async def test_an_edit_may_take_a_turn_out_of_character(tale: Tale) -> None:
    turn = await tale.player("Hello.")
    beats = (Beat(BeatKind.OOC, "brb", ""),)
    await tale.store.edit_turn(turn.id, "((brb))", beats, 9, later(), _not_asked)
    assert await tale.store.begin_reply(tale.session_id, later()) is None
    assert (await tale.store.turns(tale.session_id, 1, 1))[0].tokens == 0

    await tale.store.edit_turn(turn.id, "Back.", said("Back."), 4, later(), _not_asked)
    assert await tale.store.begin_reply(tale.session_id, later()) is not None


async def test_only_kept_turns_can_be_edited(tale: Tale) -> None:
    await tale.player()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    assert await tale.store.edit_turn(begun.turn.id, "No.", (), 1, later(), _not_asked) == frozenset()
    with pytest.raises(LookupError, match="no turn 99"):
        await tale.store.edit_turn(99, "No.", (), 1, later(), _not_asked)

    turn = await tale.store.finish_reply(
        begun.turn.id, Telling("Yes.", said("Yes."), 1, "stop", None, None, None, "small"), never()
    )
    assert (turn.raw, turn.revision) == ("Yes.", 1)


async def test_the_words_of_a_deleted_turn_leave_the_database(tale: Tale, tmp_path: Path) -> None:
    message = tale.message("My telephone number is 5550100.")
    await tale.store.add_player_turn(tale.session_id, message, said(message.text), 9, never())
    touched = await tale.store.delete_turns([message.message_id], later(), _not_asked)

    assert touched == {tale.session_id}
    (row,) = await rows(tale.store, turns)
    assert (row.state, row.raw, row.beats, row.tokens, row.revision) == (TurnState.DELETED, "", (), 0, 2)
    assert (await tale.store.snapshot(tale.session_id)).turns == ()
    found = await tale.store.turn_of_message(message.message_id)
    assert found is not None
    assert found[1].state is TurnState.DELETED
    # A replayed event does not bring it back.
    again = await tale.store.add_player_turn(tale.session_id, message, said(message.text), 9, never())
    assert again is None
    await tale.store.close()
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"SQLite format 3" in files
    assert b"5550100" not in files


async def test_a_reply_is_deleted_with_any_of_its_messages(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply(deliver=False)
    await tale.store.tie_messages(reply.id, 1, [71, 72, 73])
    assert await tale.store.delete_turns([72, 73, 4711], later(), _not_asked) == {tale.session_id}
    assert await tale.store.delete_turns([71], later(), _not_asked) == frozenset()

    assert [turn.seq for turn in await tale.store.turns(tale.session_id, 1, 9)] == [1]
    again = await tale.store.begin_reply(tale.session_id, later())
    assert again is not None
    assert again.turn.seq == 3


async def test_a_bulk_deletion_reaches_several_sessions(store: Store) -> None:
    tales = [await begin(store, channel_id=200 + number) for number in range(3)]
    for tale in tales:
        await tale.exchanges(2)
        await tale.chapter(1, 3, event("They met.", 1), event("They talked.", 2))
    doomed = []
    for tale in tales[:2]:
        (turn,) = await store.turns(tale.session_id, 1, 1)
        await store.tie_messages(turn.id, 1, [7_000 + tale.session_id])
        doomed.append(7_000 + tale.session_id)

    assert await store.delete_turns(doomed, later(9), render) == {tale.session_id for tale in tales[:2]}
    assert [await tale.head() for tale in tales] == [
        "[1] 2:They talked.",
        "[1] 2:They talked.",
        "[1] 1:They met. | 2:They talked.",
    ]
    planned = await tales[0].open_folds()
    assert [(fold.session_id, fold.chapter, fold.due_at) for fold in planned] == [
        (tale.session_id, 1, later(9)) for tale in tales[:2]
    ]
    (_, last) = (await store.histories(tales[0].session_id, [1]))[1]
    assert (last.status.value, last.by, last.at) == ("stale", "deletion", later(9))


async def test_one_refold_is_planned_for_each_chapter_that_is_reached(tale: Tale) -> None:
    await tale.exchanges(4)
    await tale.chapter(1, 2, event("They met.", 1))
    await tale.chapter(3, 4, event("They talked.", 3))
    await tale.chapter(5, 6, event("They ate.", 5))
    for seq, text in ((1, "One."), (2, "Two."), (6, "Six."), (7, "Seven."), (1, "One again.")):
        (turn,) = await tale.store.turns(tale.session_id, seq, seq)
        await tale.store.edit_turn(turn.id, text, said(text), 3, later(seq), render)

    planned = await tale.open_folds()
    assert [(fold.kind.value, fold.chapter) for fold in planned] == [("refold", 1), ("refold", 3)]
    assert await tale.statuses() == {1: "stale", 2: "active", 3: "active"}


async def test_edits_at_once_are_all_counted(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.chapter(1, 2, event("They met.", 1))
    (turn,) = await tale.store.turns(tale.session_id, 1, 1)
    texts = [f"Edit {number}." for number in range(10)]
    await asyncio.gather(*(tale.store.edit_turn(turn.id, text, said(text), 3, later(), render) for text in texts))

    (edited,) = await tale.store.turns(tale.session_id, 1, 1)
    assert edited.revision == 11
    assert len((await tale.store.histories(tale.session_id, [1]))[1]) == 2
    assert len(await tale.open_folds()) == 1


async def test_an_edit_whose_head_cannot_be_rendered_is_not_written(tale: Tale) -> None:
    await tale.exchanges(2)
    quote = NewMemory(MemoryContent(MemoryKind.QUOTE, "Question 1.", "Mio"), (Citation(1, 1),))
    await tale.chapter(1, 2, quote)
    (turn,) = await tale.store.turns(tale.session_id, 1, 1)
    with pytest.raises(AssertionError):
        await tale.store.edit_turn(turn.id, "Otherwise.", said("Otherwise."), 3, later(), _not_asked)

    assert await tale.store.turns(tale.session_id, 1, 1) == (turn,)
    assert await tale.statuses() == {1: "active"}
    assert await tale.open_folds() == ()
