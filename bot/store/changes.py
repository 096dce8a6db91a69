"""What people take back: edits and deletions, and how they reach the memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import and_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.memories import Chapter, after_change
from bot.memory.story import FoldKind, Session
from bot.memory.turns import Beat, Turn, TurnState
from bot.store.exchanges import reach_people
from bot.store.ledger import Render, load_memory, write_changed
from bot.store.planning import plan_unless_open
from bot.store.rows import Topic, drop_tails, lock_session, lock_session_of_turn, turn_of
from bot.store.search import index_turn, scrub
from bot.store.tables import chapters, messages, turns
from bot.store.tellings import forget_tellings
from bot.store.turns import is_in_character, read_turns, spoken_by
from bot.store.views import forget_tails, write_head

_WRITTEN: Final = (TurnState.KEPT, TurnState.ASIDE)


class ChangeStore(Topic):
    """A changed turn has a new revision, so that a fold that read the old one is not committed."""

    async def edit_turn(
        self, turn_id: int, raw: str, beats: tuple[Beat, ...], tokens: int, at: datetime, render: Render
    ) -> frozenset[int]:
        """Give a turn another text, also one that is set aside. Returns the ids of the sessions touched: none when nothing changed.

        When a chapter covers the turn, what was derived from it goes out of sight until the chapter is folded again,
        which is planned for ``at``. What it showed about its author is judged again. Raises LookupError.
        """
        async with self._database.write_aside() as connection:
            session, turn = await lock_session_of_turn(connection, turn_id)
            if turn.author.is_player:
                beats = spoken_by(turn.author.name, beats)
            if turn.state not in _WRITTEN or (turn.raw, turn.beats) == (raw, beats):
                return frozenset()
            in_character = is_in_character(beats)
            changed = (
                update(turns)
                .where(turns.c.id == turn_id)
                .values(
                    raw=raw,
                    beats=beats,
                    tokens=tokens if in_character or not turn.author.is_player else 0,
                    in_character=in_character,
                    revision=turns.c.revision + 1,
                )
            )
            edited = turn_of((await connection.execute(changed.returning(turns))).one())
            await index_turn(connection, session.id, edited)
            await _reach_memory(connection, session, (turn,), by="edit", at=at, render=render)
            await reach_people(connection, session, [edited], at)
            await scrub(connection)
            return frozenset({session.id})

    async def delete_turns(self, message_ids: Sequence[int], at: datetime, render: Render) -> frozenset[int]:
        """Take back the turns that any of the messages carries; their words leave the database.

        A reply that is not delivered yet stays: its messages still come and go. Returns the ids of the sessions touched. The
        memory, and what is known of persons, is reached as by an edit.
        """
        carried = (
            select(turns.c.session_id, turns.c.id)
            .join(messages)
            .where(messages.c.message_id.in_(set(message_ids)), turns.c.state.in_(_WRITTEN), turns.c.delivered)
            .distinct()
        )
        async with self._database.write_aside() as connection:
            by_session: dict[int, set[int]] = defaultdict(set)
            for row in await connection.execute(carried):
                by_session[row.session_id].add(row.id)
            # In order of their ids, so that two deletions never wait for each other.
            for session_id in sorted(by_session):
                await _delete(connection, session_id, by_session[session_id], at, render)
            if by_session:
                await scrub(connection)
            return frozenset(by_session)


async def _delete(
    connection: AsyncConnection, session_id: int, turn_ids: set[int], at: datetime, render: Render
) -> None:
    session = await lock_session(connection, session_id)
    written = and_(turns.c.id.in_(turn_ids), turns.c.state.in_(_WRITTEN))
    before = await read_turns(connection, select(turns).where(written))
    taken_back = (
        update(turns)
        .where(written)
        .values(
            state=TurnState.DELETED,
            raw="",
            beats=(),
            tokens=0,
            in_character=False,
            revision=turns.c.revision + 1,
            tail=None,
            tail_tokens=None,
        )
    )
    gone = [turn_of(row) for row in await connection.execute(taken_back.returning(turns))]
    await forget_tellings(connection, [turn.id for turn in gone])
    await forget_tails(connection, [turn.id for turn in gone])
    for turn in gone:
        await index_turn(connection, session_id, turn)
    await _reach_memory(connection, session, before, by="deletion", at=at, render=render)
    await reach_people(connection, session, gone, at)


async def _reach_memory(
    connection: AsyncConnection, session: Session, changed: Sequence[Turn], *, by: str, at: datetime, render: Render
) -> None:
    """``changed`` are the turns as they were before."""
    seqs = frozenset(turn.seq for turn in changed)
    in_sight = frozenset(turn.seq for turn in changed if turn.state is TurnState.KEPT)
    if any(seq < max(session.folded_to + 1, session.raw_from) for seq in in_sight):
        # Only what prompts no longer show is recalled before a turn.
        await drop_tails(connection, session.id)
    covered = frozenset(seq for seq in in_sight if seq <= session.folded_to)
    out_of_sight = _covering(await _chapters_aside(connection, session.id), seqs)
    if not covered and not out_of_sight:
        return
    memory = await load_memory(connection, session.id)
    reached = after_change(memory, seqs)
    await write_changed(connection, session.id, reached, by=by, reason="source-changed", at=at)
    for ordinal in [*_covering(memory.chapters, covered), *out_of_sight]:
        await plan_unless_open(connection, session.id, FoldKind.REFOLD, at, ordinal)
    if covered:
        await write_head(connection, session.id, render)


async def _chapters_aside(connection: AsyncConnection, session_id: int) -> tuple[Chapter, ...]:
    """The chapters of the ways that the story left; they count seqs through each other's turns, so one may seem covered."""
    aside = select(chapters).where(chapters.c.session_id == session_id, chapters.c.aside)
    return tuple(Chapter(row.ordinal, row.first, row.last, row.absorbed) for row in await connection.execute(aside))


def _covering(chapters: Iterable[Chapter], seqs: frozenset[int]) -> list[int]:
    return [chapter.ordinal for chapter in chapters if any(chapter.first <= seq <= chapter.last for seq in seqs)]
