"""What the model's calls cost, and how its tokens are counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.tokens import Script, TokenRatio
from bot.memory.turns import AuthorKind, TurnState
from bot.store.rows import Topic
from bot.store.tables import calls, ratios, sessions, turns


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model. Token counts are the server's, None where it gave none; ``outcome`` is a short code.

    ``rejection`` is why its answer could not be used, a short code as well. ``epoch`` and ``forced_cuts`` are the session's when
    a reply's prompt was laid out. These, ``waited_milliseconds`` in the queue and ``interruptions`` by replies are None in
    rows of older versions. ``id`` is 0 until it is on record.
    """

    purpose: str
    session_id: int | None
    model: str
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    outcome: str
    attempts: int
    milliseconds: int
    at: datetime
    waited_milliseconds: int | None = None
    interruptions: int | None = None
    rejection: str | None = None
    epoch: int | None = None
    forced_cuts: int | None = None
    id: int = 0


_REPLIES: Final = select(func.count()).where(
    turns.c.session_id == bindparam("session"),
    turns.c.seq < bindparam("before"),
    turns.c.author_kind == AuthorKind.CHARACTER,
    turns.c.state == TurnState.KEPT,
)
_FIGURES: Final = tuple(field.name for field in fields(Call) if field.name not in ("id", "session_id"))
_ADD_CALL: Final = insert(calls).values(
    session_id=select(sessions.c.id).where(sessions.c.id == bindparam("session")).scalar_subquery()
)


class StatisticsStore(Topic):
    """Figures only; no text of a story is kept here."""

    async def ratio(self, model: str, script: Script) -> TokenRatio:
        """What a model really counted for a script so far; an empty ratio before its first answer."""
        statement = select(ratios).where(ratios.c.model == model, ratios.c.script == script)
        async with self._database.read() as connection:
            row = (await connection.execute(statement)).one_or_none()
        return TokenRatio(row.model, row.script, row.estimated, row.counted) if row else TokenRatio(model, script)

    async def save_ratio(self, ratio: TokenRatio) -> None:
        """Keep a ratio in place of the former one."""
        figures = {"estimated": ratio.estimated, "counted": ratio.counted}
        known = update(ratios).where(ratios.c.model == ratio.model, ratios.c.script == ratio.script)
        async with self._database.write() as connection:
            if (await connection.execute(known.values(figures))).rowcount == 0:
                await connection.execute(insert(ratios).values(model=ratio.model, script=ratio.script, **figures))

    async def record_calls(self, *made: Call) -> None:
        """Record requests to a model. A story that was removed meanwhile is none."""
        async with self._database.write() as connection:
            await add_calls(connection, made)

    async def reject_answer(self, session_id: int, purpose: str, rejection: str) -> None:
        """Note on the newest request of a session for a purpose that its answer turned out to be of no use."""
        of_these = calls.c.session_id == session_id, calls.c.purpose == purpose
        newest = select(func.max(calls.c.id)).where(*of_these).scalar_subquery()
        async with self._database.write() as connection:
            await connection.execute(update(calls).where(calls.c.id == newest).values(rejection=rejection))

    async def replies_before(self, session_id: int, seq: int) -> int:
        """How many replies, the greeting among them, a session has before a turn."""
        async with self._database.read() as connection:
            return int(await connection.scalar(_REPLIES, {"session": session_id, "before": seq}) or 0)

    async def calls(self, session_id: int | None) -> tuple[Call, ...]:
        """The requests made for a session, or all of them for None, oldest first."""
        statement = select(calls).order_by(calls.c.id)
        if session_id is not None:
            statement = statement.where(calls.c.session_id == session_id)
        async with self._database.read() as connection:
            return tuple(Call(**row._mapping) for row in await connection.execute(statement))


async def add_calls(connection: AsyncConnection, made: Iterable[Call]) -> None:
    """Record requests to a model, within the transaction that commits what came of them."""
    for call in made:
        values = {name: getattr(call, name) for name in _FIGURES}
        await connection.execute(_ADD_CALL, {**values, "session": call.session_id})
