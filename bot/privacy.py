"""What belongs to a person alone: a copy of all that is kept of them, and being forgotten; and guilds that leave.

A wish to be forgotten is a row from when it is asked until it is carried out, step by step, each of which may be done again:
after a crash it goes on where it was. Knows neither Discord nor SQL.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import astuple, dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any, Final

from bot.engine import Engine
from bot.memory.memories import Memory, MemoryStatus
from bot.memory.personas import Persona
from bot.memory.story import Character, Session
from bot.memory.turns import TurnState
from bot.rendering import Renderer
from bot.store import Store
from bot.store.own_data import OwnCharacter, OwnData, OwnKept, OwnRow, OwnStory

log = logging.getLogger(__name__)

FORMAT_NAME: Final = "kataribe-own-data"
FORMAT_VERSION: Final = 1
# Discord takes 10 MiB: https://discord.com/developers/docs/reference#uploading-files
LARGEST_FILE: Final = 8_000_000
# Their texts may repeat words that somebody took back.
_WITHHELD: Final = (MemoryStatus.STALE, MemoryStatus.REPLACED, MemoryStatus.FORGOTTEN)
# Figures for the machinery, or numbers that mean nothing outside the database.
_INWARD: Final = frozenset({"id", "acquaintance_id", "faded_at", "imported"})


@dataclass(frozen=True, slots=True)
class Going:
    """What goes when a person is forgotten: counts.

    ``stories`` are those that stay without their words, ``own_stories`` those that go whole because nobody else ever wrote in
    them or they were told in direct messages; ``memories`` are at least so many. ``made`` are corrections, decisions on
    reports, characters of guilds and ways of stories that were left, which stay without the person's id.
    """

    turns: int
    stories: int
    own_stories: int
    memories: int
    notes: int
    traits: int
    reports: int
    characters: int
    personas: int
    made: int

    @property
    def is_nothing(self) -> bool:
        """Whether nothing at all is kept of the person."""
        return not any(astuple(self))


class Privacy:
    """Every use case, one method each. ``keep`` is how long a guild's stories are kept after it removed the bot.

    ``remove_picture`` is given the address of each picture that goes. Before it is set nobody goes who has one.
    """

    def __init__(
        self, store: Store, engine: Engine, renderer: Renderer, *, clock: Callable[[], datetime], keep: timedelta
    ) -> None:
        self._store = store
        self._engine = engine
        self._renderer = renderer
        self._clock = clock
        self._keep = keep
        self._at_work = asyncio.Lock()
        self.remove_picture: Callable[[str], Awaitable[None]] | None = None

    @property
    def keep_days(self) -> int:
        """How many days a guild's stories are kept after it removed the bot."""
        return self._keep.days

    # A person

    async def export(self, player_id: int, *, largest: int = LARGEST_FILE) -> tuple[bytes, ...]:
        """All that is kept of a person as JSON documents of at most ``largest`` bytes each.

        What players may not read of a memory is not in them either. Discord's ids are strings, as in its own API.
        """
        data = await self._store.own_data(player_id)
        return await asyncio.to_thread(_documents, data, self._clock(), largest)

    async def what_goes(self, player_id: int) -> Going:
        """What goes when the person is forgotten."""
        data = await self._store.own_data(player_id)
        alone = [story for story in data.stories if story.is_alone or _is_of(story.session.character, player_id)]
        own = [_is_of(made.character, player_id) for made in data.characters]
        return Going(
            turns=sum(len(story.turns) for story in data.stories),
            stories=len(data.stories) - len(alone),
            own_stories=len(alone),
            memories=sum(_is_shown(memory) for story in data.stories for memory in story.memories),
            notes=sum(len(kept.notes) for kept in data.kept),
            traits=sum(len(kept.traits) for kept in data.kept),
            reports=len(data.reports),
            characters=sum(own),
            personas=len(data.personas),
            made=len(data.corrections) + len(data.decisions) + len(data.branches) + len(own) - sum(own),
        )

    async def forget(self, player_id: int) -> None:
        """Write down that a person wants to be forgotten; :meth:`run_due` carries it out."""
        await self._store.ask_to_forget(player_id, self._clock())
        log.info("a person asked to be forgotten")

    async def run_due(self) -> None:
        """Forget whoever asked for it. What fails is logged, and tried again the next time."""
        async with self._at_work:
            for player_id in await self._store.forgettings():
                try:
                    if not await self._emptied(player_id):
                        continue
                    if await self._store.finish_forgetting(player_id):
                        log.info("a person was forgotten")
                except Exception:  # one wish must not hinder the others; its row stays
                    log.exception("a person could not be forgotten yet")

    async def is_forgotten(self, player_id: int) -> bool:
        """Whether no wish of the person to be forgotten waits any more."""
        return player_id not in await self._store.forgettings()

    async def _emptied(self, player_id: int) -> bool:
        """Leave no row of a person, also not of what they wrote since they asked; False when that has to wait."""
        while (asked_at := await self._store.to_empty(player_id)) is not None:
            if not await self._empty(player_id, asked_at):
                return False
        return True

    async def _empty(self, player_id: int, asked_at: datetime) -> bool:
        """Leave no row of a person; False when their pictures have to stay yet, whose addresses only their rows know."""
        await self._store.forget_traits(player_id)
        for session_id in await self._store.stories_with(player_id):
            await self._forget_in_story(session_id, player_id)
        if not await self._without_pictures(await self._store.pictures_of(player_id)):
            return False
        await self._store.forget_person(player_id, self._clock(), asked_at=asked_at)
        return True

    async def _without_pictures(self, addresses: Collection[str]) -> bool:
        """Remove pictures; False while nobody can. Removed twice, as after a crash, is removed."""
        if addresses and self.remove_picture is None:
            log.info("%d pictures are yet to be removed", len(addresses))
            return False
        for address in addresses:
            if self.remove_picture is not None:
                await self.remove_picture(address)
        return True

    async def _forget_in_story(self, session_id: int, player_id: int) -> None:
        # A reply that is being written was asked for with the person's words.
        async with self._engine.between_replies(session_id):
            session = await self._store.session(session_id)
            if session is None:
                return
            render = self._renderer.for_session(session, self._engine.budgets)
            done = await self._store.forget_in_story(session_id, player_id, self._clock(), render)
        if done is not None:
            log.info(
                "session %d: forgot a person, %s, %d turns, %d replies cut, %d memories",
                session_id, "removed whole" if done.removed else "it stays", done.turns, done.replies, done.memories,
            )  # fmt: skip

    # Guilds

    async def guild_left(self, guild_id: int) -> None:
        """A guild removed the bot: what is of it is deleted after a while."""
        await self._store.guild_left(guild_id, self._clock())
        log.info("guild %d removed the bot; it is deleted after %d days", guild_id, self.keep_days)

    async def guild_joined(self, guild_id: int) -> None:
        """The bot is in a guild, perhaps again."""
        await self._store.guild_joined(guild_id)

    async def reconcile(self, guild_ids: Collection[int]) -> None:
        """Guilds that the bot was removed from while it was away count as departed from now."""
        for guild_id in sorted(await self._store.reconcile_guilds(guild_ids, self._clock())):
            log.info("guild %d removed the bot meanwhile; it is deleted after %d days", guild_id, self.keep_days)

    async def delete_departed(self) -> None:
        """Delete what is of guilds that removed the bot long enough ago. A crash midway leaves it to the next time."""
        async with self._at_work:
            for guild_id in await self._store.departed(self._clock() - self._keep):
                stories = await self._store.stories_of_guild(guild_id)
                for session_id in stories:
                    async with self._engine.between_replies(session_id):
                        if not await self._store.remove_story_of(guild_id, session_id):
                            break
                if not await self._without_pictures(await self._store.pictures_of_guild(guild_id)):
                    continue
                if await self._store.remove_guild(guild_id):
                    log.info("guild %d is deleted, with %d stories", guild_id, len(stories))


