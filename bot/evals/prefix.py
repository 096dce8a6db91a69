"""``kataribe bench prefix``: how much of each prompt a model server takes from its cache, and what each break was due to.

Our own way is played in full against a real server and measured by it. The ways of others are the same conversation in other
layouts, of which is counted what a prefix cache can reuse (see ``layouts``). The command fails when our own way misses its aim.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import SecretStr

from bot.charts import COLOURS, figure, png
from bot.core import Core, open_core
from bot.evals import layouts
from bot.evals.commands import CONFIGURED, SMALL
from bot.evals.harbour import SEED, Exchange, Log, play
from bot.evals.layouts import CLOCK, OURS, SLIDING, SUMMARY, Cost, Laid, Sample, Server
from bot.evals.machinery import Clock, model_at, settings_for
from bot.evals.progress import progress
from bot.evals.report import counts, table
from bot.evals.runs import Run, open_run
from bot.llm.profiles import server_root
from bot.settings import Settings, load_settings

AIM: Final = 0.99
"""The share of prompt tokens on ordinary turns that our own way has to take from the cache."""
_REPLY_TOKENS: Final = 48
_FOLDS: Final = (layouts.FOLD, layouts.MAJOR_FOLD)
# More than the token or two that may join others where a prompt ends.
_ALIKE: Final = 4
_UNEXPLAINED: Final = "unexplained"


@dataclass(frozen=True, slots=True)
class Way:
    """What one way of laying out prompts costs. ``memory_work`` are the tokens that folds compute; all figures are tokens.

    ``measured``: the figures are the server's, not counted.
    """

    name: str
    measured: bool
    costs: tuple[Cost, ...]
    memory_work: int
    ordinary: frozenset[int]
    samples: tuple[Sample, ...] = ()

    @property
    def prompts(self) -> int:
        """The length of all prompts."""
        return sum(cost.prompt for cost in self.costs)

    @property
    def computed(self) -> int:
        """What replies and folds computed."""
        return sum(cost.computed for cost in self.costs) + self.memory_work

    @property
    def reused(self) -> float:
        """The share of prompt tokens from the cache on ordinary turns: no fold, no restart, not the first."""
        ordinary = [cost for cost in self.costs if cost.turn in self.ordinary]
        return sum(cost.cached for cost in ordinary) / max(1, sum(cost.prompt for cost in ordinary))

    @property
    def breaks(self) -> Counter[str]:
        """How many prompts part from the one before, by cause."""
        return Counter(cost.cause or _UNEXPLAINED for cost in self.costs[1:] if cost.broken)

    def figures(self, ours: Way, check: Way) -> dict[str, Any]:
        """All of it, for the result; ``ours`` is our own way, ``check`` the same as counted."""
        found: dict[str, Any] = {
            "how": "measured" if self.measured else "counted",
            "prompt_tokens": self.prompts,
            "reused_on_ordinary_turns": round(self.reused, 4),
            "computed": self.computed,
            "computed_by_folds": self.memory_work,
            "factor_against_ours": round(_factor(self, ours), 2),
            "factor_against_ours_counted": round(_factor(self, check), 2),
            "breaks": dict(self.breaks),
            "turns": [[c.turn, c.prompt, c.cached, c.computed, c.cause] for c in self.costs],
        }
        if self.samples:
            found["asked"] = _difference([sample.difference for sample in self.samples])
        return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """A whole run: our own way first, as it was measured; ``check`` is the same, counted."""

    ways: tuple[Way, ...]
    check: Way
    exchanges: tuple[Exchange, ...]
    missed: int
    chapters: int
    failed_folds: int
    forced_cuts: int

    @property
    def folds(self) -> int:
        """How often the memory changed between two replies."""
        return sum(cause in _FOLDS for cause in layouts.causes(self.exchanges))

    @property
    def restarts(self) -> int:
        """How many turns came first after a stop, and are no ordinary ones."""
        return sum(exchange.restarted for exchange in self.exchanges)

    @property
    def complaints(self) -> tuple[str, ...]:
        """What our own way misses of its aim."""
        ours = self.ways[0]
        breaks = ours.breaks
        by_folds = sum(breaks[cause] for cause in _FOLDS)
        found = []
        if ours.reused < AIM:
            found.append(f"{ours.reused:.4f} reused on ordinary turns, less than {AIM}")
        if by_folds != self.folds:
            found.append(f"{by_folds} breaks by {self.folds} folds")
        if breaks[_UNEXPLAINED]:
            found.append(f"{breaks[_UNEXPLAINED]} breaks without a cause")
        return tuple(found)

    @property
    def differences(self) -> tuple[int, ...]:
        """By how many tokens count and server differ in each of our own ordinary prompts.

        A model can write a reply in other tokens than those that its text is read back as; from there on the reply is computed.
        """
        pairs = zip(self.ways[0].costs, self.check.costs, strict=True)
        return tuple(
            max(abs(said.cached - count.cached), abs(said.prompt - count.prompt))
            for said, count in pairs
            if said.turn in self.ways[0].ordinary
        )

    @property
    def lost_to_folds(self) -> int:
        """How many tokens of our own prompts after folds the cache lacked that a slot of the story's own would have held."""
        pairs = zip(self.ways[0].costs, self.check.costs, strict=True)
        return sum(max(0, count.cached - said.cached) for said, count in pairs if said.cause in _FOLDS)


