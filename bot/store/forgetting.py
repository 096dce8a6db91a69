"""Forgetting a person who asked for it: story by story, each in one transaction, and the same again after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Select, delete, exists, insert, or_, select, union, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.forgetting import (
    Cut,
    Traces,
    after_forgetting,
    of_person,
    tellings_without,
    without,
    written_anew,
)
from bot.memory.memories import BY_FORGOTTEN, SessionMemory
from bot.memory.story import FoldKind, Session
from bot.memory.turns import AuthorKind, Citation, Telling, Turn, TurnState
from bot.store.cast_tables import cast
from bot.store.ledger import Render, load_histories, load_memory, write_changed
from bot.store.people_tables import acquaintances, forgettings, persona_labels, personas
from bot.store.personas import forget_personas, own_personas
from bot.store.planning import plan_unless_open
from bot.store.removal import remove_acquaintances, remove_kept, remove_session
from bot.store.rows import Topic, drop_tails, lock_session, turn_of
from bot.store.search import index_turn, scrub
from bot.store.tables import (
    branches,
    characters,
    evidence,
    findable,
    flags,
    memories,
    messages,
    players,
    sessions,
    turns,
    versions,
)
from bot.store.tellings import replace_tellings, tellings_in
from bot.store.views import write_head

_BY: Final = "forgetting"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What became of one story: removed whole, or how many turns, replies and memories were emptied in it."""

    removed: bool = False
    turns: int = 0
    replies: int = 0
    memories: int = 0


class ForgettingStore(Topic):
    """A wish is a row from when it is asked until nothing of the person is left.

    Every step may be done again: what is gone already is not found again.
    """

    async def ask_to_forget(self, player_id: int, at: datetime) -> None:
        """Write down that a person asked to be forgotten. Asked again while it is carried out, it is carried out again."""
        asked = exists().where(forgettings.c.player_id == player_id)
        again = update(forgettings).where(forgettings.c.player_id == player_id)
        async with self._database.write_aside() as connection:
            if await connection.scalar(select(asked)):
                await connection.execute(again.values(asked_at=at, emptied_at=None))
            else:
                await connection.execute(insert(forgettings).values(player_id=player_id, asked_at=at))

    async def forgettings(self) -> tuple[int, ...]:
        """The persons who are yet to be forgotten, in the order in which they asked."""
        statement = select(forgettings.c.player_id).order_by(forgettings.c.asked_at, forgettings.c.player_id)
        async with self._database.read_aside() as connection:
            return tuple(await connection.scalars(statement))

    async def to_empty(self, player_id: int) -> datetime | None:
        """When a person asked of whom there are rows yet; None when their words may stand in the files only, or nowhere."""
        waits = forgettings.c.player_id == player_id, forgettings.c.emptied_at.is_(None)
        async with self._database.read_aside() as connection:
            return await connection.scalar(select(forgettings.c.asked_at).where(*waits))

    async def forget_traits(self, player_id: int) -> None:
        """The first step: what characters keep about the person goes, and what was to be judged."""
        async with self._database.write_aside() as connection:
            of_person_ = select(acquaintances.c.id).where(acquaintances.c.player_id == player_id)
            await remove_kept(connection, of_person_)

    async def stories_with(self, player_id: int) -> tuple[int, ...]:
        """The stories in which something of a person may stand.

        Those in which they never wrote come first: only the names that they have in the others say who is meant there.
        """
        named = union(*(select(t.c.session_id).where(t.c.player_id == player_id) for t in (players, persona_labels)))
        async with self._database.read_aside() as connection:
            own = set(await connection.scalars(select(named.subquery().c[0])))
            found = set(await connection.scalars(_stories(player_id)))
        return tuple(sorted(found, key=lambda session_id: (session_id in own, session_id)))

    async def forget_in_story(self, session_id: int, player_id: int, at: datetime, render: Render) -> Forgotten | None:
        """Let a story forget a person; None when it is gone.

        A story in which nobody else ever wrote goes whole. Of another, what the person wrote goes, with their names, their
        reports, the tails of former prompts, the lines of replies that name them or repeat their words, in all tellings, and
        every memory that rests on any of this, in sight or set aside; the chapters of these turns are folded again from what
        is left, planned for ``at``. Each turn gets a new revision, so that no fold or judgement that read the old words is
        committed.
        """
        async with self._database.write_aside() as connection:
            try:
                session = await lock_session(connection, session_id)
            except LookupError:
                return None
            if await _is_alone(connection, session, player_id):
                await remove_session(connection, session_id)
                await scrub(connection)
                return Forgotten(removed=True)
            done = await _forget(connection, session, player_id, at, render)
            await scrub(connection)
            return done

    async def pictures_of(self, player_id: int) -> tuple[str, ...]:
        """The addresses of the pictures that go with a person: of their personas, and of the characters they alone play with."""
        own = characters.c.guild_id.is_(None), characters.c.owner_id == player_id
        kept = select(characters.c.avatar_url).where(*own).order_by(characters.c.id)
        async with self._database.read_aside() as connection:
            played = [persona.avatar_url for persona, _ in await own_personas(connection, player_id)]
            return tuple(filter(None, (*played, *await connection.scalars(kept))))

    async def forget_person(self, player_id: int, at: datetime, *, asked_at: datetime) -> None:
        """The last step in the rows: their personas are gone, no character knows them, and those of direct messages are gone.

        What they made for a guild stays the guild's, without their name; and that they did not want to be remembered by a
        character holds. ``asked_at`` is the wish that is carried out: one that came since is yet to be.
        """
        own = characters.c.guild_id.is_(None), characters.c.owner_id == player_id
        async with self._database.write_aside() as connection:
            theirs = acquaintances.c.player_id == player_id
            await remove_acquaintances(connection, theirs & acquaintances.c.remembered)
            await connection.execute(update(acquaintances).where(theirs).values(name=""))
            made = list(await connection.scalars(select(characters.c.id).where(*own)))
            await remove_acquaintances(connection, acquaintances.c.character_id.in_(made))
            for session_id in list(await connection.scalars(_played(made))):
                await remove_session(connection, session_id)
            await connection.execute(delete(characters).where(*own))
            await connection.execute(update(characters).where(characters.c.owner_id == player_id).values(owner_id=0))
            await forget_personas(connection, player_id)
            carried_out = forgettings.c.player_id == player_id, forgettings.c.asked_at == asked_at
            wish = update(forgettings).where(*carried_out)
            await connection.execute(wish.values(emptied_at=at))
            await scrub(connection)

    async def finish_forgetting(self, player_id: int) -> bool:
        """Let nothing of it stay in the database's files, then take the wish off the list; False when files are in use."""
        if not await self._database.checkpoint():
            return False
        async with self._database.write_aside() as connection:
            done = forgettings.c.player_id == player_id, forgettings.c.emptied_at.is_not(None)
            await connection.execute(delete(forgettings).where(*done))
        await self._database.checkpoint()
        return True


