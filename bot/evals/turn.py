"""``kataribe bench turn``: what we cost beside the model, in a short story and in a long one. Growth, not absolute times.

One story (``long_story``) grows on one database; at each size a copy is kept. Then the same things are done on all copies in
turn, so that whatever else the machine does meanwhile is the same for all of them; time is that which this process worked.
Folds, corrections and judgements are those of the real folder and judge, with scripted answers. The turns of the history are
written many at a time, as rows that the engine would have written, but for a part before each size that is played through the
engine.
"""

from __future__ import annotations

import importlib
import json
import shutil
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from bot.catalogue import Catalogue
from bot.charts import COLOURS, figure, png
from bot.core import Core, open_core
from bot.evals.long_story import CARD, LongStory
from bot.evals.machinery import Clock, settings_for
from bot.evals.progress import progress
from bot.evals.runs import Run, open_run
from bot.evals.scripted import scripted_model
from bot.memory import markup
from bot.memory.corrections import Correction, CorrectionKind
from bot.memory.memories import MemoryKind
from bot.memory.policy import crosses_trigger
from bot.memory.story import FoldKind, Place, Scope, Session
from bot.memory.turns import Author, AuthorKind, PlayerMessage, Told
from bot.settings import Settings
from bot.store import Due
from bot.store.traffic import counted

SEED: Final = 20261130
MOST_GROWTH: Final = 1.2
"""How much more the longest story may cost than the shortest."""
_MODERATOR: Final = 900
_SCOPE: Final = Scope(1, _MODERATOR)
_PLACE: Final = Place(1, 2)
# Early, so that each size has as many of them: what moderators settle is loaded whole by every fold.
_CORRECTIONS: Final = (CorrectionKind.SAID_NOT_TRUE, CorrectionKind.EDIT, CorrectionKind.RETRACT) * 2
_AT_ONCE: Final = 4
_PLAYED: Final = 16


@dataclass(slots=True)
class Cost:
    """What one operation took: statements to the database, rows and bytes that it gave back, and time in milliseconds.

    ``milliseconds`` are those that this process worked; ``waited`` are those that passed, which on a busy machine are more.
    """

    queries: int = 0
    rows: int = 0
    bytes: int = 0
    milliseconds: float = 0.0
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class Costs:
    """One operation at one size: the costs of all its repetitions."""

    operation: str
    turns: int
    repeated: tuple[Cost, ...]

    @property
    def queries(self) -> tuple[int, ...]:
        """The number of statements in each repetition."""
        return tuple(cost.queries for cost in self.repeated)

    def median(self, name: str) -> float:
        """The median of one figure."""
        return float(statistics.median(getattr(cost, name) for cost in self.repeated))


@dataclass(slots=True)
class Story:
    """A story of so many turns at least: its database, and what is in it."""

    size: int
    path: Path
    holds: dict[str, int] = field(default_factory=dict)


async def run(
    turns: Sequence[int], as_json: bool, out: Path | None, *, window: int = 16_384, repeats: int = 15
) -> bool:
    """Grow the stories that are not there yet, measure, print and keep the figures; whether nothing grew more than it may.

    ``window`` in tokens sets the budgets; ``repeats`` is how often each operation is measured, a fold half as often.
    """
    settings = {"turns": sorted(turns), "window": window, "repeats": repeats, "played before each size": _PLAYED}
    kept = open_run("bench turn", out, settings=settings, seed=SEED)
    story = LongStory(SEED)
    async with scripted_model(story.answer) as address:
        grower = _Grower(story, address, kept.folder / "stories", window)
        stories = await grower.grow(sorted(turns))
        measured = await _measure(story, stories, grower, repeats)
    figures = _figures(measured, stories)
    whole = kept.save(figures)
    kept.picture("growth.png").write_bytes(_drawn(measured))
    print(json.dumps(whole, ensure_ascii=False, indent=1) if as_json else _table(figures, kept))
    return not figures["missed"]


