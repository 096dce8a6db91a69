"""Sessions: starting, stopping and finding them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, bindparam, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import Refused
from bot.memory.memories import MemoryStatus
from bot.memory.story import Fold, FoldState, Head, Place, Session, SessionFigures
from bot.memory.turns import Author, AuthorKind, Beat, Turn, TurnState
from bot.memory.wording import Language
from bot.store.planning import OPEN, WITH_TAIL, raw_turns
from bot.store.players import label_of
from bot.store.rows import (
    SESSIONS,
    Topic,
    drop_tails,
    fold_of,
    lock_session,
    read_session,
    read_sessions,
    take_seq,
    turn_of,
)
from bot.store.search import index_turn
from bot.store.tables import chapters, characters, folds, memories, sessions, turns

_RUNNING: Final = SESSIONS.where(sessions.c.channel_id == bindparam("channel"), sessions.c.stopped_at.is_(None))
_LOCKED: Final = _RUNNING.with_for_update(of=sessions)


class SessionStore(Topic):
    """At most one session runs in a channel at a time."""

    async def start_session(
        self,
        place: Place,
        character_id: int,
        language: Language,
        greeting: tuple[str, tuple[Beat, ...], int] | None,
        head: Head,
        at: datetime,
        *,
        greeted: Author | None = None,
    ) -> tuple[Session, Turn | None]:
        """Start a story; a greeting (what was written, its beats, its tokens) becomes its first turn, not delivered yet.

        ``greeted`` is the player whom the greeting names.

        Raises Refused when one runs in the channel already, and LookupError when there is no such character.
        """
        values = {
            "guild_id": place.guild_id,
            "channel_id": place.channel_id,
            "parent_id": place.parent_id,
            "character_id": character_id,
            "language": language,
            "started_at": at,
            "running_since": at,
            "next_seq": 1,
            "next_number": 1,
            "folded_to": 0,
            "memory_text": head.text,
            "memory_tokens": head.tokens,
            "raw_from": 0,
            "forced_cuts": 0,
        }
        async with self._database.write() as connection:
            if not await connection.scalar(select(exists().where(characters.c.id == character_id))):
                raise LookupError(f"no character {character_id}")
            try:
                session_id = (
                    await connection.execute(insert(sessions).values(values).returning(sessions.c.id))
                ).scalar_one()
            except IntegrityError as error:
                raise Refused("session-already-running") from error
            session = await lock_session(connection, session_id)
            if greeting is None:
                return session, None
            if greeted is not None:
                await label_of(connection, session, greeted.id, greeted.name, greeted.persona_id)
            raw, beats, tokens = greeting
            written = insert(turns).values(
                session_id=session_id,
                seq=await take_seq(connection, session_id),
                author_kind=AuthorKind.CHARACTER,
                author_id=session.character.id,
                author_name=session.character.card.name,
                raw=raw,
                beats=beats,
                tokens=tokens,
                state=TurnState.KEPT,
                at=at,
                revision=1,
                in_character=True,
                delivered=False,
            )
            turn = turn_of((await connection.execute(written.returning(turns))).one())
            await index_turn(connection, session_id, turn)
            return session, turn

    async def session(self, session_id: int) -> Session | None:
        """A session, running or not."""
        async with self._database.read() as connection:
            return await read_session(connection, session_id)

    async def running_session(self, channel_id: int) -> Session | None:
        """The session that runs in a channel."""
        async with self._database.read() as connection:
            found = await read_sessions(connection, _RUNNING, {"channel": channel_id})
        return found[0] if found else None

    async def sessions_in(self, channel_id: int) -> tuple[Session, ...]:
        """All sessions of a channel, the newest first."""
        statement = SESSIONS.where(sessions.c.channel_id == channel_id).order_by(sessions.c.id.desc())
        async with self._database.read() as connection:
            return await read_sessions(connection, statement)

    async def stop_session(self, session_id: int, at: datetime) -> None:
        """Stop a session; one that does not run stays as it is."""
        statement = update(sessions).where(sessions.c.id == session_id, sessions.c.stopped_at.is_(None))
        async with self._database.write() as connection:
            await connection.execute(statement.values(stopped_at=at))

    async def resume_session(self, session_id: int, at: datetime) -> None:
        """Let a stopped session run on. Raises Refused when another one runs in its channel."""
        statement = update(sessions).where(sessions.c.id == session_id).values(stopped_at=None, running_since=at)
        try:
            async with self._database.write() as connection:
                await connection.execute(statement)
        except IntegrityError as error:
            raise Refused("session-already-running") from error

    async def figures(self, session_id: int) -> SessionFigures:
        """A session's counts, and its newest five folds that are open, or failed and not made up for since.

        Raises LookupError.
        """
        counted = (turns.c.session_id == session_id, turns.c.state == TurnState.KEPT)
        async with self._database.read() as connection:
            session = await read_session(connection, session_id)
            if session is None:
                raise LookupError(f"no session {session_id}")

            async def count(table: Any, *conditions: ColumnElement[bool]) -> int:
                statement = select(func.count()).select_from(table).where(*conditions)
                return int((await connection.execute(statement)).scalar_one())

            raw_count = select(func.count(), func.coalesce(func.sum(WITH_TAIL), 0)).where(raw_turns(session))
            raw_number, raw_tokens = (await connection.execute(raw_count)).one()
            return SessionFigures(
                turns=await count(turns, *counted),
                raw_turns=int(raw_number),
                raw_tokens=int(raw_tokens),
                memories=await count(
                    memories, memories.c.session_id == session_id, memories.c.status == MemoryStatus.ACTIVE
                ),
                chapters=await count(chapters, chapters.c.session_id == session_id, chapters.c.aside.is_not(True)),
                folds=await pending_folds(connection, session_id),
            )

    async def note_forced_cut(self, session_id: int, raw_from: int) -> None:
        """Remember from which seq raw turns are shown, and that they were cut once more."""
        statement = update(sessions).where(sessions.c.id == session_id)
        async with self._database.write() as connection:
            await connection.execute(statement.values(raw_from=raw_from, forced_cuts=sessions.c.forced_cuts + 1))
            await drop_tails(connection, session_id)


async def lock_running_session(connection: AsyncConnection, channel_id: int) -> Session | None:
    """The session that runs in a channel, whose row nobody else changes until the end of the transaction."""
    found = await read_sessions(connection, _LOCKED, {"channel": channel_id})
    return found[0] if found else None


async def pending_folds(connection: AsyncConnection, session_id: int) -> tuple[Fold, ...]:
    """The newest five folds that are open, or failed and not made up for since."""
    pending = select(folds).where(
        folds.c.session_id == session_id,
        or_(folds.c.state.in_(OPEN), and_(folds.c.state == FoldState.FAILED, ~_done_since())),
    )
    return tuple(fold_of(row) for row in await connection.execute(pending.order_by(folds.c.id.desc()).limit(5)))


def _done_since() -> ColumnElement[bool]:
    """Whether the same work as a fold's was done after it."""
    later = folds.alias()
    return exists().where(
        later.c.session_id == folds.c.session_id,
        later.c.kind == folds.c.kind,
        later.c.chapter.is_not_distinct_from(folds.c.chapter),
        later.c.state == FoldState.DONE,
        later.c.id > folds.c.id,
    )
