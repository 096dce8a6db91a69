"""What people take back: edits and deletions, and how they reach the memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.memories import SessionMemory, after_change
from bot.memory.story import FoldKind, Session
from bot.memory.turns import Beat, TurnState
from bot.store.exchanges import reach_people
from bot.store.ledger import Render, load_memory, write_changed
from bot.store.planning import plan_unless_open
from bot.store.rows import Topic, drop_tails, lock_session, lock_session_of_turn, turn_of, write_head
from bot.store.search import index_turn, scrub
from bot.store.tables import messages, turns
from bot.store.turns import is_in_character, spoken_by


class ChangeStore(Topic):
    """A changed turn has a new revision, so that a fold that read the old one is not committed."""

    async def edit_turn(
        self, turn_id: int, raw: str, beats: tuple[Beat, ...], tokens: int, at: datetime, render: Render
    ) -> frozenset[int]:
        """Give a kept turn another text. Returns the ids of the sessions touched: none when nothing changed.

        When a chapter covers the turn, what was derived from it goes out of sight until the chapter is folded again,
        which is planned for ``at``. What it showed about its author is judged again. Raises LookupError.
        """
        async with self._database.write() as connection:
            session, turn = await lock_session_of_turn(connection, turn_id)
            if turn.author.is_player:
                beats = spoken_by(turn.author.name, beats)
            if turn.state is not TurnState.KEPT or (turn.raw, turn.beats) == (raw, beats):
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
            await _reach_memory(connection, session, frozenset({turn.seq}), by="edit", at=at, render=render)
            await reach_people(connection, session, [edited], at)
            await scrub(connection)
            return frozenset({session.id})

    async def delete_turns(self, message_ids: Sequence[int], at: datetime, render: Render) -> frozenset[int]:
        """Take back the turns that any of the messages carries; their words leave the database.

        Returns the ids of the sessions touched. The memory, and what is known of persons, is reached as by an edit.
        """
        carried = (
            select(turns.c.session_id, turns.c.id)
            .join(messages)
            .where(messages.c.message_id.in_(set(message_ids)), turns.c.state == TurnState.KEPT)
            .distinct()
        )
        async with self._database.write() as connection:
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
    taken_back = (
        update(turns)
        .where(turns.c.id.in_(turn_ids), turns.c.state == TurnState.KEPT)
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
    for turn in gone:
        await index_turn(connection, session_id, turn)
    seqs = frozenset(turn.seq for turn in gone)
    await _reach_memory(connection, session, seqs, by="deletion", at=at, render=render)
    await reach_people(connection, session, gone, at)


async def _reach_memory(
    connection: AsyncConnection, session: Session, seqs: frozenset[int], *, by: str, at: datetime, render: Render
) -> None:
    if any(seq < max(session.folded_to + 1, session.raw_from) for seq in seqs):
        # Only what prompts no longer show is recalled before a turn.
        await drop_tails(connection, session.id)
    covered = frozenset(seq for seq in seqs if seq <= session.folded_to)
    if not covered:
        return
    memory = await load_memory(connection, session.id)
    changed = after_change(memory, covered)
    await write_changed(connection, session.id, changed, by=by, reason="source-changed", at=at)
    for ordinal in _chapters_of(memory, covered):
        await plan_unless_open(connection, session.id, FoldKind.REFOLD, at, ordinal)
    for line in changed:
        memory = memory.with_memory(line)
    await write_head(connection, session.id, render(memory))


def _chapters_of(memory: SessionMemory, seqs: frozenset[int]) -> list[int]:
    return [chapter.ordinal for chapter in memory.chapters if any(chapter.first <= seq <= chapter.last for seq in seqs)]
