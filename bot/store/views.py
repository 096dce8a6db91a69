"""What each character of a cast has of a story, kept beside the rows: the head of their prompts, and what stood before turns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from sqlalchemy import bindparam, delete, exists, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.memories import Viewer, Voices
from bot.memory.story import Head, Session, Tail
from bot.memory.turns import AuthorKind, BeatKind, Citation, Turn, TurnState
from bot.store.cast_tables import cast, heads, tails
from bot.store.ledger import Render, load_for_head, load_memory
from bot.store.rows import drop_tails
from bot.store.tables import evidence, sessions, turns

# More lines than a window of 16,000 tokens has room for.
_LINES_AT_FIRST: Final = 200

# What every reply needs is put together once: building a statement takes SQLAlchemy longer than executing it.
_HEAD: Final = select(heads.c.text).where(
    heads.c.session_id == bindparam("session"), heads.c.character_id == bindparam("character")
)
_TAILS: Final = select(tails).where(
    tails.c.session_id == bindparam("session"), tails.c.character_id == bindparam("character")
)
_ANSWERED: Final = (turns.c.id == bindparam("answered"), turns.c.state == TurnState.KEPT)
_KEEP: Final = update(turns).where(*_ANSWERED)
_IS_KEPT: Final = select(exists().where(*_ANSWERED))
_ADD_TAIL: Final = insert(tails)
_DROP_TAIL: Final = delete(tails).where(
    tails.c.turn_id == bindparam("answered"), tails.c.character_id == bindparam("character")
)


async def read_voices(
    connection: AsyncConnection, session_id: int, numbers: Collection[int] | None = None
) -> Voices | None:
    """Who said what the memories cite, all or those of some numbers; None while nobody but the lead was ever in the story."""
    others = select(cast).where(cast.c.session_id == session_id).order_by(cast.c.position)
    rows = (await connection.execute(others)).all()
    if not rows:
        return None
    leading = select(sessions.c.character_id).where(sessions.c.id == session_id)
    lead = (await connection.execute(leading)).scalar_one()
    viewers = [Viewer(lead, 0), *(Viewer(row.character_id, row.since) for row in rows if row.left_at is None)]
    cited = select(evidence.c.seq).where(evidence.c.session_id == session_id)
    if numbers is not None:
        cited = cited.where(evidence.c.number.in_(numbers))
    replies = select(turns.c.seq, turns.c.author_id, turns.c.beats).where(
        turns.c.session_id == session_id, turns.c.author_kind == AuthorKind.CHARACTER, turns.c.seq.in_(cited)
    )
    authors: dict[int, int] = {}
    thoughts: set[Citation] = set()
    for row in await connection.execute(replies):
        authors[row.seq] = row.author_id
        kinds = enumerate((beat.kind for beat in row.beats), start=1)
        thoughts.update(Citation(row.seq, place) for place, kind in kinds if kind is BeatKind.THOUGHT)
    return Voices(tuple(viewers), authors, frozenset(thoughts))


async def write_head(connection: AsyncConnection, session_id: int, render: Render) -> None:
    """Render a session's memory as it stands in the rows by now, and keep it, as each of its characters has it.

    What stood before earlier turns goes with the former one, which it may repeat.
    """
    voices = await read_voices(connection, session_id)
    if voices is None:
        head = await _head(connection, session_id, render)
    else:
        # What a character may know of a line is decided by all that the line rests on, through every generation.
        head = render(replace(await load_memory(connection, session_id), voices=voices))
    now = update(sessions).where(sessions.c.id == session_id)
    await connection.execute(now.values(memory_text=head.text, memory_tokens=head.largest))
    if voices is not None:
        await connection.execute(delete(heads).where(heads.c.session_id == session_id))
        for character_id, other in head.others:
            values = {
                "session_id": session_id,
                "character_id": character_id,
                "text": other.text,
                "tokens": other.tokens,
            }
            await connection.execute(insert(heads).values(values))
    await drop_tails(connection, session_id)


async def _head(connection: AsyncConnection, session_id: int, render: Render) -> Head:
    """The memory rendered from as few rows as decide it: of an old story nearly all lines are out of the prompt."""
    most = _LINES_AT_FIRST
    while True:
        memory, is_whole = await load_for_head(connection, session_id, most)
        head = render(memory)
        if is_whole or head.is_full:
            return head
        most *= 4


async def keep_tail(connection: AsyncConnection, session: Session, reply: Turn, tail: Tail | None) -> None:
    """Keep what a reply's prompt put before the turn that it answers, for later prompts of the same character.

    Not what was out of date before the reply was written.
    """
    if tail is None or not tail.text or tail.epoch != session.epoch:
        return
    character = session.author(reply)
    answered = {"answered": tail.turn_id}
    if character.id == session.character.id:
        await connection.execute(_KEEP, {**answered, "tail": tail.text, "tail_tokens": tail.tokens})
    elif await connection.scalar(_IS_KEPT, answered):
        await connection.execute(_DROP_TAIL, {**answered, "character": character.id})
        values = {"turn_id": tail.turn_id, "character_id": character.id, "session_id": session.id}
        await connection.execute(_ADD_TAIL, {**values, "text": tail.text, "tokens": tail.tokens})


async def forget_tails(connection: AsyncConnection, turn_ids: Collection[int]) -> None:
    """What stood before some turns goes with them."""
    await connection.execute(delete(tails).where(tails.c.turn_id.in_(turn_ids)))


async def with_tails(
    connection: AsyncConnection, session_id: int, character_id: int, told: Collection[Turn]
) -> tuple[Turn, ...]:
    """Turns with the tails that a character other than the lead saw before them."""
    whose = {"session": session_id, "character": character_id}
    found = {row.turn_id: row for row in await connection.execute(_TAILS, whose)}
    return tuple(
        replace(
            turn,
            tail=found[turn.id].text if turn.id in found else "",
            tail_tokens=found[turn.id].tokens if turn.id in found else 0,
        )
        for turn in told
    )


async def head_text(connection: AsyncConnection, session_id: int, character_id: int) -> str:
    """The memory as a character other than the lead has it."""
    whose = {"session": session_id, "character": character_id}
    return str((await connection.execute(_HEAD, whose)).scalar_one())
