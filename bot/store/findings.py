"""What a look-up finds, as memories and turns."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.likeness import SAME_OF_BOTH, features
from bot.memory.memories import Memory, MemoryStatus
from bot.memory.recall import Findings, Found, worth_reading
from bot.memory.turns import Turn, TurnState
from bot.store.ledger import load_memories
from bot.store.rows import Topic, turn_of
from bot.store.search import as_end, count_words, likeliest
from bot.store.tables import condensations, evidence, memories, messages, sessions, turns

# Of each word that people look for; they are shown a hundred lines at most.
_SEARCHED: Final = 500


class FindingStore(Topic):
    """Looking up what is on record. A look-up reads a bounded number of lines, however long the story is."""

    async def find(
        self, session_id: int, words: Collection[str], *, before: int | None = None, most: int = 40
    ) -> Findings:
        """The likeliest lines with some of the words; turns only before the seq ``before``. Raises LookupError.

        Not found are memories that are neither in use nor condensed, condensed ones whose newer line a moderator changed,
        and turns that a memory cites on which a moderator had the last word: what was put right must not come back so.
        """
        async with self._database.read() as connection:
            written = select(sessions.c.next_seq + sessions.c.next_number - 2).where(sessions.c.id == session_id)
            total = await connection.scalar(written)
            if total is None:
                raise LookupError(f"no session {session_id}")
            counts = await count_words(connection, session_id, words)
            chosen = worth_reading(counts, total)
            rows = await likeliest(connection, session_id, chosen, before=before, most=most)
            return Findings(total, counts, await _lines(connection, session_id, rows, with_settled=False))

    async def find_words(self, session_id: int, words: Collection[str], *, most: int = 100) -> tuple[Found, ...]:
        """The lines with most of the words, which all weigh alike; ``*`` ends the beginning of a word.

        Of memories not found are the same as by :meth:`find`.
        """
        async with self._database.read() as connection:
            weighed = dict.fromkeys(words, 1.0)
            rows = await likeliest(connection, session_id, weighed, before=None, most=most, postings=_SEARCHED)
            return await _lines(connection, session_id, rows, with_settled=True)

    async def ends_like(self, session_id: int, text: str, *, most: int = 100) -> tuple[Memory, ...]:
        """The loose ends, open or tied, that may say the same as a text: each that has enough of its features.

        Whoever leaves out the commonest features that such an end may miss, misses none, and reads short lists only.
        """
        wanted = as_end(features(text))
        async with self._database.read() as connection:
            counts = await count_words(connection, session_id, wanted)
            rarest = sorted(wanted, key=lambda word: (counts[word], word))[: int(len(wanted) * (1 - SAME_OF_BOTH)) + 1]
            rows = await likeliest(connection, session_id, dict.fromkeys(rarest, 1.0), before=None, most=most)
            return await load_memories(connection, session_id, memories.c.number.in_([row.number for row in rows]))


async def _lines(
    connection: AsyncConnection, session_id: int, rows: Iterable[Any], *, with_settled: bool
) -> tuple[Found, ...]:
    """The memories and turns of some rows; ``with_settled`` also turns on whose meaning a moderator had the last word."""
    known = tuple(rows)
    if not known:
        return ()
    seqs = {row.seq for row in known if row.seq is not None}
    numbers = {row.number for row in known if row.number is not None}
    told = await _turns(connection, session_id, seqs, with_settled=with_settled)
    noted = await _memories(connection, session_id, numbers)
    found = []
    for row in known:
        words = frozenset(row.words.split())
        if row.seq in told:
            turn, message_id = told[row.seq]
            found.append(Found(row.at, words, turn=turn, message_id=message_id))
        elif row.number in noted:
            found.append(Found(row.at, words, memory=noted[row.number]))
    return tuple(found)


async def _turns(
    connection: AsyncConnection, session_id: int, seqs: Collection[int], *, with_settled: bool
) -> dict[int, tuple[Turn, int | None]]:
    """Kept turns by seq, each with the id of its first message."""
    kept = select(turns).where(turns.c.session_id == session_id, turns.c.seq.in_(seqs))
    if not with_settled:
        settled = (
            select(evidence.c.seq)
            .join(memories, (memories.c.session_id == evidence.c.session_id) & (memories.c.number == evidence.c.number))
            .where(evidence.c.session_id == session_id, evidence.c.seq.in_(seqs), memories.c.corrected)
        )
        kept = kept.where(turns.c.seq.not_in(settled))
    # Which of them are kept is looked at here: told of the state, SQLite reads all kept turns instead of these.
    told = [turn for row in await connection.execute(kept) if (turn := turn_of(row)).state is TurnState.KEPT]
    carried = select(messages.c.turn_id, func.min(messages.c.message_id).label("first")).group_by(messages.c.turn_id)
    carried = carried.where(messages.c.turn_id.in_([turn.id for turn in told]))
    first = {row.turn_id: row.first for row in await connection.execute(carried)}
    return {turn.seq: (turn, first.get(turn.id)) for turn in told}


async def _memories(connection: AsyncConnection, session_id: int, numbers: Collection[int]) -> dict[int, Memory]:
    found = {
        memory.number: memory for memory in await load_memories(connection, session_id, memories.c.number.in_(numbers))
    }
    condensed = [number for number, memory in found.items() if memory.status is MemoryStatus.CONDENSED]
    overruled = await _overruled(connection, session_id, condensed)
    usable = (MemoryStatus.ACTIVE, MemoryStatus.CONDENSED)
    return {n: memory for n, memory in found.items() if memory.status in usable and n not in overruled}


async def _overruled(connection: AsyncConnection, session_id: int, numbers: Collection[int]) -> frozenset[int]:
    """Those of some condensed memories for which, in any generation, a line stands that a moderator changed."""
    above = (
        select(condensations.c.condensed.label("origin"), condensations.c.number.label("above"))
        .where(condensations.c.session_id == session_id, condensations.c.condensed.in_(numbers))
        .cte("above", recursive=True)
    )
    above = above.union(
        select(above.c.origin, condensations.c.number).where(
            condensations.c.session_id == session_id, condensations.c.condensed == above.c.above
        )
    )
    changed = or_(memories.c.corrected, memories.c.status == MemoryStatus.RETRACTED)
    statement = (
        select(above.c.origin)
        .join(memories, memories.c.number == above.c.above)
        .where(memories.c.session_id == session_id, changed)
    )
    return frozenset(await connection.scalars(statement.distinct()))
