"""What a message costs in questions to the database: exact, so that one more is a decision."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from bot.llm.requests import Completion, Usage
from bot.memory.messages import Message
from bot.memory.tokens import MESSAGE_OVERHEAD, Script
from bot.store.database import SQLite
from tests.support.model_server import ModelServer
from tests.support.scene import Scene, open_scene


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@contextmanager
def asked(scene: Scene) -> Iterator[list[str]]:
    """The statements that are executed meanwhile."""
    database = scene.core.store._database
    assert isinstance(database, SQLite)
    seen: list[str] = []

    def note(_: Any, __: Any, statement: str, *more: Any) -> None:
        seen.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


async def heard_and_answered(scene: Scene) -> None:
    """All that a message does on its way through the engine."""
    engine = scene.core.engine
    await scene.hear("Is the pilot aboard?")
    session, waiting = await scene.core.manners.waiting(scene.session.id)
    assert scene.core.manners.admit(session, waiting) is None
    reply = await scene.reply()
    assert not await engine.goes_on(session.id, reply)


async def test_a_message_and_its_answer_are_so_many_questions(server: ModelServer, tmp_path: Path) -> None:
    limits: dict[str, Any] = {"player_replies_per_minute": 0, "guild_replies_per_minute": 0}
    async with open_scene(server, tmp_path / "k.db", **limits) as scene:
        for _ in range(3):
            server.replies.append('"Aye."')
            await heard_and_answered(scene)
        server.replies.append('"Aye."')
        with asked(scene) as statements:
            await heard_and_answered(scene)

    begun = [each for each in statements if each.startswith("BEGIN")]
    assert (begun.count("BEGIN"), begun.count("BEGIN IMMEDIATE")) == (2, 5)
    assert len(statements) - len(begun) == 34


async def test_what_can_find_nothing_is_not_looked_up(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db") as scene:
        with asked(scene) as young:
            await scene.exchange("Where does the ferry go?")
        await scene.core.store.note_forced_cut(scene.session.id, 3)
        with asked(scene) as cut:
            await scene.exchange("Where does the ferry go?")

    assert not any("findable_terms" in statement for statement in young)
    assert any("findable_terms" in statement for statement in cut)


@pytest.mark.parametrize(("llama_cpp", "connections"), [(False, 1), (True, 3)])
async def test_requests_share_a_connection_to_the_model_unless_it_closes_them(
    server: ModelServer, tmp_path: Path, llama_cpp: bool, connections: int
) -> None:
    """llama.cpp closes the connection behind a stream; whoever sends on it at that moment has to ask again."""
    server.llama_cpp = llama_cpp
    async with open_scene(server, tmp_path / "k.db") as scene:
        for _ in range(3):
            await scene.exchange("Hello.")

    replies = server.of("reply")
    assert len(replies) == 3
    assert len({each.peer for each in replies}) == connections


async def test_what_was_learnt_of_tokens_is_written_when_it_changed(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db") as scene:
        counter, store = scene.core.counter, scene.core.store
        prompt = (Message("user", "Is the pilot aboard?"),)

        async def learn(counted: int) -> int:
            """How many statements that took."""
            with asked(scene) as statements:
                await counter.learn(prompt, Completion("Aye.", "stop", Usage(prompt_tokens=counted), "tiny", 1))
            return len(statements)

        assert await learn(12) > 0
        assert [await learn(12) for _ in range(3)] == [0, 0, 0]
        assert await learn(40) > 0
        kept = await store.ratio(scene.core.model.profile.model, Script.LATIN)

    assert kept.counted == pytest.approx(12 * 4 + 40 - 5 * MESSAGE_OVERHEAD)
