"""What a session remembers, as people read and correct it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select, union
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.corrections import CorrectionKind
from bot.memory.memories import Memory, MemoryStatus, SessionMemory, Version
from bot.memory.moderation import FlagState
from bot.memory.story import Archive, MemoryDetail
from bot.memory.turns import Turn, TurnState
from bot.store.branches import read_branches
from bot.store.ledger import Render, load_for_fold, load_histories, load_memories, load_memory, write_changed
from bot.store.moderation import decide_flag
from bot.store.rows import Topic, lock_session, read_session, turn_of
from bot.store.tables import condensations, memories, messages, turns
from bot.store.tellings import tellings_in
from bot.store.turns import read_turns
from bot.store.views import read_voices, write_head


class MemoryStore(Topic):
    """Reading memories with all that is on record about them, and correcting one."""

    async def memory(self, session_id: int) -> SessionMemory:
        """All memories of a session, whatever their status, and its chapters, absorbed ones too."""
        async with self._database.read() as connection:
            known = await load_memory(connection, session_id)
            return replace(known, voices=await read_voices(connection, session_id))

    async def memory_for_fold(self, session_id: int, chapter: int | None = None) -> SessionMemory:
        """What a fold has to know of a session's memory; ``chapter`` is the ordinal of one that is looked at again."""
        async with self._database.read() as connection:
            return await load_for_fold(connection, session_id, chapter)

    async def with_sources(self, session_id: int, numbers: Collection[int]) -> SessionMemory:
        """Some memories with all that they condense, in every generation, and who said what these cite; no chapters."""
        named = select(memories.c.number).where(memories.c.session_id == session_id, memories.c.number.in_(numbers))
        below = named.cte("below", recursive=True)
        parts = select(condensations.c.condensed).where(
            condensations.c.session_id == session_id, condensations.c.number == below.c.number
        )
        wanted = memories.c.number.in_(select(below.union(parts).c.number))
        async with self._database.read() as connection:
            found = await load_memories(connection, session_id, wanted)
            voices = await read_voices(connection, session_id, [memory.number for memory in found])
            return SessionMemory(memories=found, voices=voices)

    async def newest_memories(
        self, session_id: int, number: int | None = None, *, most: int = 25
    ) -> tuple[Memory, ...]:
        """The newest memories in use, all that a moderator settled, and the one of a number in whatever state, by number."""
        of_session, active = memories.c.session_id == session_id, memories.c.status == MemoryStatus.ACTIVE
        newest = select(memories.c.number).where(of_session, active).order_by(memories.c.number.desc()).limit(most)
        settled = select(memories.c.number).where(of_session, memories.c.corrected)
        named = select(memories.c.number).where(of_session, memories.c.number == number)
        wanted = memories.c.number.in_(union(settled, named, select(newest.subquery())))
        async with self._database.read() as connection:
            return await load_memories(connection, session_id, wanted)

    async def histories(self, session_id: int, numbers: Collection[int]) -> dict[int, tuple[Version, ...]]:
        """The versions of some memories, oldest first, by number."""
        async with self._database.read() as connection:
            return await load_histories(connection, session_id, numbers)

    async def detail(self, session_id: int, number: int) -> MemoryDetail | None:
        """A memory with its history and the turns it cites, in whatever state, with their messages."""
        async with self._database.read() as connection:
            found = await load_memories(connection, session_id, memories.c.number == number)
            if not found:
                return None
            history = await load_histories(connection, session_id, (number,))
            return MemoryDetail(found[0], history[number], await _cited(connection, session_id, found[0]))

    async def save_correction(
        self,
        session_id: int,
        expected_version: int,
        memory: Memory,
        *,
        by: str,
        reason: str,
        at: datetime,
        render: Render,
        answers: tuple[int, CorrectionKind] | None = None,
    ) -> bool:
        """Write a memory's corrected version; False, and nothing is written, when it is no longer at the expected one.

        ``answers`` is the id of the report that this correction settles, and its kind; False also when the report is not
        open any more.
        """
        async with self._database.write() as connection:
            await lock_session(connection, session_id)
            now = select(memories.c.version).where(
                memories.c.session_id == session_id, memories.c.number == memory.number
            )
            if await connection.scalar(now) != expected_version:
                return False
            if answers and not await decide_flag(connection, answers[0], FlagState.DONE, answers[1], by=int(by), at=at):
                return False
            changed = replace(memory, version=expected_version + 1)
            await write_changed(connection, session_id, (changed,), by=by, reason=reason, at=at)
            await write_head(connection, session_id, render)
            return True

    async def render_again(self, session_id: int, render: Render) -> None:
        """Render the memory although it is the same: the budgets are others now. Raises LookupError."""
        async with self._database.write() as connection:
            await lock_session(connection, session_id)
            await write_head(connection, session_id, render)

    async def archive(self, session_id: int) -> Archive | None:
        """A whole story: each turn in sight or set aside with all its tellings, each memory, each version."""
        told = select(turns).where(turns.c.session_id == session_id).order_by(turns.c.seq)
        async with self._database.read_aside() as connection:
            session = await read_session(connection, session_id)
            if session is None:
                return None
            return Archive(
                session,
                await read_turns(connection, told.where(turns.c.state == TurnState.KEPT)),
                await load_memory(connection, session_id),
                await load_histories(connection, session_id),
                await tellings_in(connection, session_id),
                await read_turns(connection, told.where(turns.c.state == TurnState.ASIDE)),
                await read_branches(connection, session_id),
            )


async def _cited(
    connection: AsyncConnection, session_id: int, memory: Memory
) -> tuple[tuple[Turn, tuple[int, ...]], ...]:
    """The cited turns in order, each with the ids of its messages in order."""
    seqs = {cite.seq for cite in memory.cites}
    cited = select(turns).where(turns.c.session_id == session_id, turns.c.seq.in_(seqs)).order_by(turns.c.seq)
    found = [turn_of(row) for row in await connection.execute(cited)]
    carrying = select(messages).where(messages.c.turn_id.in_([turn.id for turn in found]))
    carried: dict[int, list[int]] = defaultdict(list)
    for row in await connection.execute(carrying.order_by(messages.c.message_id)):
        carried[row.turn_id].append(row.message_id)
    return tuple((turn, tuple(carried[turn.id])) for turn in found)
