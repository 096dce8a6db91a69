"""How ``/memory stats`` words its figures."""

from __future__ import annotations

from collections.abc import Mapping

from bot.memory.figures import Spread
from cogs._lines import Say


def listed(counts: Mapping[str, int]) -> str:
    """Counts by name, in one line."""
    return " · ".join(f"{name} {count:,}" for name, count in counts.items())


def spread(of: Spread, say: Say) -> str:
    """The middle and the largest of some figures."""
    return say("stats-spread", median=number(of.median), largest=number(of.largest))


def number(figure: float) -> str:
    """Whole from ten on, and with one digit behind the point below that, unless that is whole."""
    return f"{figure:,.0f}" if figure >= 10 or float(round(figure, 1)).is_integer() else f"{figure:.1f}"
