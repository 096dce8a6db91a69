"""Rows into domain objects, and the few statements that more than one topic needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import Row, Select, bindparam, delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.manners import SessionManners
from bot.memory.memories import Content
from bot.memory.prompt import Card
from bot.memory.story import Character, Fold, Member, Place, Scope, Session
from bot.memory.turns import Author, Turn
from bot.store.cast_tables import cast, tails
from bot.store.compiled import made
from bot.store.database import Database
from bot.store.tables import characters, folds, sessions, turns

CHARACTERS: Final = tuple(column for column in characters.c if column is not characters.c.document)
"""What is read of a character. Its document may be megabytes, and only an export and a change need it."""
_OF_CARD: Final = tuple(column.label(f"card_{column.name}") for column in CHARACTERS)
_UNREAD: Final = (sessions.c.memory_text, sessions.c.next_seq, sessions.c.next_number, sessions.c.running_since)
SESSIONS: Final[Select[Any]] = select(
    *(column for column in sessions.c if column.name not in {unread.name for unread in _UNREAD}),
    exists().where(cast.c.session_id == sessions.c.id).label("has_others"),
    *_OF_CARD,
).join_from(sessions, characters)
"""What is read of sessions: what changes with each turn is not, and the rendered memory only a prompt needs."""

# What every message needs is put together once: building a statement takes SQLAlchemy longer than executing it.
_SESSION: Final = SESSIONS.where(sessions.c.id == bindparam("session"))
_LOCKED: Final = _SESSION.with_for_update(of=sessions)
_OTHERS: Final = (
    select(cast.c.session_id, cast.c.since, cast.c.left_at, *_OF_CARD)
    .join_from(cast, characters)
    .where(cast.c.session_id.in_(bindparam("sessions", expanding=True)))
    .order_by(cast.c.position)
)
_TURN: Final = select(turns).where(turns.c.id == bindparam("turn"))
_OF_TURN: Final = select(turns.c.session_id).where(turns.c.id == bindparam("turn")).scalar_subquery()
_HELD_OF_TURN: Final = select(sessions.c.id).where(sessions.c.id == _OF_TURN).with_for_update()
_LOCKED_OF_TURN: Final = SESSIONS.where(sessions.c.id == _OF_TURN).with_for_update(of=sessions)
_TAKE_SEQ: Final = (
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(next_seq=sessions.c.next_seq + 1)
    .returning(sessions.c.next_seq)
)


class Topic:
    """A part of the store: its functions on one subject."""

    def __init__(self, database: Database) -> None:
        self._database = database


def character_of(row: Row[Any], prefix: str = "") -> Character:
    """A character, of columns whose names start with ``prefix``."""

    def of(name: str) -> Any:
        return getattr(row, prefix + name)

    return Character(
        id=of("id"),
        scope=Scope(of("guild_id"), of("owner_id")),
        card=replace(
            of("card") or Card("", ""),
            name=of("name"),
            description=of("description"),
            first_message=of("first_message"),
        ),
        avatar_url=of("avatar_url"),
        created_at=of("created_at"),
        adult=bool(of("adult")),
        removed=of("removed_at") is not None,
    )


async def read_sessions(
    connection: AsyncConnection, statement: Select[Any], parameters: Mapping[str, Any] | None = None
) -> tuple[Session, ...]:
    """The sessions that a statement made of ``SESSIONS`` selects, in its order, each with its cast."""
    found = made(await connection.execute(statement, parameters), _session_of)
    others = await _others(connection, [session.id for session, has_others in found if has_others])
    return tuple(replace(each, others=others[each.id]) if each.id in others else each for each, _ in found)


async def _others(connection: AsyncConnection, session_ids: Collection[int]) -> dict[int, tuple[Member, ...]]:
    """The characters besides the lead that ever were in some sessions, in the order in which they joined."""
    found: defaultdict[int, tuple[Member, ...]] = defaultdict(tuple)
    if session_ids:
        for row in await connection.execute(_OTHERS, {"sessions": session_ids}):
            found[row.session_id] += (Member(character_of(row, "card_"), row.since, row.left_at is None),)
    return found


def _session_of(row: Row[Any]) -> tuple[Session, bool]:
    """A session with its lead alone, and whether others ever joined it."""
    session = Session(
        id=row.id,
        place=Place(row.guild_id, row.channel_id, row.parent_id),
        character=character_of(row, "card_"),
        language=row.language,
        running=row.stopped_at is None,
        started_at=row.started_at,
        stopped_at=row.stopped_at,
        folded_to=row.folded_to,
        memory_tokens=row.memory_tokens,
        raw_from=row.raw_from,
        forced_cuts=row.forced_cuts,
        epoch=row.epoch or 0,
        manners=_manners_of(row),
    )
    return session, row.has_others


def _manners_of(row: Row[Any]) -> SessionManners:
    """What was set of a session's manners; the rest is as usual."""
    known = {"mode": row.mode, "pause_seconds": row.pause_seconds, "marks": row.marks}
    return SessionManners(**{name: value for name, value in known.items() if value is not None})


