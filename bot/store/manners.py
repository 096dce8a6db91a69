"""When a session's character answers: what its players set, and who waits for an answer."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, select, update

from bot.memory.manners import SessionManners
from bot.memory.turns import Turn
from bot.store.rows import Topic, lock_session, turn_of
from bot.store.tables import sessions, turns
from bot.store.turns import waiting

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

    async def waiting_turns(self, session_id: int) -> tuple[Turn, ...]:
        """The players' turns that the next reply has to answer, in order; those that it only takes along are not among them."""
        async with self._database.read() as connection:
            return tuple(turn_of(row) for row in await connection.execute(_WAITING, {"session": session_id}))
