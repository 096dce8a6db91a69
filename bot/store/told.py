"""Taking over stories that were told before, many turns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.story import Session
from bot.memory.turns import Author, Told, Turn, TurnState
from bot.store.planning import Due, newest_seq, plan_if_due
from bot.store.players import label_of
from bot.store.rows import Topic, lock_session, turn_of
from bot.store.search import index_new_turns
from bot.store.tables import messages, sessions, turns
from bot.store.turns import is_in_character, spoken_by


class ToldStore(Topic):
    """The rows are those that the same turns would have, played one by one; nobody gets known by them."""

    async def add_told(self, session_id: int, told: Sequence[Told], due: Due) -> tuple[Turn, ...]:
        """Commit turns of players and delivered replies of the session's lead, in order. Plans a fold when they make it due.

        What is known already is not looked for. Raises LookupError.
        """
        async with self._database.write() as connection:
            session = await lock_session(connection, session_id)
            first = await newest_seq(connection, session_id) + 1
            labels = {
                author: await _author(connection, session, author) for author in dict.fromkeys(t.author for t in told)
            }
            written = insert(turns).returning(turns, sort_by_parameter_order=True)
            rows = [_row(session_id, seq, one, labels[one.author]) for seq, one in enumerate(told, start=first)]
            added = tuple(turn_of(row) for row in await connection.execute(written, rows))
            carried = [
                {"message_id": one.message_id, "channel_id": session.place.channel_id, "turn_id": turn.id}
                for one, turn in zip(told, added, strict=True)
            ]
            await connection.execute(insert(messages), carried)
            taken = update(sessions).where(sessions.c.id == session_id)
            await connection.execute(taken.values(next_seq=first + len(added)))
            await index_new_turns(connection, session_id, added)
            await plan_if_due(connection, session, due)
            return added


async def _author(connection: AsyncConnection, session: Session, author: Author) -> Author:
    """Whom a turn is by, as the session calls them."""
    if not author.is_player:
        return Author(author.kind, session.character.id, session.character.card.name)
    return replace(author, name=await label_of(connection, session, author.id, author.name))


def _row(session_id: int, seq: int, told: Told, author: Author) -> dict[str, object]:
    beats = spoken_by(author.name, told.beats) if author.is_player else told.beats
    return {
        "session_id": session_id,
        "seq": seq,
        "author_kind": author.kind,
        "author_id": author.id,
        "author_name": author.name,
        "raw": told.raw,
        "beats": beats,
        "tokens": told.tokens,
        "state": TurnState.KEPT,
        "at": told.at,
        "revision": 1,
        "in_character": is_in_character(beats),
        "delivered": True,
    }