_Retold = dict[int, tuple[int | None, tuple[Telling, ...]] | None]


def _played(character_ids: Sequence[int]) -> Select[Any]:
    joined = select(cast.c.session_id).where(cast.c.character_id.in_(character_ids))
    return select(sessions.c.id).where(or_(sessions.c.character_id.in_(character_ids), sessions.c.id.in_(joined)))


def _stories(player_id: int) -> Select[Any]:
    """The ids of the sessions with rows of a person, or whose character knows them or is their own."""
    knows = select(acquaintances.c.character_id).where(acquaintances.c.player_id == player_id)
    own = select(characters.c.id).where(characters.c.guild_id.is_(None), characters.c.owner_id == player_id)
    found = union(
        select(turns.c.session_id).where(_of(player_id)),
        select(players.c.session_id).where(players.c.player_id == player_id),
        select(persona_labels.c.session_id).where(persona_labels.c.player_id == player_id),
        select(branches.c.session_id).where(branches.c.by == player_id),
        select(memories.c.session_id).where(memories.c.player_id == player_id),
        select(versions.c.session_id).where(or_(versions.c.player_id == player_id, versions.c.by == str(player_id))),
        select(flags.c.session_id).where(or_(flags.c.by == player_id, flags.c.decided_by == player_id)),
        select(sessions.c.id).where(or_(sessions.c.character_id.in_(knows), sessions.c.character_id.in_(own))),
        select(cast.c.session_id).where(cast.c.character_id.in_(knows)),
    ).subquery()
    return select(found.c[0])


async def _is_alone(connection: AsyncConnection, session: Session, player_id: int) -> bool:
    """Whether a story is a person's alone; who was forgotten before does not count."""
    scope = session.character.scope
    if scope.guild_id is None and scope.owner_id == player_id:
        return True
    theirs = select(turns.c.author_id).where(
        turns.c.session_id == session.id, turns.c.author_kind == AuthorKind.PLAYER, turns.c.author_id != 0
    )
    return set(await connection.scalars(theirs.distinct())) == {player_id}


