"""Whom characters know, what they keep about them, and whom they may not remember.

All that characters know of persons changes under the lock of the character's row; a session's comes before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    CompoundSelect,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    tuple_,
    union,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.people import (
    Acquaintance,
    ExchangeState,
    Note,
    Portrait,
    Source,
    Trait,
)
from bot.memory.story import FoldState
from bot.memory.turns import TurnState
from bot.store.cast_tables import cast
from bot.store.people_tables import (
    acquaintances,
    exchanges,
    forgettings,
    judgements,
    note_sources,
    notes,
    strangers,
    trait_sources,
    traits,
)
from bot.store.planning import OPEN
from bot.store.portraits import (
    ACQUAINTANCES,
    NOTES,
    NOTES_IN_SIGHT,
    TRAITS,
    TRAITS_IN_SIGHT,
    acquaintance_of,
    notes_of,
    read_acquaintance,
    read_former,
    read_notes,
    read_traits,
    remove_notes,
    traits_of,
)
from bot.store.rows import Topic, drop_tails, hold
from bot.store.tables import characters, messages, sessions, turns


def unwilling(player_ids: Collection[int] | BindParameter[Any]) -> CompoundSelect[tuple[int]]:
    """Those of the persons whom no character may remember: who does not want it, and who is being forgotten."""
    return union(
        *(select(table.c.player_id).where(table.c.player_id.in_(player_ids)) for table in (strangers, forgettings))
    )


def is_unwilling(player_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether the person of a row is one whom no character may remember."""
    return or_(*(exists().where(table.c.player_id == player_id) for table in (strangers, forgettings)))


# What every reply needs is put together once: building a statement takes SQLAlchemy longer than executing it.
_LOCK: Final = select(characters.c.id).where(characters.c.id == bindparam("character")).with_for_update(key_share=True)
_PLAYERS: Final[BindParameter[Any]] = bindparam("players", expanding=True)
_UNWILLING: Final = unwilling(_PLAYERS)
_REMEMBERED: Final = ACQUAINTANCES.add_columns(
    exists().where(notes.c.acquaintance_id == acquaintances.c.id).label("has_notes"),
    exists().where(traits.c.acquaintance_id == acquaintances.c.id).label("has_traits"),
).where(
    acquaintances.c.character_id == bindparam("character"),
    acquaintances.c.player_id.in_(_PLAYERS),
    acquaintances.c.remembered,
    acquaintances.c.player_id.not_in(_UNWILLING),
)
_IDS: Final[BindParameter[Any]] = bindparam("ids", expanding=True)
_NOTES: Final = NOTES.where(
    notes.c.acquaintance_id.in_(_IDS), notes.c.at >= bindparam("since"), notes.c.absorbed.is_(False), NOTES_IN_SIGHT
)
_TRAITS: Final = TRAITS.where(traits.c.acquaintance_id.in_(_IDS), traits.c.forgotten_at.is_(None), TRAITS_IN_SIGHT)


