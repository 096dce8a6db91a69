"""The small model of the demo, where it is there."""

from __future__ import annotations

import importlib.util

import pytest

from bot.demo.model import CACHE, NAME, is_small_model


@pytest.fixture
def small() -> str:
    """What names the small model to ``--model``; without it the test is skipped, with the reason."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("no embedded model server: xllamacpp has no wheel for this platform")
    if not is_small_model(CACHE / NAME):
        pytest.skip(f"no small model at {CACHE / NAME}; python -m bot.demo.model fetches it")
    return "small"
