"""Tasks under way, by a key: nothing is begun twice, nothing is forgotten at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any


class Tasks:
    """Keeps hold of tasks until they are done; an event loop alone does not."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[None]] = {}

    def begin(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, None]], *, name: str) -> None:
        """Begin work as a task of that ``name``, unless what has the same key is under way."""
        if key in self._running:
            return
        task = asyncio.create_task(work(), name=name)
        self._running[key] = task
        task.add_done_callback(self._forget)

    async def finished(self) -> None:
        """Wait for all that is under way; what fails raises here."""
        await asyncio.gather(*self._running.values())

    async def close(self) -> None:
        """Stop all that is under way."""
        tasks = tuple(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._running = {key: other for key, other in self._running.items() if other is not task}
