"""Guilds that removed the bot, and what becomes of what they left."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import delete, exists, insert, or_, select, union
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.people_tables import acquaintances, active_personas, departures, mornings
from bot.store.removal import remove_acquaintances, remove_session
from bot.store.rows import Topic
from bot.store.search import scrub
from bot.store.tables import characters, guild_settings, sessions, webhooks


class DepartureStore(Topic):
    """A departure is a row from when the bot was removed until it is back, or until nothing of the guild is left."""

    async def guild_left(self, guild_id: int, at: datetime) -> None:
        """A guild removed the bot; the first time counts."""
        async with self._database.write_aside() as connection:
            await _depart(connection, guild_id, at)

    async def guild_joined(self, guild_id: int) -> None:
        """The bot is in a guild, again or still."""
        async with self._database.write_aside() as connection:
            await connection.execute(delete(departures).where(departures.c.guild_id == guild_id))

    async def reconcile_guilds(self, guild_ids: Collection[int], at: datetime) -> frozenset[int]:
        """Bring the departures in line with the guilds that the bot is in. Returns those that count as departed from now."""
        present = frozenset(guild_ids)
        known = union(
            select(characters.c.guild_id),
            select(sessions.c.guild_id),
            select(guild_settings.c.guild_id),
            select(active_personas.c.guild_id).where(active_personas.c.guild_id != 0),
        ).subquery()
        async with self._database.write_aside() as connection:
            gone = set(await connection.scalars(select(departures.c.guild_id)))
            of_database = {
                guild_id for guild_id in await connection.scalars(select(known.c[0])) if guild_id is not None
            }
            for guild_id in gone & present:
                await connection.execute(delete(departures).where(departures.c.guild_id == guild_id))
            new = of_database - present - gone
            for guild_id in sorted(new):
                await _depart(connection, guild_id, at)
            return frozenset(new)

    async def departed(self, before: datetime) -> tuple[int, ...]:
        """The guilds that removed the bot before a time."""
        statement = select(departures.c.guild_id).where(departures.c.at <= before).order_by(departures.c.at)
        async with self._database.read_aside() as connection:
            return tuple(await connection.scalars(statement))

    async def stories_of_guild(self, guild_id: int) -> tuple[int, ...]:
        """The stories of a guild, the oldest first."""
        statement = select(sessions.c.id).where(sessions.c.guild_id == guild_id).order_by(sessions.c.id)
        async with self._database.read_aside() as connection:
            return tuple(await connection.scalars(statement))

    async def remove_story_of(self, guild_id: int, session_id: int) -> bool:
        """Remove a story of a guild that removed the bot; False, and nothing is removed, when the bot is back."""
        async with self._database.write_aside() as connection:
            if not await _is_departed(connection, guild_id):
                return False
            # While its channel is known: a webhook is of a channel, not of a guild.
            places = select(sessions.c.channel_id, sessions.c.parent_id).where(sessions.c.id == session_id)
            channels = {place for row in await connection.execute(places) for place in row if place is not None}
            await connection.execute(delete(webhooks).where(webhooks.c.channel_id.in_(channels)))
            await remove_session(connection, session_id)
            await scrub(connection)
            return True

    async def pictures_of_guild(self, guild_id: int) -> tuple[str, ...]:
        """The addresses of the pictures that go with a guild, of its characters; none when the bot is back."""
        kept = select(characters.c.avatar_url).where(characters.c.guild_id == guild_id, characters.c.avatar_url != "")
        async with self._database.read_aside() as connection:
            if not await _is_departed(connection, guild_id):
                return ()
            return tuple(await connection.scalars(kept.order_by(characters.c.id)))

    async def remove_guild(self, guild_id: int) -> bool:
        """Remove what is left of a guild that removed the bot, and its departure; False when the bot is back."""
        async with self._database.write_aside() as connection:
            if not await _is_departed(connection, guild_id):
                return False
            of_guild = characters.c.guild_id == guild_id
            ids = select(characters.c.id).where(of_guild)
            stories = select(sessions.c.id).where(
                or_(sessions.c.guild_id == guild_id, sessions.c.character_id.in_(ids))
            )
            for session_id in list(await connection.scalars(stories)):
                await remove_session(connection, session_id)
            await remove_acquaintances(connection, acquaintances.c.character_id.in_(ids))
            await connection.execute(delete(characters).where(of_guild))
            for rows in (guild_settings, mornings, active_personas, departures):
                await connection.execute(delete(rows).where(rows.c.guild_id == guild_id))
            await scrub(connection)
        await self._database.checkpoint()
        return True


async def _depart(connection: AsyncConnection, guild_id: int, at: datetime) -> None:
    if not await _is_departed(connection, guild_id):
        await connection.execute(insert(departures).values(guild_id=guild_id, at=at))


async def _is_departed(connection: AsyncConnection, guild_id: int) -> bool:
    return bool(await connection.scalar(select(exists().where(departures.c.guild_id == guild_id))))
