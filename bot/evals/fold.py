"""``kataribe bench fold``: what a fold costs the replies that come while it runs, and what it costs in either way of asking.

Each measurement has a database of its own with the same story in it, but for a number at its messages, so that a server which
keeps prompts does not know it. Six replies follow one another in it. Two bring the story into the server's cache, one is timed
with nothing beside it, one beside the fold. Then the fold is ended, one brings the story back, and one is timed with nothing
beside it again. A machine that others use is never as fast as it was a minute ago, so the figures are medians of ratios between
such neighbours.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import shutil
import tempfile
import time
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bot.charts import COLOURS, figure, png
from bot.core import Core, open_core
from bot.errors import KataribeError, ModelUnavailable
from bot.evals.commands import SERVERS, SMALL
from bot.evals.fold_costs import (
    AFTER,
    HANGING,
    KEEPING,
    MOST,
    PLAIN,
    QUIET,
    SCENARIOS,
    SLOW,
    SPARE,
    TWENTY,
    WRITING,
    Cost,
    Measurement,
    costs,
    within,
    worst,
)
from bot.evals.fold_ways import WAYS, Asked, ask_both_ways, counted
from bot.evals.machinery import Clock, model_at, settings_for
from bot.evals.progress import progress
from bot.evals.relay import Relay, Waiting, relay, waiting_model
from bot.evals.report import table
from bot.evals.runs import Run, open_run
from bot.evals.stories import load_story
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import PlayerMessage
from bot.store.statistics import Call

log = logging.getLogger(__name__)

_NAMES: Final = dict(zip(SERVERS, (PLAIN, KEEPING, SPARE), strict=True))
_CACHE_RAM: Final = 1_024
_WINDOW: Final = 4_096
# The longest prompts are those of the warm way: card, memory, raw turns, instruction and index.
_ASKING_WINDOW: Final = 16_384
_FOLD_TOKENS: Final = 512
# The story that is played stays below the trigger, those that are to be folded are above it.
_TRIGGER, _OWN_MESSAGES, _DUE_MESSAGES, _WORDS = 1_500, 3, 10, 150
_BUDGETS: Final = {
    "fold_trigger": _TRIGGER, "fold_ceiling": 2_400, "fold_floor": 400, "fold_room": 600, "fold_stretch": 1_500,
    "fold_chapters_total": 600, "fold_output_tokens": _FOLD_TOKENS, "fold_attempts": 99,
}  # fmt: skip
_TWENTY: Final = 20
_SLOW_SECONDS: Final = 0.5
# How far into a fold's writing the reply comes, in seconds.
_INTO_WRITING: Final = 0.3
_SEED: Final = 20261130
_LINES: Final = "measurements.jsonl"
_TRIES: Final = 12
# Messages of the same number of words are not of the same number of tokens.
_CLOSE: Final = 5
_CARD: Final = Card(
    "Isla", "Keeper of a small harbour inn. She answers at length, and never the same way twice.", '"Come in."'
)
_VOCABULARY: Final = (
    "harbour lamp ferry bell pier salt market chapel tower lantern pear rain gull rope map tide inn keeper door stone went saw "
    "told sister captain quiet cold early because never under over with"
).split()


async def run(
    *,
    repeats: int,
    reply_tokens: int,
    stories: Sequence[Path],
    asked: int,
    servers: Sequence[str],
    model: str,
    as_json: bool,
    out: Path | None,
) -> bool:
    """Measure, print the figures, and say whether a running fold costs a reply no more than it may.

    Raises KataribeError and StoryUnreadable.
    """
    loaded = [load_story(path) for path in stories]
    settings = {"repeats": repeats, "reply_tokens": reply_tokens, "asked": asked, "model": model, "budgets": _BUDGETS}
    settings |= {"servers": list(servers)} if model == SMALL else {}
    made = open_run("bench fold", out, settings=settings, seed=_SEED, inputs=stories)
    names = [_NAMES[each] for each in servers] if model == SMALL else ["the server as it is"]
    measured: list[Measurement] = []
    ways: list[Asked] = []
    with progress(len(names) * repeats * len(SCENARIOS), "bench fold") as advance:
        for name in names:
            async with served(model, name) as at:
                bench = Bench(made, at, name, reply_tokens)
                for repeat in range(repeats):
                    measured += await bench.repeat(repeat, advance)
                made.note(model=bench.model)
    if loaded:
        async with served(model, PLAIN, context=_ASKING_WINDOW) as at:
            with progress(len(loaded), "two ways of asking") as advance:
                for story in loaded:
                    ways += await ask_both_ways(story, at.base_url, made.answers, asked=asked)
                    advance(1)
    found = costs(measured)
    holds = within(found)
    figures = {
        "holds": holds,
        "costs": [asdict(cost) for cost in found],
        "ways": [asdict(one) for one in ways],
        "measurements": [asdict(one) for one in measured],
    }
    whole = made.save(figures)
    made.picture("fold.png").write_bytes(picture(found, ways))
    print(json.dumps(whole, ensure_ascii=False, indent=1) if as_json else _as_table(made, found, ways, holds))
    return holds


@asynccontextmanager
async def served(model: str, name: str, context: int = _WINDOW) -> AsyncIterator[Relay]:
    """The server of that name behind a relay; ``context`` is the window of each slot, in tokens."""
    with tempfile.TemporaryDirectory() as folder:
        slots, cache = 2 if name == SPARE else 1, _CACHE_RAM if name == KEEPING else 0
        async with (
            model_at(model, Path(folder), slots=slots, context=slots * context, cache_ram=cache) as at,
            relay(at.base_url, at.api_key) as passing,
        ):
            yield passing


class Bench:
    """The scenarios on one server."""

    def __init__(self, made: Run, at: Relay, name: str, reply_tokens: int) -> None:
        self._kept = made.folder / _LINES
        self._at = at
        self._name = name
        self._reply_tokens = reply_tokens
        self.model = ""

    async def repeat(self, number: int, advance: Callable[[int], object]) -> list[Measurement]:
        """All scenarios once, in an order of their own; what an earlier run measured is taken from its lines."""
        known = {m.scenario: m for m in _lines(self._kept) if (m.server, m.repeat) == (self._name, number)}
        order = random.Random(f"{_SEED} {number}").sample(SCENARIOS, len(SCENARIOS))  # noqa: S311 - a repeatable order
        missing = [scenario for scenario in order if scenario not in known]
        if missing and not self._at.read_seconds:  # how long a fold is read has to be known first
            missing = [WRITING, *(scenario for scenario in missing if scenario != WRITING)]
        advance(len(SCENARIOS) - len(missing))
        for scenario in missing:
            found = known[scenario] = await self.measured(scenario, number)
            log.info("%s, %s: %s", self._name, scenario, found)
            with self._kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(found)) + "\n")
            advance(1)
        return list(known.values())

    async def measured(self, scenario: str, repeat: int) -> Measurement:
        """One reply while the folds of a scenario are where it has them.

        A story to which the model gives no reply that can be shown, or not at once, is passed over for one with another number.
        Raises KataribeError when there are many such.
        """
        for number in range(1, _TRIES + 1):
            try:
                found = await self._tried(scenario, repeat, number)
            except ModelUnavailable as error:
                log.info("no reply: %s", error)
                continue
            if found is not None:
                return found
        raise KataribeError(f"{self._at.base_url}: the model gave no reply that can be shown, {_TRIES} times.")

    async def _tried(self, scenario: str, repeat: int, number: int) -> Measurement | None:
        folder = Path(tempfile.mkdtemp())
        try:
            pause = _SLOW_SECONDS if scenario == SLOW else None
            async with waiting_model(pause) as waiting:
                changes = {"folder_base_url": waiting.base_url} if scenario in (HANGING, SLOW) else {}
                settings = settings_for(
                    self._at.base_url, folder / "bench.db",
                    {**_BUDGETS, **changes, "llm_window": _WINDOW, "llm_reply_tokens": self._reply_tokens,
                     "llm_temperature": 0.0, "llm_parallel": 1, "recall_lines": 0, "people_tokens": 0},
                )  # fmt: skip
                clock = Clock()
                async with open_core(settings, clock=clock) as core:
                    self.model = core.model.profile.model
                    play = _Play(core, clock)
                    await play.begin(f"{self._name} {scenario} {repeat} {number}", _TWENTY if scenario == TWENTY else 1)
                    before = await play.reply(self._at)
                    if not before.is_whole:
                        return None
                    await self._set_up(core, scenario, repeat, waiting)
                    was_running = core.folder_model.queue.running > 0
                    try:
                        beside = await play.reply(self._at)
                    finally:
                        await core.folder.close()
                    await play.reply(self._at)
                    return _measured(
                        self._name, scenario, repeat, before, beside, await play.reply(self._at), was_running
                    )
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _set_up(self, core: Core, scenario: str, repeat: int, waiting: Waiting) -> None:
        """Bring the folds to where the scenario has them."""
        if scenario == QUIET:
            return
        self._at.forget()
        if scenario == AFTER:
            await core.folder.run_due()
            return
        await core.folder.wake()
        if scenario in (HANGING, SLOW):
            await waiting.asked.wait()
        elif scenario == WRITING:
            await self._at.writing.wait()
            await asyncio.sleep(_INTO_WRITING)
        else:
            await self._at.reading.wait()
            # Somewhere in the time that the last one took to be read: spread evenly, in the order of the golden section.
            await asyncio.sleep((0.5 + repeat * 0.618) % 1 * self._at.read_seconds * 0.9)


@dataclass(frozen=True, slots=True)
class _Timed:
    """One reply: its time and that of its first word in milliseconds, and its requests."""

    whole: float
    first: float
    calls: tuple[Call, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it was written at once and to its end: of one that was cut, the next prompt has a part to be read again."""
        return [call.outcome for call in self.calls] == ["stop"]

    @property
    def written(self) -> int:
        """Its tokens."""
        return sum(call.completion_tokens or 0 for call in self.calls)

    @property
    def computed(self) -> int:
        """The tokens of its prompt that the server did not have."""
        return sum((call.prompt_tokens or 0) - (call.cached_tokens or 0) for call in self.calls)


