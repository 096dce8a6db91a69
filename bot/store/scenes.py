"""What decides who of a cast speaks next."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.story import Session
from bot.memory.turn_taking import Scene
from bot.memory.turns import TurnState
from bot.store.cast_tables import addressed
from bot.store.rows import turn_of
from bot.store.tables import turns

# More players' turns than these seldom wait for one reply.
_LOOKED_BACK: Final = 60

_NEWEST: Final = (
    select(turns)
    .where(turns.c.session_id == bindparam("session"), turns.c.state == TurnState.KEPT)
    .order_by(turns.c.seq.desc())
    .limit(_LOOKED_BACK)
)
_ADDRESSED: Final = select(addressed).where(addressed.c.turn_id.in_(bindparam("turns", expanding=True)))


async def read_scene(connection: AsyncConnection, session: Session) -> Scene:
    """A session's scene; where one character plays alone, its words decide nothing and are not read."""
    if len(session.cast) == 1:
        return Scene(session.cast)
    newest = [turn_of(row) for row in await connection.execute(_NEWEST, {"session": session.id})]
    replies = await connection.execute(_ADDRESSED, {"turns": [turn.id for turn in newest]})
    return Scene(session.cast, newest[::-1], {row.turn_id: row.character_id for row in replies})
