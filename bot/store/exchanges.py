"""Exchanges: what a reply and a change of the story mean for what is to be judged about persons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, exists, func, insert, literal, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.people import ExchangeState, JudgementKind
from bot.memory.story import FoldState, Session
from bot.memory.turns import AuthorKind, Turn, TurnState
from bot.store.people import drop_tails_of_character, is_unwilling, lock_people, may_be_remembered
from bot.store.people_tables import (
    acquaintances,
    exchanges,
    former_texts,
    judgements,
    note_sources,
    notes,
    trait_sources,
    traits,
)
from bot.store.planning import OPEN
from bot.store.portraits import ACQUAINTANCES, acquaintance_of, remove_notes, remove_traits
from bot.store.tables import turns

# So many exchanges with a person wait before the oldest of them are judged; the figure is the seed's.
ENOUGH: Final = 8
_THERE: Final = (TurnState.KEPT, TurnState.WRITING)

# What every reply needs is put together once: building a statement takes SQLAlchemy longer than executing it.
_ADD: Final = insert(exchanges)
_IS_FRESH: Final = exchanges.c.state == ExchangeState.FRESH
_OF_ACQUAINTANCE: Final = exchanges.c.acquaintance_id == bindparam("acquaintance")
_FRESH: Final = select(func.count()).where(_OF_ACQUAINTANCE, _IS_FRESH)
_UNDER_WAY: Final = select(
    exists().where(
        judgements.c.acquaintance_id == bindparam("acquaintance"),
        judgements.c.kind == JudgementKind.NOTES,
        judgements.c.state.in_(OPEN),
    )
)
_REPLIES: Final = turns.alias("replies")
_REPLY_BEFORE: Final = func.coalesce(
    select(_REPLIES.c.seq)
    .where(
        _REPLIES.c.session_id == bindparam("session"),
        _REPLIES.c.seq < bindparam("reply"),
        _REPLIES.c.author_kind == AuthorKind.CHARACTER,
        _REPLIES.c.state.in_(_THERE),
    )
    .order_by(_REPLIES.c.seq.desc())
    .limit(1)
    .scalar_subquery(),
    0,
)
# The turns that a reply answers, of those whom its character may remember, with what is known of them.
_ANSWERED: Final = (
    select(
        turns.c.author_id,
        turns.c.author_name,
        turns.c.seq,
        _REPLY_BEFORE.label("previous"),
        acquaintances.c.id.label("acquaintance_id"),
        acquaintances.c.name.label("known_as"),
    )
    .outerjoin_from(
        turns,
        acquaintances,
        and_(acquaintances.c.character_id == bindparam("character"), acquaintances.c.player_id == turns.c.author_id),
    )
    .where(
        turns.c.session_id == bindparam("session"),
        turns.c.seq > _REPLY_BEFORE,
        turns.c.seq < bindparam("reply"),
        turns.c.author_kind == AuthorKind.PLAYER,
        turns.c.state == TurnState.KEPT,
        turns.c.in_character,
        acquaintances.c.remembered.is_not(False),
        ~is_unwilling(turns.c.author_id),
    )
    .order_by(turns.c.seq)
)
_KNOWN: Final = select(acquaintances).where(
    acquaintances.c.character_id == bindparam("character"), acquaintances.c.player_id == bindparam("player")
)
_SINCE: Final = and_(exchanges.c.session_id == bindparam("session"), exchanges.c.reply > bindparam("previous"))
# How many exchanges with a person wait, how many of them only for a reply that is gone, and up to which other such reply
# was judged.
_STANDING: Final = select(
    _FRESH.scalar_subquery().label("waiting"),
    _FRESH.where(_SINCE).scalar_subquery().label("unanswered"),
    select(func.coalesce(func.max(exchanges.c.reply), 0))
    .where(_OF_ACQUAINTANCE, _SINCE, ~_IS_FRESH)
    .scalar_subquery()
    .label("judged_to"),
)
_DROP_UNANSWERED: Final = delete(exchanges).where(_OF_ACQUAINTANCE, _IS_FRESH, _SINCE)


async def plan_judgement(
    connection: AsyncConnection, acquaintance_id: int, kind: JudgementKind, at: datetime, *, everything: bool = False
) -> None:
    """Plan a judgement for ``at``; one that is due already takes it over, one that runs has read its part."""
    due = (
        judgements.c.acquaintance_id == acquaintance_id,
        judgements.c.kind == kind,
        judgements.c.state == FoldState.DUE,
    )
    widened = update(judgements).where(*due).values(everything=or_(judgements.c.everything, literal(everything)))
    if (await connection.execute(widened)).rowcount:
        return
    await connection.execute(
        insert(judgements).values(
            acquaintance_id=acquaintance_id,
            kind=kind,
            everything=everything,
            state=FoldState.DUE,
            due_at=at,
            attempts=0,
            failures=0,
            error="",
        )
    )


async def plan_if_enough(connection: AsyncConnection, acquaintance_id: int, at: datetime) -> None:
    """Plan the judgement of the oldest exchanges when enough of them wait and none is planned or under way."""
    waiting = await connection.scalar(_FRESH, {"acquaintance": acquaintance_id})
    await _plan_if_enough(connection, acquaintance_id, int(waiting or 0), at)


async def _plan_if_enough(connection: AsyncConnection, acquaintance_id: int, waiting: int, at: datetime) -> None:
    if waiting >= ENOUGH and not await connection.scalar(_UNDER_WAY, {"acquaintance": acquaintance_id}):
        await plan_judgement(connection, acquaintance_id, JudgementKind.NOTES, at)


async def note_exchanges(connection: AsyncConnection, session: Session, reply: Turn) -> None:
    """Write down, for each person whom a reply answers, that their turns and this reply wait to be judged.

    Within a transaction that holds the session. What was judged already with a reply that is gone is not judged again.
    """
    character_id = session.author(reply).id
    await lock_people(connection, character_id)
    answered: dict[int, list[Any]] = defaultdict(list)
    place = {"session": session.id, "reply": reply.seq, "character": character_id}
    for row in await connection.execute(_ANSWERED, place):
        answered[row.author_id].append(row)
    for player_id, rows in sorted(answered.items()):
        newest = rows[-1]
        acquaintance_id = newest.acquaintance_id
        if acquaintance_id is None or newest.known_as != newest.author_name:
            acquaintance_id = await meet(connection, character_id, player_id, newest.author_name)
        after = {"acquaintance": acquaintance_id, "session": session.id, "previous": newest.previous}
        standing = (await connection.execute(_STANDING, after)).one()
        if standing.unanswered:
            await connection.execute(_DROP_UNANSWERED, after)
        first = next((row.seq for row in rows if row.seq > standing.judged_to), None)
        if first is None:
            continue
        exchange = {"acquaintance_id": acquaintance_id, "session_id": session.id, "first": first, "reply": reply.seq}
        await connection.execute(_ADD, {**exchange, "state": ExchangeState.FRESH})
        waiting = standing.waiting - standing.unanswered + 1
        await _plan_if_enough(connection, acquaintance_id, waiting, reply.at)


async def reach_people(connection: AsyncConnection, session: Session, changed: Sequence[Turn], at: datetime) -> None:
    """Take out what is known of persons by turns that were edited or deleted, and judge again what is left of the talk.

    A note goes with any turn that it cites, a trait with the last that shows it; a trait's former texts go with any that
    showed them. What its person took away stays so while the turn is there, so that an edit does not bring it back. Within a
    transaction that holds the session.
    """
    seqs: dict[int, set[int]] = defaultdict(set)
    edited: set[tuple[int, int]] = set()
    for turn in changed:
        if turn.author.is_player:
            seqs[turn.author.id].add(turn.seq)
            if turn.state is TurnState.KEPT:
                edited.add((session.id, turn.seq))
    if not seqs:
        return
    character_ids = sorted({session.character.id, *(member.character.id for member in session.others)})
    for character_id in character_ids:
        await lock_people(connection, character_id)
    reached = False
    for player_id, own in sorted(seqs.items()):
        places = {(session.id, seq) for seq in own}
        lost = await _lose_notes(connection, places, edited)
        faded = await _lose_sources(connection, places, edited)
        reached = reached or bool(lost or faded)
        for character_id in character_ids:
            await _judge_again(connection, character_id, player_id, places | lost, at)
    if reached:
        for character_id in character_ids:
            await drop_tails_of_character(connection, character_id)


async def _lose_notes(
    connection: AsyncConnection, places: set[tuple[int, int]], edited: set[tuple[int, int]]
) -> set[tuple[int, int]]:
    """Delete the notes that cite one of the turns; all the turns that those notes cite.

    One that its person deleted stands for its other turns on, and for those that were only edited.
    """
    table = note_sources
    place = tuple_(table.c.session_id, table.c.seq)
    cited = select(table.c.note_id, notes.c.removed).join_from(table, notes).where(place.in_(places))
    rows = (await connection.execute(cited.distinct())).all()
    ids = {row.note_id for row in rows if not row.removed}
    statement = select(table.c.session_id, table.c.seq).where(table.c.note_id.in_(ids))
    lost = {(row.session_id, row.seq) for row in await connection.execute(statement)}
    marks = {row.note_id for row in rows if row.removed}
    await connection.execute(delete(table).where(table.c.note_id.in_(marks), place.in_(places - edited)))
    stay = set((await connection.scalars(select(table.c.note_id).where(table.c.note_id.in_(marks)))).all())
    await remove_notes(connection, ids | (marks - stay))
    return lost


async def _lose_sources(
    connection: AsyncConnection, places: Collection[tuple[int, int]], edited: Collection[tuple[int, int]]
) -> bool:
    """Take the turns from all traits, and delete what only they showed; whether any trait had one.

    What stays was seen so many times less.
    """
    table = trait_sources
    place = tuple_(table.c.session_id, table.c.seq)
    stays = and_(traits.c.deleted, place.in_(edited))
    statement = select(table.c.trait_id, table.c.former, table.c.session_id, table.c.seq).join_from(table, traits)
    rows = (await connection.execute(statement.where(place.in_(places), ~stays).distinct())).all()
    reached = {row.trait_id for row in rows}
    await connection.execute(delete(table).where(place.in_(places), table.c.trait_id.in_(reached)))
    outdated = {row.trait_id for row in rows if row.former}
    await connection.execute(delete(former_texts).where(former_texts.c.trait_id.in_(outdated)))
    lost = Counter(row.trait_id for row in rows if not row.former)
    still = select(table.c.trait_id).where(table.c.trait_id.in_(lost), table.c.former.is_(False)).distinct()
    shown = set((await connection.scalars(still)).all())
    await remove_traits(connection, lost.keys() - shown)
    for trait_id in shown:
        await _seen_less(connection, trait_id, lost[trait_id])
    return bool(rows)


async def _seen_less(connection: AsyncConnection, trait_id: int, times: int) -> None:
    """Take back what so many turns counted: what is said of them anew counts again."""
    row = (await connection.execute(select(traits.c.matches, traits.c.importance).where(traits.c.id == trait_id))).one()
    # A dormant trait has no importance to lose.
    importance = min(row.importance, max(1, row.importance - times))
    less = update(traits).where(traits.c.id == trait_id)
    await connection.execute(less.values(matches=max(1, row.matches - times), importance=importance))


async def _judge_again(
    connection: AsyncConnection, character_id: int, player_id: int, places: Collection[tuple[int, int]], at: datetime
) -> None:
    """Let a person's exchanges with one of the turns wait again, as far as anything of theirs is left in them."""
    known = ACQUAINTANCES.where(acquaintances.c.character_id == character_id, acquaintances.c.player_id == player_id)
    row = (await connection.execute(known)).one_or_none()
    if row is None:
        return
    of_exchange = and_(
        turns.c.session_id == exchanges.c.session_id, turns.c.seq.between(exchanges.c.first, exchanges.c.reply)
    )
    covering = exists().where(of_exchange, tuple_(turns.c.session_id, turns.c.seq).in_(places)).correlate(exchanges)
    left = exists().where(
        of_exchange,
        turns.c.author_kind == AuthorKind.PLAYER,
        turns.c.author_id == player_id,
        turns.c.state == TurnState.KEPT,
        turns.c.in_character,
    )
    touched = and_(exchanges.c.acquaintance_id == row.id, covering)
    await connection.execute(delete(exchanges).where(touched, ~left.correlate(exchanges)))
    if await may_be_remembered(connection, acquaintance_of(row)):
        await connection.execute(update(exchanges).where(touched).values(state=ExchangeState.FRESH))
        await plan_if_enough(connection, row.id, at)


async def meet(connection: AsyncConnection, character_id: int, player_id: int, name: str) -> int | None:
    """The id of an acquaintance, made when there is none, under the name used last; None when nothing may be kept."""
    row = (await connection.execute(_KNOWN, {"character": character_id, "player": player_id})).one_or_none()
    if row is None:
        values = {"character_id": character_id, "player_id": player_id, "name": name, "remembered": True}
        made = insert(acquaintances).values(values).returning(acquaintances.c.id)
        return int((await connection.execute(made)).scalar_one())
    if not row.remembered:
        return None
    if row.name != name:
        await connection.execute(update(acquaintances).where(acquaintances.c.id == row.id).values(name=name))
    return int(row.id)