def _measured(
    server: str, scenario: str, repeat: int, before: _Timed, beside: _Timed, after: _Timed, was_running: bool
) -> Measurement | None:
    """None where the three cannot be compared: they differ in length, or the neighbours in what had to be read for them."""
    three = (before, beside, after)
    if not all(each.is_whole for each in three) or len({each.written for each in three}) > 1:
        return None
    if abs(before.computed - after.computed) > _CLOSE:
        return None
    (call,) = beside.calls

    def expected(of: Callable[[_Timed], float]) -> float:
        # There is one reply between the last two, and prompts grow evenly.
        return round((2 * of(before) + of(after)) / 3, 1)

    return Measurement(
        server, scenario, repeat, beside.whole, beside.first, call.prompt_tokens or 0, call.cached_tokens or 0,
        beside.written, call.attempts, was_running, call.waited_milliseconds or 0,
        expected(lambda each: each.whole), expected(lambda each: each.first),
    )  # fmt: skip


class _Play:
    """The story whose replies are measured, and others that are due to be folded."""

    def __init__(self, core: Core, clock: Clock) -> None:
        self.core = core
        self._clock = clock
        self._messages = 1_000
        self._said = 0
        self._played: Session | None = None

    @property
    def session(self) -> Session:
        """The story that is played."""
        if self._played is None:
            raise RuntimeError("the story has not begun")
        return self._played

    async def begin(self, kind: str, due: int) -> None:
        """Write the stories, and give two replies. ``kind`` makes them unlike any that the server may have kept."""
        scope = Scope(1, 10)
        await self.core.characters.create(scope, _CARD, "")
        for number in range(due):
            await self._story(scope, 200 + number, f"{kind} {number}", _DUE_MESSAGES)
        # The last, so that no time that passed stands in its prompt.
        self._played = await self._story(scope, 100, "the same", _OWN_MESSAGES, mark=_mark(kind))
        for _ in range(2):
            await self._say()
            await self.core.engine.reply(self.session.id)

    async def reply(self, at: Relay) -> _Timed:
        """The time of a reply to a player's next words."""
        await self._say()
        before = len(await self._replies())
        began = time.monotonic()
        await self.core.engine.reply(self.session.id)
        ended = time.monotonic()
        calls = tuple((await self._replies())[before:])
        return _Timed(round((ended - began) * 1000, 1), round((at.reply_began - began) * 1000, 1), calls)

    async def _replies(self) -> list[Call]:
        """The requests for replies up to now."""
        return [call for call in await self.core.store.calls(self.session.id) if call.purpose == "reply"]

    async def _say(self) -> None:
        self._said += 1
        await self._hear(100, f"{self._said}: {_words(f'short {self._said}', 30)}")

    async def _story(self, scope: Scope, channel: int, kind: str, messages: int, mark: str = "") -> Session:
        started = await self.core.engine.start_session(Place(1, channel), scope, _CARD.name, greeting=True)
        for number in range(messages):
            await self._hear(channel, mark + _words(f"{kind} {number}", _WORDS))
        return started.session

    async def _hear(self, channel: int, text: str) -> None:
        self._messages += 1
        self._clock.pass_minutes(1)
        await self.core.engine.hear(PlayerMessage(self._messages, channel, 10, "Mio", text, self._clock.time))


