"""Turns: what was written, in order, and how far it got."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Select,
    Update,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.personas import Repertoire
from bot.memory.story import Begun, LastMessage, Member, Session, Snapshot, Tail
from bot.memory.turn_taking import Scene
from bot.memory.turns import AuthorKind, Beat, BeatKind, PlayerMessage, Telling, Turn, TurnState, Understood
from bot.store.cast_tables import addressed as addressed_to
from bot.store.compiled import made
from bot.store.exchanges import note_exchanges
from bot.store.personas import read_repertoire
from bot.store.planning import Due, plan_if_due
from bot.store.players import label_of
from bot.store.rows import (
    SESSIONS,
    Topic,
    hold_session_of_turn,
    lock_session,
    lock_session_with,
    read_session,
    read_sessions,
    take_seq,
    turn_of,
)
from bot.store.scenes import read_scene
from bot.store.search import index_new_turn, index_turn
from bot.store.sessions import lock_running_session
from bot.store.statistics import Call, add_calls
from bot.store.tables import messages, sessions, turns
from bot.store.views import head_text, keep_tail, with_tails

Understand = Callable[[Session, Repertoire, Turn | None], Understood]
"""What a message means, told of the session, of its author's personas, and of the turn that it replies to."""

_THERE: Final = (TurnState.KEPT, TurnState.WRITING)


def waiting(session_id: int | ColumnElement[int]) -> tuple[ColumnElement[bool], ...]:
    """The players' turns after the last reply that wait for one; asked from the end, so that a long story costs no more."""
    replies = turns.alias("replies")
    last_reply = (
        select(replies.c.seq)
        .where(
            replies.c.session_id == session_id,
            replies.c.author_kind == AuthorKind.CHARACTER,
            replies.c.state.in_(_THERE),
        )
        .order_by(replies.c.seq.desc())
        .limit(1)
        .correlate(sessions)
        .scalar_subquery()
    )
    return (
        turns.c.session_id == session_id,
        turns.c.author_kind == AuthorKind.PLAYER,
        turns.c.state == TurnState.KEPT,
        turns.c.in_character,
        turns.c.waits.is_not(False),
        turns.c.seq > func.coalesce(last_reply, 0),
    )


