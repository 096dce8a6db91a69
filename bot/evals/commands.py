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
SERVERS: Final = ("one", "ram", "two")
"""Ways of starting the small model's server: one slot, one slot with the prompt cache in RAM, two slots."""
_ARMS: Final = ("nothing", "summary", "long-summary", "window", "chapters", "ledger", "recall")


class _Options(Protocol):
    def add_argument(self, *names: str, **rest: Any) -> Any: ...


class _Commands(Protocol):
    def add_parser(self, name: str, **rest: Any) -> argparse.ArgumentParser: ...


def add_evaluations(parser: argparse.ArgumentParser) -> None:
    """``kataribe eval …``."""
    evaluations = parser.add_subparsers(required=True, metavar="WHAT")
    audit = _command(evaluations, "audit", "memories against the story that they were made from")
    audit.add_argument(
        "stories", nargs="*", type=Path, metavar="FILE", help="exports as JSON, or stories that are played"
    )
    audit.add_argument("--session", type=int, metavar="N", help="a story of your own database, which is only read")
    _model(audit, "who audits, and folds what is played", CONFIGURED)
    audit.add_argument("--seed", type=int, default=1, help="sent to the model")
    audit.add_argument("--limit", type=int, metavar="N", help="the first N chapters only")
    lies = _command(evaluations, "lies", "do lies, secrets and imaginings stay what they are")
    lies.add_argument("stories", nargs="+", type=Path, metavar="FILE", help="stories with their truth, as JSON")
    folders = lies.add_mutually_exclusive_group()
    folders.add_argument("--folder", choices=("truth", "adversary"), default="truth", help="who folds, by script")
    _model(folders, "who folds")
    lies.add_argument("--seed", type=int, default=1, help="for the adversary's choices, and sent to a model")
    people = _command(evaluations, "people", "is of a person what is kept about them")
    people.add_argument("dialogues", type=Path, metavar="FILE", help="one person's dialogues, as JSON lines")
    _model(people, "who judges; personas.json beside FILE scores it")
    people.add_argument("--seed", type=int, default=1, help="sent to the model")
    people.add_argument("--limit", type=int, metavar="N", help="the first N dialogues only")
    _add_recall(evaluations)
    voice = _command(evaluations, "voice", "does a character keep its voice after folds")
    voice.add_argument(
        "story", nargs="?", type=Path, metavar="FILE", help="an export as JSON, or a story; it is played"
    )
    voice.add_argument("--session", type=int, metavar="N", help="a story of your own database, which is only read")
    _model(voice, "who plays, folds and judges", CONFIGURED)
    voice.add_argument(
        "--questions", type=int, default=6, metavar="N", help="how many are asked, at most 8 (default: 6)"
    )
    voice.add_argument("--repeats", type=int, default=1, metavar="N", help="how often, with another seed each time")
    voice.add_argument("--seed", type=int, default=1, help="sent to the model")
    voice.add_argument("--limit", type=int, metavar="N", help="the first N turns only")


def _add_recall(evaluations: _Commands) -> None:
    recall = _command(evaluations, "recall", "what is still known at the end of a long conversation, by age")
    recall.add_argument(
        "conversation", type=Path, metavar="FILE",
        help="JSON of LoCoMo or DiscordChatExporter, a SillyTavern chat, or what kataribe export --format json writes",
    )  # fmt: skip
    recall.add_argument("--limit", type=int, metavar="N", help="the first N conversations of the file only")
    recall.add_argument(
        "--questions", type=int, metavar="N", help="so many for each conversation, evenly over the ages (default: all)"
    )
    recall.add_argument("--repeats", type=int, default=2, metavar="N", help="how often all is done (default: 2)")
    recall.add_argument(
        "--arms", nargs="+", choices=_ARMS, default=_ARMS, metavar="ARM", help=f"of {', '.join(_ARMS)} (default: all)"
    )
    _model(recall, "who folds, summarises, answers and grades", default=CONFIGURED)
    recall.add_argument("--seed", type=int, default=1, help="for the choice of questions")
    recall.add_argument(
        "--trigger", type=int, metavar="TOKENS",
        help="when the conversation is folded (default: by the model's window, and small enough for eight folds)",
    )  # fmt: skip


def add_benchmarks(parser: argparse.ArgumentParser) -> None:
    """``kataribe bench …``."""
    benchmarks = parser.add_subparsers(required=True, metavar="WHAT")
    prefix = _command(benchmarks, "prefix", "how much of each prompt the model server reuses")
    prefix.add_argument("--turns", type=int, default=400, help="messages with their replies (default: 400)")
    prefix.add_argument(
        "--sample", type=int, default=24, metavar="N",
        help="prompts of each of the other ways that the server is really asked for, 0 for all (default: 24)",
    )  # fmt: skip
    _model(prefix, "who is played with (default: the model of .env where LLM_BASE_URL is set, else small)")
    fold = _command(
        benchmarks, "fold", "what a running fold costs a reply, and what a fold costs in either way of asking"
    )
    fold.add_argument("--repeats", type=int, default=5, metavar="N", help="of each scenario (default: 5)")
    fold.add_argument(
        "--reply-tokens", type=int, default=96, metavar="N", help="how long a reply may be, in tokens (default: 96)"
    )
    fold.add_argument(
        "--stories",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="compare two ways of asking for a fold on these",
    )
    fold.add_argument(
        "--asked", type=int, default=2, metavar="N", help="folds of each story that the model is asked for (default: 2)"
    )
    fold.add_argument(
        "--servers", nargs="+", choices=SERVERS, default=SERVERS,
        help="the small model's server with one slot, one slot and the prompt cache in RAM, two slots (default: all)",
    )  # fmt: skip
    _model(fold, "the model that replies and folds", SMALL)
    turn = _command(benchmarks, "turn", "what we cost beside the model, in short stories and in long ones")
    turn.add_argument(
        "--turns", type=int, nargs="+", default=(1_000, 10_000, 50_000), metavar="N",
        help="the lengths of the stories (default: 1000 10000 50000)",
    )  # fmt: skip
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


def _model(parser: _Options, what: str, default: str | None = None) -> None:
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
