"""What stands before a player's turns: a label that nobody else in the session ever had."""

from __future__ import annotations

import unicodedata

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.story import Session
from bot.store.tables import players


async def label_of(connection: AsyncConnection, session: Session, player_id: int, name: str) -> str:
    """A player's label under their present name: the name itself, or with a number when it is another's.

    A former name of another player counts as theirs: it still stands before their older turns. The session must be locked.
    """
    name = " ".join(name.split())
    of_session = players.c.session_id == session.id
    known = await connection.scalar(
        select(players.c.label).where(of_session, players.c.player_id == player_id, players.c.name == name)
    )
    if known is not None:
        return str(known)
    others = await connection.scalars(select(players.c.label).where(of_session, players.c.player_id != player_id))
    label = _free(name, {_key(session.character.card.name), *(_key(other) for other in others)})
    await connection.execute(insert(players).values(session_id=session.id, player_id=player_id, name=name, label=label))
    return label


def _free(name: str, taken: set[str]) -> str:
    label, count = name, 1
    while _key(label) in taken:
        count += 1
        label = f"{name} ({count})"
    return label


def _key(name: str) -> str:
    """What is the same for the eye: width and case do not tell two names apart."""
    return unicodedata.normalize("NFKC", name).casefold()