def turn_of(row: Row[Any]) -> Turn:
    """A turn, of a row of its table."""
    return Turn(
        id=row.id,
        seq=row.seq,
        author=Author(row.author_kind, row.author_id, row.author_name, row.persona_id),
        raw=row.raw,
        beats=row.beats,
        tokens=row.tokens,
        state=row.state,
        at=row.at,
        revision=row.revision,
        tail=row.tail or "",
        tail_tokens=row.tail_tokens or 0,
    )


def fold_of(row: Row[Any]) -> Fold:
    """A fold, of a row of its table."""
    return Fold(
        id=row.id,
        session_id=row.session_id,
        kind=row.kind,
        state=row.state,
        due_at=row.due_at,
        attempts=row.attempts,
        error=row.error,
        chapter=row.chapter,
    )


def content_of(row: Row[Any]) -> Content:
    """What a memory or one of its versions says."""
    return Content(row.kind, row.text, row.speaker, row.addressee, row.actual, row.player_id, row.private)


async def read_session(connection: AsyncConnection, session_id: int) -> Session | None:
    """A session, or None."""
    found = await read_sessions(connection, _SESSION, {"session": session_id})
    return found[0] if found else None


async def lock_session(connection: AsyncConnection, session_id: int) -> Session:
    """A session whose row nobody else changes until the end of the transaction. Raises LookupError."""
    found = await read_sessions(connection, _LOCKED, {"session": session_id})
    if not found:
        raise LookupError(f"no session {session_id}")
    return found[0]


async def lock_session_with(connection: AsyncConnection, turn_id: int) -> Session:
    """The session of a turn, locked. Raises LookupError."""
    found = await read_sessions(connection, _LOCKED_OF_TURN, {"turn": turn_id})
    if not found:
        raise LookupError(f"no turn {turn_id}")
    return found[0]


async def lock_session_of_turn(connection: AsyncConnection, turn_id: int) -> tuple[Session, Turn]:
    """A turn with its session, locked. Raises LookupError."""
    session = await lock_session_with(connection, turn_id)
    # Read only now: another transaction may have held the session until a moment ago.
    return session, turn_of((await connection.execute(_TURN, {"turn": turn_id})).one())


async def hold(connection: AsyncConnection, lock: Select[Any], parameters: Mapping[str, Any]) -> None:
    """Let nobody else change the row that a statement locks until the end of the transaction.

    One that writes has SQLite to itself.
    """
    if connection.dialect.name != "sqlite":
        await connection.execute(lock, parameters)


async def hold_session_of_turn(connection: AsyncConnection, turn_id: int) -> None:
    """Let nobody else change a turn's session until the end of the transaction."""
    await hold(connection, _HELD_OF_TURN, {"turn": turn_id})


async def lock_session_of_fold(connection: AsyncConnection, fold_id: int) -> tuple[Session, Fold]:
    """A fold with its session, locked. Raises LookupError."""
    session_id = await connection.scalar(select(folds.c.session_id).where(folds.c.id == fold_id))
    if session_id is None:
        raise LookupError(f"no fold {fold_id}")
    session = await lock_session(connection, session_id)
    return session, fold_of((await connection.execute(select(folds).where(folds.c.id == fold_id))).one())


async def take_seq(connection: AsyncConnection, session_id: int) -> int:
    """The next place in a session's story; taken for good when the transaction commits."""
    return int((await connection.execute(_TAKE_SEQ, {"session": session_id})).scalar_one()) - 1


async def drop_tails(connection: AsyncConnection, session_id: int) -> None:
    """Let later prompts of a session no longer repeat what was put before its turns; that of a reply under way neither."""
    kept = update(turns).where(turns.c.session_id == session_id, turns.c.tail.is_not(None))
    await connection.execute(kept.values(tail=None, tail_tokens=None))
    await connection.execute(delete(tails).where(tails.c.session_id == session_id))
    epoch = func.coalesce(sessions.c.epoch, 0) + 1
    await connection.execute(update(sessions).where(sessions.c.id == session_id).values(epoch=epoch))
