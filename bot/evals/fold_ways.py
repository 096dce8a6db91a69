"""Two ways of asking for a fold, compared on stories: with a prompt of its own, or behind the session's last prompt.

The second is warm in the server's cache, and shows the turns as they were written, without numbers; so its instruction ends with
an index of what may be cited: each beat's number, kind, speaker and first words. The stories are folded by their truth, so that
both ways stand before the same memory. What a server has to compute is counted with its own tokenizer, for one slot without a
prompt cache in RAM: whatever two prompts have in common from their beginning is not computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bot.errors import ModelUnavailable
from bot.evals.answers import kept_answers
from bot.evals.folders import Asked as Question
from bot.evals.folders import Book, TruthFolder
from bot.evals.stories import Story, StoryTurn
from bot.llm.checks import check_output, extract_json
from bot.llm.client import ModelClient
from bot.llm.requests import ModelRequest, Purpose
from bot.memory import folding, policy, prompt
from bot.memory.evidence import FoldAnswer, Judge, Verdict
from bot.memory.likeness import features
from bot.memory.markup import parse_player
from bot.memory.memories import Chapter, Memory, MemoryStatus, SessionMemory
from bot.memory.messages import Message
from bot.memory.prompt import Card
from bot.memory.tokens import estimate
from bot.memory.turns import Author, AuthorKind, Beat, BeatKind, Citation, PlayerMessage, Turn, TurnState
from bot.memory.wording import WORDINGS

OWN: Final = "a prompt of its own"
WARM: Final = "the last prompt and an index"
WAYS: Final = (OWN, WARM)
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_PLAYERS: Final = 100
_WINDOW: Final = 8_192
_OUTPUT: Final = 768
# Of interest is what is answered, not when: in seconds.
_PATIENCE: Final = 3_600.0
# What of a beat stands in the index, in characters, so that it can be told from the others.
_FIRST_WORDS: Final = 32
_SHARED: Final = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """One fold, asked for in one way; figures are tokens, and counts of what the answer holds.

    ``next_computed`` is what the next reply's prompt costs when nothing was committed, ``after_computed`` when a chapter was.
    ``rejection`` says why the answer came to nothing; None also where the model was not asked.
    """

    story: str
    fold: int
    way: str
    fold_prompt: int
    fold_computed: int
    next_computed: int
    after_computed: int
    asked: bool = False
    rejection: str | None = None
    proposed: int = 0
    held: int = 0
    fitting: int = 0
    cites: int = 0
    real_cites: int = 0
    dropped: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Sums:
    """The folds of one way, added up."""

    folds: int = 0
    fold_prompt: int = 0
    fold_computed: int = 0
    next_computed: int = 0
    after_computed: int = 0
    asked: int = 0
    proposed: int = 0
    held: int = 0
    fitting: int = 0
    cites: int = 0
    real_cites: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


def counted(asked: Iterable[Asked], way: str) -> Sums:
    """The sums of one way."""
    sums = Sums()
    for one in asked:
        if one.way != way:
            continue
        sums.folds += 1
        for name in ("fold_prompt", "fold_computed", "next_computed", "after_computed", "asked", "proposed", "held"):
            setattr(sums, name, getattr(sums, name) + getattr(one, name))
        for name in ("fitting", "cites", "real_cites"):
            setattr(sums, name, getattr(sums, name) + getattr(one, name))
        sums.rejected.update([one.rejection] if one.rejection else [])
        sums.dropped.update(one.dropped)
    return sums


async def ask_both_ways(story: Story, base_url: str, answers: Path, *, asked: int) -> list[Asked]:
    """Both ways for each fold of a story; the model is asked for the first ``asked`` of them, its answers kept in ``answers``."""
    async with (
        kept_answers(base_url, answers) as keeper,
        ModelClient(keeper.base_url, timeout_seconds=_PATIENCE) as client,
    ):
        await client.probe()
        comparison = _Comparison(story, client)
        return await comparison.made(asked)


class _Comparison:
    """One story on its way through its folds."""

    def __init__(self, story: Story, client: ModelClient) -> None:
        self._story = story
        self._client = client
        self._card = Card(story.cards[0].name, "\n".join(f"{c.name}: {c.description}" for c in story.cards))
        self._system = prompt.system_text(self._card, story.language, json_reply=True)
        self._budgets = replace(policy.budgets_for(_WINDOW), fold_output=_OUTPUT)
        self._counts: dict[str, int] = {}
        self._ratio = 1.0

    async def made(self, asked: int) -> list[Asked]:
        """Every fold that falls due, in both ways."""
        turns = [await self._sized(turn) for turn in turns_of(self._story)]
        self._ratio = sum(t.tokens for t in turns) / max(1, sum(estimate(prompt.turn_text(t)) for t in turns))
        folder = TruthFolder(_book(self._story, turns))
        memory = SessionMemory()
        found: list[Asked] = []
        folds = 0
        for place, turn in enumerate(turns):
            raw = [t for t in turns[: place + 1] if t.seq > memory.folded_to and not t.is_out_of_character]
            size = await self._tokens(self._memory_text(memory))
            plan = () if turn.author.is_player else policy.plan_fold(raw, self._budgets, size)
            if not plan or len(raw) < 2:
                continue
            stretch = [t for t in raw if plan[0].first <= t.seq <= plan[0].last]
            folds += 1
            requests = self._requests(raw, stretch, memory)
            question = Question.read(requests[OWN][-1].content)
            verdict = Judge(stretch, memory, {}).judge(folding.read_fold(folder.fold(question)))
            after = grown(memory, verdict, plan[0])
            for way in WAYS:
                one = await self._computed(folds, way, requests, raw, (memory, after))
                found.append(await self._answered(one, requests[way], stretch, memory) if folds <= asked else one)
            memory = after
        return found

    def _memory_text(self, memory: SessionMemory) -> str:
        language, ends = self._story.language, self._budgets.open_ends
        shown = prompt.fitting(memory, language, self._budgets.memory_cap, self._guess, open_ends=ends)
        return prompt.memory_text(shown, language, open_ends=ends)

    def _guess(self, text: str) -> int:
        return round(estimate(text) * self._ratio)

    def _replying(self, memory: SessionMemory, turns: Sequence[Turn]) -> tuple[Message, ...]:
        """A reply's prompt, as the product lays it out; it ends with what a player wrote."""
        return prompt.build(self._system, self._memory_text(memory), turns, self._story.language)

    def _requests(
        self, raw: Sequence[Turn], stretch: Sequence[Turn], memory: SessionMemory
    ) -> dict[str, tuple[Message, ...]]:
        own = folding.fold_messages(stretch, memory, self._story.language)
        # ``build`` ends a prompt behind a reply with a line for the story to go on; the instruction stands in its place.
        last = self._replying(memory, raw)[:-1]
        instruction = "\n\n".join([own[0].content, _index(own[1].content, self._story)])
        return {OWN: own, WARM: (*last, Message("user", instruction))}

    async def _computed(
        self, number: int, way: str, requests: dict[str, tuple[Message, ...]], raw: Sequence[Turn],
        memories: tuple[SessionMemory, SessionMemory],
    ) -> Asked:  # fmt: skip
        before, after = memories
        in_slot = prompt.flat(self._replying(before, raw)[:-1])
        asking = prompt.flat(requests[way])
        said = Message("user", WORDINGS[self._story.language].goes_on)
        following = prompt.flat((*self._replying(before, raw)[:-1], said))
        left = [turn for turn in raw if turn.seq > after.folded_to]
        changed = prompt.flat((*self._replying(after, left)[:-1], said))
        return Asked(
            self._story.id, number, way,
            fold_prompt=await self._tokens(asking),
            fold_computed=await self._new(in_slot, asking),
            next_computed=await self._new(asking, following),
            after_computed=await self._new(asking, changed),
        )  # fmt: skip

    async def _answered(
        self, one: Asked, messages: tuple[Message, ...], stretch: Sequence[Turn], memory: SessionMemory
    ) -> Asked:
        """The same with what the model answers."""
        schema = folding.fold_schema(stretch, self._budgets.fold_output)
        request = ModelRequest(
            messages, Purpose.FOLD, self._budgets.fold_output, schema=schema, schema_name="fold", temperature=0.0
        )
        try:
            completion = await self._client.complete(request)
        except ModelUnavailable as error:
            return replace(one, asked=True, rejection=error.code)
        answer = folding.read_fold(extract_json(completion.text))
        source = "\n".join(folding.source_lines(stretch))
        rejection = check_output(
            completion.text, completion.finish_reason,
            source_characters=len(source), source_text=source, lines=folding.texts_of(answer),
        )  # fmt: skip
        if rejection is not None:
            return replace(one, asked=True, rejection=rejection.value)
        verdict = Judge(stretch, memory, {}).judge(answer)
        return _with_evidence(one, answer, verdict, stretch)

    async def _sized(self, turn: Turn) -> Turn:
        return replace(turn, tokens=await self._tokens(prompt.turn_text(turn)))

    async def _new(self, before: str, text: str) -> int:
        """The tokens of a prompt that a slot which holds ``before`` does not have."""
        return await self._tokens(text) - await self._tokens(_common(before, text))

    async def _tokens(self, text: str) -> int:
        if text not in self._counts:
            count = await self._client.count_tokens(text) if text else 0
            self._counts[text] = estimate(text) if count is None else count
        return self._counts[text]


