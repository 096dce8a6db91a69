"""Buttons outlive the process that posted them: each step below happens in a new process of the real bot, over the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import discord
import pytest
from simcord import ChannelHandle, MemberActor

from bot.demo.process import Child
from bot.memory.markup import parse_player
from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus, NewMemory, SessionMemory
from bot.memory.moderation import FlagState, GuildSettings
from bot.memory.policy import Stretch
from bot.memory.prompt import Card, memory_text
from bot.memory.story import Head, Place, Scope
from bot.memory.turns import Citation, PlayerMessage
from bot.store import Due, Store
from tests.support.model_server import ModelServer
from tests.support.wire import DiscordWorld, discord_world, eventually

LIE = "Mio burnt the bridge."


@dataclass
class Table:
    """A world with a log channel, and a database with a story whose memory 1 is a lie."""

    world: DiscordWorld
    server: ModelServer
    mio: MemberActor
    sora: MemberActor
    log: ChannelHandle
    url: str
    session_id: int
    logs: Path
    children: int = 0

    def child(self) -> AbstractAsyncContextManager[Child]:
        """The bot in the next process."""
        self.children += 1
        settings = {"LLM_BASE_URL": self.server.base_url, "DATABASE_URL": self.url}
        return self.world.child(["-m", "bot.demo.child"], settings, log=self.logs / f"{self.children}.log")

    def posted(self) -> list[discord.Message]:
        """What everybody may read in the log channel."""
        return self.log.history()

    async def press(self, actor: MemberActor, number: int, label: str) -> None:
        """Press a button of a message in the log channel."""
        await actor.click(self.posted()[number], label=label)

    async def rows(self) -> tuple[Memory, FlagState | None]:
        """The memory, and the state of the report."""
        async with await Store.open(self.url, migrate=False) as store:
            memory = (await store.memory(self.session_id)).get(1)
            flag = await store.flag(1)
        assert memory is not None
        return memory, flag.state if flag else None


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with ModelServer() as server, discord_world() as world:
        mio = world.add_member("mio")
        sora = world.add_member("sora", permissions=discord.Permissions(manage_messages=True))
        log = world.guild.create_text_channel("log")
        url = f"sqlite:///{(tmp_path / 'k.db').as_posix()}"
        async with await Store.open(url) as store:
            session_id = await story(store, world, mio)
            await store.save_guild_settings(GuildSettings(world.guild.id, None, log.id))
        yield Table(world, server, mio, sora, log, url, session_id, tmp_path)


async def story(store: Store, world: DiscordWorld, mio: MemberActor) -> int:
    """A story of one folded message; the number of its session."""
    now = discord.utils.utcnow()
    character = await store.add_character(Scope(world.guild.id, 1), Card("Rin", "A pilot."), "", now)
    place = Place(world.guild.id, world.channel.id)
    session, _ = await store.start_session(place, character.id, "en", None, Head("[Nothing yet.]", 5), now)
    message = PlayerMessage(7, world.channel.id, mio.id, "Mio", "I cross the bridge.", now)
    turn = await store.add_player_turn(
        session.id, message, parse_player(message.text, "Mio"), 30, Due(lambda _, __: False, now)
    )
    assert turn is not None

    def render(memory: SessionMemory) -> Head:
        return Head(memory_text(memory, "en", open_ends=5), 10)

    await store.commit_chapter(
        None, session.id, Stretch(1, 1), {1: turn.revision},
        [NewMemory(Content(MemoryKind.FACT, LIE), (Citation(1, 1),))], {}, by="fold", at=now, render=render,
    )  # fmt: skip
    await store.stop_session(session.id, now)
    return session.id


async def test_a_report_is_decided_and_undone_each_time_in_another_process(table: Table) -> None:
    async with table.child():
        await table.mio.slash(table.world.channel, "memory flag", number=1, why="I never did.")
        await eventually(lambda: len(table.posted()) == 1, what="the report")
    memory, flag = await table.rows()
    assert (memory.status, memory.content.text, flag) == (MemoryStatus.ACTIVE, LIE, FlagState.OPEN)

    async with table.child():
        await table.press(table.sora, 0, "Retract")
        await eventually(lambda: len(table.posted()) == 2 and not table.posted()[0].components, what="the correction")
    memory, flag = await table.rows()
    assert (memory.status, flag) == (MemoryStatus.RETRACTED, FlagState.DONE)
    assert f"<@{table.sora.id}> took it out." in (table.posted()[0].embeds[0].description or "")

    async with table.child():
        await table.press(table.sora, 1, "Undo")
        await eventually(lambda: len(table.posted()) == 3 and not table.posted()[1].components, what="the undoing")
    memory, flag = await table.rows()
    assert (memory.status, memory.version, flag) == (MemoryStatus.ACTIVE, 3, FlagState.DONE)
