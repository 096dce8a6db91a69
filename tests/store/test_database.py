from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import datetime, timedelta, timezone

import pytest
from sqlalchemy import event, func, insert, make_url, select
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.pool import ConnectionPoolEntry

from bot.store import Call, Store
from bot.store.database import Database, SQLite
from bot.store.tables import folds, messages, webhooks
from tests.store.tale import Tale


async def test_every_connection_checks_foreign_keys_and_waits_for_locks(store: Store) -> None:
    async with AsyncExitStack() as stack:
        connections = [(await stack.enter_async_context(store._database.read()), 200) for _ in range(6)]
        # One that writes waits between tries, so that others go on.
        connections.append((await stack.enter_async_context(store._database.write()), 0))
        for connection, wait in connections:
            values = [
                (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one()
                for name in ("foreign_keys", "journal_mode", "synchronous", "busy_timeout", "secure_delete")
            ]
            assert values == [1, "wal", 1, wait, 1]


async def tie(store: Store, turn_id: int) -> None:
    """A message of a turn, by a statement of its own."""
    async with store._database.write() as connection:
        await connection.execute(insert(messages).values(message_id=1, channel_id=1, turn_id=turn_id))


async def test_a_row_that_points_nowhere_is_refused(store: Store) -> None:
    with pytest.raises(IntegrityError):
        await tie(store, 77)

    async with store._database.read() as connection:
        assert (await connection.execute(select(messages))).all() == []


async def test_an_error_of_the_database_does_not_repeat_what_was_to_be_written(store: Store) -> None:
    with pytest.raises(IntegrityError) as caught:
        await tie(store, 770_077)

    assert "770077" not in str(caught.value)


async def test_the_rollback_of_one_transaction_leaves_another_ones_rows(store: Store) -> None:
    inside, outside = asyncio.Event(), asyncio.Event()

    async def fails() -> None:
        async with store._database.write() as connection:
            await connection.execute(insert(webhooks).values(webhook_id=1, channel_id=1))
            inside.set()
            await outside.wait()
            raise RuntimeError("rolled back")

    failing = asyncio.create_task(fails())
    await inside.wait()
    # It stands in line behind the other, and both are under way when that one fails.
    writing = asyncio.create_task(store.add_webhook(2, 2))
    assert await store.own_webhooks() == frozenset()
    outside.set()
    with pytest.raises(RuntimeError, match="rolled back"):
        await failing
    await writing

    assert await store.own_webhooks() == {2}


async def test_a_cancelled_transaction_leaves_nothing_and_frees_the_line(store: Store) -> None:
    inside = asyncio.Event()

    async def hangs() -> None:
        async with store._database.write() as connection:
            await connection.execute(insert(webhooks).values(webhook_id=1, channel_id=1))
            inside.set()
            await asyncio.Event().wait()

    hanging = asyncio.create_task(hangs())
    await inside.wait()
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    await store.add_webhook(2, 2)

    assert await store.own_webhooks() == {2}


@pytest.mark.parametrize("transaction", ["read", "write", "read_aside", "write_aside"])
async def test_a_connection_in_use_when_the_database_closes_is_closed_when_it_is_given_back(
    url: str, transaction: str
) -> None:
    opened: list[ConnectionPoolEntry] = []
    database = SQLite(make_url(url))
    for engine in (database.engine, database._aside.sync_engine):
        event.listen(engine, "checkout", lambda _, entry, __: opened.append(entry))
    inside, outside = asyncio.Event(), asyncio.Event()

    async def lasts() -> None:
        async with getattr(database, transaction)() as connection:
            inside.set()
            await outside.wait()
            assert (await connection.execute(select(1))).scalar_one() == 1

    lasting = asyncio.create_task(lasts())
    await inside.wait()
    await database.close()
    outside.set()
    await lasting

    assert [entry.dbapi_connection for entry in opened] == [None]


async def test_a_write_waits_for_the_write_of_another_process(store: Store, url: str) -> None:
    other = Database.at(url)
    async with other.write() as connection:
        await connection.execute(insert(webhooks).values(webhook_id=1, channel_id=1))
        writing = asyncio.create_task(store.add_webhook(2, 2))
        assert await store.own_webhooks() == frozenset()
        assert not writing.done()
    await writing
    await other.close()

    assert await store.own_webhooks() == {1, 2}


async def test_a_read_sees_one_state(store: Store) -> None:
    async with store._database.read() as connection:
        count = select(func.count()).select_from(webhooks)
        before = await connection.scalar(count)
        await store.add_webhook(2, 2)

        assert (before, await connection.scalar(count)) == (0, 0)
    assert await store.own_webhooks() == {2}


async def test_times_come_back_aware_and_in_utc(tale: Tale) -> None:
    tokyo = datetime(2026, 4, 2, 5, 30, 1, 250_000, tzinfo=timezone(timedelta(hours=9)))
    await tale.store.record_calls(Call("reply", None, "small", 1, 1, 1, "ok", 1, 5, tokyo))

    (call,) = await tale.store.calls(None)
    assert call.at == tokyo
    assert call.at.utcoffset() == timedelta(0)


async def test_a_time_without_a_zone_is_refused(tale: Tale) -> None:
    naive = datetime(2026, 4, 2, 5, 30)  # noqa: DTZ001
    with pytest.raises(StatementError, match="without a zone"):
        await tale.store.stop_session(tale.session_id, naive)

    session = await tale.store.session(tale.session_id)
    assert session is not None
    assert session.running
    async with tale.store._database.read() as connection:
        with pytest.raises(StatementError, match="without a zone"):
            await connection.execute(select(folds).where(folds.c.due_at < naive))
