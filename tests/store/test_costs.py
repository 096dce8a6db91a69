"""What a message costs must not grow with the story: no statement on its way reads a whole table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event as events

from bot.memory.turns import Telling
from bot.store import Store
from bot.store.database import SQLite
from tests.store.tale import Tale, event, later, over, said


@contextmanager
def _statements(store: Store) -> Iterator[list[tuple[str, Any]]]:
    """Everything that is executed meanwhile, with its parameters."""
    seen: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *more: Any) -> None:
        seen.append((statement, parameters))

    assert isinstance(store._database, SQLite)
    engine = store._database.engine
    events.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        events.remove(engine, "before_cursor_execute", note)


async def _scans(store: Store, statements: list[tuple[str, Any]]) -> list[str]:
    """The steps of SQLite's plans that read a table without an index."""
    found = []
    async with store._database.read() as connection:
        for statement, parameters in statements:
            if statement.startswith(("SELECT", "UPDATE", "INSERT", "DELETE")):
                plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                found += [f"{row.detail}: {statement}" for row in plan if row.detail.startswith("SCAN ")]
    return [step for step in found if not step.startswith(("SCAN CONSTANT ROW", "SCAN (subquery"))]


@pytest.fixture
async def told(tale: Tale) -> Tale:
    await tale.exchanges(4)
    await tale.chapter(1, 6, event("They met.", 1))
    return tale


async def test_a_message_and_its_reply_read_no_whole_table(told: Tale) -> None:
    store = told.store
    with _statements(store) as statements:
        message = told.message("Hello.")
        await store.running_session(told.channel_id)
        await store.add_player_turn(told.session_id, message, said("Hello."), 5, over(0))
        begun = await store.begin_reply(told.session_id, later())
        assert begun is not None
        await store.snapshot(told.session_id)
        await store.finish_reply(begun.id, Telling("Yes.", said("Yes."), 3, "stop", 1, 1, 1, "small"), over(0))
        await store.tie_messages(begun.id, told.channel_id, [9_000_001])
        await store.turn_of_message(9_000_001)
        await store.recent_turns(told.session_id, 5)
        await store.edit_turn(begun.id, "No.", said("No."), 3, later(), lambda _: pytest.fail("not covered"))
        await store.delete_turns([9_000_001], later(), lambda _: pytest.fail("not covered"))

    assert len(statements) > 20
    assert await _scans(store, statements) == []


async def test_looking_for_work_reads_no_whole_table(told: Tale) -> None:
    store = told.store
    with _statements(store) as statements:
        await store.due_folds(later())
        await store.next_due()
        await store.recover_folds()
        await store.undelivered()

    assert await _scans(store, statements) == []


async def test_a_whole_table_would_be_seen(told: Tale) -> None:
    with _statements(told.store) as statements:
        await told.store.calls(None)

    (step,) = await _scans(told.store, statements)
    assert step.startswith("SCAN calls")
