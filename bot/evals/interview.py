"""Asks a character the same questions at two moments of its story, and has a judge compare the answers.

Each question is asked of a copy of the database by the real engine, so that none leaves a trace.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal, cast

from bot.core import open_core
from bot.errors import KataribeError, ModelTimeout, ModelUnavailable, UserError, WindowExceeded, WorkFailed
from bot.evals.answers import Keeper, kept_answers
from bot.evals.commands import CONFIGURED
from bot.evals.folders import Book
from bot.evals.machinery import Clock, ModelAt, ModelGone, is_gone, model_at
from bot.evals.playing import CHANNEL, FIRST_PLAYER, Stage
from bot.evals.runs import Run
from bot.evals.scripted import scripted_model
from bot.evals.stories import Story
from bot.evals.voice_wording import VOICE_WORDINGS, VoiceWording
from bot.llm.checks import Rejection, check_form, extract_json
from bot.llm.client import ModelClient
from bot.llm.drawing import draw
from bot.llm.requests import Completion, ModelRequest, Purpose
from bot.memory.forms import object_form
from bot.memory.messages import Message
from bot.memory.prompt import Card
from bot.memory.turns import PlayerMessage
from bot.settings import Settings, load_settings

MOST_REPEATS: Final = 500
_PLAYED: Final = "story.db"
_MESSAGE_ID: Final = 900_000
_JUDGEMENT_TOKENS: Final = 64
# Seeds of the answers of one run; there are two for each repeat.
_SEEDS: Final = 2 * MOST_REPEATS
_CHOICES: Final = ("A", "B", "same")

Choice = Literal["A", "B", "same"]
Kind = Literal["after", "control"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A story as it stood once: its database, its session, the time, what a prompt was made of, and why folds failed."""

    database: Path
    session_id: int
    at: datetime
    chapters: int
    raw_turns: int
    folds_failed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to a question, the first from before the first fold.

    ``first`` is the judge's choice with them in this order, ``second`` with the order swapped; None where no answer could be used.
    """

    kind: Kind
    question: str
    repeat: int
    answers: tuple[str, str]
    first: Choice | None
    second: Choice | None

    @property
    def outcome(self) -> str:
        """What the judge finds of the second answer, if it finds the same in both orders; empty where it did not say."""
        if self.first is None or self.second is None:
            return ""
        found = {"A": "worse", "B": "better", "same": "same"}[self.first]
        again = {"A": "better", "B": "worse", "same": "same"}[self.second]
        return found if found == again else "disagree"


async def moments(
    story: Story, card: Card, folder_model: ModelAt, folder: Path, advance: Callable[[int], object]
) -> tuple[Moment, Moment, Settings]:
    """The story after the reply with which the first fold is due, and after its last fold; and what it was played with.

    Raises KataribeError when no fold ever falls due, or none succeeds, and ModelGone.
    """
    stage = Stage(story, Book(story, ()), None, advance, card)
    database = folder / _PLAYED
    async with scripted_model(stage.answer) as address:
        settings = stage.settings(address, database, folder_model)
        async with open_core(settings, clock=stage.clock) as core:
            await stage.begin(core)
            is_reply = True
            while not (is_reply and await core.store.due_folds(stage.clock())):
                if not stage.is_going_on:
                    raise KataribeError(f"{story.id} is too short: nothing of it is ever folded.")
                is_reply = await stage.step(core)
        before = await _moment(stage, settings, folder / "before.db")
        async with open_core(settings, clock=stage.clock) as core:
            await stage.fold(core)
            while stage.is_going_on:
                await stage.step(core)
                await stage.fold(core)
        async with open_core(_without_room(settings), clock=stage.clock) as core:
            await stage.fold_now(core)
        after = await _moment(stage, settings, folder / "after.db")
    if not after.chapters:
        raise KataribeError(f"{story.id}: no fold succeeded, so there is nothing to compare with.")
    return before, after, settings


def _without_room(settings: Settings) -> Settings:
    """Budgets under which a fold leaves as little raw as one ever does, with the same place for the memory."""
    room = settings.fold_room or 1
    return settings.model_copy(update={"fold_trigger": (settings.fold_trigger or room) - room + 1, "fold_room": 1})


async def _moment(stage: Stage, settings: Settings, copy: Path) -> Moment:
    async with open_core(settings, clock=stage.clock) as core:
        snapshot = await core.store.snapshot(stage.session.id)
        memory = await core.store.memory(stage.session.id)
    shutil.copyfile(copy.with_name(_PLAYED), copy)
    return Moment(copy, stage.session.id, stage.clock(), len(memory.chapters), len(snapshot.turns), dict(stage.failed))


@dataclass(frozen=True, slots=True)
class Models:
    """Who folds and judges (``at``), who plays the character by each seed (``players``), and who keeps the answers.

    ``client`` asks the judge, ``name`` is that of the model that plays.
    """

    at: ModelAt
    players: tuple[ModelAt, ...]
    client: ModelClient
    name: str
    keepers: tuple[Keeper, ...]


async def open_models(stack: AsyncExitStack, which: str, made: Run, seed: int, repeats: int) -> Models:
    """Every model by way of kept answers: for each seed of the character's one of its own."""
    own = await stack.enter_async_context(model_at(which, made.folder, slots=1, context=8_192))
    player = own
    if which == CONFIGURED:
        player = await stack.enter_async_context(model_at(which, made.folder, plays=True))
    keepers = []

    async def kept(at: ModelAt, repeat: int) -> ModelAt:
        keeper = await stack.enter_async_context(
            kept_answers(at.base_url, made.answers, api_key=at.api_key, repeat=repeat, redraws=True)
        )
        keepers.append(keeper)
        return replace(at, base_url=keeper.base_url, api_key=None)

    at = await kept(own, seed)
    players = [await kept(player, seed * _SEEDS + place) for place in range(2 * repeats)]
    timeout = load_settings().llm_timeout_seconds
    client = await stack.enter_async_context(ModelClient(at.base_url, model=at.model, timeout_seconds=timeout))
    await client.probe()
    async with ModelClient(players[0].base_url, model=player.model) as character:
        name = (await character.probe()).model
    return Models(at, tuple(players), client, name, tuple(keepers))


