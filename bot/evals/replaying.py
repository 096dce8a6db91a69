"""Plays a conversation through the real engine, store and folder, and folds all of it, so that only memory is left of it."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from bot.core import Core, open_core
from bot.errors import ModelTimeout, ModelUnavailable, WindowExceeded
from bot.evals.conversations import Conversation, Question, Spoken
from bot.evals.machinery import Clock, ModelGone, overheard, settings_for
from bot.evals.scripted import scripted_model
from bot.llm.requests import Completion, Usage
from bot.memory import markup
from bot.memory.memories import MemoryKind, SessionMemory
from bot.memory.messages import Message
from bot.memory.policy import Budgets
from bot.memory.prompt import Card, flat
from bot.memory.recall import Limits
from bot.memory.story import FoldKind, Place, Scope, Session
from bot.memory.tokens import MESSAGE_OVERHEAD
from bot.memory.turns import Author, AuthorKind, PlayerMessage, Turn, TurnState
from bot.prompting import Prompter
from bot.settings import Settings

MINUTES_OF_A_FOLD: Final = 15
_MODERATOR: Final = 900
_FIRST_PLAYER: Final = 1_001
# Who the bot plays where only players speak.
_NOBODY: Final = "Nobody"
_FIRST_MESSAGE: Final = 10_000
_CHANNEL: Final = 2
# So much of what is said teaches the counter what a token is to this model.
_SAMPLE: Final = 4_000
# How often what is left is planned again after it was given up, and the rounds in which its folds and tries are carried out.
_LAST_FOLDS: Final = 2
_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True)
class FoldingModel:
    """Who folds: where it is asked, by which name, with which window in tokens; ``count`` counts tokens as it does."""

    base_url: str
    model: str | None
    window: int | None
    count: Callable[[str], int]


@dataclass(slots=True)
class Remembered:
    """What is left of a conversation. ``head`` is the memory as prompts show it, ``events`` the same of events alone, ``recalled``
    what recall adds for a question, by its id.
    """

    head: str
    events: str
    recalled: dict[str, str]
    chapters: int = 0
    major_folds: int = 0
    memories: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    given_up: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    turns_left_raw: int = 0
    turns_not_shown: int = 0
    forced_cuts: int = 0


async def replay(
    talk: Conversation,
    model: FoldingModel,
    budgets: Budgets,
    questions: Sequence[Question],
    folder_path: Path,
    advance: Callable[[int], object],
) -> Remembered:
    """Play a conversation to its end and fold all of it; ``advance`` is called with each turn.

    What players say is heard, what the character says is its reply, both at the times of the conversation. The database is made
    in ``folder_path``. Raises ModelGone.
    """
    stage = _Stage(talk, model)
    async with scripted_model(stage.answer) as address:
        settings = _settings(address, folder_path / "recall.db", model, budgets)
        with overheard("bot.folder", stage.hear):
            async with open_core(settings, clock=stage.clock) as core:
                await stage.play(core, advance)
            rest = settings.model_copy(update={"fold_trigger": 3, "fold_floor": 1, "fold_room": 1})
            async with open_core(rest, clock=stage.clock) as core:
                await stage.fold_the_rest(core)
        async with open_core(settings, clock=stage.clock) as core:
            return await stage.remembered(core, budgets, settings, questions)


class _Stage:
    """One running play."""

    def __init__(self, talk: Conversation, model: FoldingModel) -> None:
        self._talk = talk
        self._model = model
        self._reply = ""
        self._message_id = _FIRST_MESSAGE
        self._session: Session | None = None
        self._character = markup.plain_name(talk.character if any(t.by_character for t in talk.turns) else _NOBODY)
        self._players = _numbered(turn.author for turn in talk.turns if not turn.by_character)
        self._failed: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._given_up = 0
        self._unanswered = ""
        self._not_shown = 0
        self._majors = 0
        self.clock = Clock(talk.turns[0].at)

    def answer(self, _purpose: str, _message: str) -> str:
        """What the character's model says: its next line in the conversation."""
        return self._reply

    def hear(self, record: logging.LogRecord) -> None:
        """Take figures out of what the folder says in its log."""
        arguments = record.args if isinstance(record.args, tuple) else ()
        for argument in arguments:
            if isinstance(argument, dict):
                self._dropped.update(argument)
        if record.levelno < logging.WARNING:
            self._majors += "moved into the synopsis" in record.msg
        elif record.levelno == logging.WARNING and arguments and isinstance(arguments[-1], Exception):
            kind, _, _, tried, most, error = arguments
            code = str(getattr(error, "code", "broken"))
            self._failed[f"{kind}: {code}"] += 1
            self._given_up += tried == most
            if isinstance(error, ModelUnavailable) and not isinstance(error, WindowExceeded | ModelTimeout):
                self._unanswered = str(error)

    async def play(self, core: Core, advance: Callable[[int], object]) -> None:
        """Every turn, with the folds that fall due."""
        await self._teach(core)
        scope, place = Scope(1, _MODERATOR), Place(1, _CHANNEL)
        name = self._character
        await core.characters.create(scope, Card(name, self._talk.description), "")
        self._session = (await core.engine.start_session(place, scope, name, greeting=False)).session
        for turn in self._talk.turns:
            self.clock.time = max(self.clock.time, turn.at)
            await (self._replied(core, turn) if turn.by_character else self._heard(core, turn))
            await self._fold(core)
            advance(1)

    async def fold_the_rest(self, core: Core) -> None:
        """What is still raw becomes chapters too, all but one last message of nobody's story."""
        self.clock.time += timedelta(days=1)
        last = PlayerMessage(self._message_id + 1, _CHANNEL, _FIRST_PLAYER, self._talk.player, "…", self.clock())
        await core.engine.hear(last)
        for _ in range(_LAST_FOLDS):
            await core.store.request_fold(self._of.id, FoldKind.FOLD, self.clock())
            for _ in range(_ROUNDS):
                self.clock.pass_minutes(MINUTES_OF_A_FOLD)
                await self._fold(core)
            if await self._raw(core) == 0:
                break

    async def remembered(
        self, core: Core, budgets: Budgets, settings: Settings, questions: Sequence[Question]
    ) -> Remembered:
        """The outcome, rendered with the budgets that the story was played with."""
        session_id = self._of.id
        memory = await core.store.memory(session_id)
        await core.store.render_again(session_id, core.renderer.for_session(self._of, budgets))
        snapshot = await core.store.snapshot(session_id)
        events = tuple(m for m in memory.memories if m.kind is MemoryKind.EVENT)
        limits = Limits(settings.recall_lines, settings.recall_tokens)
        prompter = Prompter(core.store, core.model, core.counter, core.renderer, budgets=lambda: budgets, limits=limits)
        recalled = {one.id: await self._recalled(prompter, one) for one in questions}
        return Remembered(
            head=snapshot.memory_text if _is_anything(memory) else "",
            events=core.renderer.head(replace(memory, memories=events), self._of.language, budgets).text
            if events
            else "",
            recalled=recalled,
            chapters=len(memory.chapters),
            major_folds=self._majors,
            memories=dict(Counter(m.kind.value for m in memory.memories if m.is_active)),
            failed=dict(self._failed),
            given_up=self._given_up,
            dropped=dict(self._dropped),
            turns_left_raw=await self._raw(core),
            turns_not_shown=self._not_shown,
            forced_cuts=snapshot.session.forced_cuts,
        )

    @property
    def _of(self) -> Session:
        if self._session is None:
            raise RuntimeError("nothing was played yet")
        return self._session

    async def _fold(self, core: Core) -> None:
        await core.folder.run_due()
        if self._unanswered:
            raise ModelGone(self._unanswered)

    async def _raw(self, core: Core) -> int:
        """How many turns of the conversation no chapter covers."""
        return max(0, (await core.store.figures(self._of.id)).raw_turns - 1)

    async def _teach(self, core: Core) -> None:
        """Let the counter learn from the folding model's tokens what a real server's figures would have taught it."""
        sample = (Message("user", "\n".join(turn.line for turn in self._talk.turns)[:_SAMPLE]),)
        counted = self._model.count(flat(sample)) + MESSAGE_OVERHEAD
        await core.counter.learn(sample, Completion("", "stop", Usage(counted), core.model.profile.model, 0))

    async def _heard(self, core: Core, turn: Spoken) -> None:
        self._message_id += 1
        await core.engine.hear(
            PlayerMessage(
                self._message_id, _CHANNEL, self._players[turn.author], turn.speaker, turn.text, self.clock(),
                pictures=turn.pictures,
            )
        )  # fmt: skip

    async def _replied(self, core: Core, turn: Spoken) -> None:
        self._reply = _as_reply(turn, self._talk.character)
        try:
            reply = await core.engine.reply(self._of.id, unasked=True)
        except ModelUnavailable:
            self._not_shown += 1
            return
        if reply is not None:
            self._message_id += 1
            await core.engine.delivered(reply.turn.id, _CHANNEL, [self._message_id])

    async def _recalled(self, prompter: Prompter, question: Question) -> str:
        """What the real prompt would put before a question if the player asked it now."""
        snapshot = await prompter.snapshot(self._of.id)
        newest = snapshot.turns[-1]
        author = Author(AuthorKind.PLAYER, _FIRST_PLAYER, self._talk.player)
        beats = markup.parse_player(question.text, self._talk.player)
        asked = Turn(0, newest.seq + 1, author, question.text, beats, 0, TurnState.KEPT, self.clock())
        made = await prompter.prompt(replace(snapshot, turns=(asked,)))
        return made.tail.text if made.tail else ""


