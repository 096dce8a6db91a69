"""``kataribe stats``: the figures of all stories, for the operator. Read from the database, also while the bot runs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from bot.evals.report import counts, table
from bot.memory.figures import BotFigures, Figures, Reuse, Spread
from bot.memory.story import FoldState
from bot.statistics import Statistics
from bot.store import Store
from bot.store.health import explained, require_current

_Rows = list[tuple[str, str]]
_COLUMNS: Final = ("purpose", "model", "requests", "computed", "cached", "written", "seconds", "waited")


async def read(url: str) -> BotFigures:
    """The figures of the database at an address. Nothing is written. Raises DatabaseUnusable, and DatabaseTooNew."""
    await require_current(url)
    with explained(url):
        async with await Store.open(url, migrate=False) as store:
            return await Statistics(store).bot()


def as_json(found: BotFigures) -> str:
    """All figures as a document; times are seconds, sizes tokens, turns or bytes, as their names say."""
    document = dataclasses.asdict(found)
    for name in ("reuse", "ordinary"):
        document["figures"][name]["share"] = getattr(found.figures, name).share
    return json.dumps(document, indent=2)


def as_table(found: BotFigures) -> str:
    """All figures as a person reads them."""
    figures = found.figures
    sections = {
        "Stories": _stories(found),
        "Folds": _folds(figures),
        "Judgements of persons": [(str(kind), _states(states)) for kind, states in found.judgements.items()],
        "Replies": _replies(figures),
        "Moderators": _moderators(figures),
    }
    parts = [table(title, rows) for title, rows in sections.items() if rows]
    if figures.costs:
        parts.append("\n".join(["Tokens, and seconds with the model and in its queue", *_costs(figures)]))
    if found.database_bytes is not None:
        parts.append(f"Database: {found.database_bytes / 1e6:,.1f} MB")
    return "\n\n".join(parts)


def _stories(found: BotFigures) -> _Rows:
    figures = found.figures
    rows = [
        ("running", f"{found.running:,}"),
        ("stopped", f"{found.stopped:,}"),
        ("players", f"{found.players:,}"),
        ("turns", f"{figures.turns:,}, {figures.replies:,} of them replies"),
        ("chapters", f"{figures.chapters:,}{_behind(figures.chapter_turns, 'turns')}"),
        ("memories in use", counts({str(kind): number for kind, number in figures.lines.items()})),
    ]
    if found.head_tokens:
        rows.append(("memory in a prompt", _spread(found.head_tokens, "tokens")))
    return [*rows, ("forced cuts", f"{figures.forced_cuts:,}")]


def _folds(figures: Figures) -> _Rows:
    rows = [
        (str(kind), _states(states) + _behind(figures.fold_seconds.get(kind), "s"))
        for kind, states in figures.folds.items()
    ]
    if figures.tries_in_vain:
        rows.append(("tries in vain", f"{figures.tries_in_vain:,}"))
    if figures.fold_errors:
        rows.append(("why, of those not done", counts(figures.fold_errors)))
    return rows


def _replies(figures: Figures) -> _Rows:
    rows = [("prompt tokens reused", _share(figures.reuse)), ("the same on ordinary turns", _share(figures.ordinary))]
    spreads = (("answered in", figures.answer_seconds), ("waited in the queue", figures.wait_seconds))
    for title, by_purpose in spreads:
        rows += [(f"{purpose} {title}", _spread(spread, "s")) for purpose, spread in by_purpose.items()]
    for title, codes in (("answers of no use", figures.rejected), ("requests unanswered", figures.unanswered)):
        rows += [(f"{purpose} {title}", counts(of)) for purpose, of in codes.items()]
    return rows


def _moderators(figures: Figures) -> _Rows:
    return [
        ("corrections", f"{figures.corrections:,}, {figures.undone:,} of them undoing others"),
        ("reports", counts({str(state): number for state, number in figures.reports.items()})),
    ]


def _costs(figures: Figures) -> Iterator[str]:
    """A line for each purpose and model, numbers to the right."""
    lines: list[tuple[str, ...]] = [_COLUMNS]
    for cost in figures.costs:
        numbers = cost.calls, cost.computed, cost.cached, cost.written, round(cost.seconds), round(cost.waited)
        lines.append((cost.purpose, cost.model, *(f"{number:,}" for number in numbers)))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(line, widths, strict=True)
        yield "  " + "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width) for place, (cell, width) in enumerate(cells)
        )


def _states(states: Mapping[FoldState, int]) -> str:
    return ", ".join(f"{number:,} {state}" for state, number in _in_order(states))


def _in_order(states: Mapping[FoldState, int]) -> Iterable[tuple[FoldState, int]]:
    return ((state, states[state]) for state in FoldState if state in states)


def _share(reuse: Reuse) -> str:
    return "unknown" if reuse.share is None else f"{reuse.share:.1%} of {reuse.prompt:,}"


def _spread(spread: Spread, unit: str) -> str:
    median, largest = _number(spread.median), _number(spread.largest)
    return f"{median} {unit} (median), {largest} {unit} at most, of the newest {spread.count}"


def _number(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 10 else f"{figure:.3g}"


def _behind(spread: Spread | None, unit: str) -> str:
    return f"; {_spread(spread, unit)}" if spread else ""