async def _forget(
    connection: AsyncConnection, session: Session, player_id: int, at: datetime, render: Render
) -> Forgotten:
    of_session = turns.c.session_id == session.id
    mine = [turn_of(row) for row in await connection.execute(select(turns).where(of_session, _of(player_id)))]
    memory = await load_memory(connection, session.id)
    traces = await _traces(connection, session, player_id, mine)
    replies = select(turns).where(of_session, turns.c.author_kind == AuthorKind.CHARACTER, turns.c.raw != "")
    told = [turn_of(row) for row in await connection.execute(replies)]
    told_otherwise = await tellings_in(connection, session.id)
    histories = await load_histories(connection, session.id)
    names = {turn.id: session.author(turn).card.name for turn in told}

    def look() -> tuple[list[tuple[Turn, Cut]], _Retold, frozenset[int]]:
        cuts = [(turn, cut) for turn in told if (cut := without(turn.beats, traces, raw=turn.raw)) is not None]
        retold = {
            id_: tellings_without(known, number, traces, names.get(id_, session.character.card.name))
            for id_, (number, known) in told_otherwise.items()
        }
        lost = [Citation(t.seq, n) for t, cut in cuts for n in range(1, len(t.beats) + 1) if n not in cut.places]
        return cuts, retold, of_person(memory, histories, player_id, {turn.seq for turn in mine}, lost, traces)

    # A long story is a second's work, in which others want to be answered.
    cuts, retold, numbers = await asyncio.to_thread(look)
    await _empty_turns(connection, session.id, player_id)
    for turn, cut in cuts:
        await _rewrite(connection, session, turn, cut)
    for turn_id, left in retold.items():
        if left is not None:
            await replace_tellings(connection, turn_id, *left)
    await _move_citations(connection, session.id, cuts)
    await _empty_memories(connection, session, memory, numbers, mine, cuts, at)
    await _empty_reports(connection, session.id, player_id, numbers, traces)
    await drop_tails(connection, session.id)
    if mine:
        await _hear_no_more(connection, session, mine)
    if mine or cuts:
        await _read_anew(connection, session, memory, (*mine, *(turn for turn, _ in cuts)), at)
    if mine or cuts or numbers:
        await write_head(connection, session.id, render)
    return Forgotten(turns=len(mine), replies=len(cuts), memories=len(numbers))


async def _traces(connection: AsyncConnection, session: Session, player_id: int, mine: Sequence[Turn]) -> Traces:
    """Their personas' names are theirs in the stories in which they were heard; what describes a persona a model was told."""
    labels: dict[bool, set[str]] = {True: {turn.author.name for turn in mine}, False: {session.character.card.name}}
    for table in (players, persona_labels):
        named = select(table.c.player_id, table.c.label).where(table.c.session_id == session.id)
        for row in await connection.execute(named):
            labels[row.player_id == player_id].add(row.label)
    called = set(await connection.scalars(select(acquaintances.c.name).where(acquaintances.c.player_id == player_id)))
    for table in (players, persona_labels):
        called |= set(await connection.scalars(select(table.c.label).where(table.c.player_id == player_id)))
    # What others wrote to the letter, too, gives nobody away.
    others = turns.c.session_id == session.id, turns.c.author_kind == AuthorKind.PLAYER, ~_of(player_id)
    texts = {text for turn in mine for text in (turn.raw, " ".join(beat.text for beat in turn.beats))}
    texts |= set(await connection.scalars(select(personas.c.description).where(personas.c.player_id == player_id)))
    texts.difference_update(await connection.scalars(select(turns.c.raw).where(*others)))
    return await asyncio.to_thread(Traces, labels[True], texts, labels[False], called=list(called))


async def _empty_turns(connection: AsyncConnection, session_id: int, player_id: int) -> None:
    mine = turns.c.session_id == session_id, _of(player_id)
    seqs, ids = select(turns.c.seq).where(*mine), select(turns.c.id).where(*mine)
    await connection.execute(delete(findable).where(findable.c.session_id == session_id, findable.c.seq.in_(seqs)))
    await connection.execute(delete(messages).where(messages.c.turn_id.in_(ids)))
    for names in (players, persona_labels):
        await connection.execute(delete(names).where(names.c.session_id == session_id, names.c.player_id == player_id))
    emptied = {
        "state": TurnState.DELETED, "raw": "", "beats": (), "tokens": 0, "in_character": False, "author_id": 0,
        "author_name": "", "persona_id": None,
    }  # fmt: skip
    await connection.execute(update(turns).where(*mine).values(emptied))


async def _rewrite(connection: AsyncConnection, session: Session, turn: Turn, cut: Cut) -> None:
    """Write a reply anew from the beats that are left."""
    raw, tokens = written_anew(turn.raw, turn.tokens, cut.beats, session.author(turn).card.name)
    values: dict[str, Any] = {"raw": raw, "beats": cut.beats, "tokens": tokens}
    if not cut.beats:
        values["in_character"] = False
        if turn.state in (TurnState.KEPT, TurnState.ASIDE):
            values["state"] = TurnState.DELETED
    changed = update(turns).where(turns.c.id == turn.id).values(values)
    await index_turn(connection, session.id, turn_of((await connection.execute(changed.returning(turns))).one()))


