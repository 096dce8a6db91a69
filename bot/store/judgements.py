"""The judging of persons: rows of background work, what each reads, and committing what it found by compare-and-swap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, Select, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.people import (
    Acquaintance,
    Exchange,
    ExchangeState,
    Judgement,
    JudgementKind,
    NewNote,
    NewTrait,
    Note,
    Source,
    Trait,
)
from bot.memory.story import FoldState
from bot.memory.turns import TurnState
from bot.store.exchanges import plan_if_enough, plan_judgement
from bot.store.people import (
    drop_tails_saying,
    lock_people,
    may_be_remembered,
)
from bot.store.people_tables import acquaintances, exchanges, judgements, mornings, note_sources, notes, traits
from bot.store.portraits import NOTES_IN_SIGHT, TRAITS_IN_SIGHT, add_sources, read_acquaintance, read_notes, read_traits
from bot.store.rows import Topic
from bot.store.tables import characters, guild_settings, turns
from bot.store.traits import add_traits, write_trait
from bot.store.turns import read_turns

# The figure is the seed's: of eight that wait, the oldest four are judged.
_PART: Final = 4
# What is left of a long day is judged in stretches of about the size of a chapter's.
_STRETCH: Final = 20
_NOTES_AT_ONCE: Final = 30
# One evening's talk of the same thing is one observation.
_KNOWN_FOR: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class NotesWork:
    """Exchanges to be judged for notes; ``known`` is what was noted within the day before them."""

    acquaintance: Acquaintance
    exchanges: tuple[Exchange, ...]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TraitsWork:
    """Notes to be judged for traits, and all traits there are, those out of use too, but not what rests on turns set aside."""

    acquaintance: Acquaintance
    notes: tuple[Note, ...]
    traits: tuple[Trait, ...]


class JudgementStore(Topic):
    """A judgement is due, then running, then done; or due again; or failed for good."""

    async def due_judgements(self, now: datetime) -> tuple[Judgement, ...]:
        """What is due by now, the longest waiting first."""
        statement = select(judgements).where(judgements.c.state == FoldState.DUE, judgements.c.due_at <= now)
        async with self._database.read() as connection:
            rows = await connection.execute(statement.order_by(judgements.c.due_at, judgements.c.id))
            return tuple(_judgement(row) for row in rows)

    async def claim_judgement(self, judgement_id: int, now: datetime) -> Judgement | None:
        """Take a judgement that is due, which counts as an attempt; None when it is not due, or another took it first."""
        statement = update(judgements).where(judgements.c.id == judgement_id, judgements.c.state == FoldState.DUE)
        taken = statement.values(state=FoldState.RUNNING, attempts=judgements.c.attempts + 1, claimed_at=now)
        async with self._database.write() as connection:
            row = (await connection.execute(taken.returning(judgements))).one_or_none()
        return _judgement(row) if row else None

    async def fail_judgement(
        self,
        judgement_id: int,
        error: str,
        *,
        retry_at: datetime | None,
        now: datetime,
        read: Collection[int] = (),
        heard: bool = True,
    ) -> None:
        """A running judgement came to nothing: it is due again at ``retry_at``, or failed for good without one.

        ``read`` are the ids of the exchanges or notes that the judge was shown. What failed for good is not judged again: these
        exchanges are dropped, these notes stay without becoming traits. When the judge was shown none, all of them wait until
        something new is to be judged. ``heard`` is false when the judge could not be asked, which is no failure of its.
        ``error`` is a short code, never a text of the story.
        """
        async with self._database.write() as connection:
            judgement = await _lock_running(connection, judgement_id)
            if judgement is None:
                return
            changed = update(judgements).where(judgements.c.id == judgement_id)
            failed = changed.values(error=error, failures=judgement.failures + heard)
            if retry_at is not None:
                await connection.execute(failed.values(state=FoldState.DUE, due_at=retry_at))
                return
            await connection.execute(failed.values(state=FoldState.FAILED, finished_at=now))
            if read and judgement.kind is JudgementKind.NOTES:
                await _close_exchanges(connection, read, ExchangeState.DROPPED)
                await _plan_rest(connection, judgement, now)
            elif read:
                await _mark_judged(connection, read)
                await _plan_unjudged(connection, judgement, now)

    async def recover_judgements(self) -> int:
        """At start-up: what ran when the process ended is due again. Returns how many those are."""
        statement = update(judgements).where(judgements.c.state == FoldState.RUNNING).values(state=FoldState.DUE)
        async with self._database.write() as connection:
            return (await connection.execute(statement)).rowcount

    async def work_for_notes(self, judgement: Judgement) -> NotesWork:
        """What a judgement of exchanges reads: the oldest that wait, none when nothing does any more. Raises LookupError."""
        async with self._database.read() as connection:
            acquaintance = await _acquaintance(connection, judgement)
            rows = (await connection.execute(_waiting(judgement))).all()
            found = tuple([await _exchange(connection, row) for row in rows])
            began = min((turn.at for exchange in found for turn in exchange.turns), default=None)
            if began is None:
                return NotesWork(acquaintance, found, ())
            day = notes.c.acquaintance_id == acquaintance.id, notes.c.at >= began - _KNOWN_FOR
            known = (await read_notes(connection, *day, NOTES_IN_SIGHT)).get(acquaintance.id, ())
            return NotesWork(acquaintance, found, tuple(note.text for note in known))

    async def work_for_traits(self, judgement: Judgement) -> TraitsWork:
        """What a judgement of notes reads. Raises LookupError."""
        async with self._database.read() as connection:
            return await _traits_work(connection, await _acquaintance(connection, judgement))

    async def commit_notes(
        self,
        judgement_id: int,
        exchange_ids: Collection[int],
        revisions: Mapping[int, int],
        found: Sequence[NewNote],
        at: datetime,
    ) -> bool:
        """Keep what was found in exchanges, which ends the judgement; notes are judged for traits next.

        ``revisions`` are those of the exchanges' turns, by the id of the turn. False, and nothing is written, when the
        judgement does not run any more, one of the exchanges does not wait any more or has other turns now, or nothing may be
        kept about the person. What its person deleted before is left out: a note all of whose sources are those of a deleted one.
        """
        async with self._database.write() as connection:
            judgement = await _lock_running(connection, judgement_id)
            if judgement is None or not await may_be_remembered(connection, await _acquaintance(connection, judgement)):
                return False
            waiting = exchanges.c.id.in_(exchange_ids), exchanges.c.state == ExchangeState.FRESH
            own = select(exchanges).where(*waiting, exchanges.c.acquaintance_id == judgement.acquaintance_id)
            rows = (await connection.execute(own)).all()
            read = [await _exchange(connection, row) for row in rows]
            if len(rows) != len(set(exchange_ids)):
                return False
            if {turn.id: turn.revision for exchange in read for turn in exchange.turns} != dict(revisions):
                return False
            await _close_exchanges(connection, exchange_ids, ExchangeState.JUDGED)
            kept = await _less_removed(connection, judgement.acquaintance_id, found)
            await _add_notes(connection, judgement.acquaintance_id, kept)
            await _finish(connection, judgement, at)
            if kept:
                await plan_judgement(connection, judgement.acquaintance_id, JudgementKind.TRAITS, at)
            await _plan_rest(connection, judgement, at)
            return True

    async def commit_traits(
        self,
        judgement_id: int,
        read: TraitsWork,
        new: Sequence[NewTrait],
        changed: Sequence[Trait],
        absorbed: Collection[int],
        at: datetime,
    ) -> bool:
        """Keep what was found in notes, which ends the judgement.

        ``changed`` are traits of ``read`` as they are now, seen again or worded anew; a new wording rests on those of its
        sources that the old one did not have. ``absorbed`` are the ids of the notes that a trait stands for from now on. False,
        and nothing is written, when the judgement does not run any more, a note or trait is not as it was read, or nothing may
        be kept about the person.
        """
        async with self._database.write() as connection:
            judgement = await _lock_running(connection, judgement_id)
            if judgement is None or not await may_be_remembered(connection, await _acquaintance(connection, judgement)):
                return False
            now = await _traits_work(connection, read.acquaintance)
            before = {trait.id: trait for trait in now.traits}
            if now.traits != read.traits or not set(read.notes) <= set(now.notes):
                return False
            await add_traits(connection, judgement.acquaintance_id, new, at)
            for trait in changed:
                await write_trait(connection, before[trait.id], trait, by="judge", at=at, former=True)
            outdated = [before[trait.id].text for trait in changed if trait.text != before[trait.id].text]
            if outdated:
                await drop_tails_saying(connection, read.acquaintance.character_id, outdated)
            await _mark_judged(connection, [note.id for note in read.notes])
            await connection.execute(update(notes).where(notes.c.id.in_(absorbed)).values(absorbed=True))
            await _finish(connection, judgement, at)
            await _plan_unjudged(connection, judgement, at)
            return True

    async def hold_morning(self, guild_id: int, day: date, at: datetime, *, judge: bool = True) -> int | None:
        """Plan the judgement of all that waits in a guild (0: direct messages), once for each day of its calendar.

        Returns about how many persons those are, 0 when nobody is to be judged (``judge``); None when the morning of that day,
        or of a later one, was held.
        """
        of_guild = func.coalesce(characters.c.guild_id, 0) == guild_id
        waiting = (
            select(exchanges.c.acquaintance_id)
            .join_from(exchanges, acquaintances)
            .join(characters)
            .where(of_guild, exchanges.c.state == ExchangeState.FRESH)
            .distinct()
            .order_by(exchanges.c.acquaintance_id)
        )
        held = mornings.c.guild_id == guild_id
        async with self._database.write_aside() as connection:
            last = await connection.scalar(select(mornings.c.day).where(held))
            if last is None:
                await connection.execute(insert(mornings).values(guild_id=guild_id, day=day))
            elif last < day:
                await connection.execute(update(mornings).where(held).values(day=day))
            else:
                return None
            persons = (await connection.scalars(waiting)).all() if judge else []
            for acquaintance_id in persons:
                await plan_judgement(connection, acquaintance_id, JudgementKind.NOTES, at, everything=True)
            return len(persons)

    async def guilds_with_people(self) -> dict[int, str | None]:
        """The guilds whose characters know anybody (0: direct messages), with the time zone each has set."""
        statement = (
            select(characters.c.guild_id, guild_settings.c.time_zone)
            .join_from(acquaintances, characters)
            .outerjoin(guild_settings, guild_settings.c.guild_id == characters.c.guild_id)
            .distinct()
        )
        async with self._database.read_aside() as connection:
            return {row.guild_id or 0: row.time_zone for row in await connection.execute(statement)}


def _judgement(row: Row[Any]) -> Judgement:
    return Judgement(
        id=row.id,
        acquaintance_id=row.acquaintance_id,
        kind=row.kind,
        state=row.state,
        due_at=row.due_at,
        attempts=row.attempts,
        failures=row.failures,
        everything=row.everything,
        error=row.error,
    )


async def _lock_running(connection: AsyncConnection, judgement_id: int) -> Judgement | None:
    """A running judgement, its character's persons locked; None when it does not run."""
    of_judgement = (
        select(acquaintances.c.character_id).join_from(judgements, acquaintances).where(judgements.c.id == judgement_id)
    )
    character_id = await connection.scalar(of_judgement)
    if character_id is None:
        return None
    await lock_people(connection, character_id)
    running = select(judgements).where(judgements.c.id == judgement_id, judgements.c.state == FoldState.RUNNING)
    row = (await connection.execute(running)).one_or_none()
    return _judgement(row) if row else None


