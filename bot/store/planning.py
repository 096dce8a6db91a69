"""Writing a fold down as due, in the transaction that makes it so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, bindparam, func, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.story import FoldKind, FoldState, Session
from bot.memory.turns import TurnState
from bot.store.tables import folds, sessions, turns

# After a fold failed for good, so many turns pass before the next is planned.
REST_AFTER_FAILURE: Final = 20
OPEN: Final = (FoldState.DUE, FoldState.RUNNING)
WITH_TAIL: Final = turns.c.tokens + func.coalesce(turns.c.tail_tokens, 0)
"""The tokens of a turn, and of what its prompt put before it."""
_RAW_TOKENS: Final = select(func.sum(WITH_TAIL)).where(
    turns.c.session_id == bindparam("session"),
    turns.c.seq > bindparam("folded_to"),
    turns.c.state == TurnState.KEPT,
)


@dataclass(frozen=True, slots=True)
class Due:
    """When a turn makes a fold due.

    ``crosses`` is asked with the tokens of the raw turns, their tails included, and of the memory; ``at`` is when.
    """

    crosses: Callable[[int, int], bool]
    at: datetime


async def plan_if_due(connection: AsyncConnection, session: Session, due: Due) -> None:
    """Plan a fold when the trigger is crossed, none is open, and none failed a short while ago."""
    raw = await connection.scalar(_RAW_TOKENS, {"session": session.id, "folded_to": session.folded_to})
    if not due.crosses(int(raw or 0), session.memory_tokens):
        return
    newest = await newest_seq(connection, session.id)
    resting = and_(folds.c.state == FoldState.FAILED, folds.c.failed_at_seq > newest - REST_AFTER_FAILURE)
    hindered = select(folds.c.id).where(
        folds.c.session_id == session.id,
        folds.c.kind == FoldKind.FOLD,
        or_(folds.c.state.in_(OPEN), resting),
    )
    if (await connection.execute(hindered.limit(1))).first() is None:
        await _plan(connection, session.id, FoldKind.FOLD, due.at, None)


async def plan_unless_open(
    connection: AsyncConnection, session_id: int, kind: FoldKind, at: datetime, chapter: int | None
) -> None:
    """Plan background work, unless the same is due or running. The session must be locked."""
    same = select(folds.c.id).where(
        folds.c.session_id == session_id,
        folds.c.kind == kind,
        folds.c.chapter.is_not_distinct_from(chapter),
        folds.c.state.in_(OPEN),
    )
    if (await connection.execute(same.limit(1))).first() is None:
        await _plan(connection, session_id, kind, at, chapter)


async def newest_seq(connection: AsyncConnection, session_id: int) -> int:
    """The seq that was taken last in a session; 0 before the first."""
    next_seq = await connection.execute(select(sessions.c.next_seq).where(sessions.c.id == session_id))
    return int(next_seq.scalar_one()) - 1


def raw_turns(session: Session) -> ColumnElement[bool]:
    """The kept turns that no chapter covers."""
    return and_(turns.c.session_id == session.id, turns.c.seq > session.folded_to, turns.c.state == TurnState.KEPT)


async def _plan(
    connection: AsyncConnection, session_id: int, kind: FoldKind, at: datetime, chapter: int | None
) -> None:
    await connection.execute(
        insert(folds).values(
            session_id=session_id, kind=kind, state=FoldState.DUE, due_at=at, attempts=0, error="", chapter=chapter
        )
    )
