"""Personas, each of one player for all guilds, and which of them is active where."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import Refused
from bot.memory.personas import Change, Draft, Persona, Repertoire, name_key
from bot.memory.turns import AuthorKind
from bot.store.people_tables import active_personas, persona_labels, personas
from bot.store.rows import Topic
from bot.store.tables import turns


@dataclass(frozen=True, slots=True)
class Saved:
    """A persona as it is now, and as it was before; None when it is new."""

    before: Persona | None
    now: Persona


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of drafts: personas added, those there already and brought up to date, and names there was no room for."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    left_out: tuple[str, ...]


_OF_PLAYER: Final = select(personas).where(personas.c.player_id == bindparam("player")).order_by(personas.c.id)
_OF_IDS: Final = select(personas).where(personas.c.id.in_(bindparam("ids", expanding=True)))
_ACTIVE: Final = select(active_personas.c.persona_id).where(
    active_personas.c.player_id == bindparam("player"), active_personas.c.guild_id == bindparam("guild")
)


class PersonaStore(Topic):
    """A player has at most one persona of a name, whatever the case of its letters."""

    async def repertoire(self, player_id: int, guild_id: int | None) -> Repertoire:
        """A player's personas, and which is active in a guild (None: in direct messages)."""
        async with self._database.read() as connection:
            return await read_repertoire(connection, player_id, guild_id)

    async def persona(self, persona_id: int) -> Persona | None:
        """A persona by id; None when it is gone."""
        return (await self.personas({persona_id})).get(persona_id)

    async def personas(self, persona_ids: Collection[int]) -> dict[int, Persona]:
        """Those of the personas that are still there, by id."""
        if not persona_ids:
            return {}
        async with self._database.read() as connection:
            rows = await connection.execute(_OF_IDS, {"ids": sorted(set(persona_ids))})
            return {row.id: _persona(row) for row in rows}

    async def save_persona(self, player_id: int, guild_id: int | None, change: Change, *, most: int) -> Saved:
        """Change the persona of that name, or add it, and make it the active one.

        Raises Refused when there are ``most`` already, or the new name is another persona's.
        """
        try:
            async with self._database.write() as connection:
                before = await _named(connection, player_id, change.name)
                now = await _add(connection, player_id, change, most) if before is None else before
                now = await _changed(connection, now, change)
                await _activate(connection, player_id, guild_id, now.id)
        except IntegrityError as error:
            raise Refused("persona-name-taken", name=change.new_name or change.name) from error
        return Saved(before, now)

    async def activate_persona(self, player_id: int, guild_id: int | None, persona_id: int | None) -> None:
        """Let a player speak as one of their personas in a guild, or with None as themselves. Raises LookupError."""
        async with self._database.write() as connection:
            if persona_id is not None:
                mine = select(personas.c.id).where(personas.c.id == persona_id, personas.c.player_id == player_id)
                if await connection.scalar(mine) is None:
                    raise LookupError(f"no persona {persona_id} of {player_id}")
            await _activate(connection, player_id, guild_id, persona_id)

    async def remove_persona(self, persona_id: int) -> None:
        """Remove a persona; what was said as it keeps its label."""
        async with self._database.write() as connection:
            await connection.execute(delete(active_personas).where(active_personas.c.persona_id == persona_id))
            await connection.execute(delete(personas).where(personas.c.id == persona_id))

    async def import_personas(self, player_id: int, drafts: Sequence[Draft], *, most: int) -> Imported:
        """Add drafts as personas, up to ``most`` in all; of those that are there by name, description and brackets are renewed.

        A draft without the one or the other leaves it as it is.
        """
        added, updated, left_out = [], [], []
        async with self._database.write() as connection:
            known = {name_key(persona.name): persona for persona in await _known(connection, player_id)}
            for draft in drafts:
                change = Change(draft.name, None, draft.description or None, draft.brackets or None)
                there = known.get(name_key(draft.name))
                if there is not None:
                    await _changed(connection, there, change)
                    updated.append(draft.name)
                elif len(known) >= most:
                    left_out.append(draft.name)
                else:
                    new = await _add(connection, player_id, change, most)
                    known[name_key(draft.name)] = await _changed(connection, new, change)
                    added.append(draft.name)
        return Imported(tuple(added), tuple(updated), tuple(left_out))


