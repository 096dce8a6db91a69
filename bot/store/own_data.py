"""All that is kept of one person, for that person."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, Select, exists, func, null, select, union
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.memories import Memory, above
from bot.memory.people import ExchangeState, FormerText, Source
from bot.memory.personas import Persona
from bot.memory.story import Character, Session
from bot.memory.turns import AuthorKind, Turn, TurnState
from bot.store.ledger import load_memories
from bot.store.people_tables import (
    acquaintances,
    exchanges,
    former_texts,
    note_sources,
    notes,
    persona_labels,
    strangers,
    trait_sources,
    traits,
)
from bot.store.personas import own_personas
from bot.store.rows import SESSIONS, Topic, character_of, read_sessions, turn_of
from bot.store.tables import branches, characters, flags, memories, messages, players, sessions, turns, versions

_WRITTEN: Final = (TurnState.KEPT, TurnState.ASIDE)


@dataclass(frozen=True, slots=True)
class OwnName:
    """A name in a story, and the label that stands before the turns under it; ``persona_id`` is None for a person's own."""

    name: str
    label: str
    persona_id: int | None = None


@dataclass(frozen=True, slots=True)
class OwnStory:
    """What a person has in one story.

    ``names`` are what they and their personas were called; ``turns`` what they wrote and did not take back, in sight or set
    aside, each with the ids of its messages; ``memories`` those that are about them or rest on their turns, in any generation
    and whatever their status. ``is_alone``: nobody else ever wrote in it.
    """

    session: Session
    is_alone: bool
    names: tuple[OwnName, ...]
    turns: tuple[tuple[Turn, tuple[int, ...]], ...]
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class OwnRow:
    """A row about a person as it stands, with the beats it comes from and, of a trait, what it said before."""

    values: dict[str, Any]
    sources: tuple[Source, ...] = ()
    former: tuple[FormerText, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnKept:
    """What one character keeps about a person. ``waiting`` are the exchanges that were not judged yet."""

    character: Character
    name: str
    remembered: bool
    waiting: int
    notes: tuple[OwnRow, ...]
    traits: tuple[OwnRow, ...]


@dataclass(frozen=True, slots=True)
class OwnCharacter:
    """A character that a person made, and its whole card as JSON; None for one from before cards were kept."""

    character: Character
    document: str | None


@dataclass(frozen=True, slots=True)
class OwnData:
    """All of it. ``personas`` come with the guilds in which each is active (None: direct messages); ``reports`` are those that
    a person made; as a moderator, they made ``corrections`` and ``decisions``; ``branches`` are the ways of stories that they
    left.
    """

    player_id: int
    is_stranger: bool
    stories: tuple[OwnStory, ...]
    kept: tuple[OwnKept, ...]
    characters: tuple[OwnCharacter, ...]
    personas: tuple[tuple[Persona, tuple[int | None, ...]], ...]
    reports: tuple[OwnRow, ...]
    corrections: tuple[OwnRow, ...]
    branches: tuple[OwnRow, ...]
    decisions: tuple[OwnRow, ...]


class OwnDataStore(Topic):
    """Reading only."""

    async def own_data(self, player_id: int) -> OwnData:
        """All that is kept of a person, as of one moment; what other players wrote is not theirs."""
        async with self._database.read_aside() as connection:
            stranger = await connection.scalar(select(exists().where(strangers.c.player_id == player_id)))
            made = select(characters).where(characters.c.owner_id == player_id).order_by(characters.c.id)
            reported = select(flags.c.session_id, flags.c.number, flags.c.why, flags.c.at, flags.c.state)
            reported = reported.where(flags.c.by == player_id)
            changed = select(
                versions.c.session_id, versions.c.number, versions.c.version, versions.c.reason, versions.c.at
            )
            changed = changed.where(versions.c.by == str(player_id)).order_by(versions.c.at)
            left = select(branches.c.session_id, branches.c.at_seq, branches.c.at).where(branches.c.by == player_id)
            decided = select(flags.c.session_id, flags.c.number, flags.c.state, flags.c.correction, flags.c.decided_at)
            decided = decided.where(flags.c.decided_by == player_id).order_by(flags.c.id)
            return OwnData(
                player_id=player_id,
                is_stranger=bool(stranger),
                stories=await _stories(connection, player_id),
                kept=await _kept(connection, player_id),
                characters=tuple(
                    OwnCharacter(character_of(row), row.document) for row in await connection.execute(made)
                ),
                personas=await own_personas(connection, player_id),
                reports=await _rows(connection, reported.order_by(flags.c.id)),
                corrections=await _rows(connection, changed),
                branches=await _rows(connection, left.order_by(branches.c.id)),
                decisions=await _rows(connection, decided),
            )


async def _stories(connection: AsyncConnection, player_id: int) -> tuple[OwnStory, ...]:
    theirs = union(
        select(turns.c.session_id).where(*_written_by(player_id)),
        select(players.c.session_id).where(players.c.player_id == player_id),
        select(persona_labels.c.session_id).where(persona_labels.c.player_id == player_id),
        select(memories.c.session_id).where(memories.c.player_id == player_id),
    ).subquery()
    wanted = SESSIONS.where(sessions.c.id.in_(select(theirs.c[0]))).order_by(sessions.c.id)
    return tuple([await _story(connection, session, player_id) for session in await read_sessions(connection, wanted)])


async def _story(connection: AsyncConnection, session: Session, player_id: int) -> OwnStory:
    mine = (turns.c.session_id == session.id, *_written_by(player_id))
    carrying = select(messages.c.turn_id, messages.c.message_id).join(turns).where(*mine)
    carried: dict[int, list[int]] = defaultdict(list)
    for row in await connection.execute(carrying.order_by(messages.c.message_id)):
        carried[row.turn_id].append(row.message_id)
    written = [turn_of(row) for row in await connection.execute(select(turns).where(*mine).order_by(turns.c.seq))]
    seqs = {turn.seq for turn in written}
    known = await load_memories(connection, session.id)
    about = {m.number for m in known if m.content.player_id == player_id or any(cite.seq in seqs for cite in m.cites)}
    reached = above(known, about)
    others = exists().where(
        turns.c.session_id == session.id,
        turns.c.author_kind == AuthorKind.PLAYER,
        turns.c.author_id.not_in((0, player_id)),
    )
    return OwnStory(
        session,
        bool(written) and not await connection.scalar(select(others)),
        await _names(connection, session.id, player_id),
        tuple((turn, tuple(carried[turn.id])) for turn in written if turn.state in _WRITTEN),
        tuple(m for m in known if m.number in reached),
    )


async def _names(connection: AsyncConnection, session_id: int, player_id: int) -> tuple[OwnName, ...]:
    own = select(players.c.name, players.c.label, null().label("persona_id")).where(
        players.c.session_id == session_id, players.c.player_id == player_id
    )
    played = select(persona_labels.c.name, persona_labels.c.label, persona_labels.c.persona_id).where(
        persona_labels.c.session_id == session_id, persona_labels.c.player_id == player_id
    )
    rows = [*await connection.execute(own), *await connection.execute(played)]
    return tuple(OwnName(row.name, row.label, row.persona_id) for row in rows)


async def _kept(connection: AsyncConnection, player_id: int) -> tuple[OwnKept, ...]:
    fresh = (
        select(func.count())
        .where(exchanges.c.acquaintance_id == acquaintances.c.id, exchanges.c.state == ExchangeState.FRESH)
        .scalar_subquery()
        .label("waiting")
    )
    known = select(acquaintances, fresh).where(acquaintances.c.player_id == player_id).order_by(acquaintances.c.id)
    found = []
    for row in (await connection.execute(known)).all():
        knows = select(characters).where(characters.c.id == row.character_id)
        of_person = notes.c.acquaintance_id == row.id, notes.c.removed.is_(False)
        noted = select(notes).where(*of_person).order_by(notes.c.id)
        held = select(traits).where(traits.c.acquaintance_id == row.id).order_by(traits.c.id)
        found.append(
            OwnKept(
                character_of((await connection.execute(knows)).one()),
                row.name,
                row.remembered,
                row.waiting,
                tuple([await _note(connection, note) for note in await connection.execute(noted)]),
                tuple([await _trait(connection, trait) for trait in await connection.execute(held)]),
            )
        )
    return tuple(found)


async def _note(connection: AsyncConnection, row: Row[Any]) -> OwnRow:
    shown = select(note_sources).where(note_sources.c.note_id == row.id).order_by(note_sources.c.position)
    return OwnRow(_values(row), await _sources(connection, shown))


async def _trait(connection: AsyncConnection, row: Row[Any]) -> OwnRow:
    shown = select(trait_sources).where(trait_sources.c.trait_id == row.id).order_by(trait_sources.c.position)
    former = select(former_texts).where(former_texts.c.trait_id == row.id).order_by(former_texts.c.position)
    said = tuple(FormerText(text.text, text.by, text.until) for text in await connection.execute(former))
    return OwnRow(_values(row), await _sources(connection, shown), said)


async def _sources(connection: AsyncConnection, statement: Select[Any]) -> tuple[Source, ...]:
    return tuple(Source(row.session_id, row.seq, row.beat) for row in await connection.execute(statement))


async def _rows(connection: AsyncConnection, statement: Select[Any]) -> tuple[OwnRow, ...]:
    return tuple(OwnRow(dict(row._mapping)) for row in await connection.execute(statement))


def _values(row: Row[Any]) -> dict[str, Any]:
    return dict(row._mapping)


def _written_by(player_id: int) -> tuple[Any, Any]:
    return turns.c.author_kind == AuthorKind.PLAYER, turns.c.author_id == player_id
