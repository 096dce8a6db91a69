from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store import Store
from tests.store.tale import Tale, begin
from tests.support.databases import lay


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'story.db'}"


@pytest.fixture
async def store(url: str, tmp_path: Path) -> AsyncIterator[Store]:
    lay(tmp_path / "story.db")
    async with await Store.open(url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def tale(store: Store) -> Tale:
    """A running session of a character named Rin, without any turn."""
    return await begin(store)
