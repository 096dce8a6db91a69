"""Plays the sample story into an empty database: the real store, the real markup, the real rules of evidence.

Only the model is missing: what it would have written stands in the story file.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from discord.utils import time_snowflake

from bot.demo.world import STORY, SeededMessage, World
from bot.memory import folding, markup, prompt, tokens
from bot.memory.evidence import FoldAnswer, Judge, Proposal, Resolution
from bot.memory.judgement import ProposedNote, ProposedTrait, ProposedTraits, numbered
from bot.memory.language import detect_language
from bot.memory.memories import Content, MemoryKind, NewMemory, SessionMemory
from bot.memory.observing import judge_notes, judge_traits
from bot.memory.people import Judgement, JudgementKind
from bot.memory.policy import Stretch
from bot.memory.prompt import Card
from bot.memory.story import Head, Place, Scope, Session
from bot.memory.turns import Citation, PlayerMessage, Telling
from bot.store import Due, Store

_PACE: Final = timedelta(minutes=3)
_ENDED: Final = timedelta(hours=1)
_MODEL: Final = "the sample story"


async def seed(
    database_url: str, world: World, *, story: Path = STORY, now: datetime | None = None
) -> list[SeededMessage]:
    """Play and fold the story; what the channel shows of it, in order. ``now`` is when it ended, plus an hour."""
    tale = json.loads(await asyncio.to_thread(story.read_text, encoding="utf-8"))
    began = (now or datetime.now(UTC)) - _ENDED - _PACE * len(tale["turns"])
    store = await Store.open(database_url)
    try:
        player = _Telling(store, world, tale, began)
        await player.begin()
        for turn in tale["turns"][1:]:
            await player.play(turn)
        for fold in tale["folds"]:
            await player.fold(fold)
        await player.condense(tale["major_fold"])
        await player.acquaint(tale["people"])
        return player.messages
    finally:
        await store.close()


class _Telling:
    """One run of the story into a store."""

    def __init__(self, store: Store, world: World, tale: Mapping[str, Any], began: datetime) -> None:
        self._store = store
        self._world = world
        self._tale = tale
        self._at = began
        card = tale["character"]
        self._card = Card(card["name"], card["description"], card["first_message"])
        self._people = {entry["key"]: member for entry, member in zip(tale["players"], world.players, strict=True)}
        self._session: Session | None = None
        self.messages: list[SeededMessage] = []

    @property
    def session(self) -> Session:
        """The session, once it has begun."""
        if self._session is None:
            raise RuntimeError("the telling has not begun")
        return self._session

    async def begin(self) -> None:
        """The character and the session, with the greeting as its first turn."""
        scope = Scope(self._world.guild_id, self._world.moderator.user_id)
        character = await self._store.add_character(scope, self._card, "", self._at)
        first = self._card.first_message
        opening = (first, markup.parse_reply(first, self._card.name), tokens.estimate(first))
        place = Place(self._world.guild_id, self._world.channel_id)
        self._session, turn = await self._store.start_session(
            place, character.id, detect_language(first), opening, _head(SessionMemory()), self._at
        )
        if turn is not None:
            await self._said(turn.id, markup.shown(first, turn.beats, self._card.name))
        await self._store.add_webhook(self._world.channel_id, self._world.webhook_id)

    async def play(self, turn: Mapping[str, Any]) -> None:
        """One turn, as if it had been written then."""
        self._at += _PACE
        if turn["author"] == "character":
            await self._reply(turn["beats"])
        else:
            await self._message(turn["author"], turn["text"])

    async def _message(self, key: str, text: str) -> None:
        member, message_id = self._people[key], time_snowflake(self._at)
        message = PlayerMessage(message_id, self._world.channel_id, member.user_id, member.name, text, self._at)
        beats = markup.parse_player(text, member.name)
        await self._store.add_player_turn(
            self.session.id, message, beats, tokens.estimate(f"{member.name}: {text}"), _never(self._at)
        )
        self.messages.append(SeededMessage(message_id, member.name, member.user_id, text, self._at))

    async def _reply(self, beats: Sequence[Mapping[str, str]]) -> None:
        name = self._card.name
        raw = json.dumps({"beats": [{"speaker": name, **beat} for beat in beats]}, ensure_ascii=False)
        begun = await self._store.begin_reply(self.session.id, self._at)
        if begun is None:
            raise ValueError("the story has a reply that answers nobody")
        parsed = markup.parse_reply(raw, name)
        telling = Telling(raw, parsed, tokens.estimate(raw), "stop", model=_MODEL)
        await self._store.finish_reply(begun.turn.id, telling, _never(self._at))
        await self._said(begun.turn.id, markup.shown(raw, parsed, name))

    async def _said(self, turn_id: int, text: str) -> None:
        message_id = time_snowflake(self._at)
        await self._store.tie_messages(turn_id, self._world.channel_id, [message_id])
        self.messages.append(SeededMessage(message_id, self._card.name, None, text, self._at))

    async def fold(self, fold: Mapping[str, Any]) -> None:
        """One chapter, as the rules of evidence let it pass."""
        memory = await self._store.memory(self.session.id)
        stretch = Stretch(fold["first"], fold["last"])
        turns = await self._store.turns(self.session.id, stretch.first, stretch.last)
        open_ends = {m.content.text: m.number for m in memory.open_ends()}
        answer = FoldAnswer(
            tuple(_proposal(item) for item in fold["memories"]),
            tuple(_proposal({"kind": "loose_end", **item}) for item in fold["opened"]),
            tuple(Resolution(open_ends[item["end"]], _cites(item)) for item in fold["resolved"]),
        )
        verdict = Judge(turns, memory, {}).judge(answer)
        chapter = await self._store.commit_chapter(
            None, self.session.id, stretch, {t.seq: t.revision for t in turns}, verdict.memories, verdict.resolved,
            by="fold", at=self._at, render=_head,
        )  # fmt: skip
        if chapter is None:
            raise ValueError(f"turns {stretch.first} to {stretch.last} of the story could not be folded")

    async def condense(self, major: Mapping[str, Any]) -> None:
        """The major fold of the two oldest chapters."""
        memory = await self._store.memory(self.session.id)
        work = folding.condensation(memory, 2)
        numbers = {m.content.text: m for m in work.events}
        events = [
            NewMemory(
                Content(MemoryKind.EVENT, event["text"]),
                condenses=tuple(numbers[text].number for text in event["condenses"]),
            )
            for event in major["events"]
        ]
        await self._store.commit_synopsis(
            self.session.id, {m.number: m.version for m in work.events}, work.chapters, events,
            by="major fold", at=self._at, render=_head,
        )  # fmt: skip

    async def acquaint(self, people: Sequence[Mapping[str, Any]]) -> None:
        """What the character got to know of the players, as the rules let it pass: the morning after."""
        self._at += _PACE
        await self._store.hold_morning(self._world.guild_id, self._at.date(), self._at)
        while due := await self._store.due_judgements(self._at):
            for one in due:
                if (claimed := await self._store.claim_judgement(one.id, self._at)) is None:
                    continue
                if claimed.kind is JudgementKind.NOTES:
                    await self._note(claimed, people)
                else:
                    await self._keep(claimed, people)

    async def _note(self, claimed: Judgement, people: Sequence[Mapping[str, Any]]) -> None:
        work = await self._store.work_for_notes(claimed)
        player_id = work.acquaintance.player_id
        places = {Citation(line.source.seq, line.source.beat): n for n, line in numbered(work.exchanges).items()}
        proposed = [
            ProposedNote(item["text"], tuple(places[cite] for cite in _cites(item)))
            for item in people
            if self._people[item["player"]].user_id == player_id and all(cite in places for cite in _cites(item))
        ]
        verdict = judge_notes(proposed, player_id, work.exchanges, character=self._card.name)
        revisions = {turn.id: turn.revision for exchange in work.exchanges for turn in exchange.turns}
        ids = [exchange.id for exchange in work.exchanges]
        if not await self._store.commit_notes(claimed.id, ids, revisions, verdict.notes, self._at):
            raise ValueError("what the story shows of its players could not be noted")

    async def _keep(self, claimed: Judgement, people: Sequence[Mapping[str, Any]]) -> None:
        work = await self._store.work_for_traits(claimed)
        lasting = {item["text"] for item in people if item["lasts"]}
        proposed = [ProposedTrait(n.text, (place,)) for place, n in enumerate(work.notes, 1) if n.text in lasting]
        verdict = judge_traits(ProposedTraits(tuple(proposed)), work.notes, work.traits, self._at.date())
        if not await self._store.commit_traits(claimed.id, work, verdict.new, (), verdict.absorbed, self._at):
            raise ValueError("what lasts of the story's players could not be kept")


def _head(memory: SessionMemory) -> Head:
    text = prompt.memory_text(memory, "en", open_ends=12)
    return Head(text, tokens.estimate(text))


def _never(at: datetime) -> Due:
    return Due(lambda _, __: False, at)


def _cites(item: Mapping[str, Any]) -> tuple[Citation, ...]:
    return tuple(c for text in item["cites"] if (c := Citation.parse(text)))


def _proposal(item: Mapping[str, Any]) -> Proposal:
    return Proposal(
        item["kind"], item["text"], item.get("actual", ""), item.get("who", ""), item.get("to", ""), _cites(item)
    )
