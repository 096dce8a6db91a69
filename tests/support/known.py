"""What characters know of persons, put straight into the rows: any state of a trait without waiting months for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert, select

from bot.memory.people import FormerText, Note, Source, Trait
from bot.store import Store
from bot.store.people_tables import acquaintances, former_texts, note_sources, notes, trait_sources, traits

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def trait(number: int, text: str, *, days_ago: float = 0, now: datetime = NOW, **more: Any) -> Trait:
    """A trait of importance 2 that was seen ``days_ago``."""
    seen = now - timedelta(days=days_ago)
    values: dict[str, Any] = {"importance": 2, "matches": 1, "first_at": seen, "confirmed_at": seen, "faded_at": seen}
    return Trait(id=number, text=text, **(values | more))


async def know(
    store: Store,
    character_id: int,
    player_id: int,
    *,
    traits_known: Sequence[Trait] = (),
    notes_known: Sequence[Note] = (),
    former: dict[int, Sequence[FormerText]] | None = None,
) -> int:
    """Let a character know a person; the acquaintance's id. Numbers are theirs in all of the database."""
    async with store._database.write() as connection:
        known = select(acquaintances.c.id).where(
            acquaintances.c.character_id == character_id, acquaintances.c.player_id == player_id
        )
        acquaintance_id = await connection.scalar(known)
        if acquaintance_id is None:
            person = {"character_id": character_id, "player_id": player_id, "name": "Mio", "remembered": True}
            statement = insert(acquaintances).values(person).returning(acquaintances.c.id)
            acquaintance_id = (await connection.execute(statement)).scalar_one()
        for table, sources, kept in ((traits, trait_sources, traits_known), (notes, note_sources, notes_known)):
            for one in kept:
                values = {f.name: getattr(one, f.name) for f in fields(one) if f.name != "sources"}
                values |= {"removed": False} if table is notes else {}
                await connection.execute(insert(table).values(acquaintance_id=acquaintance_id, **values))
                extra = {"former": False} if table is traits else {}
                for position, source in enumerate(one.sources, start=1):
                    at = {"session_id": source.session_id, "seq": source.seq, "beat": source.beat}
                    owner = {sources.primary_key.columns[0].name: one.id, "position": position}
                    await connection.execute(insert(sources).values(**owner, **at, **extra))
        for trait_id, texts in (former or {}).items():
            for position, old in enumerate(texts, start=1):
                row = {"trait_id": trait_id, "position": position, "text": old.text, "by": old.by, "until": old.until}
                await connection.execute(insert(former_texts).values(row))
    return int(acquaintance_id)


def sources(session_id: int, *seqs: int) -> tuple[Source, ...]:
    """The first beats of turns."""
    return tuple(Source(session_id, seq, 1) for seq in seqs)
