"""A session's manners, and which turns wait."""

from __future__ import annotations

from sqlalchemy import text

from bot.memory.manners import Marks, Mode, SessionManners
from bot.store import Store
from bot.store.tables import turns
from tests.store.tale import Tale, begin, never, rows, said


async def hear(tale: Tale, words: str, *, waits: bool) -> None:
    message = tale.message(words)
    assert await tale.store.add_player_turn(tale.session_id, message, said(words), 10, never(), waits=waits)


async def waiting(tale: Tale) -> list[str]:
    return [turn.raw for turn in (await tale.store.waiting(tale.session_id))[1]]


async def test_a_session_has_the_usual_manners_until_they_are_set_and_keeps_its_own(store: Store, tale: Tale) -> None:
    other = await begin(store, channel_id=101)
    before = await store.session(tale.session_id)
    assert before is not None
    assert before.manners == SessionManners()
    chosen = SessionManners(Mode.PAUSE, 45, Marks.SLASHES)

    await store.save_manners(tale.session_id, chosen)

    assert [s.manners for s in await store.sessions_in(tale.channel_id)] == [chosen]
    assert [s.manners for s in await store.sessions_in(other.channel_id)] == [SessionManners()]


async def test_only_who_waits_makes_a_reply_begin_and_the_others_are_answered_with_it(tale: Tale) -> None:
    await hear(tale, "To nobody.", waits=False)
    assert await waiting(tale) == []
    assert await tale.store.interrupted() == ()
    assert await tale.store.begin_reply(tale.session_id, tale.message("").at) is None

    await hear(tale, "Rin?", waits=True)
    await hear(tale, "To nobody again.", waits=False)
    assert await waiting(tale) == ["Rin?"]
    assert [session.id for session in await tale.store.interrupted()] == [tale.session_id]

    reply = await tale.reply()
    assert await waiting(tale) == []
    assert [turn.raw for turn in await tale.store.turns(tale.session_id, 1, reply.seq - 1)] == [
        "To nobody.", "Rin?", "To nobody again.",
    ]  # fmt: skip


async def test_a_turn_from_before_there_were_manners_waits(tale: Tale) -> None:
    await tale.player("Hello?")
    async with tale.store._database.write() as connection:
        await connection.execute(text("UPDATE turns SET waits = NULL"))

    assert [row.waits for row in await rows(tale.store, turns)] == [None]
    assert await waiting(tale) == ["Hello?"]
