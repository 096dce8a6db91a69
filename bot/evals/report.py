"""What every evaluation says of how its figures came to be, and how it lays them out."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any


def origin(evaluation: str) -> dict[str, Any]:
    """Which evaluation of which version this is."""
    return {
        "eval": evaluation,
        "version": version("kataribe"),
        "commit": _commit(),
        "python": platform.python_version(),
    }


def table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Rows of names and values under a title."""
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def counts(of: Mapping[str, int]) -> str:
    """Counts by name, in one line."""
    return ", ".join(f"{name} {count}" for name, count in of.items()) or "none"


def _commit() -> str:
    """The commit of this code; empty where git or the repository is missing."""
    try:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()
