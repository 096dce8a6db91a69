"""The use cases of the manners of a session: what its players set, and how long an answer has to wait.

Built on the engine, which commits who waits; knows neither Discord nor SQL.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.engine import Engine
from bot.errors import NotFound, Refused
from bot.memory.manners import Marks, Mode, SessionManners
from bot.memory.story import Session
from bot.memory.turns import Turn
from bot.store import Store

log = logging.getLogger(__name__)

_MINUTE: Final = timedelta(minutes=1)


class Reason(StrEnum):
    """What an answer waits for: the end of the pause, or a limit that a player, or all of the guild, has reached."""

    PAUSE = "pause"
    PLAYER = "player"
    GUILD = "guild"


@dataclass(frozen=True, slots=True)
class Wait:
    """An answer that cannot be given yet. ``names`` are the labels of those who wait for it."""

    seconds: float
    reason: Reason
    names: tuple[str, ...]

    @property
    def is_limit(self) -> bool:
        """Whether people should be told why nobody answers."""
        return self.reason is not Reason.PAUSE


class Limit:
    """How often something may happen for each of many within a minute that slides along; 0 is without a limit."""

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._times: dict[int, deque[datetime]] = {}

    def free_at(self, key: int, now: datetime) -> datetime:
        """When it may happen again: now, or when the minute has slid far enough."""
        times = self._recent(key, now)
        return now if len(times) < self._most or not self._most else times[-self._most] + _MINUTE

    def count(self, key: int, now: datetime) -> None:
        """It happens now."""
        if not self._most:
            return
        # Whoever counted last stands last, so that those whose minute is over stand first.
        self._times[key] = times = self._times.pop(key, None) or deque(maxlen=self._most)
        times.append(now)
        while not self._recent(next(iter(self._times)), now):
            del self._times[next(iter(self._times))]

    def _recent(self, key: int, now: datetime) -> deque[datetime]:
        times = self._times.get(key, deque())
        while times and times[0] + _MINUTE <= now:
            times.popleft()
        return times


class Manners:
    """Every use case, one method each. The limits are replies within a minute, 0 for none; they are forgotten at a restart.

    ``clock`` gives aware UTC times.
    """

    def __init__(
        self, store: Store, engine: Engine, *, player_limit: int, guild_limit: int, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._engine = engine
        self._players = Limit(player_limit)
        self._guilds = Limit(guild_limit)
        self._clock = clock

    async def change(
        self,
        session_id: int,
        *,
        mode: Mode | None = None,
        pause_seconds: int | None = None,
        marks: Marks | None = None,
    ) -> SessionManners:
        """Set what is given, and say what holds then. Raises NotFound."""
        manners = (await self._engine.session(session_id)).manners
        chosen = SessionManners(mode or manners.mode, pause_seconds or manners.pause_seconds, marks or manners.marks)
        if chosen != manners:
            await self._store.save_manners(session_id, chosen)
            log.info(
                "session %d: %s, pause %d s, marks %s", session_id, chosen.mode, chosen.pause_seconds, chosen.marks
            )
        return chosen

    async def waiting(self, session_id: int) -> tuple[Session, Sequence[Turn]]:
        """A session and the turns in it that wait for an answer. Raises NotFound."""
        try:
            return await self._store.waiting(session_id)
        except LookupError as error:
            raise NotFound("session-unknown") from error

    def admit(self, session: Session, waiting: Sequence[Turn]) -> Wait | None:
        """Let a session be answered now, which counts as a reply to all who wait, or say how long that has to wait.

        One whose turn it is brings along those who are over their limit.
        """
        if not waiting:
            return None
        now, guild_id = self._clock(), session.place.guild_id
        players = {turn.author.id for turn in waiting}
        due = self._free_at(players, guild_id, now)
        if session.manners.mode is Mode.PAUSE:
            due.append((waiting[-1].at + timedelta(seconds=session.manners.pause_seconds), Reason.PAUSE))
        at, reason = max(due)
        if at > now:
            return Wait((at - now).total_seconds(), reason, _names(waiting))
        self._count(players, guild_id, now)
        return None

    def spend(self, session: Session, player_id: int) -> None:
        """Count a reply that a player asks for without a message. Raises Refused when a limit does not allow it yet."""
        now, guild_id = self._clock(), session.place.guild_id
        at, reason = max(self._free_at({player_id}, guild_id, now))
        if at > now:
            raise Refused(f"manners-spent-{reason}", seconds=math.ceil((at - now).total_seconds()))
        self._count({player_id}, guild_id, now)

    def _free_at(self, players: Collection[int], guild_id: int | None, now: datetime) -> list[tuple[datetime, Reason]]:
        """When the limits allow a reply to any of some players: each with what it waits for."""
        free = [(min(self._players.free_at(player, now) for player in players), Reason.PLAYER)]
        if guild_id is not None:
            free.append((self._guilds.free_at(guild_id, now), Reason.GUILD))
        return free

    def _count(self, players: Iterable[int], guild_id: int | None, now: datetime) -> None:
        for player in players:
            self._players.count(player, now)
        if guild_id is not None:
            self._guilds.count(guild_id, now)


def _names(waiting: Iterable[Turn]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(turn.author.name for turn in waiting))
