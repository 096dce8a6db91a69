"""What is executed often goes to SQLite as it is: it finds, writes and refuses what it does through SQLAlchemy."""

from __future__ import annotations

import gc
import weakref
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import (
    CursorResult,
    String,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.exc import IntegrityError, MultipleResultsFound, NoResultFound, StatementError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.story import FoldKind, FoldState
from bot.store import Store, compiled
from bot.store.compiled import Found, made
from bot.store.database import SQLite
from bot.store.tables import folds, messages, players, webhooks
from tests.store.tale import Tale

OFTEN = 8
AT = datetime(2026, 4, 2, 5, 30, 0, 250_000, UTC)


@pytest.fixture
async def connection(store: Store) -> AsyncIterator[AsyncConnection]:
    async with store._database.write() as open_one:
        yield open_one


async def often(connection: AsyncConnection, statement: Any, parameters: Any = None) -> list[list[Any]]:
    """What a statement finds each of many times, as plain tuples."""
    return [[tuple(row) for row in await connection.execute(statement, parameters)] for _ in range(OFTEN)]


async def add(connection: AsyncConnection, *ids: int) -> None:
    for each in ids:
        await connection.execute(insert(webhooks).values(webhook_id=each, channel_id=each * 10))


async def test_a_statement_is_compiled_once_it_is_executed_often(connection: AsyncConnection) -> None:
    statement = select(webhooks.c.webhook_id).where(webhooks.c.channel_id == bindparam("channel"))
    await add(connection, 1)
    found = [await connection.execute(statement, {"channel": 10}) for _ in range(OFTEN)]

    kinds = [type(result).__name__ for result in found]
    assert (kinds[0], kinds[-1]) == (CursorResult.__name__, Found.__name__)
    assert [result.all() for result in found] == [[(1,)]] * OFTEN


async def test_lists_of_any_length_are_asked_for(connection: AsyncConnection) -> None:
    statement = (
        select(webhooks.c.webhook_id, literal("x").label("sign"))
        .where(webhooks.c.webhook_id.in_(bindparam("ids", expanding=True)), webhooks.c.channel_id.in_((10, 20, 30)))
        .order_by(webhooks.c.webhook_id)
    )
    await add(connection, 1, 2, 3, 4)

    asked: Sequence[list[int]] = ([1], [1, 2, 3, 4], [], [3, 9], [2], [])
    for _ in range(OFTEN):
        found = [[row.webhook_id for row in await connection.execute(statement, {"ids": ids})] for ids in asked]
        assert found == [[1], [1, 2, 3], [], [3], [2], []]


async def test_pairs_and_statements_of_several_parts(connection: AsyncConnection) -> None:
    await add(connection, 1, 2)
    pair = tuple_(webhooks.c.webhook_id, webhooks.c.channel_id)
    pairs = select(webhooks.c.webhook_id).where(pair.in_(bindparam("pairs", expanding=True)))
    both = union_all(select(webhooks.c.webhook_id), select(webhooks.c.channel_id))

    assert await often(connection, pairs, {"pairs": [(1, 10), (2, 21)]}) == [[(1,)]] * OFTEN
    assert [sorted(rows) for rows in await often(connection, both)] == [[(1,), (2,), (10,), (20,)]] * OFTEN


async def test_values_of_the_domain_come_back_as_they_are(tale: Tale) -> None:
    add_fold = insert(folds).returning(folds)
    values = {
        "session_id": tale.session_id, "kind": FoldKind.FOLD, "state": FoldState.DONE, "due_at": AT, "attempts": 1, "error": "",
    }  # fmt: skip
    has = select(exists().where(folds.c.session_id == bindparam("session")).label("known"))
    async with tale.store._database.write() as connection:
        for _ in range(OFTEN):
            row = (await connection.execute(add_fold, values)).one()
            known = (await connection.execute(has, {"session": tale.session_id})).scalar_one()

            assert (row.kind, row.state, row.due_at, row.chapter) == (FoldKind.FOLD, FoldState.DONE, AT, None)
            assert dict(row._mapping)["due_at"] == AT
            assert known is True
            assert isinstance(row.state, FoldState)


async def test_what_is_written_is_told_by_its_count(connection: AsyncConnection) -> None:
    change = update(webhooks).where(webhooks.c.webhook_id == bindparam("id"))
    drop = delete(webhooks).where(webhooks.c.webhook_id == bindparam("id"))
    await add(connection, 1)

    for channel in range(OFTEN):
        assert (await connection.execute(change, {"id": 1, "channel_id": channel})).rowcount == 1
        assert (await connection.execute(change, {"id": 2, "channel_id": channel})).rowcount == 0
        assert await connection.scalar(select(webhooks.c.channel_id)) == channel
    for _ in range(OFTEN):
        assert (await connection.execute(drop, {"id": 2})).rowcount == 0


async def test_the_same_statement_with_other_values_writes_other_columns(connection: AsyncConnection) -> None:
    change = update(webhooks).where(webhooks.c.webhook_id == bindparam("id"))
    await add(connection, 1)

    for turn in range(OFTEN):
        await connection.execute(change, {"id": 1, "channel_id": turn})
        await connection.execute(change, {"id": 1, "webhook_id": 1})
        assert (await connection.execute(select(webhooks))).all() == [(turn, 1)] or (
            await connection.execute(select(webhooks.c.channel_id))
        ).all() == [(turn,)]


async def test_a_row_is_asked_for_in_every_way(connection: AsyncConnection) -> None:
    ids = select(webhooks.c.webhook_id).order_by(webhooks.c.webhook_id)
    none = ids.where(webhooks.c.webhook_id == bindparam("id"))
    await add(connection, 1, 2)

    for _ in range(OFTEN):
        assert (await connection.scalars(ids)).all() == [1, 2]
        assert await connection.scalar(ids) == 1
        assert await connection.scalar(none, {"id": 7}) is None
        assert (await connection.execute(none, {"id": 7})).first() is None
        assert (await connection.execute(none, {"id": 2})).one_or_none() == (2,)
        assert (await connection.execute(none, {"id": 7})).scalar_one_or_none() is None
        assert (await connection.execute(none, {"id": 2})).scalar_one_or_none() == 2
        with pytest.raises(MultipleResultsFound):
            (await connection.execute(ids)).one()
        with pytest.raises(NoResultFound):
            (await connection.execute(none, {"id": 7})).scalar_one()


async def test_what_may_not_be_is_refused_in_the_same_words(tale: Tale) -> None:
    tie = insert(messages)
    due = select(func.count()).where(folds.c.due_at == bindparam("at", type_=folds.c.due_at.type))
    async with tale.store._database.read() as connection:
        for _ in range(OFTEN):
            with pytest.raises(StatementError, match="without a zone"):
                await connection.scalar(due, {"at": datetime(2026, 4, 2)})  # noqa: DTZ001 - what is refused
            with pytest.raises(StatementError, match="'at'"):
                await connection.scalar(due, {"another": 1})
    for _ in range(OFTEN):
        with pytest.raises(IntegrityError) as caught:
            async with tale.store._database.write() as connection:
                await connection.execute(tie, {"message_id": 770_077, "channel_id": 1, "turn_id": 77})
        assert "770077" not in str(caught.value)


async def test_many_rows_at_once_go_through_sqlalchemy(connection: AsyncConnection) -> None:
    many = insert(webhooks)
    for turn in range(OFTEN):
        rows = [{"webhook_id": 2 * turn + each, "channel_id": 1} for each in range(2)]
        await connection.execute(many, rows)

    assert await connection.scalar(select(func.count()).select_from(webhooks)) == 2 * OFTEN


async def test_columns_of_one_name_do_not_hide_each_other(tale: Tale) -> None:
    joined = select(players.c.name, webhooks.c.channel_id, messages.c.channel_id).select_from(
        players.outerjoin(webhooks, literal(True)).outerjoin(messages, literal(True))
    )
    async with tale.store._database.read() as connection:
        rows = [[tuple(row) for row in await connection.execute(joined)] for _ in range(OFTEN)]

    assert rows == [rows[0]] * OFTEN


async def test_a_row_that_did_not_change_is_not_made_anew(store: Store) -> None:
    rows = select(webhooks).order_by(webhooks.c.webhook_id)
    calls: list[int] = []

    def of(row: Any) -> tuple[int, int]:
        calls.append(row.webhook_id)
        return row.webhook_id, row.channel_id

    async def found() -> list[tuple[int, int]]:
        calls.clear()
        async with store._database.read() as connection:
            return made(await connection.execute(rows), of)

    async with store._database.write() as connection:
        await add(connection, 1, 2)
    for _ in range(OFTEN):
        before = await found()
    assert (before, calls) == ([(1, 10), (2, 20)], [])

    async with store._database.write() as connection:
        await connection.execute(update(webhooks).where(webhooks.c.webhook_id == 2).values(channel_id=7))
        await add(connection, 3)
    assert (await found(), calls) == ([(1, 10), (2, 7), (3, 30)], [2, 3])
    assert (await found(), calls) == ([(1, 10), (2, 7), (3, 30)], [])

    assert await store._database.checkpoint(), "what was there before is forgotten everywhere"
    assert (await found(), calls) == ([(1, 10), (2, 7), (3, 30)], [1, 2, 3])


async def test_what_is_kept_of_rows_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_MOST_KEPT", 25)
    text = select(literal("x").label("n"), bindparam("text", type_=String).label("text"))
    calls: list[int] = []

    def of(row: Any) -> int:
        calls.append(len(row.text))
        return len(row.text)

    async def found(length: int) -> list[int]:
        calls.clear()
        async with store._database.read() as connection:
            return made(await connection.execute(text, {"text": "x" * length}), of)

    for _ in range(OFTEN):
        await found(9)
    assert (await found(9), calls) == ([9], [])
    assert (await found(8), await found(9), calls) == ([8], [9], [])
    assert (await found(10), calls) == ([10], [10]), "one more than there is room for: the others go"
    assert (await found(10), calls) == ([10], [])
    assert (await found(9), calls) == ([9], [9])
    for _ in range(2):
        assert (await found(100), calls) == ([100], [100]), "what is too large by itself is never kept"
    assert (await found(9), calls) == ([9], []), "and nothing goes for it"


async def test_a_statement_that_nobody_keeps_is_forgotten(store: Store) -> None:
    database = store._database
    assert isinstance(database, SQLite)
    statement = select(webhooks.c.webhook_id)
    async with database.read() as connection:
        await often(connection, statement)
        known = connection._forms._known  # type: ignore[attr-defined]
    before, gone = len(known), weakref.ref(statement)
    del statement
    database.engine.clear_compiled_cache()  # SQLAlchemy keeps what it executed last
    gc.collect()

    assert gone() is None
    assert len(known) == before - 1
