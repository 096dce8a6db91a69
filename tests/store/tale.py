"""A story to test with: short ways to write what the tests need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import Select, Table, select

from bot.memory.memories import Chapter, Content, Memory, MemoryKind, NewMemory, SessionMemory
from bot.memory.policy import Stretch
from bot.memory.prompt import Card
from bot.memory.story import Fold, FoldKind, Head, Place, Scope
from bot.memory.turns import Beat, BeatKind, Citation, PlayerMessage, Telling, Turn
from bot.store import Due, Store

START = datetime(2026, 4, 1, 12, tzinfo=UTC)
SCOPE = Scope(guild_id=10, owner_id=20)
PLACE = Place(guild_id=10, channel_id=100)
MIO, KAI = 1001, 1002
_IDS = count(5_000)


def later(minutes: int = 1) -> datetime:
    """A time after the start."""
    return START + timedelta(minutes=minutes)


def render(memory: SessionMemory) -> Head:
    """The memory in a form that shows in a test what was seen: chapters, then the lines in use."""
    young = [str(chapter.ordinal) for chapter in memory.chapters if not chapter.absorbed]
    lines = [f"{m.number}:{m.content.text}" for m in memory.memories if m.is_active]
    return Head(f"[{','.join(young)}] " + " | ".join(lines), 10 * len(lines))


def never() -> Due:
    """A trigger that is never crossed."""
    return Due(lambda raw, memory: False, later(60))


def over(tokens: int) -> Due:
    """A trigger at that many tokens of raw turns and memory."""
    return Due(lambda raw, memory: raw + memory > tokens, later(60))


def said(text: str, speaker: str = "?") -> tuple[Beat, ...]:
    """One spoken beat."""
    return (Beat(BeatKind.SPEECH, text, speaker),)


def event(text: str, *seqs: int) -> NewMemory:
    """An event that cites the first beat of each turn."""
    return NewMemory(Content(MemoryKind.EVENT, text), tuple(Citation(seq, 1) for seq in seqs))


def loose_end(text: str, *seqs: int) -> NewMemory:
    """A loose end that cites the first beat of each turn."""
    return NewMemory(Content(MemoryKind.LOOSE_END, text), tuple(Citation(seq, 1) for seq in seqs))


def condensed(text: str, *numbers: int) -> NewMemory:
    """An event that stands for older memories."""
    return NewMemory(Content(MemoryKind.EVENT, text), condenses=numbers)


@dataclass
class Tale:
    """A session with the messages written in it so far."""

    store: Store
    session_id: int
    channel_id: int = PLACE.channel_id

    def message(self, text: str, *, by: int = MIO, name: str = "Mio", message_id: int | None = None) -> PlayerMessage:
        """A message that was not committed yet."""
        number = next(_IDS) if message_id is None else message_id
        return PlayerMessage(number, self.channel_id, by, name, text, later())

    async def player(
        self, text: str = "Hello.", *, by: int = MIO, name: str = "Mio", tokens: int = 10, due: Due | None = None
    ) -> Turn:
        """A player's turn."""
        message = self.message(text, by=by, name=name)
        turn = await self.store.add_player_turn(self.session_id, message, said(text), tokens, due or never())
        assert turn is not None
        return turn

    async def reply(
        self, text: str = "Yes.", *, tokens: int = 10, due: Due | None = None, deliver: bool = True
    ) -> Turn:
        """A reply, delivered as one message unless told otherwise."""
        begun = await self.store.begin_reply(self.session_id, later(2))
        assert begun is not None
        telling = Telling(text, said(text, "Rin"), tokens, "stop", 500, 400, tokens, "small")
        turn = await self.store.finish_reply(begun.turn.id, telling, due or never())
        if deliver:
            await self.store.tie_messages(turn.id, self.channel_id, [next(_IDS)])
        return turn

    async def exchanges(self, number: int) -> None:
        """So many turns of a player, each with its reply."""
        for index in range(number):
            await self.player(f"Question {index + 1}.")
            await self.reply(f"Answer {index + 1}.")

    async def revisions(self, first: int, last: int) -> dict[int, int]:
        """What a fold of these turns reads."""
        return {turn.seq: turn.revision for turn in await self.store.turns(self.session_id, first, last)}

    async def chapter(
        self, first: int, last: int, *found: NewMemory, resolved: dict[int, int] | None = None
    ) -> Chapter | None:
        """Fold a stretch."""
        return await self.store.commit_chapter(
            None,
            self.session_id,
            Stretch(first, last),
            await self.revisions(first, last),
            found,
            resolved or {},
            by="fold",
            at=later(30),
            render=render,
        )

    async def refold(self, ordinal: int, *found: NewMemory, resolved: dict[int, int] | None = None) -> bool:
        """Fold a chapter again, as its planned row asks."""
        chapter = next(c for c in (await self.store.memory(self.session_id)).chapters if c.ordinal == ordinal)
        await self.store.request_fold(self.session_id, FoldKind.REFOLD, later(40), ordinal)
        fold = next(f for f in await self.open_folds() if (f.kind, f.chapter) == (FoldKind.REFOLD, ordinal))
        return await self.store.commit_refold(
            fold.id,
            self.session_id,
            ordinal,
            await self.revisions(chapter.first, chapter.last),
            found,
            resolved or {},
            by="fold",
            at=later(45),
            render=render,
        )

    async def synopsis(self, chapters: Sequence[int], *events: NewMemory) -> bool:
        """Condense events; what the events stand for was read just now."""
        read = {number for new in events for number in new.condenses}
        memory = await self.store.memory(self.session_id)
        versions = {m.number: m.version for m in memory.memories if m.number in read}
        return await self.store.commit_synopsis(
            self.session_id, versions, chapters, events, by="major fold", at=later(50), render=render
        )

    async def memory(self, number: int) -> Memory:
        """A memory as it stands."""
        found = (await self.store.memory(self.session_id)).get(number)
        assert found is not None
        return found

    async def statuses(self) -> dict[int, str]:
        """The status of each memory."""
        return {m.number: m.status.value for m in (await self.store.memory(self.session_id)).memories}

    async def head(self) -> str:
        """The rendered memory as stored."""
        return (await self.store.snapshot(self.session_id)).memory_text

    async def open_folds(self) -> tuple[Fold, ...]:
        """The folds that are due at some time."""
        return await self.store.due_folds(later(100_000))


async def begin(store: Store, *, channel_id: int = PLACE.channel_id, name: str = "Rin") -> Tale:
    """A running session without any turn."""
    scope = Scope(channel_id, 20)
    character = await store.add_character(scope, Card(name, "A lighthouse keeper."), "", START)
    place = Place(channel_id, channel_id)
    session, _ = await store.start_session(place, character.id, "en", None, Head("[] ", 0), START)
    return Tale(store, session.id, channel_id)


async def rows(store: Store, what: Table | Select[Any]) -> list[Any]:
    """What stands in the database."""
    statement = select(what) if isinstance(what, Table) else what
    async with store._database.read() as connection:
        return list((await connection.execute(statement)).all())
