"""What a guild set for its moderators, and what its players reported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.corrections import CorrectionKind
from bot.memory.moderation import BY_AUDIT, Flag, FlagState, GuildSettings
from bot.memory.wording import Language
from bot.store.rows import Topic, lock_session
from bot.store.tables import flags, guild_settings, sessions


class ModerationStore(Topic):
    """Guild settings and flags."""

    async def guild_settings(self, guild_id: int) -> GuildSettings:
        """What a guild set; nothing, for a guild that never did."""
        async with self._database.read() as connection:
            statement = select(guild_settings).where(guild_settings.c.guild_id == guild_id)
            row = (await connection.execute(statement)).one_or_none()
        return GuildSettings(**row._mapping) if row else GuildSettings(guild_id)

    async def guild_languages(self) -> dict[int, Language]:
        """The languages that guilds chose, by guild."""
        chosen = select(guild_settings.c.guild_id, guild_settings.c.language).where(
            guild_settings.c.language.is_not(None)
        )
        async with self._database.read() as connection:
            return {row.guild_id: row.language for row in await connection.execute(chosen)}

    async def save_guild_settings(self, settings: GuildSettings) -> None:
        """Keep a guild's settings in place of the former ones."""
        async with self._database.write() as connection:
            await connection.execute(delete(guild_settings).where(guild_settings.c.guild_id == settings.guild_id))
            await connection.execute(insert(guild_settings).values(asdict(settings)))

    async def add_flag(
        self, session_id: int, number: int, *, by: int, why: str, at: datetime, since: datetime, most: int
    ) -> Flag | None:
        """Write a report down; None, and nothing is written, when the player made ``most`` or more after ``since``.

        Raises LookupError.
        """
        recent = select(func.count()).select_from(flags).where(flags.c.by == by, flags.c.at > since)
        values = {"session_id": session_id, "number": number, "by": by, "why": why, "at": at, "state": FlagState.OPEN}
        async with self._database.write() as connection:
            await lock_session(connection, session_id)
            if int((await connection.execute(recent)).scalar_one()) >= most:
                return None
            row = (await connection.execute(insert(flags).values(values).returning(flags))).one()
            return _flag(row)

    async def flag(self, flag_id: int) -> Flag | None:
        """A report by id."""
        async with self._database.read() as connection:
            row = (await connection.execute(select(flags).where(flags.c.id == flag_id))).one_or_none()
        return _flag(row) if row else None

    async def open_flags(self, *, guild_id: int) -> tuple[Flag, ...]:
        """The reports of a guild that nobody has decided, oldest first."""
        of_guild: Select[Any] = select(flags).join(sessions).where(sessions.c.guild_id == guild_id)
        waiting = of_guild.where(flags.c.state == FlagState.OPEN).order_by(flags.c.id)
        async with self._database.read() as connection:
            return tuple(_flag(row) for row in await connection.execute(waiting))

    async def dismiss_flag(self, flag_id: int, *, by: int, at: datetime) -> bool:
        """Decide that nothing has to be done; False when somebody decided before."""
        async with self._database.write() as connection:
            return await decide_flag(connection, flag_id, FlagState.DISMISSED, None, by=by, at=at)


async def raise_flags(connection: AsyncConnection, session_id: int, numbers: Iterable[int], *, at: datetime) -> None:
    """Put memories before the moderators in the name of an audit, within a transaction; not again while one is open."""
    raised = select(flags.c.number).where(
        flags.c.session_id == session_id, flags.c.by == BY_AUDIT, flags.c.state == FlagState.OPEN
    )
    known = set((await connection.execute(raised)).scalars())
    values = {"session_id": session_id, "by": BY_AUDIT, "why": "", "at": at, "state": FlagState.OPEN}
    new = [{**values, "number": number} for number in sorted(set(numbers) - known)]
    if new:
        await connection.execute(insert(flags), new)


async def decide_flag(
    connection: AsyncConnection,
    flag_id: int,
    state: FlagState,
    correction: CorrectionKind | None,
    *,
    by: int,
    at: datetime,
) -> bool:
    """Decide an open report within a transaction; False when it is not open any more."""
    statement = update(flags).where(flags.c.id == flag_id, flags.c.state == FlagState.OPEN)
    decided = statement.values(state=state, correction=correction, decided_by=by, decided_at=at)
    return (await connection.execute(decided)).rowcount == 1


def _flag(row: Row[Any]) -> Flag:
    return Flag(**row._mapping)
