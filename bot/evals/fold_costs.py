"""What replies beside a fold cost, in figures: each against its neighbours beside which nothing ran."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

QUIET: Final = "nothing else runs"
READING: Final = "a fold reads"
WRITING: Final = "a fold writes"
TWENTY: Final = "twenty folds are due"
HANGING: Final = "a folding model that never answers"
SLOW: Final = "a folding model that is slow"
AFTER: Final = "a fold has just ended"
SCENARIOS: Final = (QUIET, READING, WRITING, TWENTY, HANGING, SLOW, AFTER)
_RUNNING: Final = (READING, WRITING, TWENTY, HANGING, SLOW)
MOST: Final = 1.05
"""What a running fold may cost a reply, as a factor of its time."""
PLAIN: Final = "one slot"
KEEPING: Final = "one slot, prompt cache in RAM"
SPARE: Final = "two slots, one request at a time"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One reply. Times are in milliseconds from the call of the engine; token figures are the server's.

    ``was_running`` says whether a fold held a slot when the reply was asked for; ``attempts`` counts the reply's requests, and
    ``waited`` is the part of the time that it stood in the queue. ``quiet`` and ``quiet_first`` are the times that its neighbours,
    beside which nothing ran, let expect of it.
    """

    server: str
    scenario: str
    repeat: int
    whole: float
    first: float
    prompt: int
    cached: int
    written: int
    attempts: int
    was_running: bool
    waited: float
    quiet: float
    quiet_first: float

    @property
    def computed(self) -> int:
        """The prompt tokens that the server did not have."""
        return self.prompt - self.cached


@dataclass(frozen=True, slots=True)
class Cost:
    """A scenario on one server: medians, and how far the factors of the repeats lie apart. Where nothing else runs, they tell how
    exact the others are.
    """

    server: str
    scenario: str
    count: int
    factor: float
    lowest: float
    highest: float
    first_factor: float
    milliseconds: float
    more_milliseconds: float
    waited: float
    computed: int


def costs(measured: Iterable[Measurement]) -> list[Cost]:
    """Each scenario on each server, against what is expected of a reply beside which nothing runs."""
    by_server: dict[str, dict[str, list[Measurement]]] = {}
    for m in measured:
        by_server.setdefault(m.server, {}).setdefault(m.scenario, []).append(m)
    found = []
    for server, scenarios in by_server.items():
        for scenario in filter(scenarios.__contains__, SCENARIOS):
            those = scenarios[scenario]
            factors = [m.whole / m.quiet for m in those]
            found.append(
                Cost(
                    server, scenario, len(those),
                    round(statistics.median(factors), 3), round(min(factors), 3), round(max(factors), 3),
                    round(statistics.median(m.first / m.quiet_first for m in those), 3),
                    round(statistics.median(m.whole for m in those), 1),
                    round(statistics.median(m.whole - m.quiet for m in those), 1),
                    round(statistics.median(m.waited for m in those), 1),
                    round(statistics.median(m.computed for m in those)),
                )
            )  # fmt: skip
    return found


def worst(found: Iterable[Cost]) -> dict[str, Cost]:
    """By server, the scenario with a running fold that costs a reply most."""
    by_server: dict[str, Cost] = {}
    for cost in found:
        before = by_server.get(cost.server)
        if cost.scenario in _RUNNING and (before is None or cost.factor > before.factor):
            by_server[cost.server] = cost
    return by_server


def within(found: Iterable[Cost]) -> bool:
    """Whether there is a server on which no running fold costs a reply more than it may.

    One is enough: how the server is started is the operator's choice, and a bare slot without the prompt cache in RAM loses the
    story to whatever else is asked.
    """
    return any(cost.factor <= MOST for cost in worst(found).values())
