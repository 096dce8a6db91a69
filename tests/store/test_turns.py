from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from bot.memory.turns import AuthorKind, Beat, BeatKind, Telling, TurnState, unanswered
from bot.store import Call, Due, Store
from bot.store.tables import messages, turns
from tests.store.tale import KAI, MIO, PLACE, START, Tale, begin, event, later, never, over, render, rows, said


async def test_a_players_turn_comes_back_as_it_was_committed(tale: Tale) -> None:
    message = tale.message("*waves* 「やあ」")
    beats = (Beat(BeatKind.NARRATION, "waves", ""), Beat(BeatKind.SPEECH, "「やあ」", "whoever"))
    turn = await tale.store.add_player_turn(tale.session_id, message, beats, 12, never())

    assert turn is not None
    assert (turn.seq, turn.raw, turn.tokens, turn.revision) == (1, "*waves* 「やあ」", 12, 1)
    assert turn.beats == (Beat(BeatKind.NARRATION, "waves", "Mio"), Beat(BeatKind.SPEECH, "「やあ」", "Mio"))
    assert (turn.author.kind, turn.author.id, turn.author.name) == (AuthorKind.PLAYER, MIO, "Mio")
    assert (turn.state, turn.at) == (TurnState.KEPT, message.at)
    assert await tale.store.turns(tale.session_id, 1, 1) == (turn,)
    found = await tale.store.turn_of_message(message.message_id)
    assert found is not None
    assert (found[0].id, found[1]) == (tale.session_id, turn)


async def test_a_replayed_message_is_known_in_every_session(tale: Tale) -> None:
    other = await begin(tale.store, channel_id=200)
    message = tale.message("Hello.")
    first = await tale.store.add_player_turn(tale.session_id, message, said("Hello."), 5, over(0))
    for session_id in (tale.session_id, other.session_id):
        assert await tale.store.add_player_turn(session_id, message, said("Hello."), 5, over(0)) is None

    assert first is not None
    assert len(await rows(tale.store, turns)) == 1
    assert len(await tale.open_folds()) == 1
    assert (await other.player()).seq == 1


async def test_fifty_messages_at_once_have_seqs_without_gaps(tale: Tale) -> None:
    adding = [tale.player(f"Message {number}.", by=number % 5, name=f"Player {number % 5}") for number in range(50)]
    added = await asyncio.gather(*adding)

    assert sorted(turn.seq for turn in added) == list(range(1, 51))
    stored = await tale.store.turns(tale.session_id, 1, 100)
    assert [turn.seq for turn in stored] == list(range(1, 51))
    assert {turn.raw for turn in stored} == {f"Message {number}." for number in range(50)}
    assert len(await rows(tale.store, messages)) == 50


async def test_fifty_replays_at_once_are_one_turn(tale: Tale) -> None:
    message = tale.message("Hello.")
    adding = [tale.store.add_player_turn(tale.session_id, message, said("Hello."), 5, never()) for _ in range(50)]
    added = await asyncio.gather(*adding)

    assert sum(turn is not None for turn in added) == 1
    assert (await tale.player()).seq == 2


async def test_talk_out_of_character_takes_no_tokens_and_no_reply(tale: Tale) -> None:
    beats = (Beat(BeatKind.OOC, "brb", ""),)
    turn = await tale.store.add_player_turn(tale.session_id, tale.message("((brb))"), beats, 9, never())

    assert turn is not None
    assert (turn.tokens, turn.is_out_of_character) == (0, True)
    assert await tale.store.begin_reply(tale.session_id, later()) is None
    assert (await tale.store.snapshot(tale.session_id)).turns == (turn,)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ([(MIO, "Mio"), (KAI, "Kai")], ["Mio", "Kai"]),
        ([(MIO, "Mio"), (KAI, "Mio"), (1003, "Mio")], ["Mio", "Mio (2)", "Mio (3)"]),
        ([(MIO, "Mio"), (KAI, "mio"), (1003, "Ｍｉｏ")], ["Mio", "mio (2)", "Ｍｉｏ (3)"]),
        ([(MIO, "Rin"), (KAI, "RIN")], ["Rin (2)", "RIN (3)"]),
        ([(MIO, "Mio (2)"), (KAI, "Mio"), (1003, "Mio")], ["Mio (2)", "Mio", "Mio (3)"]),
        ([(MIO, "Mio"), (MIO, "Mia"), (MIO, "Mio")], ["Mio", "Mia", "Mio"]),
        # Mio's older turns still stand in the story, so nobody else may bear the name.
        ([(MIO, "Mio"), (MIO, "Mia"), (KAI, "Mio")], ["Mio", "Mia", "Mio (2)"]),
        ([(MIO, "Mio"), (KAI, "Mio"), (MIO, "Mia"), (KAI, "Mio")], ["Mio", "Mio (2)", "Mia", "Mio (2)"]),
        ([(MIO, "Mio\n  Aoki")], ["Mio Aoki"]),
    ],
)
async def test_players_are_told_apart_by_their_labels(
    tale: Tale, names: list[tuple[int, str]], labels: list[str]
) -> None:
    added = [await tale.player(by=player, name=name) for player, name in names]

    assert [turn.author.name for turn in added] == labels
    assert [turn.author.id for turn in added] == [player for player, _ in names]
    assert [turn.beats[0].speaker for turn in added] == labels


