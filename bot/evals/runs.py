"""A run of an evaluation or benchmark: its folder, and the record of how its figures came to be."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import bot
import migrations
from bot.errors import KataribeError

RESULTS: Final = Path("results")
"""Where runs are kept when no folder is named."""
_RECORD: Final = "record.json"
_RESULT: Final = "result.json"
_ANSWERS: Final = "answers"


class ResultsOfOtherCode(KataribeError):
    """A folder that holds what other code, or another evaluation, made; says in a line what to do."""


@dataclass(slots=True)
class Run:
    """One run. ``record`` says how its figures came to be, ``folder`` holds them, the kept answers and the pictures."""

    folder: Path
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def answers(self) -> Path:
        """Where the answers of models are kept, so that a run that was stopped goes on where it was."""
        return self.folder / _ANSWERS

    def picture(self, name: str) -> Path:
        """Where a picture of this run belongs."""
        return self.folder / name

    def note(self, **facts: Any) -> None:
        """Add to the record what became known on the way, such as the model's name."""
        self.record.update(facts)

    def save(self, figures: Mapping[str, Any]) -> dict[str, Any]:
        """Write record and figures to ``result.json``, and return both as one."""
        whole = {**self.record, **figures}
        _write(self.folder / _RESULT, whole)
        return whole


def open_run(
    what: str, out: Path | None, *, settings: Mapping[str, Any], seed: int | None = None, inputs: Iterable[Path] = ()
) -> Run:
    """The run of ``what`` in the folder ``out``, by default one in ``results`` that bears its name and that of the code.

    ``settings`` are those that shape the figures, ``inputs`` the files that were read. Raises ResultsOfOtherCode when the folder
    holds results of another version of this code or of something else: figures of different code are never mixed.
    """
    folder = out or RESULTS / f"{what.replace(' ', '-')}-{fingerprint()}"
    record = {
        **origin(what),
        "settings": dict(settings),
        "seed": seed,
        "inputs": {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs},
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_others(folder, record)
        _write(folder / _RECORD, record)
    except OSError as error:
        raise KataribeError(f"{folder} cannot be used for results: {error.strerror}.") from error
    return Run(folder, record)


def origin(what: str) -> dict[str, Any]:
    """Which evaluation of which code on what system this is."""
    return {
        "what": what,
        "version": version("kataribe"),
        "commit": _commit(),
        "code": fingerprint(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


@cache
def fingerprint() -> str:
    """A short hash of all of this program's source files: the same for the same code, committed or not."""
    whole = hashlib.sha256()
    for package in (bot, migrations):
        root = Path(next(iter(package.__path__)))
        for path in sorted(root.rglob("*.py")):
            whole.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()[:16]


def _refuse_others(folder: Path, record: Mapping[str, Any]) -> None:
    path = folder / _RECORD
    if not path.exists():
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        before = {}
    known = before if isinstance(before, dict) else {}
    if (known.get("what"), known.get("code")) != (record["what"], record["code"]):
        raise ResultsOfOtherCode(
            f"{folder} holds results of {known.get('what', 'something else')} by other code "
            f"({known.get('code', 'unknown')}, now {record['code']}); name another folder with --out, or remove that one."
        )


def _write(path: Path, value: Mapping[str, Any]) -> None:
    """Write it whole or not at all."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n", encoding="utf-8")
    draft.replace(path)


def _commit() -> str:
    """The commit of this code; empty where git or the repository is missing."""
    try:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()
