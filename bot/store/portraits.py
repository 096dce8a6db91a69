"""What characters keep about persons: rows into domain objects, and the statements that more than one topic needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Exists,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    insert,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.people import Acquaintance, FormerText, Note, Source, Trait
from bot.memory.turns import TurnState
from bot.store.people_tables import acquaintances, former_texts, note_sources, notes, trait_sources, traits
from bot.store.tables import characters, turns

ACQUAINTANCES: Final[Select[Any]] = select(
    acquaintances, characters.c.name.label("character_name"), characters.c.guild_id
).join_from(acquaintances, characters)


NOTES: Final[Select[Any]] = select(notes).where(notes.c.removed.is_(False)).order_by(notes.c.at, notes.c.id)
TRAITS: Final[Select[Any]] = select(traits).order_by(traits.c.id)


def _resting(table: Table, owned: ColumnElement[bool], state: ColumnElement[bool]) -> Exists:
    """Whether one of the turns behind a note or a trait is in a state."""
    place = and_(turns.c.session_id == table.c.session_id, turns.c.seq == table.c.seq)
    return exists().where(owned, place, state)


_ASIDE: Final = turns.c.state == TurnState.ASIDE
_OF_NOTE: Final = note_sources.c.note_id == notes.c.id
_OF_TRAIT: Final = and_(trait_sources.c.trait_id == traits.c.id, trait_sources.c.former.is_(False))
# A note goes out of sight with any turn that it cites, a trait with the last that shows it; one that cites none never does.
NOTES_IN_SIGHT: Final = ~_resting(note_sources, _OF_NOTE, _ASIDE)
TRAITS_IN_SIGHT: Final = ~_resting(trait_sources, _OF_TRAIT, _ASIDE) | _resting(trait_sources, _OF_TRAIT, ~_ASIDE)


def _sources_of(table: Table, *conditions: ColumnElement[bool]) -> Select[Any]:
    owner = _owner(table)
    of_owners = owner.in_(bindparam("owners", expanding=True))
    found = select(owner.label("owner"), table.c.session_id, table.c.seq, table.c.beat)
    return found.where(of_owners, *conditions).order_by(owner, table.c.position)


def _owner(table: Table) -> Column[Any]:
    return table.primary_key.columns[0]


# What every reply needs is put together once: building a statement takes SQLAlchemy longer than executing it.
_SOURCES_OF_NOTES: Final = _sources_of(note_sources)
_SOURCES_OF_TRAITS: Final = _sources_of(trait_sources, trait_sources.c.former.is_(False))


def acquaintance_of(row: Row[Any]) -> Acquaintance:
    """An acquaintance, of a row of ``ACQUAINTANCES``."""
    return Acquaintance(
        id=row.id,
        character_id=row.character_id,
        character_name=row.character_name,
        guild_id=row.guild_id,
        player_id=row.player_id,
        name=row.name,
        remembered=row.remembered,
    )


async def read_acquaintance(connection: AsyncConnection, acquaintance_id: int) -> Acquaintance | None:
    """An acquaintance, or None."""
    statement = ACQUAINTANCES.where(acquaintances.c.id == acquaintance_id)
    row = (await connection.execute(statement)).one_or_none()
    return acquaintance_of(row) if row else None


async def read_notes(connection: AsyncConnection, *conditions: ColumnElement[bool]) -> dict[int, tuple[Note, ...]]:
    """The notes that meet the conditions, oldest first, by acquaintance; those that their person deleted are none."""
    return await notes_of(connection, await connection.execute(NOTES.where(*conditions)))


async def notes_of(connection: AsyncConnection, found: Iterable[Row[Any]]) -> dict[int, tuple[Note, ...]]:
    """Notes with their sources, of rows that a statement made of ``NOTES`` selects."""
    rows = list(found)
    sources = await _sources(connection, _SOURCES_OF_NOTES, [row.id for row in rows])
    told: dict[int, list[Note]] = defaultdict(list)
    for row in rows:
        note = Note(row.id, row.text, row.at, sources.get(row.id, ()), row.judged, row.absorbed)
        told[row.acquaintance_id].append(note)
    return {acquaintance_id: tuple(known) for acquaintance_id, known in told.items()}


async def read_traits(connection: AsyncConnection, *conditions: ColumnElement[bool]) -> dict[int, tuple[Trait, ...]]:
    """The traits that meet the conditions, oldest first, by acquaintance."""
    return await traits_of(connection, await connection.execute(TRAITS.where(*conditions)))


async def traits_of(connection: AsyncConnection, found: Iterable[Row[Any]]) -> dict[int, tuple[Trait, ...]]:
    """Traits with their sources, of rows that a statement made of ``TRAITS`` selects."""
    rows = list(found)
    sources = await _sources(connection, _SOURCES_OF_TRAITS, [row.id for row in rows])
    held: dict[int, list[Trait]] = defaultdict(list)
    for row in rows:
        values = {name: value for name, value in row._mapping.items() if name not in ("acquaintance_id", "imported")}
        held[row.acquaintance_id].append(Trait(**values, sources=sources.get(row.id, ())))
    return {acquaintance_id: tuple(known) for acquaintance_id, known in held.items()}


async def read_former(connection: AsyncConnection, trait_ids: Collection[int]) -> dict[int, tuple[FormerText, ...]]:
    """What traits said before, oldest first, by trait; those that always said the same are left out."""
    statement = select(former_texts).where(former_texts.c.trait_id.in_(trait_ids))
    found: dict[int, list[FormerText]] = defaultdict(list)
    for row in await connection.execute(statement.order_by(former_texts.c.trait_id, former_texts.c.position)):
        found[row.trait_id].append(FormerText(row.text, row.by, row.until))
    return {trait_id: tuple(texts) for trait_id, texts in found.items()}


async def add_sources(
    connection: AsyncConnection, table: Table, owner_id: int, sources: Iterable[Source], *, after: int = 0, **more: Any
) -> None:
    """Write down what a note or a trait comes from, at the positions behind ``after``."""
    rows = [
        {_owner(table).name: owner_id, "position": position, "session_id": s.session_id, "seq": s.seq, "beat": s.beat}
        | more
        for position, s in enumerate(dict.fromkeys(sources), after + 1)
    ]
    if rows:
        await connection.execute(insert(table), rows)


async def remove_notes(connection: AsyncConnection, note_ids: Collection[int]) -> None:
    """Delete notes."""
    await connection.execute(delete(note_sources).where(note_sources.c.note_id.in_(note_ids)))
    await connection.execute(delete(notes).where(notes.c.id.in_(note_ids)))


async def remove_traits(connection: AsyncConnection, trait_ids: Collection[int]) -> None:
    """Delete traits, with what they said before."""
    await connection.execute(delete(trait_sources).where(trait_sources.c.trait_id.in_(trait_ids)))
    await connection.execute(delete(former_texts).where(former_texts.c.trait_id.in_(trait_ids)))
    await connection.execute(delete(traits).where(traits.c.id.in_(trait_ids)))


async def _sources(
    connection: AsyncConnection, of_owners: Select[Any], owner_ids: Sequence[int]
) -> dict[int, tuple[Source, ...]]:
    """What notes or traits come from, in order, by their ids."""
    found: dict[int, list[Source]] = defaultdict(list)
    for row in await connection.execute(of_owners, {"owners": owner_ids}) if owner_ids else ():
        found[row.owner].append(Source(row.session_id, row.seq, row.beat))
    return {owner_id: tuple(sources) for owner_id, sources in found.items()}
