"""Reading and writing memories with their versions: nothing is changed without an entry in its history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, case, insert, or_, select, union, union_all, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.folding import MOST_OPEN
from bot.memory.memories import Chapter, Content, Memory, MemoryKind, MemoryStatus, NewMemory, SessionMemory, Version
from bot.memory.prompt import LEAVES_FIRST
from bot.memory.story import Head
from bot.memory.turns import Citation
from bot.store.rows import content_of
from bot.store.search import UNFINDABLE_END, index_memories
from bot.store.tables import chapters, condensations, evidence, memories, sessions, versions

# Pure, and called within the transaction: how the memory looks once all that is being written stands.
Render = Callable[[SessionMemory], Head]


async def load_memory(connection: AsyncConnection, session_id: int) -> SessionMemory:
    """All that a session remembers, in use or not; of the chapters those that are not set aside."""
    return SessionMemory(await load_chapters(connection, session_id), await load_memories(connection, session_id))


async def load_for_head(connection: AsyncConnection, session_id: int, most: int) -> tuple[SessionMemory, bool]:
    """What the head of a prompt may show, without sources: of the lines in use the ``most`` that would leave it last, the newest
    loose ends, and the young chapters; and whether these are all lines in use.
    """
    in_use = and_(memories.c.session_id == session_id, memories.c.status == MemoryStatus.ACTIVE)
    newest = [
        select(memories)
        .where(in_use, memories.c.kind == kind, memories.c.corrected.is_(False))
        .order_by(memories.c.number.desc())
        .limit(most)
        .subquery()
        for kind in LEAVES_FIRST
    ]
    settled = select(memories).where(in_use, memories.c.kind != MemoryKind.LOOSE_END, memories.c.corrected)
    lines = union_all(settled, *(select(of_kind) for of_kind in newest)).subquery()
    rank = case({kind: place for place, kind in enumerate(LEAVES_FIRST)}, value=lines.c.kind)
    last_first = select(lines).order_by(lines.c.corrected.desc(), rank.desc(), lines.c.number.desc()).limit(most)
    ends = select(memories).where(in_use, memories.c.kind == MemoryKind.LOOSE_END)
    rows = (await connection.execute(last_first)).all()
    open_rows = (await connection.execute(ends.order_by(memories.c.number.desc()).limit(MOST_OPEN))).all()
    found = sorted((memory_of(row) for row in (*rows, *open_rows)), key=lambda memory: memory.number)
    young = await load_chapters(connection, session_id, chapters.c.absorbed.is_(False))
    return SessionMemory(young, tuple(found)), len(rows) < most


async def load_for_fold(connection: AsyncConnection, session_id: int, chapter: int | None) -> SessionMemory:
    """What a fold looks at: all that a moderator settled, the events and loose ends in use, the lines of the young chapters, and
    those of ``chapter`` when it is looked at again, then with their sources; of the chapters only these.

    Loose ends that are tied are found by their words (:meth:`FindingStore.ends_like`); those that are not findable are here.
    """
    young = chapters.c.absorbed.is_(False)
    wanted_chapters = young if chapter is None else or_(young, chapters.c.ordinal == chapter)
    found = await load_chapters(connection, session_id, wanted_chapters)
    active = memories.c.status == MemoryStatus.ACTIVE
    of_session = memories.c.session_id == session_id
    ends = select(memories.c.number).where(of_session, active, memories.c.kind == MemoryKind.LOOSE_END)
    numbers = union(
        select(memories.c.number).where(of_session, memories.c.corrected),
        select(memories.c.number).where(of_session, active, memories.c.kind == MemoryKind.EVENT),
        select(ends.order_by(memories.c.number.desc()).limit(MOST_OPEN).subquery()),
        select(memories.c.number).where(of_session, memories.c.chapter.in_([one.ordinal for one in found]), active),
        select(memories.c.number).where(of_session, UNFINDABLE_END),
    )
    wanted = memories.c.number.in_(numbers)
    if chapter is not None:
        return SessionMemory(found, await load_memories(connection, session_id, wanted))
    lines = select(memories).where(of_session, wanted).order_by(memories.c.number)
    return SessionMemory(found, tuple(memory_of(row) for row in await connection.execute(lines)))


async def load_chapters(
    connection: AsyncConnection, session_id: int, *which: ColumnElement[bool]
) -> tuple[Chapter, ...]:
    """The chapters of a session that are not set aside and for which all conditions hold."""
    present = and_(chapters.c.session_id == session_id, chapters.c.aside.is_not(True), *which)
    written = select(chapters).where(present).order_by(chapters.c.ordinal)
    return tuple(Chapter(row.ordinal, row.first, row.last, row.absorbed) for row in await connection.execute(written))


async def settled_versions(connection: AsyncConnection, session_id: int) -> dict[int, int]:
    """The versions of the memories on which a moderator had the last word, by number."""
    statement = select(memories.c.number, memories.c.version)
    settled = statement.where(memories.c.session_id == session_id, memories.c.corrected)
    return {row.number: row.version for row in await connection.execute(settled)}


async def load_memories(
    connection: AsyncConnection, session_id: int, *which: ColumnElement[bool]
) -> tuple[Memory, ...]:
    """The memories of a session for which all conditions hold, with their sources, in the order of their numbers."""
    chosen = select(memories).where(memories.c.session_id == session_id, *which)
    rows = (await connection.execute(chosen.order_by(memories.c.number))).all()
    of_these = [row.number for row in rows]
    cited = select(evidence).where(evidence.c.session_id == session_id).order_by(evidence.c.position)
    condensing = select(condensations).where(condensations.c.session_id == session_id)
    if which:
        cited = cited.where(evidence.c.number.in_(of_these))
        condensing = condensing.where(condensations.c.number.in_(of_these))
    cites: dict[int, list[Citation]] = defaultdict(list)
    for row in await connection.execute(cited):
        cites[row.number].append(Citation(row.seq, row.beat))
    condenses: dict[int, list[int]] = defaultdict(list)
    for row in await connection.execute(condensing.order_by(condensations.c.position)):
        condenses[row.number].append(row.condensed)
    return tuple(memory_of(row, cites[row.number], condenses[row.number]) for row in rows)


def memory_of(row: Row[Any], cites: Iterable[Citation] = (), condenses: Iterable[int] = ()) -> Memory:
    """A memory, of a row of its table and what it rests on."""
    return Memory(
        number=row.number,
        content=content_of(row),
        status=row.status,
        cites=tuple(cites),
        condenses=tuple(condenses),
        chapter=row.chapter,
        version=row.version,
        corrected=row.corrected,
        restates=row.restates,
        resolved_by=row.resolved_by,
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
