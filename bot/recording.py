"""What requests to models cost, on record."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from bot.llm.requests import ModelCall
from bot.store import Call, Store

log = logging.getLogger(__name__)


class Collected:
    """The requests made for one reply that are not on record yet."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.calls: list[Call] = []
        self._clock = clock

    def add(self, call: ModelCall) -> None:
        """Take in a request that ended just now."""
        self.calls.append(_on_record(call, self._clock()))


class Recorder:
    """Records requests. ``clock`` gives aware UTC times."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    async def record(self, call: ModelCall) -> None:
        """Record a request that ended just now."""
        await self._store.record_calls(_on_record(call, self._clock()))

    @asynccontextmanager
    async def collecting(self) -> AsyncIterator[Collected]:
        """Collects requests, for the transaction that commits what came of them; whoever did that clears them.

        Those that are left at the end are recorded then, whatever has happened.
        """
        collected = Collected(self._clock)
        try:
            yield collected
        finally:
            if collected.calls:
                try:
                    await self._store.record_calls(*collected.calls)
                except Exception:  # statistics must not hide what went wrong
                    log.exception("the record of %d model calls was lost", len(collected.calls))


def _on_record(call: ModelCall, at: datetime) -> Call:
    return Call(
        call.purpose.value, call.session_id, call.model,
        call.usage.prompt_tokens, call.usage.cached_tokens, call.usage.completion_tokens,
        call.error or call.finish_reason or "", call.attempts, call.milliseconds, at,
        waited_milliseconds=call.waited_milliseconds, interruptions=call.interruptions, rejection=call.rejection,
        epoch=call.epoch, forced_cuts=call.forced_cuts,
    )  # fmt: skip
