"""A session on real parts, without Discord: store, engine and folder against the scripted model server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.core import Core, open_core
from bot.engine import Reply
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import PlayerMessage
from bot.settings import Settings
from tests.support.databases import lay
from tests.support.model_server import ModelServer

CHANNEL = 500
MIO, ALEX = 11, 12
CARD = Card("Rin", "A ferry pilot who bluffs.", '*The engine coughs.* "Mind the step."')

SMALL_BUDGETS: dict[str, Any] = {
    "fold_trigger": 400,
    "fold_ceiling": 900,
    "fold_floor": 100,
    "fold_room": 200,
    "fold_stretch": 500,
    "fold_chapters_total": 60,
    "fold_delay_seconds": 30,
}


@dataclass
class Clock:
    """A clock that only the test moves."""

    time: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def pass_by(self, **parts: float) -> None:
        self.time += timedelta(**parts)


def settings_for(server: ModelServer, database: Path, **changes: object) -> Settings:
    """Settings that know nothing of this machine's environment."""
    values: dict[str, object] = {
        "llm_base_url": server.base_url,
        "database_url": f"sqlite+aiosqlite:///{database.as_posix()}",
        "llm_timeout_seconds": 20,
        **changes,
    }
    return Settings(_env_file=None, **values)  # type: ignore[arg-type]


@dataclass
class Scene:
    """A running session, and short ways to play in it."""

    core: Core
    server: ModelServer
    clock: Clock
    session: Session
    written: int = field(default=1000)

    async def hear(self, text: str, *, by: int = MIO, name: str = "Mio", message_id: int | None = None) -> int:
        """A player writes; the message's id."""
        self.written += 1
        used = message_id or self.written
        self.clock.pass_by(seconds=20)
        message = PlayerMessage(used, CHANNEL, by, name, text, self.clock())
        await self.core.engine.hear(message)
        return used

    async def reply(self) -> Reply:
        """The next reply, which must come."""
        reply = await self.core.engine.reply(self.session.id)
        assert reply is not None
        self.written += 1
        await self.core.engine.delivered(reply.turn.id, CHANNEL, [self.written])
        return reply

    async def exchange(self, text: str, answer: str = '"Aye."', *, by: int = MIO, name: str = "Mio") -> Reply:
        """A message and its reply."""
        self.server.replies.append(answer)
        await self.hear(text, by=by, name=name)
        return await self.reply()

    def prompts(self) -> list[str]:
        """The prompts of all replies so far."""
        return [request.prompt for request in self.server.of("reply")]


@asynccontextmanager
async def open_scene(
    server: ModelServer, database: Path, *, greeting: bool = True, card: Card = CARD, **changes: object
) -> AsyncIterator[Scene]:
    """A new session in a new or existing database."""
    clock = Clock()
    if not database.exists():
        lay(database)
    async with open_core(settings_for(server, database, **changes), clock=clock) as core:
        scope = Scope(1, 9)
        await core.characters.create(scope, card, "")
        started = await core.engine.start_session(Place(1, CHANNEL), scope, card.name, greeting=greeting)
        if started.greeting:
            await core.engine.delivered(started.greeting.turn.id, CHANNEL, [1])
        yield Scene(core, server, clock, started.session)
