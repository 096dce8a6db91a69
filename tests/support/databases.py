"""Databases with the newest schema and no rows, for tests that are about something else than migrating."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.store import upgrade


@cache
def _migrated() -> bytes:
    """What the migrations make of nothing; they run once in each process of the tests."""
    with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as apart:  # a caller's event loop may be running
        file = Path(folder) / "empty.db"
        apart.submit(lambda: asyncio.run(upgrade(f"sqlite+aiosqlite:///{file.as_posix()}"))).result()
        return file.read_bytes()


def lay(file: Path) -> str:
    """Put such a database at ``file``; its address."""
    file.write_bytes(_migrated())
    return f"sqlite+aiosqlite:///{file.as_posix()}"