class PeopleStore(Topic):
    """What characters keep about persons, as prompts and the persons themselves read it, and switching it off."""

    async def portraits(
        self, session_id: int, player_ids: Sequence[int], *, since: datetime, character_id: int | None = None
    ) -> tuple[Portrait, ...]:
        """What a session's lead, or another character, may bring to mind about persons, in the order of ``player_ids``.

        That is traits in use or dormant, and the notes from ``since`` on that no trait stands for. Who is not remembered is
        left out, and what rests on turns that were set aside.
        """
        async with self._database.read() as connection:
            if character_id is None:
                lead = select(sessions.c.character_id).where(sessions.c.id == session_id)
                character_id = await connection.scalar(lead)
            whom = {"character": character_id, "players": list(player_ids)}
            rows = (await connection.execute(_REMEMBERED, whom)).all()
            noted = {"ids": [row.id for row in rows if row.has_notes], "since": since}
            told = await notes_of(connection, await connection.execute(_NOTES, noted) if noted["ids"] else ())
            known = {"ids": [row.id for row in rows if row.has_traits]}
            held = await traits_of(connection, await connection.execute(_TRAITS, known) if known["ids"] else ())
        found = {row.player_id: acquaintance_of(row) for row in rows}
        present = [found[player_id] for player_id in dict.fromkeys(player_ids) if player_id in found]
        return tuple(Portrait(a, told.get(a.id, ()), held.get(a.id, ())) for a in present)

    async def portraits_of(
        self, player_id: int, guild_id: int | None, *, everywhere: bool = False
    ) -> tuple[Portrait, ...]:
        """All that the characters of a guild (None: of direct messages) keep about a person, or those of all places.

        What is out of use, former texts, and who does not remember the person any more are among it.
        """
        known = ACQUAINTANCES.where(acquaintances.c.player_id == player_id).order_by(acquaintances.c.id)
        if not everywhere:
            known = known.where(characters.c.guild_id.is_not_distinct_from(guild_id))
        async with self._database.read() as connection:
            found = [acquaintance_of(row) for row in await connection.execute(known)]
            ids = [acquaintance.id for acquaintance in found]
            told = await read_notes(connection, notes.c.acquaintance_id.in_(ids))
            held = await read_traits(connection, traits.c.acquaintance_id.in_(ids))
            former = await read_former(connection, [trait.id for known in held.values() for trait in known])
            fresh = (
                select(exchanges.c.acquaintance_id, func.count())
                .where(exchanges.c.acquaintance_id.in_(ids), exchanges.c.state == ExchangeState.FRESH)
                .group_by(exchanges.c.acquaintance_id)
            )
            waiting = {row[0]: int(row[1]) for row in await connection.execute(fresh)}
        return tuple(
            Portrait(
                acquaintance,
                told.get(acquaintance.id, ()),
                held.get(acquaintance.id, ()),
                {t.id: former[t.id] for t in held.get(acquaintance.id, ()) if t.id in former},
                waiting.get(acquaintance.id, 0),
            )
            for acquaintance in found
        )

    async def acquaintance(self, acquaintance_id: int) -> Acquaintance | None:
        """An acquaintance by id."""
        async with self._database.read() as connection:
            return await read_acquaintance(connection, acquaintance_id)

    async def trait_of(self, player_id: int, trait_id: int) -> tuple[Acquaintance, Trait] | None:
        """A trait, when it is this player's, with whose character's it is."""
        async with self._database.read() as connection:
            found = await read_traits(connection, traits.c.id == trait_id)
            for acquaintance_id, (trait,) in found.items():
                acquaintance = await read_acquaintance(connection, acquaintance_id)
                if acquaintance and acquaintance.player_id == player_id:
                    return acquaintance, trait
        return None

    async def note_of(self, player_id: int, note_id: int) -> tuple[Acquaintance, Note] | None:
        """A note, when it is this player's, with whose character's it is."""
        async with self._database.read() as connection:
            found = await read_notes(connection, notes.c.id == note_id)
            for acquaintance_id, (note,) in found.items():
                acquaintance = await read_acquaintance(connection, acquaintance_id)
                if acquaintance and acquaintance.player_id == player_id:
                    return acquaintance, note
        return None

    async def turn_links(self, sources: Iterable[Source]) -> dict[Source, tuple[int, int, int | None]]:
        """The channel, first message and guild (None in direct messages) of each source that is still there."""
        wanted = defaultdict(list)
        for source in sources:
            wanted[source.session_id, source.seq].append(source)
        statement = (
            select(
                turns.c.session_id,
                turns.c.seq,
                func.min(messages.c.channel_id).label("channel_id"),
                func.min(messages.c.message_id).label("message_id"),
                sessions.c.guild_id,
            )
            .join_from(turns, messages)
            .join(sessions, sessions.c.id == turns.c.session_id)
            .where(tuple_(turns.c.session_id, turns.c.seq).in_(wanted), turns.c.state == TurnState.KEPT)
            .group_by(turns.c.session_id, turns.c.seq, sessions.c.guild_id)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(statement)).all()
        return {
            source: (row.channel_id, row.message_id, row.guild_id)
            for row in rows
            for source in wanted[row.session_id, row.seq]
        }

    async def set_remembered(self, acquaintance_id: int, player_id: int, remembered: bool, at: datetime) -> bool:
        """Let a character remember its person, or not any more; False when it is not this player's to say.

        When it may not, notes and what waits to be judged are gone, and traits are forgotten, restorable by their person.
        """
        async with self._database.write() as connection:
            acquaintance = await read_acquaintance(connection, acquaintance_id)
            if acquaintance is None or acquaintance.player_id != player_id:
                return False
            await lock_people(connection, acquaintance.character_id)
            same = acquaintances.c.id == acquaintance_id
            await connection.execute(update(acquaintances).where(same).values(remembered=remembered))
            if not remembered:
                await _let_go(connection, acquaintance, at)
            return True

    async def set_stranger(self, player_id: int, stranger: bool, at: datetime) -> None:
        """Let no character anywhere remember a person, or all of them again that were not told singly.

        What is kept goes as by :meth:`set_remembered`.
        """
        async with self._database.write() as connection:
            row = strangers.c.player_id == player_id
            if not stranger:
                await connection.execute(delete(strangers).where(row))
                return
            if not await connection.scalar(select(exists().where(row))):
                await connection.execute(insert(strangers).values(player_id=player_id, at=at))
            known = ACQUAINTANCES.where(acquaintances.c.player_id == player_id)
            for found in (await connection.execute(known.order_by(acquaintances.c.character_id))).all():
                await lock_people(connection, found.character_id)
                await _let_go(connection, acquaintance_of(found), at)

    async def is_stranger(self, player_id: int) -> bool:
        """Whether a person wants no character to remember them."""
        async with self._database.read() as connection:
            return bool(await connection.scalar(select(exists().where(strangers.c.player_id == player_id))))