def turns_of(story: Story) -> list[Turn]:
    """The turns of a story as the product keeps them; replies are the JSON that a model writes."""
    return [_turn(story, turn, number) for number, turn in enumerate(story.turns, start=1)]


def grown(memory: SessionMemory, verdict: Verdict, stretch: policy.Stretch) -> SessionMemory:
    """A memory with one more chapter."""
    ordinal = len(memory.chapters) + 1
    kept = [
        replace(m, status=MemoryStatus.RESOLVED, resolved_by=verdict.resolved[m.number])
        if m.number in verdict.resolved
        else m
        for m in memory.memories
    ]
    kept += [
        Memory(len(memory.memories) + place, new.content, cites=new.cites, chapter=ordinal, restates=new.restates)
        for place, new in enumerate(verdict.memories, start=1)
    ]
    return SessionMemory((*memory.chapters, Chapter(ordinal, stretch.first, stretch.last)), tuple(kept))


def _turn(story: Story, turn: StoryTurn, number: int) -> Turn:
    at = _START + timedelta(minutes=number)
    if turn.by_player is None:
        author = Author(AuthorKind.CHARACTER, 1, story.cards[0].name)
        beats = tuple(Beat(BeatKind(beat.kind), beat.text, beat.speaker) for beat in turn.beats)
        raw = "{" + '"beats": [' + ", ".join(beat.model_dump_json() for beat in turn.beats) + "]}"
    else:
        place, player = next((i, p) for i, p in enumerate(story.players) if p.id == turn.by_player)
        raw = "\n".join(f"(({b.text}))" if b.kind == "ooc" and "((" not in b.text else b.text for b in turn.beats)
        message = PlayerMessage(number, 1, _PLAYERS + place, player.name, raw, at)
        author = Author(AuthorKind.PLAYER, message.author_id, message.author_name)
        beats = parse_player(raw, player.name)
    return Turn(number, turn.seq, author, raw, beats, 0, TurnState.KEPT, at)