def _mark(kind: str) -> str:
    return f"{1_000 + zlib.crc32(kind.encode()) % 9_000} "


def _words(kind: str, count: int) -> str:
    chosen = random.Random(f"{_SEED} {kind}").choices(_VOCABULARY, k=count)  # noqa: S311 - a repeatable text
    return " ".join(word + ("." if place % 9 == 8 else "") for place, word in enumerate(chosen))


def _lines(path: Path) -> list[Measurement]:
    """What was measured before; a line that was cut by the end of the process is passed over."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            found.append(Measurement(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found


def picture(found: Sequence[Cost], ways: Sequence[Asked]) -> bytes:
    """How much longer a reply takes, by scenario; and the tokens that a fold has computed, by way of asking."""
    drawn = figure(11, 4.5)
    left = drawn.add_subplot(1, 2, 1) if ways else drawn.add_subplot()
    servers = list(dict.fromkeys(cost.server for cost in found))
    height = 0.8 / max(1, len(servers))
    for place, server in enumerate(servers):
        own = [cost for cost in found if cost.server == server]
        rows = [SCENARIOS.index(cost.scenario) + place * height for cost in own]
        left.barh(rows, [cost.factor for cost in own], height, label=server, color=COLOURS[place])
    left.set_yticks([row + 0.4 - height / 2 for row in range(len(SCENARIOS))], SCENARIOS)
    left.invert_yaxis()
    left.axvline(MOST, color="black", linewidth=0.8, linestyle="--")
    left.set_xlabel("time of a reply, as a factor of the time when nothing else runs")
    left.legend(loc="lower right")
    if ways:
        right = drawn.add_subplot(1, 2, 2)
        sums = [counted(ways, way) for way in WAYS]
        computed = [one.fold_computed for one in sums]
        right.bar(WAYS, computed, label="the fold", color=COLOURS[0])
        right.bar(
            WAYS,
            [one.after_computed for one in sums],
            bottom=computed,
            label="the reply after its chapter",
            color=COLOURS[1],
        )
        right.set_ylabel("prompt tokens computed, one slot")
        right.margins(y=0.25)
        right.legend(loc="upper right")
    return png(drawn)


def _as_table(made: Run, found: Sequence[Cost], ways: Sequence[Asked], holds: bool) -> str:
    parts = []
    for server in dict.fromkeys(cost.server for cost in found):
        rows = [(cost.scenario, _in_words(cost)) for cost in found if cost.server == server]
        parts.append(table(f"A reply of {made.record.get('model')}, {server}", rows))
    for way in WAYS if ways else ():
        one = counted(ways, way)
        rows = [
            ("folds counted", f"{one.folds}"),
            ("prompt tokens of the fold computed", f"{one.fold_computed:,} of {one.fold_prompt:,}"),
            ("of the next reply, if nothing was committed", f"{one.next_computed:,}"),
            ("of the next reply, after a chapter", f"{one.after_computed:,}"),
            ("answers asked for, rejected", f"{one.asked}, {dict(one.rejected)}"),
            ("memories proposed, held", f"{one.proposed}, {one.held}"),
            ("of those, sharing words with what they cite", f"{one.fitting}"),
            ("citations, of beats that exist", f"{one.cites}, {one.real_cites}"),
            ("dropped", f"{dict(one.dropped)}"),
        ]
        parts.append(table(f"Asked with {way}", rows))
    rows = [(server, f"x {cost.factor:.3f}, while {cost.scenario}") for server, cost in worst(found).items()]
    parts.append(table("The most that a running fold costs", rows))
    parts.append(f"a running fold costs a reply at most {MOST - 1:.0%} on one of them: {'yes' if holds else 'no'}")
    return "\n\n".join(parts)


def _in_words(cost: Cost) -> str:
    return (
        f"x {cost.factor:.3f} ({cost.lowest:.2f} to {cost.highest:.2f}; {cost.more_milliseconds:+,.0f} ms, {cost.waited:,.0f} ms "
        f"in the queue; first word x {cost.first_factor:.2f}; {cost.computed:,} prompt tokens computed; n = {cost.count})"
    )
