"""The rows of background work. They are the truth: whoever wakes the folder only asks what is due."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import and_, exists, func, select, update

from bot.memory.story import Fold, FoldKind, FoldState
from bot.store.planning import newest_seq, plan_unless_open
from bot.store.rows import Topic, fold_of, lock_session, lock_session_of_fold
from bot.store.tables import chapters, folds

# Work on a chapter waits while the chapter is set aside.
_IS_DUE: Final = and_(
    folds.c.state == FoldState.DUE,
    ~exists().where(
        chapters.c.session_id == folds.c.session_id, chapters.c.ordinal == folds.c.chapter, chapters.c.aside
    ),
)


class FoldStore(Topic):
    """A fold is due, then running, then done; or due again; or failed for good."""

    async def request_fold(self, session_id: int, kind: FoldKind, at: datetime, chapter: int | None = None) -> None:
        """Plan background work for ``at``, unless the same is due or running. Raises LookupError."""
        async with self._database.write() as connection:
            await lock_session(connection, session_id)
            await plan_unless_open(connection, session_id, kind, at, chapter)

    async def due_folds(self, now: datetime) -> tuple[Fold, ...]:
        """What is due by now, the longest waiting first."""
        statement = select(folds).where(_IS_DUE, folds.c.due_at <= now)
        async with self._database.read() as connection:
            rows = await connection.execute(statement.order_by(folds.c.due_at, folds.c.id))
            return tuple(fold_of(row) for row in rows)

    async def next_due(self) -> datetime | None:
        """When the next fold is due, which may be in the past; None while none is planned."""
        statement = select(func.min(folds.c.due_at)).where(_IS_DUE)
        async with self._database.read() as connection:
            due: datetime | None = await connection.scalar(statement)
        return due

    async def claim_fold(self, fold_id: int, now: datetime) -> Fold | None:
        """Take a fold that is due, which counts as an attempt; None when it is not due, or another took it first."""
        statement = update(folds).where(folds.c.id == fold_id, folds.c.state == FoldState.DUE)
        taken = statement.values(state=FoldState.RUNNING, attempts=folds.c.attempts + 1, claimed_at=now)
        async with self._database.write() as connection:
            row = (await connection.execute(taken.returning(folds))).one_or_none()
        return fold_of(row) if row else None

    async def finish_fold(self, fold_id: int, now: datetime) -> None:
        """A running fold is done, with or without a result."""
        statement = update(folds).where(folds.c.id == fold_id, folds.c.state == FoldState.RUNNING)
        async with self._database.write() as connection:
            await connection.execute(statement.values(state=FoldState.DONE, error="", finished_at=now))

    async def fail_fold(self, fold_id: int, error: str, *, retry_at: datetime | None, now: datetime) -> None:
        """A running fold came to nothing: it is due again at ``retry_at``, or failed for good without one.

        ``error`` is a short code, never a text of the story. Raises LookupError.
        """
        async with self._database.write() as connection:
            session, _ = await lock_session_of_fold(connection, fold_id)
            running = update(folds).where(folds.c.id == fold_id, folds.c.state == FoldState.RUNNING)
            if retry_at is None:
                seq = await newest_seq(connection, session.id)
                changed = running.values(state=FoldState.FAILED, error=error, failed_at_seq=seq, finished_at=now)
            else:
                changed = running.values(state=FoldState.DUE, error=error, due_at=retry_at)
            await connection.execute(changed)

    async def recover_folds(self) -> int:
        """At start-up: what ran when the process ended is due again. Returns how many those are."""
        statement = update(folds).where(folds.c.state == FoldState.RUNNING).values(state=FoldState.DUE)
        async with self._database.write() as connection:
            return (await connection.execute(statement)).rowcount
