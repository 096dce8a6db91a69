"""A simulated Discord for tests, on a real loopback socket, and ways to connect a bot to it.

::

    async with discord_world() as world:
        alice = world.add_member("alice")
        async with world.connected(client):
            await alice.send(world.channel, "hello")
            await eventually(lambda: world.texts() == ["hello", "hello yourself"])
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import discord
from discord.asset import Asset
from discord.gateway import DiscordWebSocket
from discord.http import Route
from simcord import ChannelHandle, GuildHandle, MemberActor
from simcord.backend import Backend
from simcord.backend.models import Message

from bot.demo.loopback import point_at
from bot.demo.process import Child
from bot.demo.simulation import Simulation
from bot.demo.wire import WireRequest, WireServer
from bot.settings import child_environment
from tests.support.openapi import discords_own

PATIENCE = 10.0
"""Seconds until something that has to happen is taken not to happen; reached in failing tests only."""


async def eventually(check: Callable[[], object], *, within: float = PATIENCE, what: str = "") -> None:
    """Return as soon as ``check`` is true; fail after ``within`` seconds."""
    deadline = time.monotonic() + within
    while not check():
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen within {within} s: {what or check}")
        await asyncio.sleep(0.01)


@contextlib.contextmanager
def pointed_at(server: WireServer) -> Iterator[None]:
    """discord.py of this process pointed at ``server``, and back afterwards."""
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY, Asset.BASE
    point_at(api=server.api, gateway=server.gateway_address, cdn=server.cdn)
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY, Asset.BASE = before


@dataclass(frozen=True, slots=True)
class DiscordWorld:
    """One guild with one text channel, served on a socket. Made by `discord_world`."""

    simulation: Simulation
    server: WireServer
    guild: GuildHandle
    channel: ChannelHandle

    @property
    def backend(self) -> Backend:
        return self.simulation.backend

    def add_member(self, name: str, *, permissions: discord.Permissions | None = None) -> MemberActor:
        """A new member of the guild; ``permissions`` come from a role of their own."""
        roles = [] if permissions is None else [self.guild.create_role(f"role of {name}", permissions=permissions)]
        return self.guild.add_member(self.simulation.create_user(name, global_name=name.title()), roles=roles)

    def messages(self, channel_id: int | None = None) -> list[Message]:
        """The messages of a channel (the first, unless given), oldest first."""
        stored = self.backend.messages[self.channel.id if channel_id is None else channel_id]
        return [stored[message_id] for message_id in sorted(stored)]

    def texts(self, channel_id: int | None = None) -> list[str]:
        return [message.content for message in self.messages(channel_id)]

    @contextlib.asynccontextmanager
    async def connected(self, client: discord.Client, *, token: str | None = None) -> AsyncIterator[discord.Client]:
        """Run ``client`` in this process and loop until the block is left. Raises what ended it before it was ready."""
        # discord.py waits this long for one more guild before it is ready; 2 s unless the client says otherwise.
        client._connection.guild_ready_timeout = 0.05
        with pointed_at(self.server):
            running = asyncio.create_task(client.start(self.server.token if token is None else token))
            try:
                await eventually(lambda: running.done() or client.is_ready(), what="the client became ready")
                if running.done():
                    running.result()
                yield client
            finally:
                await client.close()
                await asyncio.gather(running, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def child(self, arguments: Sequence[str], settings: Mapping[str, str], *, log: Path) -> AsyncIterator[Child]:
        """Run a bot in a process of its own: ``arguments`` to Python, followed by this server's addresses."""
        environment = child_environment({"DISCORD_TOKEN": self.server.token, **settings})
        bot = await Child.start(
            "bot", [*arguments, *self.server.child_arguments], errors_to=log, environment=environment
        )
        try:
            await eventually(lambda: self.server.gateway.connected or not bot.running, within=30, what="bot connected")
            assert bot.running, log.read_text(encoding="utf-8")
            yield bot
        finally:
            await bot.stop()


def violations_of(request: WireRequest) -> list[str]:
    """What Discord's OpenAPI document says against a request; nothing where there is no document."""
    document = discords_own()
    # What is not simulated fails the test as a gap.
    if document is None or request.status == 501:
        return []
    problems = document.problems(request.method, request.path, query=request.query, body=request.json)
    return [f"{request.method} {request.path}: {problem}" for problem in problems]


@contextlib.asynccontextmanager
async def discord_world(
    *, approved_intents: discord.Intents | None = None, heartbeat_ms: int = 41_250
) -> AsyncIterator[DiscordWorld]:
    """Serve a fresh world until the block is left, and fail if the bot asked for what is not simulated, or for what
    Discord's OpenAPI document forbids (where that is found)."""
    simulation = Simulation()
    await simulation.start()
    guild = simulation.create_guild("Harbour")
    channel = guild.create_text_channel("quay")
    violations: list[str] = []
    async with WireServer(simulation.backend, approved_intents=approved_intents, heartbeat_ms=heartbeat_ms) as server:
        server.observers.append(lambda request: violations.extend(violations_of(request)))
        yield DiscordWorld(simulation, server, guild, channel)
    assert not server.gaps, server.gaps
    assert not violations, "\n".join(violations)