async def read_repertoire(connection: AsyncConnection, player_id: int, guild_id: int | None) -> Repertoire:
    """A player's personas, and which is active in a guild (None: in direct messages)."""
    known = await _known(connection, player_id)
    active = await connection.scalar(_ACTIVE, {"player": player_id, "guild": _place(guild_id)}) if known else None
    return Repertoire(known, next((persona for persona in known if persona.id == active), None))


async def own_personas(
    connection: AsyncConnection, player_id: int
) -> tuple[tuple[Persona, tuple[int | None, ...]], ...]:
    """A player's personas, each with the guilds in which it is active (None: direct messages)."""
    rows = await connection.execute(select(active_personas).where(active_personas.c.player_id == player_id))
    places: dict[int, list[int | None]] = {}
    for row in rows:
        places.setdefault(row.persona_id, []).append(row.guild_id or None)
    return tuple((known, tuple(places.get(known.id, ()))) for known in await _known(connection, player_id))


async def forget_personas(connection: AsyncConnection, player_id: int) -> None:
    """Delete everything about a player's personas, within a transaction. Turns that are left keep the label in them."""
    for table in (active_personas, persona_labels, personas):
        await connection.execute(delete(table).where(table.c.player_id == player_id))
    spoken = update(turns).where(
        turns.c.author_kind == AuthorKind.PLAYER, turns.c.author_id == player_id, turns.c.persona_id.is_not(None)
    )
    await connection.execute(spoken.values(persona_id=None))


async def _known(connection: AsyncConnection, player_id: int) -> tuple[Persona, ...]:
    return tuple(_persona(row) for row in await connection.execute(_OF_PLAYER, {"player": player_id}))


async def _named(connection: AsyncConnection, player_id: int, name: str) -> Persona | None:
    of_name = select(personas).where(personas.c.player_id == player_id, personas.c.name_key == name_key(name))
    row = (await connection.execute(of_name)).one_or_none()
    return _persona(row) if row else None


async def _add(connection: AsyncConnection, player_id: int, change: Change, most: int) -> Persona:
    count = select(func.count()).select_from(personas).where(personas.c.player_id == player_id)
    if int((await connection.execute(count)).scalar_one()) >= most:
        raise Refused("persona-limit", most=most)
    values = {"player_id": player_id, "name": change.name, "name_key": name_key(change.name)}
    nothing = {"description": "", "brackets": (), "avatar_url": ""}
    row = (await connection.execute(insert(personas).values(**values, **nothing).returning(personas))).one()
    return _persona(row)


async def _changed(connection: AsyncConnection, persona: Persona, change: Change) -> Persona:
    """The persona after what a change names was written down."""
    given = {"description": change.description, "brackets": change.brackets, "avatar_url": change.avatar_url}
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if change.new_name is not None:
        values |= {"name": change.new_name, "name_key": name_key(change.new_name)}
    if not values:
        return persona
    written = update(personas).where(personas.c.id == persona.id).values(values).returning(personas)
    return _persona((await connection.execute(written)).one())


async def _activate(connection: AsyncConnection, player_id: int, guild_id: int | None, persona_id: int | None) -> None:
    place = {"player_id": player_id, "guild_id": _place(guild_id)}
    await connection.execute(delete(active_personas).filter_by(**place))
    if persona_id is not None:
        await connection.execute(insert(active_personas).values(**place, persona_id=persona_id))


def _place(guild_id: int | None) -> int:
    return guild_id or 0


def _persona(row: Row[Any]) -> Persona:
    return Persona(row.id, row.player_id, row.name, row.description, row.brackets, row.avatar_url)