async def test_labels_of_another_session_do_not_count(tale: Tale) -> None:
    other = await begin(tale.store, channel_id=200, name="Mio")
    await tale.player(by=MIO, name="Kai")

    assert (await other.player(by=KAI, name="Kai")).author.name == "Kai"
    assert (await other.player(by=MIO, name="Mio")).author.name == "Mio (2)"


async def test_a_reply_takes_its_place_before_it_is_written(tale: Tale) -> None:
    await tale.player("First.")
    begun = await tale.store.begin_reply(tale.session_id, later(2))
    assert begun is not None
    meanwhile = await tale.player("Second.")
    place = begun.turn
    assert (place.seq, place.state, place.raw, place.beats, place.tokens) == (2, TurnState.WRITING, "", (), 0)
    assert meanwhile.seq == 3
    assert [turn.seq for turn in (await tale.store.snapshot(tale.session_id)).turns] == [1, 3]

    beats = said("Yes.", "Rin")
    turn = await tale.store.finish_reply(
        begun.turn.id, Telling(' "Yes."\n', beats, 14, "length", 900, 850, 14, "small"), never()
    )
    assert (turn.seq, turn.state, turn.raw, turn.beats, turn.tokens) == (2, TurnState.KEPT, ' "Yes."\n', beats, 14)
    (row,) = await rows(tale.store, select(turns).where(turns.c.id == turn.id))
    assert (row.finish_reason, row.prompt_tokens, row.cached_tokens) == ("length", 900, 850)
    assert (row.completion_tokens, row.model, row.delivered) == (14, "small", False)
    assert [t.seq for t in (await tale.store.snapshot(tale.session_id)).turns] == [1, 2, 3]

    after = await tale.store.begin_reply(tale.session_id, later(3))
    assert after is not None
    assert after.turn.seq == 4


async def test_a_reply_begins_only_when_a_player_waits(tale: Tale) -> None:
    assert await tale.store.begin_reply(tale.session_id, later()) is None
    await tale.player()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    assert await tale.store.begin_reply(tale.session_id, later()) is None
    await tale.store.fail_reply(begun.turn.id)
    again = await tale.store.begin_reply(tale.session_id, later())
    assert again is not None
    assert again.turn.seq == 3


async def test_of_many_replies_begun_at_once_one_is_written(tale: Tale) -> None:
    await tale.player()
    begun = await asyncio.gather(*(tale.store.begin_reply(tale.session_id, later()) for _ in range(10)))

    assert sum(turn is not None for turn in begun) == 1


async def test_who_waits_is_what_the_domain_says(tale: Tale) -> None:
    """The statement and ``unanswered`` agree, in each state that a story goes through."""
    store = tale.store

    async def agrees() -> bool:
        expected = bool(unanswered(await store.turns(tale.session_id, 1, 99)))
        begun = await store.begin_reply(tale.session_id, later())
        if begun:
            await store.fail_reply(begun.turn.id)
        return (begun is not None) == expected

    assert await agrees()
    await tale.player()
    assert await agrees()
    reply = await tale.reply(deliver=False)
    assert await agrees()
    await store.fail_reply(reply.id)
    assert await agrees()
    await tale.reply()
    await tale.player("More.")
    assert await agrees()


async def test_a_reply_that_is_not_being_written_cannot_be_finished(tale: Tale) -> None:
    asked = await tale.player()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    await tale.store.fail_reply(begun.turn.id)
    for turn_id in (begun.turn.id, asked.id, 999):
        with pytest.raises(LookupError):
            await tale.store.finish_reply(turn_id, Telling("Yes.", (), 1, "stop", None, None, None, "small"), never())

    assert await tale.store.turns(tale.session_id, 1, 9) == (asked,)


async def test_only_what_did_not_reach_the_players_can_fail(tale: Tale) -> None:
    asked = await tale.player()
    delivered = await tale.reply()
    await tale.player()
    kept = await tale.reply(deliver=False)
    for turn in (asked, delivered, kept):
        await tale.store.fail_reply(turn.id)

    assert [turn.seq for turn in await tale.store.turns(tale.session_id, 1, 9)] == [1, 2, 3]