class _Grower:
    """Grows one story from size to size; each size is kept, so that a run that was stopped goes on from the last."""

    def __init__(self, story: LongStory, address: str, folder: Path, window: int) -> None:
        self._story = story
        self._address = address
        self._folder = folder
        self._window = window

    def settings(self, database: Path) -> Settings:
        """Settings for a database, with the profile of the window."""
        return settings_for(self._address, database, {"llm_window": self._window})

    @asynccontextmanager
    async def opened(self, database: Path) -> AsyncIterator[tuple[Core, Session, Clock]]:
        """The bot on a database, with its story."""
        clock = Clock()
        async with open_core(self.settings(database), clock=clock) as core:
            if await core.engine.running_session(_PLACE.channel_id) is None:
                await core.characters.create(_SCOPE, CARD, "")
                await core.engine.start_session(_PLACE, _SCOPE, CARD.name, greeting=True)
            session = await core.engine.running_session(_PLACE.channel_id)
            if session is None:
                raise RuntimeError("the story does not run")
            last = await core.store.recent_turns(session.id, 1)
            clock.time = max(clock.time, last[-1].at)
            yield core, session, clock

    async def grow(self, sizes: Sequence[int]) -> list[Story]:
        """The story at each size, from the smallest."""
        self._folder.mkdir(parents=True, exist_ok=True)
        stories = [Story(n, self._folder / f"{n}.db") for n in sizes]
        growing = self._folder / "growing.db"
        before: Path | None = None
        with progress(max(sizes), "turns") as done:
            for story in stories:
                if not story.path.exists():
                    _copy(before, growing)
                    await self._to(story.size, growing, done, is_new=before is None)
                    _copy(growing, story.path)
                before = story.path
                async with self.opened(story.path) as (core, session, _):
                    story.holds = await _held(core, session)
        _remove(growing)
        return stories

    async def _to(self, size: int, database: Path, done: Callable[[int], object], *, is_new: bool) -> None:
        """Up to a size, and from there until a major fold has just been done: each size is then at the same point."""
        async with self.opened(database) as (core, session, clock):
            hand = _Hand(core, session, clock, self._story)
            await hand.find_place()
            if is_new:
                await hand.plant()
            while hand.turns < size or not hand.has_corrected:
                before = hand.turns
                await hand.tell(_AT_ONCE)
                await core.folder.run_due()
                await hand.correct()
                done(hand.turns - before)
            for _ in range(_PLAYED):
                await hand.play()
                await core.folder.run_due()
                await core.judging.run_due()
            clock.pass_minutes(24 * 60)
            await core.judging.hold_mornings()
            for _ in range(3):
                await core.judging.run_due()
            majors = await _majors(core, session)
            while await _majors(core, session) == majors:
                await hand.tell(_AT_ONCE)
                await core.folder.run_due()