async def _acquaintance(connection: AsyncConnection, judgement: Judgement) -> Acquaintance:
    found = await read_acquaintance(connection, judgement.acquaintance_id)
    if found is None:
        raise LookupError(f"no acquaintance {judgement.acquaintance_id}")
    return found


def _waiting(judgement: Judgement) -> Select[Any]:
    """The exchanges that a judgement is about, oldest first."""
    fresh = select(exchanges).where(
        exchanges.c.acquaintance_id == judgement.acquaintance_id, exchanges.c.state == ExchangeState.FRESH
    )
    return fresh.order_by(exchanges.c.id).limit(_STRETCH if judgement.everything else _PART)


async def _exchange(connection: AsyncConnection, row: Row[Any]) -> Exchange:
    kept = select(turns).where(
        turns.c.session_id == row.session_id,
        turns.c.seq.between(row.first, row.reply),
        turns.c.state == TurnState.KEPT,
    )
    found = await read_turns(connection, kept.order_by(turns.c.seq))
    return Exchange(row.id, row.session_id, row.first, row.reply, found)


async def _close_exchanges(connection: AsyncConnection, exchange_ids: Collection[int], state: ExchangeState) -> None:
    waiting = exchanges.c.id.in_(exchange_ids), exchanges.c.state == ExchangeState.FRESH
    await connection.execute(update(exchanges).where(*waiting).values(state=state))


