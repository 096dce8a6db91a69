"""Rows into domain objects, and the few statements that more than one topic needs."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Row, Select, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.memories import Content
from bot.memory.prompt import Card
from bot.memory.story import Character, Fold, Head, Place, Scope, Session
from bot.memory.turns import Author, Turn
from bot.store.database import Database
from bot.store.tables import characters, folds, sessions, turns

SESSIONS: Final[Select[Any]] = select(
    sessions, *(column.label(f"card_{column.name}") for column in characters.c)
).join_from(sessions, characters)


class Topic:
    """A part of the store: its functions on one subject."""

    def __init__(self, database: Database) -> None:
        self._database = database


def character_of(row: Row[Any], prefix: str = "") -> Character:
    """A character, of columns whose names start with ``prefix``."""
    of = {name.removeprefix(prefix): value for name, value in row._mapping.items() if name.startswith(prefix)}
    return Character(
        id=of["id"],
        scope=Scope(of["guild_id"], of["owner_id"]),
        card=Card(of["name"], of["description"], of["first_message"]),
        avatar_url=of["avatar_url"],
        created_at=of["created_at"],
    )


def session_of(row: Row[Any]) -> Session:
    """A session, of a row of ``SESSIONS``."""
    return Session(
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
    )


def turn_of(row: Row[Any]) -> Turn:
    """A turn, of a row of its table."""
    return Turn(
        id=row.id,
        seq=row.seq,
        author=Author(row.author_kind, row.author_id, row.author_name),
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
    row = (await connection.execute(SESSIONS.where(sessions.c.id == session_id))).one_or_none()
    return session_of(row) if row else None


async def lock_session(connection: AsyncConnection, session_id: int) -> Session:
    """A session whose row nobody else changes until the end of the transaction. Raises LookupError."""
    statement = SESSIONS.where(sessions.c.id == session_id).with_for_update(of=sessions)
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        raise LookupError(f"no session {session_id}")
    return session_of(row)


async def lock_session_of_turn(connection: AsyncConnection, turn_id: int) -> tuple[Session, Turn]:
    """A turn with its session, locked. Raises LookupError."""
    session_id = await connection.scalar(select(turns.c.session_id).where(turns.c.id == turn_id))
    if session_id is None:
        raise LookupError(f"no turn {turn_id}")
    session = await lock_session(connection, session_id)
    # Read only now: another transaction may have held the session until a moment ago.
    return session, turn_of((await connection.execute(select(turns).where(turns.c.id == turn_id))).one())


async def lock_session_of_fold(connection: AsyncConnection, fold_id: int) -> tuple[Session, Fold]:
    """A fold with its session, locked. Raises LookupError."""
    session_id = await connection.scalar(select(folds.c.session_id).where(folds.c.id == fold_id))
    if session_id is None:
        raise LookupError(f"no fold {fold_id}")
    session = await lock_session(connection, session_id)
    return session, fold_of((await connection.execute(select(folds).where(folds.c.id == fold_id))).one())


async def take_seq(connection: AsyncConnection, session_id: int) -> int:
    """The next place in a session's story; taken for good when the transaction commits."""
    statement = update(sessions).where(sessions.c.id == session_id).values(next_seq=sessions.c.next_seq + 1)
    return int((await connection.execute(statement.returning(sessions.c.next_seq))).scalar_one()) - 1


async def write_head(connection: AsyncConnection, session_id: int, head: Head) -> None:
    """Keep a session's rendered memory. What stood before earlier turns goes with the former one, which it may repeat."""
    await connection.execute(
        update(sessions).where(sessions.c.id == session_id).values(memory_text=head.text, memory_tokens=head.tokens)
    )
    await drop_tails(connection, session_id)


async def drop_tails(connection: AsyncConnection, session_id: int) -> None:
    """Let later prompts of a session no longer repeat what was put before its turns; that of a reply under way neither."""
    kept = update(turns).where(turns.c.session_id == session_id, turns.c.tail.is_not(None))
    await connection.execute(kept.values(tail=None, tail_tokens=None))
    epoch = func.coalesce(sessions.c.epoch, 0) + 1
    await connection.execute(update(sessions).where(sessions.c.id == session_id).values(epoch=epoch))