class _Hand:
    """Writes the story on, exchange after exchange."""

    def __init__(self, core: Core, session: Session, clock: Clock, story: LongStory) -> None:
        self._core = core
        self._session = session
        self._clock = clock
        self._story = story
        self.turns = 0
        self._corrected = 0

    async def find_place(self) -> None:
        """Go on after what is there already."""
        figures = await self._core.engine.figures(self._session.id)
        self.turns = figures.turns
        settled = (await self._core.store.memory_for_fold(self._session.id)).settled()
        self._corrected = len(settled)

    def _message_id(self, further: int = 0) -> int:
        return 1_000_000 * self._session.id + self.turns + further

    async def tell(self, exchanges: int) -> None:
        """Write some exchanges at once."""
        told: list[Told] = []
        guess = self._core.counter.guess
        for _ in range(exchanges):
            number = self.turns + len(told)
            for player_id, name, text in self._story.messages(number):
                self._clock.pass_minutes(1)
                author = Author(AuthorKind.PLAYER, player_id, name)
                beats, tokens = markup.parse_player(text, name), guess(f"{name}: {text}")
                message_id = self._message_id(len(told))
                told.append(Told(author, text, beats, tokens, self._clock(), message_id))
            raw = self._story.reply(number)
            author = Author(AuthorKind.CHARACTER, self._session.character.id, CARD.name)
            beats, message_id = markup.parse_reply(raw, CARD.name), self._message_id(len(told))
            told.append(Told(author, raw, beats, guess(raw), self._clock(), message_id))
        await self._core.store.add_told(self._session.id, told, self._due())
        self.turns += len(told)

    def _due(self) -> Due:
        budgets = self._core.engine.budgets
        return Due(lambda raw, memory: crosses_trigger(budgets, raw, memory), self._clock())

    async def plant(self) -> None:
        """Begin with what is asked for at the end."""
        player_id, name = next(iter(LongStory.players.items()))
        author, guess = Author(AuthorKind.PLAYER, player_id, name), self._core.counter.guess
        told = [
            Told(
                author,
                text,
                markup.parse_player(text, name),
                guess(f"{name}: {text}"),
                self._clock(),
                self._message_id(n),
            )
            for n, text in enumerate(self._story.keepsakes())
        ]
        await self._core.store.add_told(self._session.id, told, self._due())
        self.turns += len(told)

    async def play(self) -> None:
        """One exchange through the engine: what players write is heard, and the reply is written and delivered."""
        self._story.at = self.turns
        for player_id, name, text in self._story.messages(self.turns):
            await self._hear(player_id, name, text)
        await self._reply()

    async def ask(self, number: int) -> None:
        """A message about something long ago, and its reply: the same in every story."""
        player_id, name = next(iter(LongStory.players.items()))
        self._story.at = -1 - number
        await self._hear(player_id, name, self._story.question(number))
        await self._reply()

    async def _hear(self, player_id: int, name: str, text: str) -> None:
        self._clock.pass_minutes(1)
        message = PlayerMessage(self._message_id(), _PLACE.channel_id, player_id, name, text, self._clock())
        await self._core.engine.hear(message)
        self.turns += 1

    async def _reply(self) -> None:
        reply = await self._core.engine.reply(self._session.id)
        if reply is None:
            raise RuntimeError("nothing waits for a reply")
        await self._core.engine.delivered(reply.turn.id, _PLACE.channel_id, [self._message_id()])
        self.turns += 1

    @property
    def has_corrected(self) -> bool:
        """Whether the moderators have done all of theirs."""
        return self._corrected >= len(_CORRECTIONS)

    async def correct(self) -> None:
        """A moderator puts the newest fact or event right, unless all of that is done."""
        if self.has_corrected:
            return
        known = (await self._core.store.memory_for_fold(self._session.id)).memories
        solid = [m for m in known if m.is_active and not m.corrected and m.kind in (MemoryKind.FACT, MemoryKind.EVENT)]
        if len(solid) > self._corrected:
            how = _CORRECTIONS[self._corrected]
            correction = Correction(how, _MODERATOR, "", f"It was otherwise, in the end: {solid[-1].content.text}")
            await self._core.moderation.correct(self._session.id, correction, solid[-1].number)
            self._corrected += 1


async def _fold_of_another_story(core: Core, clock: Clock, story: LongStory) -> None:
    """So that what is measured after it is not the preparing of its statements, which is done once in a process."""
    other = (await core.engine.start_session(Place(1, 3), _SCOPE, CARD.name, greeting=True)).session
    await _until_due(core, other, clock, story)
    await core.folder.run_due()


async def _until_due(core: Core, session: Session, clock: Clock, story: LongStory) -> None:
    hand = _Hand(core, session, clock, story)
    await hand.find_place()
    while await core.store.next_due() is None:
        await hand.tell(1)


async def _majors(core: Core, session: Session) -> int:
    return sum(call.purpose == "major_fold" and call.outcome == "stop" for call in await core.store.calls(session.id))


