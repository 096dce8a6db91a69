"""Committing what folds found, by compare-and-swap: if the source changed meanwhile, nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.memories import (
    Chapter,
    Memory,
    MemoryKind,
    MemoryStatus,
    NewMemory,
    Version,
)
from bot.memory.policy import Stretch
from bot.memory.story import FoldKind
from bot.memory.turns import TurnState
from bot.store.ledger import (
    Render,
    add_memories,
    load_chapters,
    load_histories,
    load_memories,
    settled_versions,
    write_changed,
)
from bot.store.moderation import raise_flags
from bot.store.planning import plan_unless_open
from bot.store.rows import Topic, lock_session
from bot.store.tables import chapters as chapter_table
from bot.store.tables import memories as memory_table
from bot.store.tables import sessions, turns
from bot.store.views import write_head


class ChapterStore(Topic):
    """The results of folds; the rows of the folds themselves are not touched here."""

    async def commit_chapter(
        self,
        fold_id: int | None,
        session_id: int,
        stretch: Stretch,
        revisions: Mapping[int, int],
        memories: Sequence[NewMemory],
        resolved: Mapping[int, int],
        *,
        by: str,
        at: datetime,
        render: Render,
        settled: Mapping[int, int] | None = None,
        audit_at: datetime | None = None,
    ) -> Chapter | None:
        """Write the next chapter, with the memories found in it and the loose ends that it tied (number to seq).

        ``revisions`` are those of the turns that the fold read, by seq. None, and nothing is written, unless they are
        exactly the kept turns from the last chapter to the end of the stretch, and no reply is being written among them.
        ``settled`` are the versions of the memories that a moderator had settled when the fold read them, by number: with
        another correction since then nothing is written either. With ``audit_at`` an audit of the chapter is planned for that
        time. Raises LookupError.
        """
        async with self._database.write() as connection:
            session = await lock_session(connection, session_id)
            after = session.folded_to + 1
            if stretch.last < after or await _revisions(connection, session_id, after, stretch.last) != dict(revisions):
                return None
            if settled is not None and settled != await settled_versions(connection, session_id):
                return None
            of_session = chapter_table.c.session_id == session_id
            ordinal = (await connection.scalar(select(func.max(chapter_table.c.ordinal)).where(of_session)) or 0) + 1
            chapter = Chapter(ordinal, min(stretch.first, *revisions, stretch.last), stretch.last)
            await connection.execute(
                insert(chapter_table).values(
                    session_id=session_id,
                    ordinal=ordinal,
                    first=chapter.first,
                    last=chapter.last,
                    absorbed=False,
                    fold_id=fold_id,
                    at=at,
                )
            )
            await connection.execute(update(sessions).where(sessions.c.id == session_id).values(folded_to=chapter.last))
            await add_memories(connection, session_id, memories, chapter=ordinal, by=by, at=at)
            tied = await _tied(connection, session_id, resolved)
            await write_changed(connection, session_id, tied, by=by, reason="resolved", at=at)
            await write_head(connection, session_id, render)
            if audit_at is not None:
                await plan_unless_open(connection, session_id, FoldKind.AUDIT, audit_at, ordinal)
            return chapter

    async def commit_refold(
        self,
        fold_id: int,
        session_id: int,
        chapter_ordinal: int,
        revisions: Mapping[int, int],
        memories: Sequence[NewMemory],
        resolved: Mapping[int, int],
        *,
        by: str,
        at: datetime,
        render: Render,
        settled: Mapping[int, int] | None = None,
        audit_at: datetime | None = None,
    ) -> bool:
        """Write a chapter's memories anew; the former ones are replaced, but for those with a story of their own.

        What a moderator settled, what a synopsis stands for and loose ends that were tied stay. False, and nothing is
        written, unless ``revisions`` are exactly those of the chapter's kept turns and the chapter is in sight; ``settled`` and
        ``audit_at`` are as in :meth:`commit_chapter`. Raises LookupError.
        """
        async with self._database.write() as connection:
            await lock_session(connection, session_id)
            chapter = await _chapter(connection, session_id, chapter_ordinal)
            if chapter is None:
                if await _is_aside(connection, session_id, chapter_ordinal):
                    return False
                raise LookupError(f"no chapter {chapter_ordinal} in session {session_id}")
            if await _revisions(connection, session_id, chapter.first, chapter.last) != dict(revisions):
                return False
            if settled is not None and settled != await settled_versions(connection, session_id):
                return False
            await connection.execute(
                update(chapter_table)
                .where(chapter_table.c.session_id == session_id, chapter_table.c.ordinal == chapter_ordinal)
                .values(fold_id=fold_id)
            )
            former = await load_memories(connection, session_id, memory_table.c.chapter == chapter_ordinal)
            histories = await load_histories(connection, session_id, [m.number for m in former])
            changed = [
                replace(m, status=status, version=m.version + 1)
                for m in former
                if (status := _after_refold(m, histories[m.number], revisions)) is not m.status
            ]
            await write_changed(connection, session_id, changed, by=by, reason="folded-again", at=at)
            tied = await _tied(connection, session_id, resolved)
            await write_changed(connection, session_id, tied, by=by, reason="resolved", at=at)
            await add_memories(connection, session_id, memories, chapter=chapter_ordinal, by=by, at=at)
            await write_head(connection, session_id, render)
            if audit_at is not None:
                await plan_unless_open(connection, session_id, FoldKind.AUDIT, audit_at, chapter_ordinal)
            return True

    async def commit_audit(
        self,
        session_id: int,
        chapter_ordinal: int,
        revisions: Mapping[int, int],
        claims: Sequence[Memory],
        resolved: Mapping[int, int],
        flagged: Collection[int] = (),
        *,
        by: str,
        at: datetime,
        render: Render,
    ) -> bool:
        """Write what an audit of a chapter found: lines that are claims, as their next versions, and loose ends it closed.

        ``flagged`` are the numbers of memories that the moderators have to decide.
        False, and nothing is written, when the chapter is gone or its kept turns have other ``revisions``, or when one of the
        memories is no longer as it was read: changed, settled by a moderator, out of use, or closed. Raises LookupError.
        """
        async with self._database.write() as connection:
            await lock_session(connection, session_id)
            chapter = await _chapter(connection, session_id, chapter_ordinal)
            if chapter is None:
                return False
            if await _revisions(connection, session_id, chapter.first, chapter.last) != dict(revisions):
                return False
            tied = await _tied(connection, session_id, resolved)
            numbers = [m.number for m in (*claims, *tied)]
            stored = await load_memories(connection, session_id, memory_table.c.number.in_(numbers))
            fresh = {m.number: m.version for m in stored if m.is_active and not m.corrected}
            if len(tied) < len(resolved) or not fresh.keys() >= set(numbers):
                return False
            if any(m.version != fresh[m.number] + 1 for m in claims):
                return False
            await write_changed(connection, session_id, claims, by=by, reason="only-said", at=at)
            await write_changed(connection, session_id, tied, by=by, reason="resolved", at=at)
            await raise_flags(connection, session_id, flagged, at=at)
            if numbers:
                await write_head(connection, session_id, render)
            return True

    async def commit_synopsis(
        self,
        session_id: int,
        versions: Mapping[int, int],
        chapters: Sequence[int],
        events: Sequence[NewMemory],
        *,
        by: str,
        at: datetime,
        render: Render,
    ) -> bool:
        """Let condensed events stand for older ones, and move chapters (by ordinal) into the synopsis.

        ``versions`` are those of the events that were read, by number. False, and nothing is written, when one of them
        changed, or one of the chapters is absorbed already. Raises LookupError.
        """
        async with self._database.write() as connection:
            await lock_session(connection, session_id)
            young = {
                one.ordinal for one in await load_chapters(connection, session_id, chapter_table.c.absorbed.is_(False))
            }
            stood_for = {number for event in events for number in event.condenses}
            read = memory_table.c.number.in_(stood_for | versions.keys())
            before = await load_memories(connection, session_id, read)
            now = {m.number: m.version for m in before if m.number in versions}
            if now != dict(versions) or not young.issuperset(chapters):
                return False
            condensed = [
                replace(m, status=MemoryStatus.CONDENSED, version=m.version + 1)
                for m in before
                if m.number in stood_for
            ]
            await write_changed(connection, session_id, condensed, by=by, reason="condensed", at=at)
            await add_memories(connection, session_id, events, chapter=None, by=by, at=at)
            await connection.execute(
                update(chapter_table)
                .where(chapter_table.c.session_id == session_id, chapter_table.c.ordinal.in_(set(chapters)))
                .values(absorbed=True)
            )
            await write_head(connection, session_id, render)
            return True


async def _revisions(connection: AsyncConnection, session_id: int, first: int, last: int) -> dict[int, int]:
    """The revisions of the turns from ``first`` to ``last`` that are kept or being written, by seq.

    A fold reads kept turns only, so what it read never equals a stretch in which a reply is being written.
    """
    statement = select(turns.c.seq, turns.c.revision).where(
        turns.c.session_id == session_id,
        turns.c.seq.between(first, last),
        turns.c.state.in_((TurnState.KEPT, TurnState.WRITING)),
    )
    return {row.seq: row.revision for row in await connection.execute(statement)}


async def _is_aside(connection: AsyncConnection, session_id: int, ordinal: int) -> bool:
    """Whether the story was rewound to before the end of a chapter."""
    chapter = select(chapter_table.c.aside).where(
        chapter_table.c.session_id == session_id, chapter_table.c.ordinal == ordinal
    )
    return bool(await connection.scalar(chapter))


async def _chapter(connection: AsyncConnection, session_id: int, ordinal: int) -> Chapter | None:
    found = await load_chapters(connection, session_id, chapter_table.c.ordinal == ordinal)
    return found[0] if found else None


async def _tied(connection: AsyncConnection, session_id: int, resolved: Mapping[int, int]) -> list[Memory]:
    """The loose ends that are still open and are tied now, as they are afterwards."""
    return [
        replace(m, status=MemoryStatus.RESOLVED, resolved_by=resolved[m.number], version=m.version + 1)
        for m in await load_memories(connection, session_id, memory_table.c.number.in_(resolved))
        if m.is_active and m.kind is MemoryKind.LOOSE_END
    ]


def _after_refold(memory: Memory, history: Sequence[Version], kept: Mapping[int, int]) -> MemoryStatus:
    """What becomes of a memory when its chapter is folded again; ``kept`` are the seqs of the chapter's kept turns."""
    if memory.status is not MemoryStatus.STALE:
        lasting = (MemoryStatus.CONDENSED, MemoryStatus.RESOLVED, MemoryStatus.FORGOTTEN)
        stays = memory.corrected or memory.status in lasting
        return memory.status if stays else MemoryStatus.REPLACED
    has_source = any(cite.seq in kept for cite in memory.cites)
    if memory.kind is MemoryKind.LOOSE_END and memory.resolved_by is not None and has_source:
        # It was tied, and a tied end does not come back, whoever worded it.
        return MemoryStatus.RESOLVED
    if not memory.corrected:
        return MemoryStatus.REPLACED
    author = next(version.by for version in history if version.content.text == memory.content.text)
    return MemoryStatus.ACTIVE if has_source and author.isdigit() else MemoryStatus.STALE
