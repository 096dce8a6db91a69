"""The process is killed between any two steps of a message's way, and started again: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import discord
import pytest
from simcord import MemberActor

from bot.demo.process import Child
from bot.memory.markup import parse_player
from bot.memory.memories import Content, MemoryKind, NewMemory, SessionMemory
from bot.memory.policy import Stretch
from bot.memory.prompt import Card, memory_text
from bot.memory.story import Head, Place, Scope
from bot.memory.turns import Citation, PlayerMessage
from bot.store import Due, Store
from tests.support.model_server import ModelServer, Script
from tests.support.wire import DiscordWorld, discord_world, eventually

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")

QUESTION, ANSWER = "Is the tide out?", "“Ask the gulls.”"
HEARTY = "The crew of the long grey ferry counted every buoy between the harbour wall and the outer light tonight."


@dataclass
class Table:
    """A world, its model server, and a database with a running session."""

    world: DiscordWorld
    server: ModelServer
    mio: MemberActor
    url: str
    session_id: int
    logs: Path
    budgets: dict[str, str]

    def child(self, moment: str | None = None) -> AbstractAsyncContextManager[Child]:
        """The bot in a process of its own; with a moment, one that dies then."""
        arguments = ["-m", "tests.support.mortal", moment] if moment else ["-m", "bot.demo.child"]
        settings = {"LLM_BASE_URL": self.server.base_url, "DATABASE_URL": self.url, **self.budgets}
        name = (moment or "next").replace(":", "-")
        return self.world.child(arguments, settings, log=self.logs / f"{name}.log")

    def answers(self) -> list[str]:
        """What the character said in the channel."""
        return [m.content for m in self.world.messages() if m.webhook_id is not None]

    def notices(self) -> list[Any]:
        """The bot's own messages with a button."""
        return [m for m in self.world.messages() if m.webhook_id is None and m.components]

    async def rows(self) -> list[tuple[str, str]]:
        """Author and text of all kept turns."""
        async with await Store.open(self.url, migrate=False) as store:
            turns = await store.turns(self.session_id, 1, 10_000)
        return [(t.author.name, t.raw) for t in turns]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with ModelServer() as server, discord_world() as world:
        mio = world.add_member("mio")
        url = f"sqlite+aiosqlite:///{(tmp_path / 'k.db').as_posix()}"
        async with await Store.open(url) as store:
            when = discord.utils.utcnow()
            character = await store.add_character(Scope(world.guild.id, 1), Card("Rin", "A pilot."), "", when)
            place = Place(world.guild.id, world.channel.id)
            session, _ = await store.start_session(place, character.id, "en", None, Head("[Nothing yet.]", 5), when)
        server.on_reply = lambda _: ANSWER
        yield Table(world, server, mio, url, session.id, tmp_path, {})


MOMENTS = [
    ("before:hear", "heard, not committed", "caught up from the channel, notice"),
    ("after:hear", "committed, no reply begun", "notice"),
    ("after:begin_reply", "a place taken for the reply", "notice"),
    ("before:finish_reply", "the model has answered", "notice"),
    ("after:finish_reply", "the reply committed, not sent", "sent"),
    ("before:tie_messages", "sent, not known to be", "found in the channel"),
    ("after:tie_messages", "sent and tied", "nothing to do"),
]


@pytest.mark.parametrize(("moment", "state", "then"), MOMENTS)
async def test_killed_at_any_step_of_a_reply(table: Table, moment: str, state: str, then: str) -> None:
    async with table.child(moment) as mortal:
        await table.mio.send(table.world.channel, QUESTION)
        assert await asyncio.wait_for(mortal.wait(), 30) != 0

    async with table.child():
        if then.endswith("notice"):
            await eventually(lambda: table.notices(), what="the notice")
            assert table.answers() == []
            assert await table.rows() == [("Mio", QUESTION)]
            notice = table.world.channel.last_message
            assert notice is not None
            await table.mio.click(notice, label="Try again")
        await eventually(lambda: table.answers() == [ANSWER], what=f"one answer, {state}")
        await eventually(lambda: not table.notices(), what="no notice stays")

        async with asyncio.timeout(30):
            while await _unfinished(table):
                await asyncio.sleep(0.1)

    assert await table.rows() == [("Mio", QUESTION), ("Rin", ANSWER)]
    assert table.answers() == [ANSWER]


WRITTEN = f"{ANSWER} “They know it better than any of us does.”"
HALF_MOMENTS = [
    ("before:show_messages", False),
    ("before:finish_reply", False),
    ("after:finish_reply", True),
]


@pytest.mark.parametrize(("moment", "is_committed"), HALF_MOMENTS)
async def test_killed_while_a_reply_is_shown_as_it_is_written(table: Table, moment: str, is_committed: bool) -> None:
    gate = asyncio.Event()
    table.server.replies.append(Script(WRITTEN, hang=gate, hang_after=4))
    async with table.child(moment) as mortal:
        await table.mio.send(table.world.channel, QUESTION)
        await eventually(lambda: table.answers(), what="the first words")
        gate.set()
        assert await asyncio.wait_for(mortal.wait(), 20) != 0
    assert len(table.answers()) == 1

    table.server.on_reply = lambda _: WRITTEN
    async with table.child():
        if not is_committed:
            await eventually(lambda: table.notices(), what="the notice")
            assert table.answers() == [], "nothing that looks like story"
            notice = table.world.channel.last_message
            assert notice is not None
            await table.mio.click(notice, label="Try again")
        await eventually(lambda: table.answers() == [WRITTEN], what="one whole answer")
        async with asyncio.timeout(20):
            while await _unfinished(table) or len(await table.rows()) < 2:
                await asyncio.sleep(0.1)

    assert await table.rows() == [("Mio", QUESTION), ("Rin", WRITTEN)]
    assert table.answers() == [WRITTEN]


