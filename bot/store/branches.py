"""Rewinding a story, and taking a way up again that it left. Nothing is lost: what is out of sight is set aside."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, delete, exists, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.branches import Branch, Line, cut_at, taken_up
from bot.memory.memories import Memory, MemoryStatus, SessionMemory, after_rewinding
from bot.memory.story import FoldKind, Session
from bot.memory.turns import AuthorKind, Turn, TurnState
from bot.store.columns import runs_of
from bot.store.ledger import Render, load_chapters, load_histories, load_memory, write_changed
from bot.store.people import drop_tails_resting_on
from bot.store.planning import newest_seq, plan_unless_open
from bot.store.rows import Topic, lock_session, read_session, turn_of
from bot.store.search import index_turn
from bot.store.tables import branches, chapters, findable, memories, sessions, turns
from bot.store.turns import read_turns
from bot.store.views import write_head

_BY, _REASON = "rewinding", "rewound"


class BranchStore(Topic):
    """A story is told along one way at a time; the turns of the others are set aside."""

    async def rewind(
        self, session_id: int, seq: int, *, by: int, at: datetime, render: Render, newest: int | None = None
    ) -> Branch | None:
        """Set aside what follows a turn, and all memory of it; None when nothing does, or while a reply is being written.

        None too when another turn than ``newest`` is the newest by now. The chapter that the turn stands in is set aside as a
        whole: its turns up to that one are raw again. Raises LookupError.
        """
        async with self._database.write_aside() as connection:
            session = await lock_session(connection, session_id)
            states = await _states(connection, session_id)
            later = frozenset(s for s, state in states.items() if s > seq and state is TurnState.KEPT)
            if not later or TurnState.WRITING in states.values() or newest not in (None, max(later)):
                return None
            memory = await load_memory(connection, session_id)
            branch_id = await _keep(connection, session, states, memory, at_seq=seq, by=by, at=at)
            await _set_aside(connection, session_id, later)
            cut, end = cut_at(memory.chapters, seq), await newest_seq(connection, session_id) + 1
            changed = after_rewinding(memory, cut, end)
            present = {chapter.ordinal: chapter.absorbed for chapter in memory.chapters if chapter.last < cut}
            raw_from = session.raw_from if session.raw_from <= seq else 0
            await _stand(connection, session_id, present, raw_from)
            await _write(connection, session_id, changed, at, render)
            await drop_tails_resting_on(connection, session_id, later)
            return await _branch(connection, branch_id)

    async def take_up(
        self, session_id: int, branch_id: int, *, by: int, at: datetime, render: Render
    ) -> tuple[Turn, ...] | None:
        """Go back to a way that was left, with its memory as it was; what would be lost of the present one is set aside.

        What was edited, deleted or put right since then stays so. The turns that are in sight again, in order; None, and
        nothing is changed, when there is no such way, or while a reply is being written. Raises LookupError.
        """
        async with self._database.write_aside() as connection:
            session = await lock_session(connection, session_id)
            of_session = and_(branches.c.id == branch_id, branches.c.session_id == session_id)
            line: Line | None = await connection.scalar(select(branches.c.line).where(of_session))
            states = await _states(connection, session_id)
            if line is None or TurnState.WRITING in states.values():
                return None
            memory = await load_memory(connection, session_id)
            kept = frozenset(seq for seq, state in states.items() if state is TurnState.KEPT)
            leaving = kept - line.turns
            coming = frozenset(seq for seq in line.turns if states[seq] is TurnState.ASIDE)
            if leaving:
                fork = max((seq for seq in kept & line.turns if seq < min(leaving)), default=0)
                await _keep(connection, session, states, memory, at_seq=fork, by=by, at=at)
                await _set_aside(connection, session_id, leaving)
            await connection.execute(delete(branches).where(of_session))
            back = await _bring_back(connection, session_id, coming)
            decided = await _decided(connection, session_id, memory)
            changed = taken_up(memory, line, (kept & line.turns) | coming, decided)
            await _stand(connection, session_id, line.chapters, line.raw_from)
            await _write(connection, session_id, changed, at, render, anew=_forgotten_since(memory, line))
            await drop_tails_resting_on(connection, session_id, leaving | coming)
            return back

    async def branches(self, session_id: int) -> tuple[Branch, ...]:
        """The ways of a session that still have turns out of sight, the one that was left last first."""
        async with self._database.read() as connection:
            return await read_branches(connection, session_id)

    async def last_exchange(self, session_id: int) -> tuple[Turn, ...]:
        """The newest kept turns behind the reply before: players' with the reply to them, or without one yet, or a reply alone.

        Talk out of character belongs to what it follows.
        """
        kept = and_(turns.c.session_id == session_id, turns.c.state == TurnState.KEPT)
        newest = select(func.max(turns.c.seq)).where(kept, turns.c.in_character).scalar_subquery()
        replies = and_(kept, turns.c.author_kind == AuthorKind.CHARACTER, turns.c.seq < newest)
        async with self._database.read() as connection:
            before = await connection.scalar(select(func.max(turns.c.seq)).where(replies)) or 0
            return await read_turns(connection, select(turns).where(kept, turns.c.seq > before).order_by(turns.c.seq))

    async def turn_with_session(self, turn_id: int) -> tuple[Session, Turn] | None:
        """A turn by its id, in whatever state, with its session."""
        async with self._database.read() as connection:
            row = (await connection.execute(select(turns).where(turns.c.id == turn_id))).one_or_none()
            session = await read_session(connection, row.session_id) if row else None
        return (session, turn_of(row)) if row and session else None

    async def has_played(self, session_id: int, player_id: int) -> bool:
        """Whether a player has a turn in a session, in sight or set aside."""
        played = exists().where(
            turns.c.session_id == session_id,
            turns.c.author_kind == AuthorKind.PLAYER,
            turns.c.author_id == player_id,
            turns.c.state.in_((TurnState.KEPT, TurnState.ASIDE)),
        )
        async with self._database.read() as connection:
            return bool(await connection.scalar(select(played)))


async def read_branches(connection: AsyncConnection, session_id: int) -> tuple[Branch, ...]:
    """The ways of a session that still have turns out of sight, the one that was left last first."""
    statement = select(branches).where(branches.c.session_id == session_id).order_by(branches.c.id.desc())
    found = [await _with_turns(connection, row) for row in (await connection.execute(statement)).all()]
    return tuple(branch for branch in found if branch.turns)


async def _states(connection: AsyncConnection, session_id: int) -> dict[int, TurnState]:
    statement = select(turns.c.seq, turns.c.state).where(turns.c.session_id == session_id)
    return {row.seq: row.state for row in await connection.execute(statement)}


async def _keep(
    connection: AsyncConnection,
    session: Session,
    states: Mapping[int, TurnState],
    memory: SessionMemory,
    *,
    at_seq: int,
    by: int,
    at: datetime,
) -> int:
    """Write down what the present way consists of."""
    line = Line(
        turns=frozenset(seq for seq, state in states.items() if state is TurnState.KEPT),
        chapters={chapter.ordinal: chapter.absorbed for chapter in memory.chapters},
        statuses={m.number: m.status for m in memory.memories},
        resolved={m.number: m.resolved_by for m in memory.memories if m.resolved_by is not None},
        decided=await _decided(connection, session.id, memory),
        raw_from=session.raw_from,
    )
    left = insert(branches).values(session_id=session.id, at_seq=at_seq, by=by, at=at, line=line)
    return int((await connection.execute(left.returning(branches.c.id))).scalar_one())


async def _decided(connection: AsyncConnection, session_id: int, memory: SessionMemory) -> dict[int, int]:
    """The version that a moderator made last, of each memory on which one had a word."""
    touched = [m.number for m in memory.memories if m.corrected or m.status is MemoryStatus.RETRACTED]
    histories = await load_histories(connection, session_id, touched)
    return {
        number: max((version.version for version in history if version.by.isdigit()), default=0)
        for number, history in histories.items()
    }


async def _set_aside(connection: AsyncConnection, session_id: int, seqs: Collection[int]) -> None:
    """Ways have nothing in common after they part, so all kept turns from the first to the last of these are among them."""
    first, last = min(seqs), max(seqs)
    kept = update(turns).where(
        turns.c.session_id == session_id, turns.c.seq.between(first, last), turns.c.state == TurnState.KEPT
    )
    await connection.execute(kept.values(state=TurnState.ASIDE))
    lines = delete(findable).where(findable.c.session_id == session_id, findable.c.seq.between(first, last))
    await connection.execute(lines)


async def _bring_back(connection: AsyncConnection, session_id: int, seqs: Collection[int]) -> tuple[Turn, ...]:
    found: list[Turn] = []
    for first, last in runs_of(seqs):
        back = update(turns).where(
            turns.c.session_id == session_id, turns.c.seq.between(first, last), turns.c.state == TurnState.ASIDE
        )
        found += map(turn_of, await connection.execute(back.values(state=TurnState.KEPT).returning(turns)))
    for turn in found:
        await index_turn(connection, session_id, turn)
    return tuple(sorted(found, key=lambda turn: turn.seq))


async def _stand(connection: AsyncConnection, session_id: int, present: Mapping[int, bool], raw_from: int) -> None:
    """Let exactly these chapters be in sight, those with True absorbed."""
    of_session = chapters.c.session_id == session_id
    absorbed = {ordinal for ordinal, is_absorbed in present.items() if is_absorbed}
    await connection.execute(update(chapters).where(of_session, chapters.c.ordinal.not_in(present)).values(aside=True))
    for group, is_absorbed in ((absorbed, True), (present.keys() - absorbed, False)):
        in_sight = update(chapters).where(of_session, chapters.c.ordinal.in_(group))
        await connection.execute(in_sight.values(aside=None, absorbed=is_absorbed))
    last = select(chapters.c.last).where(of_session, chapters.c.aside.is_not(True)).order_by(chapters.c.last.desc())
    folded_to = await connection.scalar(last.limit(1)) or 0
    of_id = update(sessions).where(sessions.c.id == session_id)
    await connection.execute(of_id.values(folded_to=folded_to, raw_from=raw_from))


def _forgotten_since(memory: SessionMemory, line: Line) -> set[int | None]:
    """The chapters of a way with lines of a person who was forgotten after it was left: what is left is folded again."""
    now = {m.number: m.chapter for m in memory.memories if m.status is MemoryStatus.FORGOTTEN}
    return {now[n] for n, status in line.statuses.items() if n in now and status is not MemoryStatus.FORGOTTEN}


async def _write(
    connection: AsyncConnection,
    session_id: int,
    changed: Iterable[Memory],
    at: datetime,
    render: Render,
    *,
    anew: Collection[int | None] = (),
) -> None:
    """Write what changed, the head of the prompts, and that a chapter waits to be folded again: a stale one, or ``anew``."""
    await write_changed(connection, session_id, changed, by=_BY, reason=_REASON, at=at)
    await write_head(connection, session_id, render)
    waiting = select(memories.c.chapter).where(
        memories.c.session_id == session_id, memories.c.status == MemoryStatus.STALE
    )
    stale = {*await connection.scalars(waiting.distinct()), *anew}
    for chapter in await load_chapters(connection, session_id, chapters.c.ordinal.in_(stale - {None})):
        await plan_unless_open(connection, session_id, FoldKind.REFOLD, at, chapter.ordinal)


async def _branch(connection: AsyncConnection, branch_id: int) -> Branch:
    row = (await connection.execute(select(branches).where(branches.c.id == branch_id))).one()
    return await _with_turns(connection, row)


async def _with_turns(connection: AsyncConnection, row: Row[Any]) -> Branch:
    unseen = select(turns).where(
        turns.c.session_id == row.session_id, turns.c.seq > row.at_seq, turns.c.state == TurnState.ASIDE
    )
    aside = await read_turns(connection, unseen.order_by(turns.c.seq))
    own = tuple(turn for turn in aside if turn.seq in row.line.turns)
    return Branch(row.id, row.session_id, row.at_seq, row.by, row.at, own)