class Interview:
    """Asks the character and the judge, and counts what came to nothing."""

    def __init__(
        self, story: Story, card: Card, settings: Settings, models: Models, advance: Callable[[int], object]
    ) -> None:
        self._story = story
        self._card = card
        self._settings = settings
        self._models = models
        self._advance = advance
        self._words = VOICE_WORDINGS[story.language]
        self.prose = 0
        self.failed: Counter[str] = Counter()
        self.unjudged: Counter[str] = Counter()

    async def pairs(self, question: str, before: Moment, after: Moment) -> list[Pair]:
        """The pairs of a question in all repeats; an answer that did not come leaves no pair. Raises ModelGone."""
        found = []
        for repeat in range(len(self._models.players) // 2):
            player, other = self._models.players[2 * repeat : 2 * repeat + 2]
            early = await self._answer(before, question, player)
            late = await self._answer(after, question, player)
            chance = await self._answer(before, question, other)
            if early is not None and late is not None:
                found.append(await self._judged("after", question, repeat, (early, late)))
            if early is not None and chance is not None:
                found.append(await self._judged("control", question, repeat, (early, chance)))
        return found

    async def _answer(self, moment: Moment, question: str, player: ModelAt) -> str | None:
        """What players would see of the reply, asked of a copy; None when there was none."""
        fork = moment.database.with_name("fork.db")
        shutil.copyfile(moment.database, fork)
        own = {
            "database_url": self._settings.database_url.removesuffix(_PLAYED) + fork.name,
            "llm_base_url": player.base_url,
            "llm_model": player.model,
            "folder_base_url": None,
            "folder_model": None,
        }
        clock = Clock(moment.at + timedelta(minutes=1))
        person = self._story.players[0]
        async with open_core(self._settings.model_copy(update=own), clock=clock) as core:
            message = PlayerMessage(_MESSAGE_ID, CHANNEL, FIRST_PLAYER, person.name, question, clock())
            await core.engine.hear(message)
            self._advance(1)
            try:
                reply = await core.engine.reply(moment.session_id)
            except UserError as error:
                if is_gone(error):
                    raise ModelGone(error) from error
                self.failed[error.code] += 1
                return None
        if reply is None:
            raise RuntimeError("the question waits for no answer")
        self.prose += extract_json(reply.turn.raw) is None
        return reply.text

    async def _judged(self, kind: Kind, question: str, repeat: int, answers: tuple[str, str]) -> Pair:
        if answers[0] == answers[1]:  # nobody can tell them apart
            self._advance(2)
            return Pair(kind, question, repeat, answers, "same", "same")
        first = await self._choice(question, answers)
        second = await self._choice(question, answers[::-1])
        return Pair(kind, question, repeat, answers, first, second)

    async def _choice(self, question: str, answers: Sequence[str]) -> Choice | None:
        request = ModelRequest(
            judge_messages(self._card, question, answers, self._words),
            Purpose.JUDGE,
            max_tokens=_JUDGEMENT_TOKENS,
            schema=object_form(choice={"enum": list(_CHOICES)}),
            schema_name="eval_voice",
            temperature=0.0,
        )
        self._advance(1)
        try:
            return _choice_of(await draw(self._models.client, request, _form))
        except (WorkFailed, WindowExceeded, ModelTimeout) as error:
            self.unjudged[error.code] += 1
            return None
        except ModelUnavailable as error:
            raise ModelGone(error) from error


def judge_messages(card: Card, question: str, answers: Sequence[str], words: VoiceWording) -> tuple[Message, ...]:
    """What the judge reads: the card, the question and two answers; nothing says where they come from."""
    parts = [f"{words.card.format(name=card.name)}\n{card.description}"]
    parts += [f"{words.personality.format(name=card.name)}\n{card.personality}"] if card.personality else []
    parts += [f"{words.examples.format(name=card.name)}\n{card.mes_example}"] if card.mes_example else []
    parts.append(f"{words.question}\n{question}")
    parts += [f"{words.answer.format(letter=letter)}\n{text}" for letter, text in zip("AB", answers, strict=True)]
    return Message("system", words.judge.format(name=card.name)), Message("user", "\n\n".join(parts))


def _choice_of(value: object) -> Choice | None:
    """The choice in a parsed answer; None where it is none of the three."""
    choice = value.get("choice") if isinstance(value, Mapping) else None
    return cast(Choice, choice) if choice in _CHOICES else None


def _form(completion: Completion, value: object) -> Rejection | None:
    return check_form(completion.text, completion.finish_reason, _choice_of(value) is not None)
