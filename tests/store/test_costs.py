"""What a message costs must not grow with the story: no statement on its way reads a whole table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event as events

from bot.memory.memories import Content, MemoryKind, NewMemory, SessionMemory
from bot.memory.policy import Stretch
from bot.memory.story import Head
from bot.memory.turns import Citation, Telling, Understood
from bot.store import Store
from bot.store.database import SQLite
from bot.store.traffic import counted
from tests.store.tale import MIO, Tale, begin, condensed, event, later, over, said


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
        understood = Understood(message, said("Hello."), 5)
        assert await store.hear(replace(message, reply_to=1), lambda *_: understood, over(0))
        await store.waiting(told.session_id)
        begun = await store.begin_reply(told.session_id, later())
        assert begun is not None
        await store.snapshot(told.session_id)
        await store.portraits(told.session_id, [MIO], since=later())
        await store.finish_reply(begun.turn.id, Telling("Yes.", said("Yes."), 3, "stop", 1, 1, 1, "small"), over(0))
        await store.tie_messages(begun.turn.id, told.channel_id, [9_000_001])
        await store.turn_of_message(9_000_001)
        await store.recent_turns(told.session_id, 5)
        await store.edit_turn(begun.turn.id, "No.", said("No."), 3, later(), lambda _: pytest.fail("not covered"))
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


async def _worked(store: Store, channel_id: int, chapters: int) -> tuple[list[tuple[int, int]], SessionMemory]:
    """What a fold, its commit and a page cost, as (queries, rows), in a story with so many absorbed chapters; its memory."""
    tale = await begin(store, channel_id=channel_id)
    kinds = (MemoryKind.FACT, MemoryKind.CLAIM, MemoryKind.QUOTE, MemoryKind.SECRET)
    for chapter in range(chapters):
        await tale.exchanges(1)
        first = 2 * chapter + 1
        found = [
            NewMemory(Content(kind, f"{kind} {number} of {chapter}", "Rin"), (Citation(first, 1),))
            for number in range(20)
            for kind in (*kinds, MemoryKind.LOOSE_END)
        ]
        ends = (await tale.store.memory_for_fold(tale.session_id)).open_ends()
        tied = {m.number: first for m in ends[:5]}
        await tale.chapter(first, first + 1, *found, event(f"They met {chapter}.", first), resolved=tied)
    memory = await store.memory(tale.session_id)
    events = [m.number for m in memory.memories if m.kind is MemoryKind.EVENT]
    await tale.synopsis([c.ordinal for c in memory.chapters], condensed("They met.", *events))
    await tale.exchanges(2)
    first = 2 * chapters + 1
    revisions = await tale.revisions(first, first + 3)
    costs = []
    with counted() as reading:
        known = await store.memory_for_fold(tale.session_id)
        await store.ends_like(tale.session_id, "Where is the key?")
    costs.append((reading.queries, reading.rows))
    with counted() as writing:
        resolved = {known.open_ends()[-1].number: first}
        assert await store.commit_chapter(
            None, tale.session_id, Stretch(first, first + 3), revisions, [event("Then.", first)], resolved,
            by="fold", at=later(30), render=_full,
        )  # fmt: skip
    costs.append((writing.queries, writing.rows))
    with counted() as showing:
        await store.leaf(tale.session_id, 0)
    costs.append((showing.queries, showing.rows))
    return costs, known


def _full(memory: SessionMemory) -> Head:
    """As a renderer for which the first lines are enough."""
    return Head(" ".join(str(m.number) for m in memory.memories), 1, is_full=True)


async def test_a_fold_and_a_page_of_a_long_story_cost_what_they_do_in_a_short_one(store: Store) -> None:
    short, _ = await _worked(store, 1, 4)
    long, known = await _worked(store, 2, 16)

    assert [queries for queries, _ in long] == [queries for queries, _ in short]
    for (_, rows), (_, before) in zip(long, short, strict=True):
        assert rows <= 1.2 * before
    assert len(known.open_ends()) == 40
