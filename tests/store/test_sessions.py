from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import update

from bot.errors import Refused
from bot.memory.prompt import Card
from bot.memory.story import FoldKind, Head, Place, SessionFigures
from bot.memory.turns import AuthorKind, TurnState
from bot.store import Store
from bot.store.tables import sessions, turns
from tests.store.tale import MIO, PLACE, SCOPE, START, Tale, event, later, over, rows, said


async def test_a_greeting_is_the_first_turn_and_waits_for_delivery(store: Store) -> None:
    character = await store.add_character(SCOPE, Card("Rin", "Keeps a lighthouse.", "Welcome!"), "", START)
    thread = Place(10, 100, 99)
    session, turn = await store.start_session(
        thread, character.id, "ja", ("Welcome!", said("Welcome!", "Rin"), 7), Head("nothing yet", 3), START
    )

    assert turn is not None
    assert (turn.seq, turn.raw, turn.beats, turn.tokens) == (1, "Welcome!", said("Welcome!", "Rin"), 7)
    assert (turn.author.kind, turn.author.id, turn.author.name) == (AuthorKind.CHARACTER, character.id, "Rin")
    assert (turn.state, turn.at, turn.revision) == (TurnState.KEPT, START, 1)
    assert (session.place, session.language, session.memory_tokens) == (thread, "ja", 3)
    assert (session.running, session.folded_to, session.raw_from, session.forced_cuts) == (True, 0, 0, 0)
    snapshot = await store.snapshot(session.id)
    assert (snapshot.session, snapshot.memory_text, snapshot.turns) == (session, "nothing yet", (turn,))
    assert await store.undelivered() == ((session, turn),)
    assert await store.begin_reply(session.id, later()) is None


async def test_one_session_runs_in_a_channel(tale: Tale) -> None:
    store = tale.store
    first = await store.running_session(tale.channel_id)
    assert first is not None
    start = (first.place, first.character.id, "en", None, Head("", 0), later())
    with pytest.raises(Refused, match="session-already-running"):
        await store.start_session(*start)  # type: ignore[arg-type]

    await store.stop_session(first.id, later(5))
    assert await store.running_session(tale.channel_id) is None
    second, _ = await store.start_session(*start)  # type: ignore[arg-type]
    assert await store.running_session(tale.channel_id) == second
    with pytest.raises(Refused, match="session-already-running"):
        await store.resume_session(first.id, later(6))
    stopped = await store.session(first.id)
    assert stopped is not None
    assert (stopped.running, stopped.stopped_at) == (False, later(5))
    assert await store.sessions_in(tale.channel_id) == (second, stopped)

    await store.stop_session(second.id, later(7))
    await store.resume_session(first.id, later(8))
    assert await store.running_session(tale.channel_id) == first


async def test_of_many_starts_at_once_one_wins(store: Store) -> None:
    character = await store.add_character(SCOPE, Card("Rin", "Keeps a lighthouse."), "", START)
    starting = [store.start_session(PLACE, character.id, "en", None, Head("", 0), START) for _ in range(8)]
    results = await asyncio.gather(*starting, return_exceptions=True)

    assert sum(isinstance(result, tuple) for result in results) == 1
    assert sum(isinstance(result, Refused) for result in results) == 7
    assert len(await rows(store, sessions)) == 1


async def test_an_unknown_character_starts_nothing(store: Store) -> None:
    with pytest.raises(LookupError, match="no character 5"):
        await store.start_session(PLACE, 5, "en", None, Head("", 0), START)

    assert await rows(store, sessions) == []


async def test_stopping_twice_keeps_the_first_time(tale: Tale) -> None:
    await tale.store.stop_session(tale.session_id, later(5))
    await tale.store.stop_session(tale.session_id, later(9))

    session = await tale.store.session(tale.session_id)
    assert session is not None
    assert session.stopped_at == later(5)


async def test_the_figures_count_what_is_there(tale: Tale) -> None:
    await tale.exchanges(3)
    await tale.chapter(1, 4, event("They met.", 1), event("They talked.", 3))
    await tale.player("More.", tokens=33, due=over(50))
    failing = await tale.store.begin_reply(tale.session_id, later(3))
    assert failing is not None
    await tale.store.fail_reply(failing.turn.id)

    figures = await tale.store.figures(tale.session_id)
    (fold,) = figures.folds
    assert figures == SessionFigures(turns=7, raw_turns=3, raw_tokens=53, memories=2, chapters=1, folds=(fold,))
    assert (fold.kind, fold.session_id) == (FoldKind.FOLD, tale.session_id)


async def test_what_stands_before_a_turn_counts_among_the_tokens_that_are_not_folded_yet(tale: Tale) -> None:
    await tale.exchanges(2)
    before = (await tale.store.figures(tale.session_id)).raw_tokens
    async with tale.store._database.write() as connection:
        await connection.execute(update(turns).where(turns.c.seq == 3).values(tail="Recalled.", tail_tokens=7))

    assert (await tale.store.figures(tale.session_id)).raw_tokens == before + 7


async def test_the_figures_name_the_newest_five_folds_that_are_not_done(tale: Tale) -> None:
    for chapter in range(8):
        await tale.store.request_fold(tale.session_id, FoldKind.REFOLD, later(chapter), chapter)
    due = await tale.open_folds()
    for fold in due[6:]:
        await tale.store.claim_fold(fold.id, later(10))
    await tale.store.finish_fold(due[7].id, later(11))
    await tale.store.fail_fold(due[6].id, "refusal", retry_at=None, now=later(11))

    figures = await tale.store.figures(tale.session_id)
    assert [(fold.chapter, fold.state.value, fold.error) for fold in figures.folds] == [
        (6, "failed", "refusal"),
        (5, "due", ""),
        (4, "due", ""),
        (3, "due", ""),
        (2, "due", ""),
    ]


async def test_a_forced_cut_is_noted_and_counted(tale: Tale) -> None:
    await tale.store.note_forced_cut(tale.session_id, 12)
    await tale.store.note_forced_cut(tale.session_id, 40)

    session = await tale.store.session(tale.session_id)
    assert session is not None
    assert (session.raw_from, session.forced_cuts) == (40, 2)


async def test_what_is_not_there(store: Store) -> None:
    assert await store.session(1) is None
    assert await store.running_session(PLACE.channel_id) is None
    assert await store.sessions_in(PLACE.channel_id) == ()
    assert await store.archive(1) is None
    for asked in (store.figures(1), store.snapshot(1), store.begin_reply(1, START)):
        with pytest.raises(LookupError, match="no session 1"):
            await asked


async def test_ids_of_discord_fit(store: Store) -> None:
    snowflake = 1_999_999_999_999_999_999
    character = await store.add_character(SCOPE, Card("Rin", "Keeps a lighthouse."), "", START)
    place = Place(snowflake, snowflake + 1, snowflake + 2)
    session, _ = await store.start_session(place, character.id, "en", None, Head("", 0), START)
    tale = Tale(store, session.id)
    turn = await store.add_player_turn(
        session.id, tale.message("Hi.", by=snowflake + 3, message_id=snowflake + 4), said("Hi."), 3, over(100)
    )

    assert turn is not None
    assert turn.author.id == snowflake + 3 != MIO
    assert await store.turn_of_message(snowflake + 4) == (session, turn)
    assert session.place == place
