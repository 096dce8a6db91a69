"""Characters, each within its guild or, for direct messages, its owner."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, and_, exists, insert, select, update
from sqlalchemy.exc import IntegrityError

from bot.errors import Refused
from bot.memory.prompt import Card
from bot.memory.story import Character, Scope
from bot.store.rows import Topic, character_of
from bot.store.tables import characters, sessions


class CharacterStore(Topic):
    """Adding, finding and removing characters."""

    async def add_character(self, scope: Scope, card: Card, avatar_url: str, at: datetime) -> Character:
        """Raises Refused when the scope has a character of that name, whatever the case of its letters."""
        values = {
            "guild_id": scope.guild_id,
            "owner_id": scope.owner_id,
            "name": card.name,
            "name_key": card.name.casefold(),
            "description": card.description,
            "first_message": card.first_message,
            "avatar_url": avatar_url,
            "created_at": at,
        }
        try:
            async with self._database.write() as connection:
                row = (await connection.execute(insert(characters).values(values).returning(characters))).one()
        except IntegrityError as error:
            raise Refused("character-name-taken", name=card.name) from error
        return character_of(row)

    async def characters(self, scope: Scope) -> tuple[Character, ...]:
        """The characters that may be used in a scope, by name."""
        statement = select(characters).where(_usable(scope)).order_by(characters.c.name_key)
        async with self._database.read() as connection:
            return tuple(character_of(row) for row in await connection.execute(statement))

    async def character_named(self, scope: Scope, name: str) -> Character | None:
        """The character of that name in a scope, whatever the case of its letters."""
        statement = select(characters).where(_usable(scope), characters.c.name_key == name.casefold())
        async with self._database.read() as connection:
            row = (await connection.execute(statement)).one_or_none()
        return character_of(row) if row else None

    async def remove_character(self, character_id: int, at: datetime) -> None:
        """Take a character out of use; its sessions stay readable, and its name is free again."""
        statement = update(characters).where(characters.c.id == character_id, characters.c.removed_at.is_(None))
        async with self._database.write() as connection:
            await connection.execute(statement.values(removed_at=at))

    async def character_in_use(self, character_id: int) -> bool:
        """Whether a running session plays this character."""
        running = exists().where(sessions.c.character_id == character_id, sessions.c.stopped_at.is_(None))
        async with self._database.read() as connection:
            return bool(await connection.scalar(select(running)))


def _usable(scope: Scope) -> ColumnElement[bool]:
    if scope.guild_id is None:
        own = and_(characters.c.guild_id.is_(None), characters.c.owner_id == scope.owner_id)
    else:
        own = characters.c.guild_id == scope.guild_id
    return and_(own, characters.c.removed_at.is_(None))