async def run(*, turns: int, model: str | None, sample: int, as_json: bool, out: Path | None) -> bool:
    """Play ``turns`` exchanges, count the other ways, ask for ``sample`` prompts of each, and print the figures.

    Returns whether our own way reached its aim.
    """
    which = model or _usual()
    made = open_run("bench prefix", out, settings={"turns": turns, "sample": sample, "model": which}, seed=SEED)
    log = Log.read(made.folder / "exchanges.jsonl")
    async with _settings(which, made.folder) as settings:
        clock = Clock()
        async with open_core(settings, clock=clock) as core:
            outcome = await measure(core, clock, turns, log, settings, made.folder / "asked.jsonl", sample)
            budgets = asdict(settings.budgets(core.model.profile.window))
            made.note(model=core.model.profile.model, budgets=budgets)
            whole = made.save(_figures(outcome))
            _draw(made, outcome)
            print(
                json.dumps(whole, indent=1, ensure_ascii=False)
                if as_json
                else as_table(outcome, core.model.profile.model)
            )
    return not outcome.complaints


async def measure(
    core: Core, clock: Clock, turns: int, log: Log, settings: Settings, asked: Path, sample: int
) -> Outcome:
    """Play, lay out, count and ask; see :func:`run`."""
    with progress(turns, "our own way") as advance:
        session = await play(core, clock, turns, log, advance)
    exchanges = tuple(exchange for exchange in log.exchanges if exchange.turn < turns)
    missed = [miss for miss in log.missed if miss.turn < turns]
    causes = layouts.causes(exchanges)
    ordinary = frozenset(e.turn for e, cause in zip(exchanges[1:], causes[1:], strict=True) if not cause)
    work = sum(exchange.memory_work for exchange in exchanges)
    in_vain = sum(miss.computed for miss in missed)
    ours = Way(OURS, True, layouts.measured(exchanges), work + in_vain, ordinary)
    async with _server(settings) as server:
        budget = settings.budgets(core.model.profile.window).trigger
        laid = {
            OURS: layouts.ours(exchanges),
            SLIDING: await layouts.sliding(exchanges, budget, server.size),
            CLOCK: layouts.with_clock(exchanges),
            SUMMARY: layouts.with_summary(exchanges),
        }
        ways = {}
        with progress(len(laid) * len(exchanges), "counting") as advance:
            for name, prompts in laid.items():
                costs = await layouts.counted(server, prompts, advance)
                ways[name] = Way(name, False, costs, 0 if name == SLIDING else work, ordinary)
        check = ways.pop(OURS)
        asking = sum(layouts.asked_count(len(laid[name]), sample) for name in ways)
        with progress(asking, "asking the server") as advance:
            others = [await _borne_out(server, way, laid[name], sample, asked, advance) for name, way in ways.items()]
    figures = await core.store.figures(session.id)
    latest = await core.store.session(session.id)
    return Outcome(
        ways=(ours, *others),
        check=check,
        exchanges=exchanges,
        missed=len(missed),
        chapters=len((await core.store.memory(session.id)).chapters),
        failed_folds=sum(1 for fold in figures.folds if fold.state == "failed"),
        forced_cuts=latest.forced_cuts if latest else 0,
    )


async def _borne_out(
    server: Server, way: Way, laid: Sequence[Laid], sample: int, kept: Path, advance: Callable[[int], object]
) -> Way:
    """The same with what the server said of some of its prompts."""
    return replace(way, samples=await layouts.asked(server, way.name, laid, sample, kept, advance))


def _usual() -> str:
    """The model of the settings where one is named, else the small one."""
    return CONFIGURED if load_settings().llm_base_url is not None else SMALL


@asynccontextmanager
async def _settings(which: str, folder: Path) -> AsyncIterator[Settings]:
    """Settings for the model that is named, with the database of this run."""
    database = folder / "story.db"
    changes: dict[str, object] = {"llm_reply_tokens": _REPLY_TOKENS, "fold_delay_seconds": 0}
    if which == CONFIGURED:
        changes["database_url"] = f"sqlite+aiosqlite:///{database.as_posix()}"
        yield load_settings(need=("llm_base_url",)).model_copy(update=changes)
        return
    async with model_at(which, folder) as at:
        key = SecretStr(at.api_key) if at.api_key else None
        changes |= {"llm_api_key": key, "llm_parallel": at.parallel}
        yield settings_for(at.base_url, database, changes)


@asynccontextmanager
async def _server(settings: Settings) -> AsyncIterator[Server]:
    """The model server of the settings, to be asked directly."""
    key = settings.llm_api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    root = server_root(settings.llm_base_url or "")
    async with httpx.AsyncClient(
        base_url=root, headers=headers, timeout=settings.llm_timeout_seconds, trust_env=False
    ) as http:
        yield Server(http)


