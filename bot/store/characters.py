"""Characters, each within its guild or, for direct messages, its owner."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from bot.errors import Refused
from bot.memory.prompt import Card
from bot.memory.story import Character, Scope
from bot.store.cast_tables import cast, heads
from bot.store.players import is_label
from bot.store.rows import CHARACTERS, Topic, character_of
from bot.store.tables import characters, sessions


class CharacterStore(Topic):
    """Adding, finding, changing and removing characters."""

    async def add_character(
        self,
        scope: Scope,
        card: Card,
        avatar_url: str,
        at: datetime,
        *,
        document: str | None = None,
        adult: bool = False,
    ) -> Character:
        """``document`` is the whole card as JSON. Raises Refused when the scope has a character of that name, whatever the case
        of its letters.
        """
        values = {
            "guild_id": scope.guild_id,
            "owner_id": scope.owner_id,
            "created_at": at,
            **_values(card, avatar_url, document, adult=adult),
        }
        try:
            async with self._database.write() as connection:
                row = (await connection.execute(insert(characters).values(values).returning(*CHARACTERS))).one()
        except IntegrityError as error:
            raise Refused("character-name-taken", name=card.name) from error
        return character_of(row)

    async def change_character(
        self, character_id: int, card: Card, avatar_url: str, *, document: str, adult: bool
    ) -> Character:
        """Let a character be as this card says.

        Raises Refused when the name is taken, by another character or by somebody who plays with this one, and LookupError.
        """
        statement = update(characters).where(characters.c.id == character_id)
        changed = statement.values(_values(card, avatar_url, document, adult=adult)).returning(*CHARACTERS)
        try:
            async with self._database.write() as connection:
                before = await connection.scalar(select(characters.c.name).where(characters.c.id == character_id))
                if before != card.name and await is_label(connection, character_id, card.name):
                    raise Refused("character-name-of-player", name=card.name)
                row = (await connection.execute(changed)).one_or_none()
        except IntegrityError as error:
            raise Refused("character-name-taken", name=card.name) from error
        if row is None:
            raise LookupError(f"no character {character_id}")
        return character_of(row)

    async def character(self, character_id: int) -> Character | None:
        """A character that may be used."""
        statement = select(*CHARACTERS).where(characters.c.id == character_id, characters.c.removed_at.is_(None))
        async with self._database.read() as connection:
            row = (await connection.execute(statement)).one_or_none()
        return character_of(row) if row else None

    async def characters(self, scope: Scope) -> tuple[Character, ...]:
        """The characters that may be used in a scope, by name."""
        statement = select(*CHARACTERS).where(_usable(scope)).order_by(characters.c.name_key)
        async with self._database.read() as connection:
            return tuple(character_of(row) for row in await connection.execute(statement))

    async def character_names(self, scope: Scope) -> tuple[str, ...]:
        """Their names alone, by name."""
        statement = select(characters.c.name).where(_usable(scope)).order_by(characters.c.name_key)
        async with self._database.read() as connection:
            return tuple(await connection.scalars(statement))

    async def character_named(self, scope: Scope, name: str) -> Character | None:
        """The character of that name in a scope, whatever the case of its letters."""
        statement = select(*CHARACTERS).where(_usable(scope), characters.c.name_key == name.casefold())
        async with self._database.read() as connection:
            row = (await connection.execute(statement)).one_or_none()
        return character_of(row) if row else None

    async def document(self, character_id: int) -> str | None:
        """A character's whole card as JSON; None for one from before documents were kept."""
        async with self._database.read() as connection:
            found: str | None = await connection.scalar(
                select(characters.c.document).where(characters.c.id == character_id)
            )
        return found

    async def stories_of(self, character_id: int) -> int:
        """How many running sessions have a character in their cast."""
        async with self._database.read() as connection:
            return int(await connection.scalar(_played(character_id)) or 0)

    async def remove_character(self, character_id: int, at: datetime, *, stop_stories: bool) -> bool:
        """Take a character out of use; its sessions stay readable, and its name is free again.

        Those that run are stopped with it where it is the lead, and left where it is another of the cast; or, without
        ``stop_stories``, they keep it: then False.
        """
        removed = update(characters).where(characters.c.id == character_id, characters.c.removed_at.is_(None))
        async with self._database.write() as connection:
            if not stop_stories and await connection.scalar(_played(character_id)):
                return False
            led = sessions.c.character_id == character_id, sessions.c.stopped_at.is_(None)
            await connection.execute(update(sessions).where(*led).values(stopped_at=at))
            joined = update(cast).where(cast.c.character_id == character_id, cast.c.left_at.is_(None))
            await connection.execute(joined.values(left_at=at))
            await connection.execute(delete(heads).where(heads.c.character_id == character_id))
            await connection.execute(removed.values(removed_at=at))
        return True


def _values(card: Card, avatar_url: str, document: str | None, *, adult: bool) -> dict[str, Any]:
    return {
        "name": card.name,
        "name_key": card.name.casefold(),
        "description": card.description,
        "first_message": card.first_message,
        "avatar_url": avatar_url,
        "card": card,
        "document": document,
        "adult": adult,
    }


def _played(character_id: int) -> Select[Any]:
    """How many running sessions have a character in their cast."""
    joined = exists().where(
        cast.c.session_id == sessions.c.id, cast.c.character_id == character_id, cast.c.left_at.is_(None)
    )
    there = or_(sessions.c.character_id == character_id, joined)
    return select(func.count()).select_from(sessions).where(sessions.c.stopped_at.is_(None), there)


def _usable(scope: Scope) -> ColumnElement[bool]:
    if scope.guild_id is None:
        own = and_(characters.c.guild_id.is_(None), characters.c.owner_id == scope.owner_id)
    else:
        own = characters.c.guild_id == scope.guild_id
    return and_(own, characters.c.removed_at.is_(None))