async def _plan_rest(connection: AsyncConnection, judgement: Judgement, at: datetime) -> None:
    """After a part was judged, or given up, plan the next when enough wait, or all were asked for."""
    if not judgement.everything:
        await plan_if_enough(connection, judgement.acquaintance_id, at)
    elif (await connection.execute(_waiting(judgement))).first() is not None:
        await plan_judgement(connection, judgement.acquaintance_id, JudgementKind.NOTES, at, everything=True)


async def _plan_unjudged(connection: AsyncConnection, judgement: Judgement, at: datetime) -> None:
    """Plan the judgement of the notes that came while others were judged, or were too many for one."""
    if await _unjudged(connection, judgement.acquaintance_id):
        await plan_judgement(connection, judgement.acquaintance_id, JudgementKind.TRAITS, at)


async def _less_removed(
    connection: AsyncConnection, acquaintance_id: int, found: Sequence[NewNote]
) -> tuple[NewNote, ...]:
    """What was found less what its person deleted."""
    statement = select(note_sources).join_from(note_sources, notes)
    removed: dict[int, set[Source]] = defaultdict(set)
    for row in await connection.execute(statement.where(notes.c.acquaintance_id == acquaintance_id, notes.c.removed)):
        removed[row.note_id].add(Source(row.session_id, row.seq, row.beat))
    return tuple(new for new in found if not any(sources.issuperset(new.sources) for sources in removed.values()))


