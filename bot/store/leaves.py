"""A session's memory, leaf by leaf: the lines are counted, and only those of the leaf asked for are read."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, func, literal, or_, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.leaves import Closing, Leaf, Section, leaves, on_leaf
from bot.memory.memories import MemoryKind, MemoryStatus
from bot.store.ledger import load_chapters, memory_of
from bot.store.planning import raw_turns
from bot.store.rows import Topic, read_session
from bot.store.sessions import pending_folds
from bot.store.tables import chapters, memories, turns

_APART = (MemoryKind.LOOSE_END, MemoryKind.QUOTE)
_IN_STORY = tuple(kind for kind in MemoryKind if kind not in _APART)
# A section, what its lines have in common, and how many there are.
_Part = tuple[Section, ColumnElement[bool], int]


class LeafStore(Topic):
    """Reading the memory as people turn its leaves."""

    async def leaf(self, session_id: int, index: int, kind: MemoryKind | None = None) -> Leaf:
        """The leaf of an index from 0, or the last when there are fewer; of one ``kind`` alone when it is given.

        Raises LookupError.
        """
        async with self._database.read() as connection:
            parts = await _parts(connection, session_id, kind)
            counts = [count for _, _, count in parts]
            number = leaves(sum(counts))
            index = max(0, min(index, number - 1))
            found = []
            for place, start, many in on_leaf(counts, index):
                section, of_section, _ = parts[place]
                lines = select(memories).where(of_section).order_by(memories.c.number).offset(start).limit(many)
                found.append((section, tuple(memory_of(row) for row in await connection.execute(lines))))
            closing = await _closing(connection, session_id) if index == number - 1 else None
            return Leaf(index, number, tuple(found), kind, closing)

    async def leaf_with(self, session_id: int, number: int, kind: MemoryKind | None = None) -> Leaf | None:
        """The leaf that shows a memory; None when none does. Raises LookupError."""
        async with self._database.read() as connection:
            before = 0
            for _, of_section, count in await _parts(connection, session_id, kind):
                shown = select(memories.c.number).where(of_section, memories.c.number == number)
                if await connection.scalar(shown) is not None:
                    earlier = select(func.count()).where(of_section, memories.c.number < number)
                    before += await connection.scalar(earlier) or 0
                    break
                before += count
            else:
                return None
        return await self.leaf(session_id, leaves(before + 1) - 1, kind)


async def _parts(connection: AsyncConnection, session_id: int, kind: MemoryKind | None) -> list[_Part]:
    """The synopsis, the chapters from the oldest, loose ends and quotes."""
    in_use = and_(memories.c.session_id == session_id, memories.c.status == MemoryStatus.ACTIVE)
    # A run of the index for each kind is counted in two fifths of the time that grouping takes.
    by_kind = union_all(
        *(
            select(literal(one.value).label("kind"), func.count().label("lines")).where(in_use, memories.c.kind == one)
            for one in ([kind] if kind else MemoryKind)
        )
    )
    lines = {MemoryKind(row.kind): row.lines for row in await connection.execute(by_kind)}
    in_story = and_(in_use, memories.c.kind.in_([one for one in _IN_STORY if kind in (None, one)]))
    young = {one.ordinal: one for one in await load_chapters(connection, session_id, chapters.c.absorbed.is_(False))}
    of_young = select(memories.c.chapter, func.count().label("lines")).where(in_story, memories.c.chapter.in_(young))
    told = {row.chapter: row.lines for row in await connection.execute(of_young.group_by(memories.c.chapter))}
    old = sum(count for of_kind, count in lines.items() if of_kind not in _APART) - sum(told.values())
    of_old = and_(in_story, or_(memories.c.chapter.is_(None), memories.c.chapter.not_in(young)))
    return [
        (Section(), of_old, old),
        *(
            (Section(chapter), and_(in_story, memories.c.chapter == ordinal), told.get(ordinal, 0))
            for ordinal, chapter in young.items()
        ),
        *((Section(kind=one), and_(in_use, memories.c.kind == one), lines.get(one, 0)) for one in _APART),
    ]


async def _closing(connection: AsyncConnection, session_id: int) -> Closing:
    session = await read_session(connection, session_id)
    if session is None:
        raise LookupError(f"no session {session_id}")
    raw = select(func.count()).select_from(turns).where(raw_turns(session))
    stale = select(func.count()).where(memories.c.session_id == session_id, memories.c.status == MemoryStatus.STALE)
    return Closing(
        int(await connection.scalar(raw) or 0),
        int(await connection.scalar(stale) or 0),
        await pending_folds(connection, session_id),
    )
