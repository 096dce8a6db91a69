"""No evaluation of a test leaves results beside the sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.evals import runs
from tests.evals.small import small

__all__ = ["results", "small"]


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where runs are kept that name no folder."""
    folder = tmp_path / "results"
    monkeypatch.setattr(runs, "RESULTS", folder)
    return folder
