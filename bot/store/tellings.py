"""The versions of replies that were told more than once. One of them stands in the story; the others never happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import Row, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.story import Session, Tail
from bot.memory.turns import Telling, Turn, TurnState
from bot.store.planning import Due, plan_if_due
from bot.store.rows import Topic, lock_session_of_turn, turn_of
from bot.store.search import index_turn, scrub
from bot.store.statistics import Call, add_calls
from bot.store.tables import tellings, turns
from bot.store.turns import values_of
from bot.store.views import keep_tail


class TellingStore(Topic):
    """Only the newest turn in character can be told anew: what follows a reply is built on it."""

    async def tellings(self, turn_id: int) -> tuple[int, tuple[Telling, ...]]:
        """The number of the telling that stands in the story, counted from 1, and all of them. Raises LookupError."""
        async with self._database.read() as connection:
            row = (await connection.execute(select(turns).where(turns.c.id == turn_id))).one_or_none()
            if row is None:
                raise LookupError(f"no turn {turn_id}")
            known = await _tellings(connection, turn_id)
        return (row.telling or 1, known) if known else (1, (_telling(row),))

    async def newest_turn(self, session_id: int) -> Turn | None:
        """The newest kept turn in character; None while a reply is being written, and before the first."""
        async with self._database.read() as connection:
            return await _newest(connection, session_id)

    async def tell_anew(
        self,
        turn_id: int,
        revision: int,
        telling: Telling,
        due: Due,
        tail: Tail | None = None,
        *,
        calls: Iterable[Call] = (),
    ) -> Turn | None:
        """Let another version of a reply stand in the story, the former ones kept, behind the tail that it was told with.

        The ``calls`` that it took are recorded with it.

        Plans a fold when that makes it due. None, and nothing is written, unless the turn is still the newest, in no chapter,
        and has this ``revision``. Raises LookupError.
        """
        async with self._database.write() as connection:
            session, turn = await lock_session_of_turn(connection, turn_id)
            if not await _is_open(connection, session, turn) or turn.revision != revision or turn.author.is_player:
                return None
            known = await _tellings(connection, turn_id)
            if not known:
                row = (await connection.execute(select(turns).where(turns.c.id == turn_id))).one()
                known = (_telling(row),)
                await _add(connection, turn_id, 1, known[0])
            await _add(connection, turn_id, len(known) + 1, telling)
            told = await _stand(connection, turn_id, len(known) + 1, telling)
            await keep_tail(connection, session, turn, tail)
            await plan_if_due(connection, session, due)
            await add_calls(connection, calls)
            return told

    async def choose_telling(self, turn_id: int, number: int) -> Turn | None:
        """Let a version that was told before stand in the story.

        None, and nothing is written, unless there is one with this number and the turn is still the newest, and in no chapter.
        Raises LookupError.
        """
        async with self._database.write() as connection:
            session, turn = await lock_session_of_turn(connection, turn_id)
            known = await _tellings(connection, turn_id)
            if not 1 <= number <= len(known) or not await _is_open(connection, session, turn):
                return None
            return await _stand(connection, turn_id, number, known[number - 1])


async def forget_tellings(connection: AsyncConnection, turn_ids: Sequence[int]) -> None:
    """The versions of turns whose words leave the database leave with them."""
    await connection.execute(delete(tellings).where(tellings.c.turn_id.in_(turn_ids)))


async def tellings_in(connection: AsyncConnection, session_id: int) -> dict[int, tuple[int, tuple[Telling, ...]]]:
    """The replies of a session that were told more than once, by the turn's id: which telling stands in the story, and all."""
    of_session = select(tellings.c.turn_id, turns.c.telling).join(turns).where(turns.c.session_id == session_id)
    rows = (await connection.execute(of_session.distinct())).all()
    return {row.turn_id: (row.telling or 1, await _tellings(connection, row.turn_id)) for row in rows}


async def replace_tellings(
    connection: AsyncConnection, turn_id: int, number: int | None, left: Sequence[Telling]
) -> None:
    """Let a reply have these tellings alone. Nothing is left of them when none stands in the story, or no other does."""
    await forget_tellings(connection, [turn_id])
    several = number is not None and len(left) > 1
    for place, telling in enumerate(left if several else (), start=1):
        await _add(connection, turn_id, place, telling)
    now = update(turns).where(turns.c.id == turn_id)
    await connection.execute(now.values(telling=number if several else None))


async def _tellings(connection: AsyncConnection, turn_id: int) -> tuple[Telling, ...]:
    statement = select(tellings).where(tellings.c.turn_id == turn_id).order_by(tellings.c.number)
    return tuple(_telling(row) for row in await connection.execute(statement))


async def _newest(connection: AsyncConnection, session_id: int) -> Turn | None:
    there = select(turns).where(
        turns.c.session_id == session_id, turns.c.state.in_((TurnState.KEPT, TurnState.WRITING)), turns.c.in_character
    )
    row = (await connection.execute(there.order_by(turns.c.seq.desc()).limit(1))).one_or_none()
    turn = turn_of(row) if row else None
    return turn if turn and turn.state is TurnState.KEPT else None


async def _is_open(connection: AsyncConnection, session: Session, turn: Turn) -> bool:
    """Whether nothing builds on a turn yet: neither a later turn nor a memory."""
    return turn.seq > session.folded_to and await _newest(connection, session.id) == turn


async def _add(connection: AsyncConnection, turn_id: int, number: int, telling: Telling) -> None:
    await connection.execute(insert(tellings).values(turn_id=turn_id, number=number, **values_of(telling)))


async def _stand(connection: AsyncConnection, turn_id: int, number: int, telling: Telling) -> Turn:
    """Put a telling in the turn's place; the words of the former one leave the index."""
    changed = update(turns).where(turns.c.id == turn_id)
    changed = changed.values(**values_of(telling), telling=number, revision=turns.c.revision + 1)
    row = (await connection.execute(changed.returning(turns))).one()
    turn = turn_of(row)
    await index_turn(connection, row.session_id, turn)
    await scrub(connection)
    return turn


def _telling(row: Row[Any]) -> Telling:
    return Telling(**{field.name: getattr(row, field.name) for field in fields(Telling)})