async def test_no_message_is_tied_to_a_turn_that_is_gone(tale: Tale) -> None:
    for tie in (tale.store.tie_messages, tale.store.show_messages):
        with pytest.raises(LookupError):
            await tie(999, tale.channel_id, [70])

    assert await tale.store.tied([70]) == frozenset()


async def test_tied_messages_lead_to_the_reply_and_deliver_it(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply(deliver=False)
    session = await tale.store.session(tale.session_id)
    assert await tale.store.undelivered() == ((session, reply),)
    await tale.store.tie_messages(reply.id, PLACE.channel_id, [71, 72])
    await tale.store.tie_messages(reply.id, PLACE.channel_id, [71, 72, 73])

    assert await tale.store.undelivered() == ()
    for message_id in (71, 72, 73):
        assert await tale.store.turn_of_message(message_id) == (session, reply)
    assert await tale.store.turn_of_message(74) is None


async def test_exactly_the_tied_messages_carry_a_reply(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply(deliver=False)
    await tale.store.show_messages(reply.id, PLACE.channel_id, [71, 72])
    await tale.store.show_messages(reply.id, PLACE.channel_id, [73])
    assert await tale.store.messages_of(reply.id) == (71, 72, 73)
    await tale.store.tie_messages(reply.id, PLACE.channel_id, [72, 74])

    assert await tale.store.messages_of(reply.id) == (72, 74)
    assert await tale.store.tied([71, 72, 73, 74, 75]) == {72, 74}


async def test_a_reply_that_is_shown_is_not_delivered_yet(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply()
    await tale.store.show_messages(reply.id, PLACE.channel_id, [71])

    assert [turn.id for _, turn in await tale.store.undelivered()] == [reply.id]


async def test_a_message_of_a_reply_that_is_shown_may_go(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply(deliver=False)
    await tale.store.show_messages(reply.id, PLACE.channel_id, [71])
    await tale.store.delete_turns([71], later(), render)
    assert reply in await tale.store.turns(tale.session_id, 1, 9)

    await tale.store.tie_messages(reply.id, PLACE.channel_id, [71])
    await tale.store.delete_turns([71], later(), render)
    assert reply not in await tale.store.turns(tale.session_id, 1, 9)


async def test_a_message_of_a_reply_that_is_shown_hides_no_older_one_of_a_player(tale: Tale) -> None:
    await tale.player()
    before = await tale.store.last_messages()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    await tale.store.show_messages(begun.turn.id, PLACE.channel_id, [9_999_999_999])

    assert await tale.store.last_messages() == before


async def test_what_is_left_of_unfinished_replies_is_named_until_it_is_untied(tale: Tale) -> None:
    session = await tale.store.session(tale.session_id)
    await tale.player()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    await tale.store.show_messages(begun.turn.id, PLACE.channel_id, [71])
    assert await tale.store.unfinished() == ((session, begun.turn),)

    await tale.store.interrupted()
    assert [turn.id for _, turn in await tale.store.unfinished()] == [begun.turn.id]
    await tale.store.tie_messages(begun.turn.id, PLACE.channel_id, [])
    assert await tale.store.unfinished() == ()


async def test_a_message_carries_one_turn_only(tale: Tale) -> None:
    await tale.player()
    first = await tale.reply(deliver=False)
    await tale.player()
    second = await tale.reply(deliver=False)
    await tale.store.tie_messages(first.id, PLACE.channel_id, [71])
    with pytest.raises(IntegrityError):
        await tale.store.tie_messages(second.id, PLACE.channel_id, [70, 71])

    assert [turn.id for _, turn in await tale.store.undelivered()] == [second.id]
    assert await tale.store.turn_of_message(70) is None


async def test_nothing_is_delivered_late_to_a_stopped_session(tale: Tale) -> None:
    await tale.player()
    await tale.reply(deliver=False)
    await tale.store.stop_session(tale.session_id, later())

    assert await tale.store.undelivered() == ()


async def test_after_a_crash_what_was_being_written_failed_and_who_waits_is_named(store: Store) -> None:
    written, waiting, answered, stopped, quiet = [await begin(store, channel_id=200 + n) for n in range(5)]
    for tale in (written, waiting, answered, stopped):
        await tale.player()
    assert await store.begin_reply(written.session_id, later())
    await answered.reply(deliver=False)
    assert await store.begin_reply(stopped.session_id, later())
    await store.stop_session(stopped.session_id, later())

    named = await store.interrupted()
    assert [session.id for session in named] == [written.session_id, waiting.session_id]
    assert [(row.seq, row.state) for row in await rows(store, turns) if row.session_id == stopped.session_id] == [
        (1, TurnState.KEPT),
        (2, TurnState.FAILED),
    ]
    assert [session.id for session, _ in await store.undelivered()] == [answered.session_id]
    again = await store.begin_reply(written.session_id, later())
    assert again is not None
    assert again.turn.seq == 3
    assert (await quiet.player()).seq == 1


async def test_recent_turns_are_the_newest_in_order(tale: Tale) -> None:
    await tale.exchanges(3)

    assert [turn.seq for turn in await tale.store.recent_turns(tale.session_id, 4)] == [3, 4, 5, 6]
    assert len(await tale.store.recent_turns(tale.session_id, 99)) == 6


async def test_a_snapshot_holds_the_turns_that_no_chapter_covers(tale: Tale) -> None:
    await tale.exchanges(3)
    await tale.chapter(1, 4, event("They met.", 1))

    snapshot = await tale.store.snapshot(tale.session_id)
    assert (snapshot.session.folded_to, snapshot.session.memory_tokens) == (4, 10)
    assert snapshot.memory_text == "[1] 1:They met."
    assert [turn.seq for turn in snapshot.turns] == [5, 6]


async def test_a_recount_changes_the_size_and_nothing_else(tale: Tale) -> None:
    turn = await tale.player()
    await tale.store.set_tokens(turn.id, 99)

    (stored,) = await tale.store.turns(tale.session_id, 1, 1)
    assert (stored.tokens, stored.revision, stored.raw) == (99, 1, turn.raw)


async def test_the_turn_that_crosses_the_trigger_plans_one_fold(tale: Tale) -> None:
    asked: list[tuple[int, int]] = []

    def crosses(raw: int, memory: int) -> bool:
        asked.append((raw, memory))
        return raw + memory > 25

    due = Due(crosses, later(30))
    await tale.player(tokens=10, due=due)
    await tale.reply(tokens=10, due=due)
    assert await tale.open_folds() == ()
    await tale.player(tokens=6, due=due)
    (fold,) = await tale.open_folds()
    assert (fold.kind.value, fold.due_at, fold.attempts) == ("fold", later(30), 0)
    await tale.reply(tokens=10, due=due)

    assert asked == [(10, 0), (20, 0), (26, 0), (36, 0)]
    assert await tale.open_folds() == (fold,)


async def test_folded_turns_do_not_count_towards_the_trigger_but_the_memory_does(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.chapter(1, 3, event("They met.", 1), event("They talked.", 3))
    await tale.player(tokens=7, due=over(17 + 20))
    assert await tale.open_folds() == ()
    await tale.player(tokens=1, due=over(17 + 20))

    assert len(await tale.open_folds()) == 1


async def test_a_turn_that_is_not_committed_plans_no_fold(tale: Tale) -> None:
    def broken(raw: int, memory: int) -> bool:
        raise RuntimeError("no trigger")

    message = tale.message("Hello.")
    with pytest.raises(RuntimeError, match="no trigger"):
        await tale.store.add_player_turn(tale.session_id, message, said("Hello."), 5, Due(broken, START))

    assert await rows(tale.store, turns) == []
    assert await tale.store.turn_of_message(message.message_id) is None
    turn = await tale.store.add_player_turn(tale.session_id, message, said("Hello."), 5, over(1))
    assert turn is not None
    assert turn.seq == 1
    assert len(await tale.open_folds()) == 1


async def test_a_reply_and_the_record_of_its_requests_are_committed_together(tale: Tale) -> None:
    def broken(raw: int, memory: int) -> bool:
        raise RuntimeError("no trigger")

    await tale.player()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    telling = Telling("Yes.", said("Yes.", "Rin"), 3, "stop")
    calls = [Call("reply", tale.session_id, "small", 9, 0, 3, outcome, 1, 5, START) for outcome in ("cut", "stop")]
    with pytest.raises(RuntimeError, match="no trigger"):
        await tale.store.finish_reply(begun.turn.id, telling, Due(broken, START), calls=calls)
    assert await tale.store.calls(None) == ()

    await tale.store.finish_reply(begun.turn.id, telling, never(), calls=calls)
    assert [call.outcome for call in await tale.store.calls(tale.session_id)] == ["cut", "stop"]


async def test_a_fold_that_failed_for_good_rests_for_twenty_turns(tale: Tale) -> None:
    await tale.player(due=over(0))
    (fold,) = await tale.open_folds()
    await tale.store.claim_fold(fold.id, later(60))
    await tale.player(due=over(0))
    assert await tale.open_folds() == ()
    await tale.store.fail_fold(fold.id, "refusal", retry_at=None, now=later(61))

    for _ in range(19):
        await tale.player(due=over(0))
    assert await tale.open_folds() == ()
    twentieth = await tale.player(due=over(0))
    assert twentieth.seq == 22
    (planned,) = await tale.open_folds()
    assert planned.id != fold.id
