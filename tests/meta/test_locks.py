"""The locks install the same files everywhere, from whichever registry pip is set up for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.meta.source import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def _pins(lock: Path) -> dict[str, str]:
    """Each requirement with its hashes, by its normalised name."""
    entries = lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return {re.split(r"[=\s]", entry, maxsplit=1)[0]: entry for entry in entries if entry.strip()}


def _names(requirements: list[str]) -> set[str]:
    return {re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=;]", line, maxsplit=1)[0].lower()) for line in requirements}


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_address_and_hashes_everything(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")

    assert "://" not in text
    assert "index-url" not in text
    assert "find-links" not in text
    pins = _pins(lock)
    assert pins
    assert [entry for entry in pins.values() if "==" not in entry or "--hash=sha256:" not in entry] == []


def test_the_locks_hold_what_the_project_declares() -> None:
    project = _project()
    run = _names(project["project"]["dependencies"]) | _names(project["dependency-groups"]["build"])
    demo = run | _names(project["project"]["optional-dependencies"]["demo"])
    dev = demo | _names(project["dependency-groups"]["dev"])

    for name, declared in (("run", run), ("demo", demo), ("dev", dev)):
        assert declared - _pins(ROOT / f"requirements/{name}.lock").keys() == set(), f"make lock ({name})"


def test_the_locks_agree() -> None:
    dev = _pins(ROOT / "requirements/dev.lock")

    for lock in LOCKS:
        pins = {name: entry.split()[0] for name, entry in _pins(lock).items()}
        assert {name: pin for name, pin in pins.items() if dev[name].split()[0] != pin} == {}
