"""simcord's world with the bot outside of this process.

simcord 3.2.1 normally runs the bot inside its own loop, with patched clocks and a virtual time. Here only its state
(`Backend`), its actors and its page are used; time is the wall clock, and "settled" means that the other process has
acknowledged the interaction. This leans on internals of simcord 3.2.1, which is why that version is pinned.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import discord
import simcord
from simcord._clock import Clock
from simcord._dpy_internals import get_state
from simcord.backend import Backend

ACKNOWLEDGE_WITHIN = 3.0
"""Seconds in which Discord wants an interaction acknowledged
(https://discord.com/developers/docs/interactions/receiving-and-responding)."""


class WallClock(Clock):
    """simcord's clock, following the wall clock; `advance` moves it ahead for tests of long deadlines."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._ahead = 0.0
        self._epoch = datetime.now(UTC)

    @property
    def elapsed(self) -> float:  # type: ignore[override]
        """Seconds since the world began."""
        return time.monotonic() - self._started + self._ahead

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._ahead)

    def advance(self, seconds: float) -> None:
        self._ahead += seconds


class Simulation(simcord.Env):
    """The simulated Discord: users act here, the bot answers over the wire."""

    def __init__(self) -> None:
        super().__init__(discord.Client(intents=discord.Intents(guilds=True)), check_errors=False)
        self.backend = Backend(clock=WallClock())

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._started = True
        self._generation = 1
        self._message_states.add(get_state(self.bot))

    async def _settle_internal(
        self,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - simcord's signature
        idle: float = 0.01,
        dispatch: str | None = None,
        _deadline: float | None = None,
    ) -> None:
        """Wait until the newest interaction is acknowledged, at most as long as Discord would."""
        if dispatch != "INTERACTION_CREATE" or not self.backend.interactions:
            return
        newest = self.backend.interactions[max(self.backend.interactions)]
        deadline = time.monotonic() + (ACKNOWLEDGE_WITHIN if timeout is None else timeout)
        while not newest.responded and time.monotonic() < deadline:  # noqa: ASYNC110 - the record has no event
            await asyncio.sleep(idle)

    async def _detach_bot(self) -> None:
        """There is no bot in this process to detach."""
