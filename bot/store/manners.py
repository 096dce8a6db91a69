"""When a session's character answers: what its players set, and who waits for an answer."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, select, update

from bot.memory.manners import SessionManners
from bot.memory.story import Session
from bot.memory.turns import Turn
from bot.store.rows import Topic, lock_session, read_session
from bot.store.tables import sessions, turns
from bot.store.turns import read_turns, waiting

_WAITING: Final = select(turns).where(*waiting(bindparam("session"))).order_by(turns.c.seq)


class MannersStore(Topic):
    """Settings of a session, and the turns that they leave waiting."""

    async def save_manners(self, session_id: int, manners: SessionManners) -> None:
        """Keep a session's manners in place of the former ones. Raises LookupError."""
        written = update(sessions).where(sessions.c.id == session_id)
        async with self._database.write() as connection:
            await lock_session(connection, session_id)
            await connection.execute(
                written.values(mode=manners.mode, pause_seconds=manners.pause_seconds, marks=manners.marks)
            )

    async def waiting(self, session_id: int) -> tuple[Session, tuple[Turn, ...]]:
        """A session and the players' turns that its next reply has to answer, in order.

        Those that it only takes along are not among them. Raises LookupError.
        """
        async with self._database.read() as connection:
            session = await read_session(connection, session_id)
            if session is None:
                raise LookupError(f"no session {session_id}")
            return session, await read_turns(connection, _WAITING, {"session": session_id})
