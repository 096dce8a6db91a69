"""The figures of the running bot for Prometheus, on a port of this machine alone.

What the rows say is the same as what ``kataribe stats`` prints. A label takes few values: none is a story, a person or a place.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.errors import KataribeError
from bot.llm.queue import SlotQueue
from bot.memory.figures import BotFigures, Figures, Spread
from bot.statistics import Statistics

log = logging.getLogger(__name__)

ADDRESS: Final = "127.0.0.1"
# Counting takes 0.5 s of a quiet machine with 200,000 turns and as many requests, and scrapers may ask every few seconds.
_EVERY: Final = timedelta(minutes=1)

_Labels = tuple[str, ...]
_Samples = Iterable[tuple[_Labels, float]]


class _Counter(NamedTuple):
    """A total of rows: its ``name``, ``what`` it counts, and what the rows say now by its ``labels``."""

    name: str
    what: str
    labels: _Labels
    samples: _Samples


class PortUnusable(KataribeError):
    """The figures cannot be served on the port that was set; the text is one sentence for the operator."""


class Metrics:
    """What a scrape gets. ``queues`` are those of the model clients, by what they are for.

    Counters never fall: when a story is deleted its rows are not subtracted, since a scraper would take that for a restart.
    """

    def __init__(
        self, statistics: Statistics, queues: Mapping[str, SlotQueue], *, clock: Callable[[], datetime]
    ) -> None:
        self._statistics = statistics
        self._queues = queues
        self._clock = clock
        self._reading = asyncio.Lock()
        self._read_at: datetime | None = None
        self._figures: BotFigures | None = None
        self._rising = _Rising()
        self._registry = CollectorRegistry()
        self._registry.register(_Rows(self))

    async def text(self) -> bytes:
        """All figures in Prometheus's text format; the rows are counted once a minute at most."""
        async with self._reading:
            now = self._clock()
            if self._read_at is None or now - self._read_at >= _EVERY:
                self._figures = await self._statistics.bot()
                self._read_at = now
        return generate_latest(self._registry)

    def families(self) -> Iterator[Metric]:
        """The figures read last, and how the queues are now."""
        if self._figures is not None:
            yield from _of_bot(self._figures)
            yield from _of_figures(self._figures.figures)
            yield from map(self._rising.raised, _counters(self._figures.figures))
        places = {(name, "waiting"): queue.waiting for name, queue in self._queues.items()}
        places |= {(name, "running"): queue.running for name, queue in self._queues.items()}
        yield _gauge("model_requests", "Requests to a model now", ("client", "state"), places.items())


class _Rows(Collector):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        return self._metrics.families()