async def _move_citations(connection: AsyncConnection, session_id: int, cuts: Sequence[tuple[Turn, Cut]]) -> None:
    """Let citations follow the beats of replies that were cut to their new places; those of beats that went go."""
    places = {turn.seq: cut.places for turn, cut in cuts}
    for row in (await connection.execute(select(evidence).where(evidence.c.session_id == session_id))).all():
        if row.seq not in places or places[row.seq].get(row.beat) == row.beat:
            continue
        this = (
            evidence.c.session_id == session_id,
            evidence.c.number == row.number,
            evidence.c.position == row.position,
        )
        now = places[row.seq].get(row.beat)
        change = delete(evidence).where(*this) if now is None else update(evidence).where(*this).values(beat=now)
        await connection.execute(change)


async def _empty_memories(
    connection: AsyncConnection,
    session: Session,
    memory: SessionMemory,
    numbers: frozenset[int],
    mine: Sequence[Turn],
    cuts: Sequence[tuple[Turn, Cut]],
    at: datetime,
) -> None:
    seqs, cut_seqs = frozenset(turn.seq for turn in mine), frozenset(turn.seq for turn, _ in cuts)
    changed = after_forgetting(memory, numbers, seqs, cut_seqs)
    await write_changed(connection, session.id, changed, by=_BY, reason="", at=at)
    nothing = {
        "text": "",
        "speaker": "",
        "addressee": "",
        "actual": "",
        "player_id": None,
        "private": False,
        "reason": "",
    }
    for number in sorted(numbers):
        of_number = versions.c.session_id == session.id, versions.c.number == number
        await connection.execute(update(versions).where(*of_number).values(nothing))


async def _empty_reports(
    connection: AsyncConnection, session_id: int, player_id: int, numbers: frozenset[int], traces: Traces
) -> None:
    """Their own reports go, what others' say of them goes from these, and what they corrected or rewound is nobody's."""
    of_session = flags.c.session_id == session_id
    await connection.execute(delete(flags).where(of_session, flags.c.by == player_id))
    for row in (await connection.execute(select(flags).where(of_session, flags.c.why != ""))).all():
        if row.number in numbers or traces.show_in(row.why):
            await connection.execute(update(flags).where(flags.c.id == row.id).values(why=""))
    await connection.execute(update(flags).where(of_session, flags.c.decided_by == player_id).values(decided_by=0))
    left = branches.c.session_id == session_id, branches.c.by == player_id
    await connection.execute(update(branches).where(*left).values(by=0))
    by_them = versions.c.session_id == session_id, versions.c.by == str(player_id)
    await connection.execute(update(versions).where(*by_them).values(by=BY_FORGOTTEN, reason=""))
    said_by_others = select(versions).where(versions.c.session_id == session_id, versions.c.reason != "")
    for row in (await connection.execute(said_by_others)).all():
        if traces.show_in(row.reason):
            of_version = (versions.c.number == row.number, versions.c.version == row.version)
            this = update(versions).where(versions.c.session_id == session_id, *of_version)
            await connection.execute(this.values(reason=""))


async def _read_anew(
    connection: AsyncConnection, session: Session, memory: SessionMemory, changed: Sequence[Turn], at: datetime
) -> None:
    """Have what was folded from changed turns folded again, and nothing committed that was read before.

    ``changed`` are the turns as they were. Of those set aside none was folded in sight: chapters count through their seqs.
    """
    seqs = [turn.seq for turn in changed if turn.state is TurnState.KEPT]
    await connection.execute(
        update(turns).where(turns.c.session_id == session.id).values(revision=turns.c.revision + 1)
    )
    for chapter in memory.chapters:
        if any(chapter.first <= seq <= chapter.last for seq in seqs):
            await plan_unless_open(connection, session.id, FoldKind.REFOLD, at, chapter.ordinal)


async def _hear_no_more(connection: AsyncConnection, session: Session, mine: Sequence[Turn]) -> None:
    """Let what is caught up with after a restart begin later than the person's messages, which are unknown now."""
    # Discord's ids are as exact as a millisecond.
    after = max(turn.at for turn in mine) + timedelta(milliseconds=1)
    unheard = update(sessions).where(sessions.c.id == session.id, sessions.c.running_since < after)
    await connection.execute(unheard.values(running_since=after))


def _of(player_id: int) -> Any:
    return (turns.c.author_kind == AuthorKind.PLAYER) & (turns.c.author_id == player_id)
