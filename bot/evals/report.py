"""How every evaluation lays its figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Rows of names and values under a title."""
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def counts(of: Mapping[str, int]) -> str:
    """Counts by name, in one line."""
    return ", ".join(f"{name} {count}" for name, count in of.items()) or "none"
