"""Taking whole stories and acquaintances out of the database, table by table, within a transaction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.cast_tables import addressed, cast, heads, tails
from bot.store.people_tables import (
    acquaintances,
    exchanges,
    former_texts,
    judgements,
    note_sources,
    notes,
    persona_labels,
    trait_sources,
    traits,
)
from bot.store.tables import (
    branches,
    calls,
    chapters,
    condensations,
    evidence,
    findable,
    flags,
    folds,
    memories,
    messages,
    players,
    sessions,
    tellings,
    turns,
    versions,
)


async def remove_session(connection: AsyncConnection, session_id: int) -> None:
    """Remove a story with all that hangs on it, whatever points to it first."""
    carrying = select(turns.c.id).where(turns.c.session_id == session_id)
    for of_turn in (messages, tellings, addressed):
        await connection.execute(delete(of_turn).where(of_turn.c.turn_id.in_(carrying)))
    for rows in (
        note_sources, trait_sources, exchanges, findable, flags, condensations, evidence, versions, memories, chapters,
        folds, calls, branches, players, persona_labels, tails, heads, cast, turns,
    ):  # fmt: skip
        await connection.execute(delete(rows).where(rows.c.session_id == session_id))
    await connection.execute(delete(sessions).where(sessions.c.id == session_id))


async def remove_kept(connection: AsyncConnection, of: Select[Any]) -> None:
    """Remove all that is kept about some acquaintances (their ids), and what was to be judged."""
    of_traits = select(traits.c.id).where(traits.c.acquaintance_id.in_(of))
    of_notes = select(notes.c.id).where(notes.c.acquaintance_id.in_(of))
    await connection.execute(delete(former_texts).where(former_texts.c.trait_id.in_(of_traits)))
    await connection.execute(delete(trait_sources).where(trait_sources.c.trait_id.in_(of_traits)))
    await connection.execute(delete(note_sources).where(note_sources.c.note_id.in_(of_notes)))
    for rows in (traits, notes, exchanges, judgements):
        await connection.execute(delete(rows).where(rows.c.acquaintance_id.in_(of)))


async def remove_acquaintances(connection: AsyncConnection, which: ColumnElement[bool]) -> None:
    """Remove acquaintances with all that is kept about them."""
    await remove_kept(connection, select(acquaintances.c.id).where(which))
    await connection.execute(delete(acquaintances).where(which))