def _is_of(character: Character, player_id: int) -> bool:
    """Whether a character is of the person's own direct messages."""
    return character.scope.guild_id is None and character.scope.owner_id == player_id


def _is_shown(memory: Memory) -> bool:
    return memory.status not in _WITHHELD


# The documents ------------------------------------------------------------------------------------------------------


def _documents(data: OwnData, at: datetime, largest: int) -> tuple[bytes, ...]:
    """The entries of all sections, in order, in as few documents as hold them."""
    head = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "player_id": str(data.player_id),
        "exported_at": _plain(at),
        "remembered": not data.is_stranger,
    }
    room = largest - len(_encoded(head)) - 200
    parts: list[dict[str, list[Any]]] = [{}]
    size = 0
    for section, entry in _entries(data, room):
        entry_size = len(_encoded(entry, depth=2)) + len(section) + 16
        if size and size + entry_size > room:
            parts.append({})
            size = 0
        parts[-1].setdefault(section, []).append(entry)
        size += entry_size
    return tuple(
        _encoded({**head, "part": number, "parts": len(parts), **part}) for number, part in enumerate(parts, start=1)
    )


def _entries(data: OwnData, largest: int) -> Iterator[tuple[str, Any]]:
    for kept in data.kept:
        yield from _known(kept)
    for story in data.stories:
        yield from _told(story, data.player_id)
    yield from (("characters", _made(made, largest)) for made in data.characters)
    yield from (("personas", _persona(persona, guild_ids)) for persona, guild_ids in data.personas)
    done = (
        ("reports", data.reports), ("corrections", data.corrections), ("decisions", data.decisions),
        ("branches", data.branches),
    )  # fmt: skip
    for section, rows in done:
        yield from ((section, _row(row)) for row in rows)