class _Rising:
    """Totals that grow with the rows, and stay when rows are deleted."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[_Labels, float]] = defaultdict(dict)
        self._totals: dict[str, dict[_Labels, float]] = defaultdict(dict)

    def raised(self, counter: _Counter) -> Metric:
        """The counter as a scraper gets it."""
        before, totals = self._rows[counter.name], self._totals[counter.name]
        self._rows[counter.name] = now = dict(counter.samples)
        for values, figure in now.items():
            totals[values] = totals.get(values, 0) + max(0, figure - before.get(values, 0))
        family = CounterMetricFamily(f"kataribe_{counter.name}", counter.what, labels=counter.labels)
        for values, total in totals.items():
            family.add_metric(values, total)
        return family


def _gauge(name: str, what: str, labels: _Labels, samples: _Samples) -> Metric:
    family = GaugeMetricFamily(f"kataribe_{name}", what, labels=labels)
    for values, figure in samples:
        family.add_metric(values, figure)
    return family


def _of_bot(found: BotFigures) -> Iterator[Metric]:
    states = ((("running",), found.running), (("stopped",), found.stopped))
    yield _gauge("sessions", "Stories", ("state",), states)
    yield _gauge("players", "Persons who wrote in a story", (), [((), found.players)])
    judgements = [
        ((str(kind), str(state)), n) for kind, states_ in found.judgements.items() for state, n in states_.items()
    ]
    yield _gauge("judgements", "Judgements of persons", ("kind", "state"), judgements)
    if found.head_tokens:
        yield _gauge("memory_tokens", "The memory in a prompt, in tokens", ("of",), _spread((), found.head_tokens))
    if found.database_bytes is not None:
        yield _gauge("database_bytes", "Size of the database", (), [((), found.database_bytes)])


def _of_figures(figures: Figures) -> Iterator[Metric]:
    folds = [((str(kind), str(state)), n) for kind, states in figures.folds.items() for state, n in states.items()]
    yield _gauge("turns", "Turns that are part of a story", (), [((), figures.turns)])
    yield _gauge("replies", "Replies among them", (), [((), figures.replies)])
    yield _gauge("folds", "Background work on memories", ("kind", "state"), folds)
    yield _gauge("chapters", "Chapters", (), [((), figures.chapters)])
    yield _gauge("memories", "Memories in use", ("kind",), [((str(k),), n) for k, n in figures.lines.items()])
    yield _gauge("reports", "Reports of memories", ("state",), [((str(s),), n) for s, n in figures.reports.items()])
    for name, what, label, spreads in (
        ("fold_seconds", "From a fold's start to its end, of the newest hundred", "kind", figures.fold_seconds),
        ("answer_seconds", "Time with the model, of the newest hundred answers", "purpose", figures.answer_seconds),
        ("wait_seconds", "Time in the queue, of the newest hundred answers", "purpose", figures.wait_seconds),
    ):
        samples = [sample for key, spread in spreads.items() for sample in _spread((str(key),), spread)]
        yield _gauge(name, what, (label, "of"), samples)
    shares = (("all", figures.reuse.share), ("ordinary", figures.ordinary.share))
    known = [((turns,), share) for turns, share in shares if share is not None]
    yield _gauge("prompt_reused_ratio", "Prompt tokens of replies that the server had computed", ("turns",), known)


def _counters(figures: Figures) -> Iterator[_Counter]:
    by_cost = {(cost.purpose, cost.model): cost for cost in figures.costs}
    tokens = {
        (*key, part): count
        for key, cost in by_cost.items()
        for part, count in (("computed", cost.computed), ("cached", cost.cached), ("written", cost.written))
    }
    labels = ("purpose", "model")
    yield _Counter("model_calls", "Requests to a model", labels, [(k, c.calls) for k, c in by_cost.items()])
    yield _Counter("model_tokens", "Tokens of prompts and answers", (*labels, "part"), tokens.items())
    yield _Counter("model_seconds", "Time with the model", labels, [(k, c.seconds) for k, c in by_cost.items()])
    yield _Counter("model_wait_seconds", "Time in the queue", labels, [(k, c.waited) for k, c in by_cost.items()])
    made_room = [(k, c.interruptions) for k, c in by_cost.items()]
    yield _Counter("model_interruptions", "Requests that made room for a reply", labels, made_room)
    for name, what, of in (
        ("answers_rejected", "Answers of a model that were of no use", figures.rejected),
        ("requests_unanswered", "Requests to a model without an answer", figures.unanswered),
    ):
        codes = [((purpose, code), count) for purpose, counts in of.items() for code, count in counts.items()]
        yield _Counter(name, what, ("purpose", "code"), codes)
    for name, what, total in (
        ("fold_tries_in_vain", "Tries of a fold that came to nothing", figures.tries_in_vain),
        ("forced_cuts", "Prompts cut by force", figures.forced_cuts),
        ("corrections", "Changes of memories by moderators", figures.corrections),
        ("corrections_undone", "Those among them that brought back what stood before", figures.undone),
    ):
        yield _Counter(name, what, (), [((), total)])


def _spread(values: _Labels, spread: Spread) -> _Samples:
    return ((*values, "median"), spread.median), ((*values, "largest"), spread.largest)


@asynccontextmanager
async def serving(metrics: Metrics, port: int) -> AsyncIterator[str]:
    """Within it the figures are served, at the address that is given; port 0 takes any that is free. Raises PortUnusable."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=await metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    application = web.Application()
    application.router.add_get("/metrics", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, ADDRESS, port).start()
        except OSError as error:
            raise PortUnusable(
                f"METRICS_PORT: port {port} of {ADDRESS} cannot be used ({_reason(error)}); write another, or none."
            ) from error
        address = f"http://{ADDRESS}:{runner.addresses[0][1]}/metrics"
        log.info("figures for Prometheus at %s", address)
        yield address
    finally:
        await runner.cleanup()


def _reason(error: OSError) -> str:
    in_use = error.errno == errno.EADDRINUSE
    return "another program uses it" if in_use else (error.strerror or type(error).__name__).lower()