def _waits(session_id: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Whether a player's turn waits for a reply."""
    return exists().where(*waiting(session_id)).correlate(sessions)


# What every message needs is put together once: building a statement takes SQLAlchemy longer than executing it.
_ADD_TURN: Final = insert(turns).returning(turns)
_ADD_MESSAGE: Final = insert(messages)
_DROP_MESSAGE: Final = delete(messages).where(messages.c.message_id == bindparam("message"))
_MESSAGES: Final = (
    select(messages.c.message_id).where(messages.c.turn_id == bindparam("turn")).order_by(messages.c.message_id)
)
_TURN_OF_MESSAGE: Final = select(messages.c.turn_id).where(messages.c.message_id == bindparam("message"))
_CARRIED: Final = select(turns).join(messages).where(messages.c.message_id == bindparam("message"))
_ADDRESS: Final = insert(addressed_to)
_OF_TURN: Final = update(turns).where(turns.c.id == bindparam("turn"))
_FINISH: Final = _OF_TURN.where(turns.c.state == TurnState.WRITING).returning(turns)
_STOOD: Final = and_(turns.c.state == TurnState.KEPT, turns.c.delivered, turns.c.telling.is_(None))
_SHOW: Final = _OF_TURN.values(delivered=False, telling=case((_STOOD, 1), else_=turns.c.telling))
_DELIVER: Final = _OF_TURN.values(delivered=True)
_TAKE_SEQ_OF_REPLY: Final = (
    update(sessions)
    .where(sessions.c.id == bindparam("session"), or_(bindparam("unasked", type_=Boolean), _waits(sessions.c.id)))
    .values(next_seq=sessions.c.next_seq + 1)
    .returning(sessions.c.next_seq)
)
_RAW: Final = (
    select(turns)
    .where(
        turns.c.session_id == bindparam("session"), turns.c.seq >= bindparam("from"), turns.c.state == TurnState.KEPT
    )
    .order_by(turns.c.seq)
)
_MEMORY_TEXT: Final = select(sessions.c.memory_text).where(sessions.c.id == bindparam("session"))


class TurnStore(Topic):
    """A turn's seq is taken in the transaction that writes it, so that seqs have no gaps."""

    async def hear(
        self, message: PlayerMessage, understand: Understand, due: Due
    ) -> tuple[Session, Turn, Understood] | None:
        """Commit a player's message to the session that runs in its channel; None when none does, or it is known already.

        Otherwise as :meth:`add_player_turn`.
        """
        async with self._database.write() as connection:
            session = await lock_running_session(connection, message.channel_id)
            if session is None or await _is_known(connection, message):
                return None
            repertoire = await read_repertoire(connection, message.author_id, session.place.guild_id)
            replied_to = await _carried(connection, message.reply_to) if message.reply_to else None
            understood = understand(session, repertoire, replied_to)
            return session, await _add(connection, session, understood, due), understood

    async def add_player_turn(
        self,
        session_id: int,
        message: PlayerMessage,
        beats: tuple[Beat, ...],
        tokens: int,
        due: Due,
        *,
        waits: bool = True,
        addressed: int | None = None,
    ) -> Turn | None:
        """Commit a player's message; None when it is known already. Plans a fold when this turn makes it due.

        The beats' speaker becomes the player's label. What is out of character takes no tokens. One that does not wait is
        answered only along with one that does. ``addressed`` is the character to whose words it replies. Raises LookupError.
        """
        async with self._database.write() as connection:
            session = await lock_session(connection, session_id)
            if await _is_known(connection, message):
                return None
            return await _add(connection, session, Understood(message, beats, tokens, waits, addressed), due)

    async def begin_reply(
        self,
        session_id: int,
        at: datetime,
        *,
        unasked: bool = False,
        choose: Callable[[Scene], Member] = Scene.next_speaker,
    ) -> Begun | None:
        """Take the place of a reply in the story; None when no player's turn waits for one, unless it is ``unasked``.

        It is the reply of whom ``choose`` names. Raises LookupError.
        """
        async with self._database.write() as connection:
            session = await lock_session(connection, session_id)
            seq = await connection.scalar(_TAKE_SEQ_OF_REPLY, {"session": session_id, "unasked": unasked})
            if seq is None:
                return None
            member = choose(await read_scene(connection, session))
            turn = await write_turn(
                connection,
                session_id=session_id,
                seq=seq - 1,
                author_kind=AuthorKind.CHARACTER,
                author_id=member.character.id,
                author_name=member.character.card.name,
                raw="",
                beats=(),
                tokens=0,
                state=TurnState.WRITING,
                at=at,
                revision=1,
                in_character=True,
                delivered=False,
            )
            return Begun(turn, await _snapshot(connection, session, member))

    async def finish_reply(
        self,
        turn_id: int,
        telling: Telling,
        due: Due,
        tail: Tail | None = None,
        *,
        people: bool = True,
        calls: Iterable[Call] = (),
    ) -> Turn:
        """Commit what the model wrote, byte for byte, and what stood before the turn it answers. Plans a fold when this turn
        makes it due.

        With ``people``, what each person wrote who is answered waits with it to be judged. The ``calls`` that it took are
        recorded with it. Raises LookupError when the turn is not being written.
        """
        async with self._database.write() as connection:
            session = await lock_session_with(connection, turn_id)
            finished = {"turn": turn_id, **values_of(telling), "state": TurnState.KEPT, "delivered": False}
            row = (await connection.execute(_FINISH, finished)).one_or_none()
            if row is None:
                raise LookupError(f"turn {turn_id} is not being written")
            turn = turn_of(row)
            if people:
                await note_exchanges(connection, session, turn)
            await keep_tail(connection, session, turn, tail)
            await index_new_turn(connection, session.id, turn)
            await plan_if_due(connection, session, due)
            await add_calls(connection, calls)
            return turn

    async def fail_reply(self, turn_id: int) -> None:
        """Give up a reply that is being written, or that was written and never delivered; it never happened.

        One that stood in the channel before, and is only told again, stays in the story.
        """
        async with self._database.write() as connection:
            session = await lock_session_with(connection, turn_id)
            given_up = (
                update(turns)
                .where(
                    turns.c.id == turn_id,
                    turns.c.author_kind == AuthorKind.CHARACTER,
                    turns.c.state.in_(_THERE),
                    turns.c.delivered.is_(False),
                    turns.c.telling.is_(None),
                )
                .values(state=TurnState.FAILED)
            )
            row = (await connection.execute(given_up.returning(turns))).one_or_none()
            if row is not None:
                await index_turn(connection, session.id, turn_of(row))

    async def set_tokens(self, turn_id: int, tokens: int) -> None:
        """Correct a turn's size, for instance when the server has counted it."""
        async with self._database.write() as connection:
            await connection.execute(update(turns).where(turns.c.id == turn_id).values(tokens=tokens))

    async def show_messages(self, turn_id: int, channel_id: int, message_ids: Sequence[int]) -> None:
        """Record that these messages, beside those known, begin to carry a reply, which is not delivered with that.

        One that was delivered before is in its first telling at least. Raises LookupError.
        """
        async with self._database.write() as connection:
            await _change(connection, turn_id, _SHOW)
            await _tie(connection, turn_id, channel_id, message_ids)

    async def tie_messages(self, turn_id: int, channel_id: int, message_ids: Sequence[int]) -> None:
        """Record that exactly these messages carry a reply, which is delivered with that; doing it twice is harmless.

        Raises LookupError.
        """
        async with self._database.write() as connection:
            await _change(connection, turn_id, _DELIVER)
            tied = await _tie(connection, turn_id, channel_id, message_ids)
            for message_id in tied.difference(message_ids):
                await connection.execute(_DROP_MESSAGE, {"message": message_id})

    async def messages_of(self, turn_id: int) -> tuple[int, ...]:
        """The messages that carry a turn, in the order of their ids."""
        async with self._database.read() as connection:
            return tuple(await connection.scalars(_MESSAGES, {"turn": turn_id}))

    async def tied(self, message_ids: Sequence[int]) -> frozenset[int]:
        """Those of the messages that carry a turn."""
        statement = select(messages.c.message_id).where(messages.c.message_id.in_(message_ids))
        async with self._database.read() as connection:
            return frozenset(await connection.scalars(statement))

    async def unfinished(self) -> tuple[tuple[Session, Turn], ...]:
        """The replies that are being written, and the failed ones of which messages are left, oldest first."""
        is_shown = exists().where(messages.c.turn_id == turns.c.id).correlate(turns)
        statement = select(turns).where(
            (turns.c.state == TurnState.WRITING) | ((turns.c.state == TurnState.FAILED) & is_shown)
        )
        async with self._database.read() as connection:
            return await _with_sessions(connection, statement.order_by(turns.c.id))

    async def undelivered(self) -> tuple[tuple[Session, Turn], ...]:
        """The replies and greetings of running sessions that are written and were not delivered, oldest first."""
        waiting = (
            select(turns)
            .join(sessions)
            .where(turns.c.state == TurnState.KEPT, turns.c.delivered.is_(False), sessions.c.stopped_at.is_(None))
            .order_by(turns.c.id)
        )
        async with self._database.read() as connection:
            return await _with_sessions(connection, waiting)

    async def interrupted(self) -> tuple[Session, ...]:
        """At start-up: give up what was being written, and name the running sessions whose players wait for a reply."""
        async with self._database.write() as connection:
            await connection.execute(
                update(turns).where(turns.c.state == TurnState.WRITING).values(state=TurnState.FAILED)
            )
            waiting = SESSIONS.where(sessions.c.stopped_at.is_(None), _waits(sessions.c.id)).order_by(sessions.c.id)
            return await read_sessions(connection, waiting)

    async def last_messages(self) -> tuple[LastMessage, ...]:
        """What is known of each running session's channel: the newest message, and since when the session runs.

        A message of a reply that is not delivered yet may be newer than one of a player that was not heard.
        """
        known = (
            select(turns.c.session_id, func.max(messages.c.message_id).label("newest"))
            .join(messages)
            .where(turns.c.delivered)
            .group_by(turns.c.session_id)
            .subquery()
        )
        statement = (
            select(sessions.c.id, sessions.c.channel_id, sessions.c.running_since, known.c.newest)
            .outerjoin(known, known.c.session_id == sessions.c.id)
            .where(sessions.c.stopped_at.is_(None))
            .order_by(sessions.c.id)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(statement)).all()
        return tuple(LastMessage(row.id, row.channel_id, row.running_since, row.newest) for row in rows)

    async def turn_of_message(self, message_id: int) -> tuple[Session, Turn] | None:
        """The turn that a message carries, in whatever state, with its session."""
        async with self._database.read() as connection:
            row = (await connection.execute(_CARRIED, {"message": message_id})).one_or_none()
            session = await read_session(connection, row.session_id) if row else None
        return (session, turn_of(row)) if row and session else None

    async def snapshot(self, session_id: int, character_id: int | None = None) -> Snapshot:
        """All that a prompt of the lead, or of the member with ``character_id``, is made of, as of one moment.

        Raises LookupError, also when there is no such member.
        """
        async with self._database.read() as connection:
            session = await read_session(connection, session_id)
            if session is None:
                raise LookupError(f"no session {session_id}")
            member = session.member(session.character.id if character_id is None else character_id)
            if member is None:
                raise LookupError(f"no member {character_id} in session {session_id}")
            return await _snapshot(connection, session, member)

    async def turns(self, session_id: int, first: int, last: int) -> tuple[Turn, ...]:
        """The kept turns from ``first`` to ``last``, both included, in order."""
        statement = _kept(session_id).where(turns.c.seq.between(first, last)).order_by(turns.c.seq)
        async with self._database.read() as connection:
            return await read_turns(connection, statement)

    async def recent_turns(self, session_id: int, count: int) -> tuple[Turn, ...]:
        """The newest ``count`` kept turns, in order."""
        statement = _kept(session_id).order_by(turns.c.seq.desc()).limit(count)
        async with self._database.read() as connection:
            return (await read_turns(connection, statement))[::-1]


async def _is_known(connection: AsyncConnection, message: PlayerMessage) -> bool:
    return await connection.scalar(_TURN_OF_MESSAGE, {"message": message.message_id}) is not None


async def _carried(connection: AsyncConnection, message_id: int) -> Turn | None:
    row = (await connection.execute(_CARRIED, {"message": message_id})).one_or_none()
    return turn_of(row) if row else None


async def _add(connection: AsyncConnection, session: Session, understood: Understood, due: Due) -> Turn:
    """The turn that a player's message becomes, within a transaction that holds its session."""
    message, beats = understood.message, understood.beats
    label = await label_of(connection, session, message.author_id, message.author_name, message.persona_id)
    in_character = is_in_character(beats)
    turn = await write_turn(
        connection,
        session_id=session.id,
        seq=await take_seq(connection, session.id),
        author_kind=AuthorKind.PLAYER,
        author_id=message.author_id,
        author_name=label,
        raw=message.text,
        beats=spoken_by(label, beats),
        tokens=understood.tokens if in_character else 0,
        state=TurnState.KEPT,
        at=message.at,
        revision=1,
        in_character=in_character,
        delivered=True,
        persona_id=message.persona_id,
        waits=understood.waits,
    )
    carries = {"message_id": message.message_id, "channel_id": message.channel_id, "turn_id": turn.id}
    await connection.execute(_ADD_MESSAGE, carries)
    if understood.addressed is not None:
        await connection.execute(_ADDRESS, {"turn_id": turn.id, "character_id": understood.addressed})
    await index_new_turn(connection, session.id, turn)
    await plan_if_due(connection, session, due)
    return turn


async def _snapshot(connection: AsyncConnection, session: Session, member: Member) -> Snapshot:
    since = {"session": session.id, "from": max(session.folded_to + 1, member.since)}
    told = await read_turns(connection, _RAW, since)
    character_id = member.character.id
    if character_id == session.character.id:
        return Snapshot(session, await connection.scalar(_MEMORY_TEXT, {"session": session.id}) or "", told)
    seen = await with_tails(connection, session.id, character_id, told)
    return Snapshot(session, await head_text(connection, session.id, character_id), seen, member)


async def read_turns(
    connection: AsyncConnection, statement: Select[Any], parameters: Mapping[str, Any] | None = None
) -> tuple[Turn, ...]:
    """The turns that a statement selects."""
    return tuple(made(await connection.execute(statement, parameters), turn_of))


async def _with_sessions(connection: AsyncConnection, statement: Select[Any]) -> tuple[tuple[Session, Turn], ...]:
    rows = (await connection.execute(statement)).all()
    wanted = SESSIONS.where(sessions.c.id.in_({row.session_id for row in rows}))
    found = {session.id: session for session in await read_sessions(connection, wanted)}
    return tuple((found[row.session_id], turn_of(row)) for row in rows)


async def write_turn(connection: AsyncConnection, **values: Any) -> Turn:
    """Put a turn in its place; ``values`` are its columns."""
    return turn_of((await connection.execute(_ADD_TURN, values)).one())


async def _change(connection: AsyncConnection, turn_id: int, statement: Update) -> None:
    """Change a turn, with its session held. Raises LookupError."""
    await hold_session_of_turn(connection, turn_id)
    if not (await connection.execute(statement, {"turn": turn_id})).rowcount:
        raise LookupError(f"no turn {turn_id}")


async def _tie(connection: AsyncConnection, turn_id: int, channel_id: int, message_ids: Sequence[int]) -> set[int]:
    """Let a turn have these messages beside those that it had, which are returned."""
    tied = set(await connection.scalars(_MESSAGES, {"turn": turn_id}))
    for message_id in dict.fromkeys(message_ids):
        if message_id not in tied:
            carries = {"message_id": message_id, "channel_id": channel_id, "turn_id": turn_id}
            await connection.execute(_ADD_MESSAGE, carries)
    return tied


def is_in_character(beats: Sequence[Beat]) -> bool:
    """Whether anything of a turn belongs to the story."""
    return any(beat.kind is not BeatKind.OOC for beat in beats)


def values_of(telling: Telling) -> dict[str, Any]:
    """The columns of a turn that say how it is told."""
    return {field.name: getattr(telling, field.name) for field in fields(telling)}


def spoken_by(label: str, beats: Sequence[Beat]) -> tuple[Beat, ...]:
    """The beats of a player's turn, which are all theirs."""
    return tuple(replace(beat, speaker=label) for beat in beats)


def _kept(session_id: int) -> Select[Any]:
    return select(turns).where(turns.c.session_id == session_id, turns.c.state == TurnState.KEPT)