async def _unfinished(table: Table) -> bool:
    """Whether another start would find something to do."""
    async with await Store.open(table.url, migrate=False) as store:
        return bool(await store.undelivered())


def chapter(body: dict[str, Any]) -> dict[str, Any]:
    cite = re.findall(r"^\[(\d+\.\d+) player", body["messages"][-1]["content"], re.MULTILINE)[0]
    item = {"kind": "event", "text": "Mio counts the buoys.", "actual": "", "who": "Mio", "to": "", "cites": [cite]}
    return {"memories": [item], "opened": [], "resolved": []}


FOLD_MOMENTS = [
    "after:claim_fold",
    "before:commit_chapter",
    "after:commit_chapter",
    "before:finish_fold",
    "after:finish_fold",
]


@pytest.mark.parametrize("moment", FOLD_MOMENTS)
async def test_killed_at_any_step_of_a_fold(table: Table, moment: str) -> None:
    table.server.on_fold = chapter
    table.budgets = {
        "FOLD_TRIGGER": "200", "FOLD_CEILING": "900", "FOLD_FLOOR": "40", "FOLD_ROOM": "100",
        "FOLD_STRETCH": "400", "FOLD_DELAY_SECONDS": "0",
    }  # fmt: skip
    async with table.child(moment) as mortal:
        for number in range(1, 9):
            if not mortal.running:
                break
            await table.mio.send(table.world.channel, f"{HEARTY} {number}")
            await eventually(partial(_answered_or_dead, table, mortal, number))
        assert await asyncio.wait_for(mortal.wait(), 30) != 0

    async def chapters() -> int:
        async with await Store.open(table.url, migrate=False) as store:
            return len((await store.memory(table.session_id)).chapters)

    assert await chapters() == (1 if "finish" in moment or moment == "after:commit_chapter" else 0)
    async with table.child():
        async with asyncio.timeout(30):
            while await chapters() < 1 or await _open_folds(table):
                await asyncio.sleep(0.2)
    async with await Store.open(table.url, migrate=False) as store:
        memory = await store.memory(table.session_id)
        told = await store.turns(table.session_id, 1, 10_000)
    spans = [(c.first, c.last) for c in memory.chapters]
    assert spans[0][0] == 1
    assert [first for first, _ in spans[1:]] == [last + 1 for _, last in spans[:-1]]
    assert len(told) >= 4, "folding deletes no turn"


def _answered_or_dead(table: Table, mortal: Child, answers: int) -> bool:
    return len(table.answers()) >= answers or not mortal.running


async def _open_folds(table: Table) -> bool:
    async with await Store.open(table.url, migrate=False) as store:
        return any(fold.state in ("due", "running") for fold in (await store.figures(table.session_id)).folds)


@pytest.mark.parametrize(("moment", "versions"), [("before:save_correction", 1), ("after:save_correction", 2)])
async def test_killed_around_a_correction(table: Table, moment: str, versions: int) -> None:
    moderator = table.world.add_member("judge", permissions=discord.Permissions(manage_messages=True))
    async with await Store.open(table.url) as store:
        number = await _one_event(store, table)
    async with table.child(moment) as mortal:
        slash = asyncio.create_task(
            moderator.slash(
                table.world.channel, "memory correct", number=number, what="retract", reason="never happened"
            )
        )
        assert await asyncio.wait_for(mortal.wait(), 30) != 0
        await asyncio.gather(slash, return_exceptions=True)

    async with await Store.open(table.url, migrate=False) as store:
        detail = await store.detail(table.session_id, number)
        snapshot = await store.snapshot(table.session_id)
    assert detail is not None
    assert len(detail.history) == versions
    assert ("buoys" in snapshot.memory_text) == (versions == 1), "rows and rendered memory change together"


async def _one_event(store: Store, table: Table) -> int:
    """A story of one folded message; the number of its memory."""
    now = discord.utils.utcnow()
    message = PlayerMessage(7, table.world.channel.id, table.mio.id, "Mio", HEARTY, now)
    never = Due(lambda _, __: False, now)
    turn = await store.add_player_turn(table.session_id, message, parse_player(HEARTY, "Mio"), 30, never)
    assert turn is not None
    event = NewMemory(Content(MemoryKind.EVENT, "Mio counts the buoys."), (Citation(turn.seq, 1),))

    def render(memory: SessionMemory) -> Head:
        return Head(memory_text(memory, "en", open_ends=5), 10)

    chapter_ = await store.commit_chapter(
        None, table.session_id, Stretch(turn.seq, turn.seq), {turn.seq: turn.revision}, [event], {},
        by="fold", at=now, render=render,
    )  # fmt: skip
    assert chapter_ is not None
    return (await store.memory(table.session_id)).memories[0].number