def _settings(address: str, database: Path, model: FoldingModel, budgets: Budgets) -> Settings:
    changes: dict[str, Any] = {
        "folder_base_url": model.base_url, "folder_api_key": None, "folder_model": model.model,
        "llm_window": model.window, "llm_timeout_seconds": 60 * MINUTES_OF_A_FOLD, "fold_profile": "auto",
        "people_tokens": 0, **fold_settings(budgets),
    }  # fmt: skip
    return settings_for(address, database, changes)


def fold_settings(budgets: Budgets) -> Mapping[str, int]:
    """The settings that give these budgets."""
    names = ("trigger", "ceiling", "floor", "room", "stretch", "chapters_total")
    return {f"fold_{name}": getattr(budgets, name) for name in names}


def _numbered(authors: Any) -> dict[str, int]:
    return {author: _FIRST_PLAYER + place for place, author in enumerate(dict.fromkeys(authors))}


def _as_reply(turn: Spoken, lead: str) -> str:
    """A line of the character as its model would have written it; of another one, as beats that say whose they are."""
    shown = [f"*shows a picture: {label}*" for label in turn.pictures]
    if turn.speaker == lead:
        return "\n".join([turn.text, *shown])
    beat = {"kind": "speech", "speaker": turn.speaker, "text": "\n".join([turn.text, *shown])}
    return json.dumps({"beats": [beat]}, ensure_ascii=False)


def _is_anything(memory: SessionMemory) -> bool:
    return any(m.is_active for m in memory.memories)
