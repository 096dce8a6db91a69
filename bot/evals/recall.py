"""``kataribe eval recall``: what is still known at the end of a long conversation, by age, beside other ways of remembering.

A conversation goes through the real engine and folder with the real policy, and is folded to its end; then questions are answered
from memory alone. The model under test folds, summarises, answers and grades. The other arms keep what they have by the same
policy. An answer is kept by what was asked, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from bot.errors import KataribeError
from bot.evals.answers import kept_answers
from bot.evals.asking import Asker, taught_ratio
from bot.evals.conversation_files import read_conversations
from bot.evals.conversations import Conversation, Question
from bot.evals.grading import declines, model_grade, text_grade
from bot.evals.machinery import ModelAt, model_at
from bot.evals.progress import progress
from bot.evals.recall_arms import ARMS, LONG, OURS, SHORT, ArmMemory, arm_memory
from bot.evals.recall_questions import age_of, chosen, language_of, made, stretches
from bot.evals.recall_report import Answered, agreed, arm_figures, as_table, picture
from bot.evals.replaying import MINUTES_OF_A_FOLD, FoldingModel, Remembered, replay
from bot.evals.runs import Run, open_run
from bot.llm.client import ModelClient
from bot.memory.forms import object_form, text_form, text_of
from bot.memory.messages import Message
from bot.memory.policy import Budgets
from bot.settings import Settings

ANSWER_FORM: Final = "recall_answer"
PICTURE: Final = "recall.png"
_LONGEST_ANSWER: Final = 160
_ANSWER_TOKENS: Final = 240
_SAMPLE: Final = 4_000
# The trigger is reached after 2.7 rooms; with these a conversation gets eight folds before its end, and one at it.
_ROOMS: Final = 11
_SMALLEST_ROOM: Final = 60
_LOWEST_TRIGGER: Final = 200
_ANSWER: Final = (
    "You are asked about a long talk between {player} and {character}. All that you remember of it stands under Memory; answer "
    "from that alone, in a few words and in the language of the question. When the memory does not say it, known is false and "
    'the answer is empty; never guess. Write JSON: {{"known": true, "answer": "..."}}\n\nMemory:\n{memory}'
)
_NO_MEMORY: Final = "(nothing)"
_TEXTS: Final = ("head", "events", "recalled")

_Select = Callable[[Conversation, Asker, Budgets], Awaitable[tuple[Question, ...]]]


@dataclass(slots=True)
class _Outcome:
    """All that a run brings together."""

    answers: list[Answered] = field(default_factory=list)
    lengths: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    folds: list[dict[str, Any]] = field(default_factory=list)
    bad_input: dict[str, dict[str, int]] = field(default_factory=dict)
    cut: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    talks: dict[str, dict[str, Any]] = field(default_factory=dict)


async def run(
    *,
    conversation: Path,
    limit: int | None,
    questions: int | None,
    repeats: int,
    arms: Sequence[str],
    model: str,
    seed: int,
    trigger: int | None,
    as_json: bool,
    out: Path | None,
) -> bool:
    """Play the conversations of a file, ask, grade, and print the figures.

    Raises ConversationUnreadable, ModelGone, ResultsOfOtherCode, and SettingsError when the model of the
    settings is asked for and none is set.
    """
    logging.getLogger("bot").addHandler(logging.NullHandler())  # what is noteworthy is in the figures
    for name, count in (("--limit", limit), ("--questions", questions), ("--repeats", repeats)):
        if count is not None and count < 1:
            raise KataribeError(f"{name} {count}: there is nothing to do.")
    file = read_conversations(conversation)
    wanted = [arm for arm in ARMS if arm in arms]
    talks = [talk for talk in file.conversations if talk.turns][:limit]
    settings = {
        "limit": limit, "questions": questions, "repeats": repeats, "arms": wanted, "model": model, "trigger": trigger,
    }  # fmt: skip
    opened = open_run("eval recall", out, settings=settings, seed=seed, inputs=[conversation])
    outcome = _Outcome()
    outcome.bad_input["the file"] = _counted(file.holes)
    asked: dict[str, tuple[Question, ...]] = {}

    async def select(talk: Conversation, asker: Asker, budgets: Budgets) -> tuple[Question, ...]:
        if talk.id not in asked:
            outcome.bad_input[talk.id] = _counted(talk.holes)
            asked[talk.id] = await _questions(talk, asker, budgets, questions, seed, outcome)
        return asked[talk.id]

    async with model_at(model, opened.folder) as at:
        for repeat in range(repeats):
            async with _asking(at, opened, repeat, outcome) as one:
                for talk in talks:
                    await one.talk(talk, wanted, trigger, select)
    return await _reported(opened, outcome, file.kind, wanted, as_json=as_json)


async def _questions(
    talk: Conversation, asker: Asker, budgets: Budgets, count: int | None, seed: int, outcome: _Outcome
) -> tuple[Question, ...]:
    """What a conversation is asked, in all repeats the same. Raises ModelGone, and KataribeError when there is no question."""
    found = talk.questions
    if not found:
        parts = len(stretches(talk.turns, budgets.room, asker.guess))
        with progress(parts, f"{talk.id}, making questions") as advance:
            found, holes = await made(talk, asker, budgets.room, advance)
        outcome.bad_input[talk.id] |= _counted(holes)
    if not found:
        raise KataribeError(f"{talk.id} brought no questions with it, and the model made none that can be used.")
    return chosen(talk, found, count, seed)


@asynccontextmanager
async def _asking(at: ModelAt, opened: Run, repeat: int, outcome: _Outcome) -> AsyncIterator[_Repeat]:
    """A repeat, ready to ask within the block. Raises KataribeError when no server answers."""
    async with AsyncExitStack() as stack:
        keepers = [
            await stack.enter_async_context(
                kept_answers(at.base_url, opened.answers, api_key=at.api_key, repeat=repeat, redraws=redraws)
            )
            for redraws in (False, True)
        ]
        client = await stack.enter_async_context(
            ModelClient(
                keepers[0].base_url, model=at.model, parallel=at.parallel, timeout_seconds=60 * MINUTES_OF_A_FOLD
            )
        )
        profile = await client.probe()
        if not client.reached:
            raise KataribeError(f"No model server answers at {at.base_url}; start it, or name another with --model.")
        opened.note(model=profile.model, window=profile.window, talks=outcome.talks)
        yield _Repeat(client, keepers[1].base_url, at.model, repeat, outcome)
        for keeper in keepers:
            outcome.requests.update(asked=keeper.asked, kept=keeper.kept, failed=keeper.failed)


class _Repeat:
    """One repeat: everything asked of the model with one seed."""

    def __init__(
        self, client: ModelClient, folding_url: str, folding_model: str | None, repeat: int, outcome: _Outcome
    ) -> None:
        self._client = client
        self._folding_url = folding_url
        self._folding_model = folding_model
        self._repeat = repeat
        self._outcome = outcome

    async def talk(self, talk: Conversation, arms: Sequence[str], trigger: int | None, select: _Select) -> None:
        """Everything about one conversation: what it is asked, what each arm remembers, answers and grades."""
        sample = "\n".join(turn.line for turn in talk.turns)[:_SAMPLE]
        asker = Asker(self._client, await taught_ratio(self._client, sample))
        tokens = sum(asker.guess(turn.line) for turn in talk.turns)
        budgets = budgets_for_talk(self._client.profile.window, tokens, trigger)
        self._outcome.talks[talk.id] = {
            "player": talk.player, "character": talk.character, "language": language_of(talk), "turns": len(talk.turns),
            "tokens": tokens, "budgets": asdict(budgets),
        }  # fmt: skip
        questions = await select(talk, asker, budgets)
        memories = await self._memories(talk, asker, budgets, questions, arms)
        answers = await self._answered(talk, asker, memories, questions)
        self._outcome.answers += await self._graded(asker, answers)
        self._outcome.wrong.update(asker.wrong)

    async def _memories(
        self, talk: Conversation, asker: Asker, budgets: Budgets, questions: Sequence[Question], arms: Sequence[str]
    ) -> list[ArmMemory]:
        """What each arm remembers. A summary that needs nothing of ours is written while the conversation is played."""
        early = [asyncio.create_task(self._arm(arm, talk, asker, budgets, None)) for arm in arms if arm == SHORT]
        try:
            needs_ours = set(arms) & {*OURS, LONG}
            ours = await self._replayed(talk, asker, budgets, questions) if needs_ours else None
            memories = [
                await (early[0] if arm == SHORT else self._arm(arm, talk, asker, budgets, ours)) for arm in arms
            ]
        finally:
            for task in early:
                task.cancel()
            await asyncio.gather(*early, return_exceptions=True)
        for memory in memories:
            self._outcome.lengths.setdefault(memory.arm, []).append((memory.characters, memory.tokens))
            self._outcome.cut.setdefault(memory.arm, Counter()).update(memory.cut)
        return memories

    async def _arm(
        self, arm: str, talk: Conversation, asker: Asker, budgets: Budgets, ours: Remembered | None
    ) -> ArmMemory:
        if arm not in (SHORT, LONG):
            return await arm_memory(arm, talk, asker, budgets, ours, lambda _: None)
        with progress(len(talk.turns), self._label(talk, ARMS[arm])) as advance:
            return await arm_memory(arm, talk, asker, budgets, ours, advance)

    async def _replayed(
        self, talk: Conversation, asker: Asker, budgets: Budgets, questions: Sequence[Question]
    ) -> Remembered:
        model = FoldingModel(self._folding_url, self._folding_model, self._client.profile.window, asker.guess)
        with (
            tempfile.TemporaryDirectory() as database,
            progress(len(talk.turns), self._label(talk, "playing and folding")) as advance,
        ):
            ours = await replay(talk, model, budgets, questions, Path(database), advance)
        fold = {**asdict(ours), "conversation": talk.id, "repeat": self._repeat}
        self._outcome.folds.append({name: value for name, value in fold.items() if name not in _TEXTS})
        return ours

    async def _answered(
        self, talk: Conversation, asker: Asker, memories: Sequence[ArmMemory], questions: Sequence[Question]
    ) -> list[Answered]:
        found: list[Answered] = []
        with progress(len(memories) * len(questions), self._label(talk, "answering")) as advance:
            for memory in memories:  # one after the other, so that the server keeps each memory in its cache

                async def answered(question: Question, memory: ArmMemory = memory) -> Answered:
                    given, declined = await answer(asker, talk, memory, question)
                    advance(1)
                    return Answered(
                        talk.id, self._repeat, memory.arm, question.id, question.text, question.category,
                        age_of(question, talk), question.answer, given, declined,
                    )  # fmt: skip

                found += await asyncio.gather(*(answered(question) for question in questions))
        return found

    async def _graded(self, asker: Asker, answers: Sequence[Answered]) -> list[Answered]:
        with progress(len(answers), f"repeat {self._repeat + 1}, grading") as advance:

            async def graded(one: Answered) -> Answered:
                verdicts = await grades(asker, one)
                advance(1)
                return replace(one, model=verdicts[0], text=verdicts[1])

            return list(await asyncio.gather(*map(graded, answers)))

    def _label(self, talk: Conversation, what: str) -> str:
        return f"{talk.id}, repeat {self._repeat + 1}, {what}"


def budgets_for_talk(window: int | None, tokens: int, trigger: int | None) -> Budgets:
    """The budgets that a conversation of so many tokens is played with: those of the model's window, all in the same proportion
    as the ``trigger``; without one so small that the conversation is folded eight times or more.

    Raises KataribeError when the trigger fits nothing.
    """
    profile = Settings.model_construct().budgets(window)
    room = max(_SMALLEST_ROOM, tokens // _ROOMS)
    share = min(1.0, room / profile.room) if trigger is None else trigger / profile.trigger
    names = ("trigger", "ceiling", "floor", "room", "stretch", "chapters_total")
    scaled = replace(profile, **{name: max(1, round(getattr(profile, name) * share)) for name in names})
    if trigger is not None and (trigger < _LOWEST_TRIGGER or scaled.ceiling >= profile.window):
        raise KataribeError(
            f"--trigger {trigger}: it has to be {_LOWEST_TRIGGER} at least, and its ceiling of {scaled.ceiling} tokens below the "
            f"model's window of {profile.window}."
        )
    return scaled


async def answer(asker: Asker, talk: Conversation, memory: ArmMemory, question: Question) -> tuple[str, bool]:
    """What the model answers from a memory, and whether that is that it does not know. Raises ModelGone."""
    system = _ANSWER.format(player=talk.player, character=talk.character, memory=memory.text or _NO_MEMORY)
    asked = "\n\n".join(part for part in (memory.added.get(question.id, ""), f"Question: {question.text}") if part)
    said = await asker.json(
        "answers",
        (Message("system", system), Message("user", asked)),
        object_form(known={"type": "boolean"}, answer=text_form(_LONGEST_ANSWER)),
        _ANSWER_TOKENS,
        name=ANSWER_FORM,
    )
    if said.value is None:
        return said.text, declines(said.text)
    asker.wrong["answers: JSON of another form"] += not isinstance(said.value.get("answer"), str)
    given = text_of(said.value.get("answer")).strip()
    return given, said.value.get("known") is False or declines(given)


async def grades(asker: Asker, one: Answered) -> tuple[bool | None, bool | None]:
    """The verdicts of the model and the plain text; None where there is nothing to grade. Raises ModelGone."""
    if one.right is None:
        return None, None
    text = text_grade(one.right, "" if one.declined else one.given)
    if one.declined:
        return False, text
    return await model_grade(asker, one.asked, one.right, one.given), text


async def _reported(opened: Run, outcome: _Outcome, kind: str, arms: Sequence[str], *, as_json: bool) -> bool:
    figures = [arm_figures(arm, outcome.answers, outcome.lengths[arm]) for arm in arms]
    together = agreed(outcome.answers)
    whole = opened.save(
        {
            "kind": kind,
            "arms": {arm: asdict(one) for arm, one in zip(arms, figures, strict=True)},
            "agreement": {**asdict(together), "share": together.share, "kappa": together.kappa},
            "bad_input": outcome.bad_input,
            "folds": outcome.folds,
            "cut": {arm: _counted(found) for arm, found in outcome.cut.items()},
            "not_as_asked": _counted(outcome.wrong),
            "requests": dict(outcome.requests),
            "answers": [asdict(one) for one in outcome.answers],
        }
    )
    title = f"{', '.join(outcome.talks)}: {whole['model']}, repeats: {whole['settings']['repeats']}"
    drawn = await asyncio.to_thread(picture, figures, title)
    path = opened.picture(PICTURE)
    await asyncio.to_thread(path.write_bytes, drawn)
    if as_json:
        print(json.dumps(whole, ensure_ascii=False, indent=1))
    else:
        print(f"{as_table(whole, figures, together)}\n\nThe picture is {path}.")
    return True


def _counted(found: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(found.items()) if count}
