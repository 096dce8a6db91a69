"""Reading and writing memories with their versions: nothing is changed without an entry in its history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, Table, and_, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.memories import Chapter, Content, Memory, MemoryStatus, NewMemory, SessionMemory, Version
from bot.memory.story import Head
from bot.memory.turns import Citation
from bot.store.rows import content_of
from bot.store.search import index_memories
from bot.store.tables import chapters, condensations, evidence, memories, sessions, versions

# Pure, and called within the transaction: how the memory looks once all that is being written stands.
Render = Callable[[SessionMemory], Head]


async def load_memory(connection: AsyncConnection, session_id: int) -> SessionMemory:
    """All that a session remembers, in use or not; of the chapters those that are not set aside."""
    present = and_(chapters.c.session_id == session_id, chapters.c.aside.is_not(True))
    written = select(chapters).where(present).order_by(chapters.c.ordinal)
    found = tuple(Chapter(row.ordinal, row.first, row.last, row.absorbed) for row in await connection.execute(written))
    return SessionMemory(found, await load_memories(connection, session_id))


async def load_memories(
    connection: AsyncConnection, session_id: int, numbers: Collection[int] | None = None
) -> tuple[Memory, ...]:
    """Memories with their sources, in the order of their numbers; all of a session without ``numbers``."""

    def of(rows: Table) -> Select[Any]:
        chosen = select(rows).where(rows.c.session_id == session_id)
        return chosen if numbers is None else chosen.where(rows.c.number.in_(numbers))

    cites: dict[int, list[Citation]] = defaultdict(list)
    for row in await connection.execute(of(evidence).order_by(evidence.c.position)):
        cites[row.number].append(Citation(row.seq, row.beat))
    condenses: dict[int, list[int]] = defaultdict(list)
    for row in await connection.execute(of(condensations).order_by(condensations.c.position)):
        condenses[row.number].append(row.condensed)
    return tuple(
        Memory(
            number=row.number,
            content=content_of(row),
            status=row.status,
            cites=tuple(cites[row.number]),
            condenses=tuple(condenses[row.number]),
            chapter=row.chapter,
            version=row.version,
            corrected=row.corrected,
            restates=row.restates,
            resolved_by=row.resolved_by,
        )
        for row in await connection.execute(of(memories).order_by(memories.c.number))
    )


async def load_histories(
    connection: AsyncConnection, session_id: int, numbers: Iterable[int] | None = None
) -> dict[int, tuple[Version, ...]]:
    """The versions of memories, oldest first, by number; of all of them without ``numbers``."""
    statement = select(versions).where(versions.c.session_id == session_id).order_by(versions.c.version)
    if numbers is not None:
        statement = statement.where(versions.c.number.in_(set(numbers)))
    found: dict[int, list[Version]] = defaultdict(list)
    for row in await connection.execute(statement):
        version = Version(row.version, content_of(row), row.status, row.by, row.reason, row.at)
        found[row.number].append(version)
    return {number: tuple(found[number]) for number in sorted(found)}


async def write_changed(
    connection: AsyncConnection, session_id: int, changed: Iterable[Memory], *, by: str, reason: str, at: datetime
) -> None:
    """Write memories as their newest version has them, and that version into their history."""
    known = tuple(changed)
    for memory in known:
        await connection.execute(
            update(memories)
            .where(memories.c.session_id == session_id, memories.c.number == memory.number)
            .values(
                **_values(memory.content, memory.status),
                version=memory.version,
                corrected=memory.corrected,
                resolved_by=memory.resolved_by,
            )
        )
        await connection.execute(
            insert(versions).values(
                session_id=session_id,
                number=memory.number,
                version=memory.version,
                **_values(memory.content, memory.status),
                by=by,
                reason=reason,
                at=at,
            )
        )
    await index_memories(connection, session_id, known, at)


async def add_memories(
    connection: AsyncConnection,
    session_id: int,
    found: Sequence[NewMemory],
    *,
    chapter: int | None,
    by: str,
    at: datetime,
) -> tuple[Memory, ...]:
    """Number new memories and write them, each with its first version and its evidence."""
    if not found:
        return ()
    first = await _take_numbers(connection, session_id, len(found))
    added = tuple(
        Memory(
            number=number,
            content=new.content,
            cites=new.cites,
            condenses=new.condenses,
            chapter=chapter,
            restates=new.restates,
        )
        for number, new in enumerate(found, start=first)
    )
    lines = [
        {
            "session_id": session_id,
            "number": memory.number,
            **_values(memory.content, memory.status),
            "chapter": chapter,
            "version": memory.version,
            "corrected": memory.corrected,
            "restates": memory.restates,
        }
        for memory in added
    ]
    history = [
        {
            "session_id": session_id,
            "number": memory.number,
            "version": memory.version,
            **_values(memory.content, memory.status),
            "by": by,
            "reason": "",
            "at": at,
        }
        for memory in added
    ]
    await connection.execute(insert(memories), lines)
    await connection.execute(insert(versions), history)
    await _add_sources(connection, session_id, added)
    await index_memories(connection, session_id, added, at)
    return added


async def _add_sources(connection: AsyncConnection, session_id: int, added: Sequence[Memory]) -> None:
    cited = [
        {"session_id": session_id, "number": m.number, "position": position, "seq": cite.seq, "beat": cite.beat}
        for m in added
        for position, cite in enumerate(m.cites)
    ]
    condensed = [
        {"session_id": session_id, "number": m.number, "position": position, "condensed": number}
        for m in added
        for position, number in enumerate(m.condenses)
    ]
    if cited:
        await connection.execute(insert(evidence), cited)
    if condensed:
        await connection.execute(insert(condensations), condensed)


async def _take_numbers(connection: AsyncConnection, session_id: int, count: int) -> int:
    statement = update(sessions).where(sessions.c.id == session_id)
    statement = statement.values(next_number=sessions.c.next_number + count)
    return int((await connection.execute(statement.returning(sessions.c.next_number))).scalar_one()) - count


def _values(content: Content, status: MemoryStatus) -> dict[str, Any]:
    return {
        "kind": content.kind,
        "text": content.text,
        "speaker": content.speaker,
        "addressee": content.addressee,
        "actual": content.actual,
        "player_id": content.player_id,
        "private": content.private,
        "status": status,
    }