async def lock_people(connection: AsyncConnection, character_id: int) -> None:
    """Let nobody else change what a character knows of persons until the end of the transaction."""
    await hold(connection, _LOCK, {"character": character_id})


async def drop_tails_of_character(connection: AsyncConnection, character_id: int) -> None:
    """Repeat no tail in any story of a character: something that stood in one was changed or taken away."""
    led = select(sessions.c.id).where(sessions.c.character_id == character_id)
    joined = select(cast.c.session_id).where(cast.c.character_id == character_id)
    for session_id in sorted((await connection.scalars(union(led, joined))).all()):
        await drop_tails(connection, session_id)


async def drop_tails_resting_on(connection: AsyncConnection, session_id: int, seqs: Collection[int]) -> None:
    """Repeat no tail of the characters who keep something that these turns show, as they went out of sight or came back."""
    if not seqs:
        return
    owners = set[int]()
    for table, kept in ((note_sources, notes), (trait_sources, traits)):
        shown = table.c.session_id == session_id, table.c.seq.between(min(seqs), max(seqs))
        of_rows = select(acquaintances.c.character_id).join_from(table, kept).join(acquaintances).where(*shown)
        owners |= set(await connection.scalars(of_rows.distinct()))
    for character_id in sorted(owners):
        await lock_people(connection, character_id)
        await drop_tails_of_character(connection, character_id)


async def drop_tails_saying(connection: AsyncConnection, character_id: int, texts: Iterable[str]) -> None:
    """Repeat no tail in the stories of a character that have one with any of the texts in it."""
    says = or_(*(turns.c.tail.contains(" ".join(text.split()), autoescape=True) for text in texts))
    repeated = (
        select(turns.c.session_id).join_from(turns, sessions).where(sessions.c.character_id == character_id, says)
    )
    for session_id in sorted((await connection.scalars(repeated.distinct())).all()):
        await drop_tails(connection, session_id)


async def may_be_remembered(connection: AsyncConnection, acquaintance: Acquaintance) -> bool:
    """Whether a character may keep anything about its person."""
    return acquaintance.remembered and await connection.scalar(unwilling([acquaintance.player_id])) is None


async def _let_go(connection: AsyncConnection, acquaintance: Acquaintance, at: datetime) -> None:
    """Keep nothing about a person any more but what they may restore."""
    own = acquaintance.id
    known = await connection.scalars(select(notes.c.id).where(notes.c.acquaintance_id == own))
    await remove_notes(connection, known.all())
    fresh = exchanges.c.acquaintance_id == own, exchanges.c.state == ExchangeState.FRESH
    await connection.execute(delete(exchanges).where(*fresh))
    planned = judgements.c.acquaintance_id == own, judgements.c.state.in_(OPEN)
    cancelled = update(judgements).where(*planned)
    await connection.execute(cancelled.values(state=FoldState.DONE, error="not-remembered", finished_at=at))
    in_use = traits.c.acquaintance_id == own, traits.c.forgotten_at.is_(None)
    await connection.execute(update(traits).where(*in_use).values(forgotten_at=at))
    await drop_tails_of_character(connection, acquaintance.character_id)