def _book(story: Story, turns: Sequence[Turn]) -> Book:
    """Where the beats of the story stand: those of characters as they are, a player's turn as a whole."""
    places: dict[str, tuple[Citation, ...]] = {}
    for turn in turns:
        every = tuple(Citation(turn.seq, place) for place in range(1, len(turn.beats) + 1))
        own = next(t for t in story.turns if t.seq == turn.seq)
        for place in range(1, len(own.beats) + 1):
            places[f"{turn.seq}.{place}"] = every if turn.author.is_player else (Citation(turn.seq, place),)
    return Book(story, (), places)


def _index(source: str, story: Story) -> str:
    """The numbered lines of a fold with their first words only; all else as it is."""
    head, title, lines = source.rpartition(WORDINGS[story.language].fold_source)
    short = []
    for line in lines.strip().splitlines():
        mark, _, text = line.partition("] ")
        short.append(f"{mark}] {text}" if len(text) <= _FIRST_WORDS else f"{mark}] {text[:_FIRST_WORDS]}…")
    return head + title + "\n" + "\n".join(short)


def _common(one: str, other: str) -> str:
    """What two texts have in common from their beginning."""
    longest = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return other[: min(len(one), len(other)) if longest is None else longest]


def _with_evidence(one: Asked, answer: FoldAnswer, verdict: Verdict, stretch: Sequence[Turn]) -> Asked:
    proposals = [*answer.memories, *answer.opened]
    turns = {turn.seq: turn for turn in stretch}
    cites = [cite for p in proposals for cite in p.cites]
    real = [cite for cite in cites if cite.seq in turns and turns[cite.seq].beat(cite)]
    return replace(
        one,
        asked=True,
        proposed=len(proposals),
        held=len(verdict.memories),
        fitting=sum(_fits(f"{m.content.text} {m.content.actual}", m.cites, turns) for m in verdict.memories),
        cites=len(cites),
        real_cites=len(real),
        dropped=dict(verdict.dropped),
    )


def _fits(text: str, cites: Iterable[Citation], turns: dict[int, Turn]) -> bool:
    """Whether a memory shares words enough with the beats it cites."""
    beats = [beat.text for cite in cites if cite.seq in turns and (beat := turns[cite.seq].beat(cite))]
    return len(features(text) & features("\n".join(beats))) >= _SHARED
