"""Traits and notes as they change: by their persons, by time, and by what the judge found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import and_, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.fading import NOTE_DAYS, START, revived
from bot.memory.people import NewTrait, Trait, TraitStatus
from bot.store.people import drop_tails_of_character, lock_people
from bot.store.people_tables import acquaintances, former_texts, notes, trait_sources, traits
from bot.store.portraits import add_sources, read_traits, remove_notes, remove_traits
from bot.store.rows import Topic
from bot.store.tables import characters

# A note that no trait stands for is there for its person to read, not longer than two monthly steps of a trait's decay.
_KEEP_NOTES: Final = timedelta(days=60)
# So many persons are aged in one transaction, so that a reply does not wait long for its own.
_AT_ONCE: Final = 50


class TraitStore(Topic):
    """Whatever changes or takes away what stood in a prompt also drops the tails that repeat it."""

    async def save_trait(self, trait: Trait, *, by: str, at: datetime, former: bool) -> bool:
        """Write a trait as its person changed it; False when it is gone.

        Another text rests on that person's word alone. With ``former`` the old one is kept.
        """
        async with self._database.write() as connection:
            character_id = await _lock_character_of(connection, trait.id)
            found = await read_traits(connection, traits.c.id == trait.id)
            if character_id is None or not found:
                return False
            ((before,),) = found.values()
            await write_trait(connection, before, trait, by=by, at=at, former=former)
            if trait.text != before.text or trait.status is TraitStatus.FORGOTTEN:
                await drop_tails_of_character(connection, character_id)
            return True

    async def remove_note(self, player_id: int, note_id: int) -> bool:
        """Delete a note; False when it is not this player's, or gone.

        What it came from stays on record for as long as the note would have, so that it is not noted again.
        """
        statement = (
            select(acquaintances.c.character_id)
            .join_from(notes, acquaintances)
            .where(notes.c.id == note_id, notes.c.removed.is_(False), acquaintances.c.player_id == player_id)
        )
        async with self._database.write() as connection:
            character_id = await connection.scalar(statement)
            if character_id is None:
                return False
            await lock_people(connection, character_id)
            emptied = update(notes).where(notes.c.id == note_id)
            await connection.execute(emptied.values(text="", judged=True, absorbed=False, removed=True))
            await drop_tails_of_character(connection, character_id)
            return True

    async def revive(self, trait_ids: Collection[int], at: datetime) -> None:
        """Bring traits back that the talk touched: those that are dormant still."""
        async with self._database.write() as connection:
            rows = traits.c.id.in_(trait_ids)
            statement = select(acquaintances.c.character_id).join_from(traits, acquaintances).where(rows).distinct()
            for character_id in sorted((await connection.scalars(statement)).all()):
                await lock_people(connection, character_id)
            for known in (await read_traits(connection, rows)).values():
                for trait in known:
                    await _write(connection, revived(trait, at))

    async def age_traits(
        self, guild_ids: Collection[int], now: datetime, aged: Callable[[Trait, datetime], Trait | None]
    ) -> dict[str, int]:
        """Let the traits of guilds (0: direct messages) fade as ``aged`` says, and delete what it says is gone.

        Notes go 60 days after what they are about, those that a trait stands for as soon as none is told any more. Counts
        what became of the traits (``faded``, ``dormant``, ``forgotten``, ``gone``), and the deleted ``notes``.
        """
        of_guilds = func.coalesce(characters.c.guild_id, 0).in_(guild_ids)
        statement = select(acquaintances.c.id).join_from(acquaintances, characters).where(of_guilds)
        async with self._database.read_aside() as connection:
            known = (await connection.scalars(statement.order_by(characters.c.id, acquaintances.c.id))).all()
        counts: Counter[str] = Counter()
        for start in range(0, len(known), _AT_ONCE):
            async with self._database.write_aside() as connection:
                counts += await _age(connection, known[start : start + _AT_ONCE], now, aged)
        return dict(counts)


async def add_traits(connection: AsyncConnection, acquaintance_id: int, new: Iterable[NewTrait], at: datetime) -> None:
    """Write down what the judge found, within a transaction."""
    for trait in new:
        values = {
            "acquaintance_id": acquaintance_id,
            "text": trait.text,
            "importance": START,
            "matches": 1,
            "first_at": at,
            "confirmed_at": at,
            "faded_at": at,
            "until": trait.until,
            "hazy": False,
            "deleted": False,
        }
        trait_id = (await connection.execute(insert(traits).values(values).returning(traits.c.id))).scalar_one()
        await add_sources(connection, trait_sources, trait_id, trait.sources, former=False)


async def write_trait(
    connection: AsyncConnection, before: Trait, trait: Trait, *, by: str, at: datetime, former: bool
) -> None:
    """Write a changed trait, within a transaction.

    What showed a text that is overwritten no longer shows the trait; with ``former`` that text is kept. A trait that no turn
    showed in the first place (its person wrote it, or it was imported) does not come to depend on one by being seen again.
    """
    of_trait = trait_sources.c.trait_id == trait.id
    if trait.text != before.text:
        await connection.execute(update(trait_sources).where(of_trait).values(former=True))
        if former:
            await _keep_text(connection, before, by, at)
    await _write(connection, trait)
    if trait.text == before.text and not before.sources:
        return
    last = await connection.scalar(select(func.max(trait_sources.c.position)).where(of_trait)) or 0
    added = [source for source in trait.sources if source not in before.sources]
    await add_sources(connection, trait_sources, trait.id, added, after=last, former=False)


async def _keep_text(connection: AsyncConnection, trait: Trait, by: str, at: datetime) -> None:
    of_trait = former_texts.c.trait_id == trait.id
    last = await connection.scalar(select(func.max(former_texts.c.position)).where(of_trait)) or 0
    values = {"trait_id": trait.id, "position": last + 1, "text": trait.text, "by": by, "until": at}
    await connection.execute(insert(former_texts).values(values))


async def _write(connection: AsyncConnection, trait: Trait) -> None:
    await connection.execute(update(traits).where(traits.c.id == trait.id).values(_values(trait)))


def _values(trait: Trait) -> dict[str, Any]:
    return {
        "text": trait.text,
        "importance": trait.importance,
        "matches": trait.matches,
        "confirmed_at": trait.confirmed_at,
        "faded_at": trait.faded_at,
        "until": trait.until,
        "hazy": trait.hazy,
        "dormant_at": trait.dormant_at,
        "forgotten_at": trait.forgotten_at,
        "deleted": trait.deleted,
    }


async def _lock_character_of(connection: AsyncConnection, trait_id: int) -> int | None:
    statement = select(acquaintances.c.character_id).join_from(traits, acquaintances).where(traits.c.id == trait_id)
    character_id: int | None = await connection.scalar(statement)
    if character_id is not None:
        await lock_people(connection, character_id)
    return character_id


async def _age(
    connection: AsyncConnection,
    acquaintance_ids: Collection[int],
    now: datetime,
    aged: Callable[[Trait, datetime], Trait | None],
) -> Counter[str]:
    own = acquaintances.c.id.in_(acquaintance_ids)
    for character_id in sorted(set(await connection.scalars(select(acquaintances.c.character_id).where(own)))):
        await lock_people(connection, character_id)
    counts: Counter[str] = Counter()
    gone = []
    for known in (await read_traits(connection, traits.c.acquaintance_id.in_(acquaintance_ids))).values():
        for before in known:
            after = aged(before, now)
            if after is None:
                gone.append(before.id)
            elif after != before:
                await _write(connection, after)
                counts["faded" if after.status is before.status else after.status.value] += 1
    await remove_traits(connection, gone)
    old = select(notes.c.id).where(
        notes.c.acquaintance_id.in_(acquaintance_ids),
        notes.c.judged,
        or_(notes.c.at < now - _KEEP_NOTES, and_(notes.c.absorbed, notes.c.at < now - timedelta(days=NOTE_DAYS))),
    )
    doomed = (await connection.scalars(old)).all()
    await remove_notes(connection, doomed)
    return counts + Counter(gone=len(gone), notes=len(doomed))
