"""The cast of a story: who joins and leaves, and whom players speak to."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, exists, func, insert, select, update

from bot.errors import NotFound, Refused
from bot.memory.story import Head, Session
from bot.memory.turn_taking import Scene
from bot.memory.turns import AuthorKind, Beat, Turn, TurnState
from bot.store.cast_tables import cast, heads
from bot.store.planning import newest_seq
from bot.store.rows import Topic, lock_session, read_session, take_seq, turn_of
from bot.store.scenes import read_scene
from bot.store.search import index_turn
from bot.store.tables import characters, turns
from bot.store.turns import waiting


class CastStore(Topic):
    """A story begins with its lead alone, who stays; the others come and go."""

    async def scene(self, session_id: int) -> tuple[Session, Scene]:
        """A session, and what decides who speaks next in it. Raises LookupError."""
        async with self._database.read() as connection:
            session = await read_session(connection, session_id)
            if session is None:
                raise LookupError(f"no session {session_id}")
            return session, await read_scene(connection, session)

    async def add_member(
        self,
        session_id: int,
        character_id: int,
        head: Head,
        at: datetime,
        *,
        most: int = 8,
        greeting: tuple[str, tuple[Beat, ...], int] | None = None,
    ) -> tuple[Session, Turn | None]:
        """Let a character join a story, who knows nothing of before, as the ``head`` says; also one that left it.

        A greeting is as in :meth:`SessionStore.start_session`; it is left out while players wait, whom it does not answer.
        Raises Refused when it is there already, or ``most`` are, and LookupError.
        """
        async with self._database.write() as connection:
            session = await lock_session(connection, session_id)
            there = session.member(character_id)
            if there is not None:
                raise Refused("cast-there-already", name=there.character.card.name)
            if len(session.cast) >= most:
                raise Refused("cast-full", most=most)
            usable = characters.c.id == character_id, characters.c.removed_at.is_(None)
            if not await connection.scalar(select(exists().where(*usable))):
                raise LookupError(f"no character {character_id}")
            of_session = cast.c.session_id == session_id
            await connection.execute(delete(cast).where(of_session, cast.c.character_id == character_id))
            last = await connection.scalar(select(func.max(cast.c.position)).where(of_session))
            seq = await newest_seq(connection, session_id) + 1
            joined = {"session_id": session_id, "character_id": character_id}
            await connection.execute(insert(cast).values(**joined, since=seq, position=(last or 0) + 1))
            await connection.execute(insert(heads).values(**joined, text=head.text, tokens=head.tokens))
            session = await lock_session(connection, session_id)
            if greeting is None or await connection.scalar(select(exists().where(*waiting(session_id)))):
                return session, None
            raw, beats, tokens = greeting
            written = insert(turns).values(
                session_id=session_id,
                seq=await take_seq(connection, session_id),
                author_kind=AuthorKind.CHARACTER,
                author_id=character_id,
                author_name=session.others[-1].character.card.name,
                raw=raw,
                beats=beats,
                tokens=tokens,
                state=TurnState.KEPT,
                at=at,
                revision=1,
                in_character=True,
                delivered=False,
            )
            turn = turn_of((await connection.execute(written.returning(turns))).one())
            await index_turn(connection, session_id, turn)
            return session, turn

    async def remove_member(self, session_id: int, character_id: int, at: datetime) -> Session:
        """Let a character leave a story; what it said stays. Raises NotFound, Refused for the lead, and LookupError."""
        async with self._database.write() as connection:
            session = await lock_session(connection, session_id)
            member = session.member(character_id)
            if member is None:
                raise NotFound("cast-not-there")
            if character_id == session.character.id:
                raise Refused("cast-lead", name=session.character.card.name)
            left = update(cast).where(cast.c.session_id == session_id, cast.c.character_id == character_id)
            await connection.execute(left.values(left_at=at))
            theirs = heads.c.session_id == session_id, heads.c.character_id == character_id
            await connection.execute(delete(heads).where(*theirs))
            return await lock_session(connection, session_id)