def _figures(outcome: Outcome) -> dict[str, Any]:
    ours = outcome.ways[0]
    return {
        "reused_on_ordinary_turns": round(ours.reused, 4),
        "complaints": list(outcome.complaints),
        "exchanges": len(outcome.exchanges),
        "unanswered": outcome.missed,
        "ordinary_turns": len(ours.ordinary),
        "turns_after_a_restart": outcome.restarts,
        "folds": outcome.folds,
        "chapters": outcome.chapters,
        "folds_given_up": outcome.failed_folds,
        "forced_cuts": outcome.forced_cuts,
        "count_beside_measure": _difference(outcome.differences),
        "lost_to_folds": outcome.lost_to_folds,
        "ways": {way.name: way.figures(ours, outcome.check) for way in outcome.ways},
        "ours_counted": outcome.check.figures(ours, outcome.check),
    }


def as_table(outcome: Outcome, model: str) -> str:
    """The figures for the screen."""
    ours = outcome.ways[0]
    check, beside = outcome.check, _difference(outcome.differences)
    rows = [
        ("exchanges", f"{len(outcome.exchanges)}, without a reply {outcome.missed}"),
        ("ordinary turns", f"{len(ours.ordinary)}; after a restart, left out: {outcome.restarts}"),
        ("folds that changed the prompt", f"{outcome.folds}, chapters {outcome.chapters}"),
        ("folds given up", str(outcome.failed_folds)),
        ("forced cuts", str(outcome.forced_cuts)),
        ("ours, counted as the others", f"{check.reused:.4f} reused, {check.computed:,} computed"),
        ("count beside measure, tokens in a prompt", _in_words(beside)),
        ("not in the cache because folds took the slot", f"{outcome.lost_to_folds:,} tokens"),
        ("missed", "; ".join(outcome.complaints) or "nothing"),
    ]
    heading = ("way", "figures", "reused", "computed", "of all", "by folds", "factor", "both counted", "breaks")
    lines = [heading, *(_line(way, ours, check) for way in outcome.ways)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heading))]
    ways = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([table(f"bench prefix, {model}", rows), "", *ways])


def _difference(found: Sequence[int]) -> dict[str, float]:
    """How far count and server are apart, in tokens of a prompt."""
    return {
        "prompts": len(found),
        "largest": max(found, default=0),
        "mean": round(sum(found) / max(1, len(found)), 2),
        "apart": sum(one > _ALIKE for one in found),
    }


def _in_words(difference: Mapping[str, float]) -> str:
    found = f"±{difference['mean']} in {difference['prompts']}, at most {difference['largest']}"
    return found + (f" ({difference['apart']} by more than {_ALIKE})" if difference["apart"] else "")


def _factor(way: Way, ours: Way) -> float:
    """How many times as much a way computes, for replies and folds."""
    return way.computed / max(1, ours.computed)


def _line(way: Way, ours: Way, check: Way) -> tuple[str, ...]:
    figures = "measured" if way.measured else "counted"
    if way.samples:
        figures += f"; asked: {_in_words(_difference([sample.difference for sample in way.samples]))}"
    return (
        way.name,
        figures,
        f"{way.reused:.4f}",
        f"{way.computed:,}",
        f"{way.prompts:,}",
        f"{way.memory_work:,}",
        f"{_factor(way, ours):.2f}",
        "" if way is ours else f"{_factor(way, check):.2f}",
        counts(dict(sorted(way.breaks.items()))),
    )


def _draw(made: Run, outcome: Outcome) -> None:
    """The sawtooth of our own way, and what all of them computed."""
    drawn = figure(11, 8)
    saw, sums = drawn.subplots(2, 1)
    costs = outcome.ways[0].costs
    turns = [cost.turn + 1 for cost in costs]
    cached, whole = [cost.cached for cost in costs], [cost.prompt for cost in costs]
    saw.fill_between(turns, 0, cached, step="mid", color=COLOURS[0], alpha=0.25, linewidth=0, label="from the cache")
    saw.fill_between(turns, cached, whole, step="mid", color=COLOURS[1], linewidth=0, label="computed")
    saw.step(turns, whole, where="mid", color=COLOURS[0], linewidth=1, label="prompt")
    saw.set(title="Our own way: each prompt", xlabel="turn", ylabel="tokens", xlim=(1, max(turns, default=1) + 1))
    saw.legend(loc="lower right")
    for way, colour in zip(outcome.ways, COLOURS, strict=False):
        computed = list(itertools.accumulate(cost.computed for cost in way.costs))
        factor = computed[-1] / max(1, sum(cost.computed for cost in costs)) if computed else 0
        sums.plot(turns, computed, color=colour, label=f"{way.name} (× {factor:.2f})")
    sums.set(
        title="Prompt tokens computed for replies, in all (folds themselves apart)", xlabel="turn", ylabel="tokens",
        yscale="log", xlim=(1, max(turns, default=1) + 1),
    )  # fmt: skip
    sums.legend(loc="lower right")
    made.picture("prefix.png").write_bytes(png(drawn))