async def _add_notes(connection: AsyncConnection, acquaintance_id: int, found: Sequence[NewNote]) -> None:
    for note in found:
        values = {
            "acquaintance_id": acquaintance_id,
            "text": note.text,
            "at": note.at,
            "judged": False,
            "absorbed": False,
            "removed": False,
        }
        note_id = (await connection.execute(insert(notes).values(values).returning(notes.c.id))).scalar_one()
        await add_sources(connection, note_sources, note_id, note.sources)


async def _unjudged(connection: AsyncConnection, acquaintance_id: int) -> list[int]:
    statement = select(notes.c.id).where(
        notes.c.acquaintance_id == acquaintance_id, notes.c.judged.is_(False), NOTES_IN_SIGHT
    )
    return list((await connection.scalars(statement.order_by(notes.c.id).limit(_NOTES_AT_ONCE))).all())


async def _mark_judged(connection: AsyncConnection, note_ids: Collection[int]) -> None:
    await connection.execute(update(notes).where(notes.c.id.in_(note_ids)).values(judged=True))


async def _traits_work(connection: AsyncConnection, acquaintance: Acquaintance) -> TraitsWork:
    ids = await _unjudged(connection, acquaintance.id)
    found = (await read_notes(connection, notes.c.id.in_(ids))).get(acquaintance.id, ())
    own = traits.c.acquaintance_id == acquaintance.id
    known = (await read_traits(connection, own, TRAITS_IN_SIGHT)).get(acquaintance.id, ())
    return TraitsWork(acquaintance, found, known)


async def _finish(connection: AsyncConnection, judgement: Judgement, at: datetime) -> None:
    done = update(judgements).where(judgements.c.id == judgement.id)
    await connection.execute(done.values(state=FoldState.DONE, error="", finished_at=at))