def _known(kept: OwnKept) -> Iterator[tuple[str, Any]]:
    by = _character(kept.character)
    yield "known_by", {**by, "as": kept.name, "remembered": kept.remembered, "exchanges_waiting": kept.waiting}
    for section, rows in (("notes", kept.notes), ("traits", kept.traits)):
        for row in rows:
            former = {"former": [{"text": f.text, "until": _plain(f.until)} for f in row.former]} if row.former else {}
            yield section, {"character": by["name"], "character_id": by["id"], **_row(row), **former}


def _told(story: OwnStory, player_id: int) -> Iterator[tuple[str, Any]]:
    session = story.session
    yield (
        "stories",
        {
            "session_id": session.id,
            **_place(session),
            "character": session.character.card.name,
            "started_at": _plain(session.started_at),
            "names": [{"name": n.name, "label": n.label, "persona_id": n.persona_id} for n in story.names],
        },
    )
    for turn, message_ids in story.turns:
        yield (
            "turns",
            {
                "session_id": session.id,
                "seq": turn.seq,
                "at": _plain(turn.at),
                "name": turn.author.name,
                "persona_id": turn.author.persona_id,
                "text": turn.raw,
                "set_aside": turn.state is TurnState.ASIDE,
                "message_ids": [str(message_id) for message_id in message_ids],
            },
        )
    for memory in story.memories:
        if _is_shown(memory):
            yield "memories", {"session_id": session.id, **_memory(memory, player_id)}


def _memory(memory: Memory, player_id: int) -> dict[str, Any]:
    """A memory as its person may read it: of a secret the outward side, of a thought that there is one."""
    content = memory.content
    return {
        "number": memory.number,
        "kind": content.kind.value,
        "text": None if content.private else content.text,
        "speaker": content.speaker,
        "addressee": content.addressee,
        "status": memory.status.value,
        "cites": [str(citation) for citation in memory.cites],
        "condenses": list(memory.condenses),
        "about_you": content.player_id == player_id,
    }


def _place(session: Session) -> dict[str, Any]:
    guild_id = session.place.guild_id
    return {"guild_id": None if guild_id is None else str(guild_id), "channel_id": str(session.place.channel_id)}


def _character(character: Character) -> dict[str, Any]:
    guild_id = character.scope.guild_id
    return {
        "id": character.id,
        "name": character.card.name,
        "guild_id": None if guild_id is None else str(guild_id),
    }


def _made(made: OwnCharacter, largest: int) -> dict[str, Any]:
    """A character with its whole card, unless that is too large for a file: then it is to be had by ``/character export``."""
    card = made.character.card
    told = {"description": card.description, "first_message": card.first_message}
    entry = {**_character(made.character), **told, "picture": made.character.avatar_url}
    whole = {**entry, "card": json.loads(made.document) if made.document else None}
    return whole if len(_encoded(whole, depth=2)) < largest else entry


def _persona(persona: Persona, guild_ids: Collection[int | None]) -> dict[str, Any]:
    return {
        "id": persona.id,
        "name": persona.name,
        "description": persona.description,
        "brackets": [str(pair) for pair in persona.brackets],
        "picture": persona.avatar_url,
        "active_in": [None if guild_id is None else str(guild_id) for guild_id in guild_ids],
    }


def _row(row: OwnRow) -> dict[str, Any]:
    values = {name: _plain(value) for name, value in row.values.items() if name not in _INWARD}
    cited = [{"session_id": s.session_id, "turn": s.seq, "beat": s.beat} for s in row.sources]
    return {**values, "from": cited} if cited else values


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case date():
            return value.isoformat()
        case Enum():
            return value.value
        case _:
            return value


def _encoded(value: Any, *, depth: int = 0) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text.replace("\n", "\n" + "  " * depth).encode()