async def _held(core: Core, session: Session) -> dict[str, int]:
    """What is in a story."""
    figures, memory = await core.engine.figures(session.id), await core.store.memory(session.id)
    kinds = Counter(m.kind.value for m in memory.memories)
    portraits = await core.store.portraits(
        session.id, list(LongStory.players), since=session.started_at, character_id=session.character.id
    )
    return {
        "turns": figures.turns,
        "raw turns": figures.raw_turns,
        "chapters": figures.chapters,
        "memories": len(memory.memories),
        "in use": figures.memories,
        "corrected": len(memory.settled()),
        "open ends": len(memory.open_ends()),
        **{f"kind {kind}": count for kind, count in sorted(kinds.items())},
        "traits": sum(len(portrait.traits) for portrait in portraits),
        "head tokens": (await core.store.snapshot(session.id)).session.memory_tokens,
    }


def _copy(source: Path | None, target: Path) -> None:
    """Put a database in the place of another; nothing in the place of one when there is none."""
    _remove(target)
    if source is not None:
        draft = target.with_suffix(".draft")
        shutil.copyfile(source, draft)
        draft.replace(target)


def _remove(database: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(f"{database}{ending}").unlink(missing_ok=True)


# Measuring


@contextmanager
def _costing() -> Iterator[Cost]:
    """Counts what is asked of databases within it, and what they give back, and takes the time."""
    cost = Cost()
    with counted() as traffic:
        began, worked = time.perf_counter(), time.process_time()
        try:
            yield cost
        finally:
            cost.milliseconds = 1_000 * (time.process_time() - worked)
            cost.waited = 1_000 * (time.perf_counter() - began)
            cost.queries, cost.rows, cost.bytes = traffic.queries, traffic.rows, traffic.bytes


async def _measure(story: LongStory, stories: Sequence[Story], grower: _Grower, repeats: int) -> list[Costs]:
    """Each operation at each size, in turn; the first time is not counted."""
    found: dict[tuple[str, int], list[Cost]] = {}
    copies = {one.size: one.path.with_name("measured-" + one.path.name) for one in stories}
    with progress((repeats + 1) * 3 + repeats // 2 + 1, "measured") as done:
        async with AsyncExitStack() as stack:
            bench: dict[int, dict[str, Callable[[int], Awaitable[object]]]] = {}
            for one in stories:
                _copy(one.path, copies[one.size])
                core, session, clock = await stack.enter_async_context(grower.opened(copies[one.size]))
                hand = _Hand(core, session, clock, story)
                await hand.find_place()
                bench[one.size] = _operations(core, session, hand, story)
            for operation in bench[stories[0].size]:
                for number in range(repeats + 1):
                    for one in stories:
                        with _costing() as cost:
                            await bench[one.size][operation](number)
                        if number:
                            found.setdefault((operation, one.size), []).append(cost)
                    done(1)
        for number in range(repeats // 2 + 1):
            for one in stories:
                _copy(one.path, copies[one.size])
                async with grower.opened(copies[one.size]) as (core, session, clock):
                    await _fold_of_another_story(core, clock, story)
                    await _until_due(core, session, clock, story)
                    with _costing() as cost:
                        await core.folder.run_due()
                    if any(fold.kind is FoldKind.FOLD for fold in (await core.engine.figures(session.id)).folds):
                        raise RuntimeError(f"the fold at {one.size} turns failed")
                if number:
                    found.setdefault(("fold", one.size), []).append(cost)
            done(1)
    for copy in copies.values():
        _remove(copy)
    return [Costs(operation, size, tuple(costs)) for (operation, size), costs in found.items()]


def _operations(
    core: Core, session: Session, hand: _Hand, story: LongStory
) -> dict[str, Callable[[int], Awaitable[object]]]:
    """What is measured, besides folds; each is told how often it was done before."""
    # As discord.py does, by name: nothing below the cogs knows them.
    pages, lines = importlib.import_module("cogs._pages"), importlib.import_module("cogs._lines")
    say = lines.bound(Catalogue().text, "en-US")

    async def message(number: int) -> None:
        await hand.ask(number)

    async def show(_: int) -> None:
        readable = await core.engine.readable_session(_PLACE.channel_id)
        pages.memory_page(await core.engine.leaf(readable.id, 0), say)

    async def search(number: int) -> None:
        await core.engine.search(session.id, story.words(number))

    return {"message": message, "memory show": show, "search": search}


# The outcome


def _figures(measured: Sequence[Costs], stories: Sequence[Story]) -> dict[str, Any]:
    """The medians, their ratios to those of the shortest story, and what is not as it must be."""
    first = {costs.operation: costs for costs in reversed(measured) if costs.turns == stories[0].size}
    rows, missed = [], []
    for costs in measured:
        base = first[costs.operation]
        row: dict[str, Any] = {"operation": costs.operation, "turns": costs.turns}
        for name in ("queries", "rows", "bytes", "milliseconds", "waited"):
            row[name] = round(costs.median(name), 2)
            row[f"{name} ratio"] = round(costs.median(name) / max(1e-9, base.median(name)), 3)
        rows.append(row)
        if costs.queries != base.queries:
            missed.append(f"{costs.operation} at {costs.turns} turns: other queries than at {base.turns}")
        missed += [
            f"{costs.operation} at {costs.turns} turns: {row[f'{name} ratio']} times the {name} at {base.turns}"
            for name in ("bytes", "milliseconds")
            if row[f"{name} ratio"] > MOST_GROWTH
        ]
    repeated = [
        {"operation": c.operation, "turns": c.turns, "costs": [asdict(one) for one in c.repeated]} for c in measured
    ]
    return {
        "stories": {str(story.size): story.holds for story in stories},
        "medians": rows,
        "missed": missed,
        "repetitions": repeated,
    }


def _table(figures: dict[str, Any], kept: Run) -> str:
    head = f"{'':<13}{'turns':>8}{'queries':>9}{'rows':>7}{'bytes':>9}{'ms':>8}{'ratio: rows':>13}{'bytes':>7}{'ms':>7}"
    rows = [
        f"{row['operation']:<13}{row['turns']:>8,}{row['queries']:>9,.0f}{row['rows']:>7,.0f}{row['bytes']:>9,.0f}"
        f"{row['milliseconds']:>8,.1f}{row['rows ratio']:>13.2f}{row['bytes ratio']:>7.2f}{row['milliseconds ratio']:>7.2f}"
        for row in figures["medians"]
    ]
    outcome = [f"missed: {what}" for what in figures["missed"]] or ["nothing grew more than it may"]
    return "\n".join([head, *rows, *outcome, f"kept in {kept.folder}"])


def _drawn(measured: Sequence[Costs]) -> bytes:
    """The ratios of queries, bytes and time by size."""
    drawn = figure(10, 3.6)
    operations = list(dict.fromkeys(costs.operation for costs in measured))
    for place, (name, title) in enumerate((("queries", "queries"), ("bytes", "bytes"), ("milliseconds", "time"))):
        axes = drawn.add_subplot(1, 3, place + 1)
        for colour, operation in zip(COLOURS, operations, strict=False):
            line = sorted((c.turns, c.median(name)) for c in measured if c.operation == operation)
            base = max(1e-9, line[0][1])
            axes.plot(
                [turns for turns, _ in line], [value / base for _, value in line], "o-", color=colour, label=operation
            )
        axes.axhline(MOST_GROWTH, color="#999999", linestyle="--", linewidth=1)
        axes.set(xscale="log", xlabel="turns of history", title=f"{title}, against the shortest story", ylim=(0, None))
    drawn.axes[0].legend()
    return png(drawn)
