"""The command line of ``kataribe eval`` and ``kataribe bench``. What runs a command is loaded when it is chosen."""

from __future__ import annotations

import argparse
import asyncio
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

_OK, _MISSED = 0, 1
SMALL: Final = "small"
"""Names the small model from the demo's package."""
CONFIGURED: Final = "configured"
"""Names the model of the settings: for folding and judging that of ``FOLDER_*``, else of ``LLM_*``."""


class _Commands(Protocol):
    def add_parser(self, name: str, **rest: Any) -> argparse.ArgumentParser: ...


def add_evaluations(parser: argparse.ArgumentParser) -> None:
    """``kataribe eval …``."""
    evaluations = parser.add_subparsers(required=True, metavar="WHAT")
    lies = _command(evaluations, "lies", "do lies, secrets and imaginings stay what they are")
    lies.add_argument("stories", nargs="+", type=Path, metavar="FILE", help="stories with their truth, as JSON")
    lies.add_argument("--folder", choices=("truth", "adversary", "model"), default="truth", help="who folds")
    lies.add_argument("--seed", type=int, default=1, help="for the adversary's choices")
    people = _command(evaluations, "people", "is of a person what is kept about them")
    people.add_argument("dialogues", type=Path, metavar="FILE", help="one person's dialogues, as JSON lines")
    people.add_argument(
        "--model", action="store_true", help="the model of .env judges; personas.json beside FILE scores it"
    )
    people.add_argument("--limit", type=int, metavar="N", help="the first N dialogues only")


def add_benchmarks(parser: argparse.ArgumentParser) -> None:
    """``kataribe bench …``."""
    benchmarks = parser.add_subparsers(required=True, metavar="WHAT")
    prefix = _command(benchmarks, "prefix", "how much of each prompt the model server reuses")
    prefix.add_argument("--turns", type=int, default=400, help="messages with their replies (default: 400)")
    load = _command(benchmarks, "load", "what a message costs the bot, beside a bare bot that says again what it hears")
    load.add_argument(
        "--sessions", type=int, default=1000, help="stories, each in a channel of its own (default: 1000)"
    )
    load.add_argument("--rate", type=float, default=200, help="messages a second, over all of them (default: 200)")
    load.add_argument("--seconds", type=float, default=30, help="for how long (default: 30)")


def _command(commands: _Commands, name: str, what: str) -> argparse.ArgumentParser:
    """A command run by ``run`` of the module of its name, which gets all options and says whether all was well."""
    parser = commands.add_parser(name, help=what, description=what)
    parser.add_argument("--json", action="store_true", dest="as_json", help="print the figures as JSON")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder for results, pictures and kept answers")
    parser.set_defaults(command=_runner(name))
    return parser


def _model(parser: argparse.ArgumentParser, what: str, default: str | None = None) -> None:
    """``--model``: which model to ask."""
    parser.add_argument(
        "--model", nargs="?", const=CONFIGURED, default=default, metavar="WHICH",
        help=f"{what}: {SMALL} (the demo's), an address up to /v1, or without a value the model of .env",
    )  # fmt: skip


def _runner(name: str) -> Callable[[argparse.Namespace], int]:
    def run(options: argparse.Namespace) -> int:
        module = importlib.import_module(f"bot.evals.{name}")
        given = {key: value for key, value in vars(options).items() if key != "command"}
        return _OK if asyncio.run(module.run(**given)) else _MISSED

    return run
