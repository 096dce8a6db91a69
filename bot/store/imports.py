"""Traits from old records, added to what a character keeps about a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import insert, select

from bot.memory.people import Trait
from bot.memory.story import Character
from bot.store.exchanges import meet
from bot.store.people import lock_people, unwilling
from bot.store.people_tables import acquaintances, traits
from bot.store.rows import Topic, character_of
from bot.store.tables import characters, players, sessions


class ImportStore(Topic):
    """Looking up whom an import is about, and adding its traits."""

    async def characters_called(self, named: str, guild_id: int | None) -> tuple[Character, ...]:
        """The character in use with that number; where there is none, those with that name. ``guild_id`` narrows them down."""
        in_use = select(characters).where(characters.c.removed_at.is_(None)).order_by(characters.c.id)
        if guild_id is not None:
            in_use = in_use.where(characters.c.guild_id == guild_id)
        async with self._database.read() as connection:
            if named.isascii() and named.isdigit() and len(named) < 10:
                row = (await connection.execute(in_use.where(characters.c.id == int(named)))).one_or_none()
                if row is not None:
                    return (character_of(row),)
            rows = await connection.execute(in_use.where(characters.c.name_key == named.strip().casefold()))
            return tuple(character_of(row) for row in rows)

    async def player_name(self, character_id: int, player_id: int) -> str | None:
        """What a player was called last where this character is played; None when the two never met."""
        of_person = acquaintances.c.character_id == character_id, acquaintances.c.player_id == player_id
        of_stories = (
            select(players.c.name)
            .join(sessions)
            .where(sessions.c.character_id == character_id, players.c.player_id == player_id)
            .order_by(players.c.session_id.desc())
            .limit(1)
        )
        async with self._database.read() as connection:
            name = await connection.scalar(select(acquaintances.c.name).where(*of_person))
            name = name or await connection.scalar(of_stories)
        return None if name is None else str(name)

    async def import_traits(
        self, character_id: int, player_id: int, name: str, lines: Mapping[str, Trait]
    ) -> int | None:
        """Add the traits whose key no earlier import has brought; how many those are.

        None, and nothing is written, when the player does not want to be remembered.
        """
        async with self._database.write() as connection:
            await lock_people(connection, character_id)
            if await connection.scalar(unwilling([player_id])) is not None:
                return None
            acquaintance_id = await meet(connection, character_id, player_id, name)
            if acquaintance_id is None:
                return None
            of_person = select(traits.c.imported).where(
                traits.c.acquaintance_id == acquaintance_id, traits.c.imported.is_not(None)
            )
            known = set(await connection.scalars(of_person))
            new = [_values(acquaintance_id, key, trait) for key, trait in lines.items() if key not in known]
            if new:
                await connection.execute(insert(traits), new)
            return len(new)


def _values(acquaintance_id: int, key: str, trait: Trait) -> dict[str, Any]:
    columns = {name: value for name, value in asdict(trait).items() if name not in ("id", "sources")}
    return {**columns, "acquaintance_id": acquaintance_id, "imported": key}
