"""Showing a reply while it is being written."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import discord

from bot.client import KataribeBot
from bot.memory.markup import has_sentence
from bot.streaming import Draft
from cogs._marks import closed
from cogs._pace import PACE
from cogs._posts import Post, Posts
from cogs._webhooks import home_of

log = logging.getLogger(__name__)


class Stream:
    """Within it, the reply whose draft it ``watch``es is shown as it is written; one that fails is taken back.

    ``before`` are the messages of a reply that is told anew: they are edited, and say again what they said if it fails.
    """

    def __init__(self, bot: KataribeBot, channel: discord.abc.MessageableChannel, before: Sequence[Post] = ()) -> None:
        self._bot, self._channel, self._before = bot, channel, before
        self._ended = asyncio.Event()
        self._draft: Draft | None = None
        self._task: asyncio.Task[None] | None = None
        self.posts: Posts | None = None

    def watch(self, draft: Draft) -> None:
        """Begin to show a draft, unless the operator wants replies whole."""
        self.posts = Posts(self._bot, self._channel, draft.turn_id, draft.character, before=self._before)
        self._draft = draft
        if self._bot.stream_replies:
            self._task = asyncio.create_task(self._follow(draft, self.posts))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._draft is not None:
            self._draft.stirs.set()
        if self._task is not None:
            await self._task
        if kind is not None and self.posts is not None:
            await self.posts.take_back()

    async def _follow(self, draft: Draft, posts: Posts) -> None:
        """Show the draft until it is finished."""
        home = home_of(self._channel) or self._channel
        self._bot.streams[home.id] += 1
        try:
            shown = ""
            while await self._goes_on(draft, shown, at_once=self._bot.streams[home.id]):
                text = closed(draft.shown())
                if text != shown:
                    await (posts.say(text) if text else posts.drop())
                    shown = text
        except Exception:
            log.warning("turn %d: it is no longer shown as it is written", draft.turn_id, exc_info=True)
        finally:
            self._bot.streams[home.id] -= 1

    async def _goes_on(self, draft: Draft, shown: str, at_once: int) -> bool:
        """Wait until there is something to show; false when the reply is finished."""
        if shown:
            return not await self._ends_within(PACE.between(len(shown)) * at_once)
        await draft.stirs.wait()
        waited = 0.0
        while not await self._ends_within(PACE.look):
            text = draft.shown()
            waited += PACE.look if text else 0
            if has_sentence(text) or waited >= PACE.first:
                return True
        return False

    async def _ends_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        return self._ended.is_set()
