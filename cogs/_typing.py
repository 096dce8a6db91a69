"""Showing that something is being written."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

import discord

from cogs._voice import REFUSALS

# Discord shows typing for ten seconds (https://discord.com/developers/docs/resources/channel#trigger-typing-indicator),
# also after a webhook has spoken: so it does not begin where there turns out to be nothing to write.
_TYPING_SECONDS: Final = 8
_TYPING_BEGINS_AFTER: Final = 0.3


@contextlib.asynccontextmanager
async def typing(channel: discord.abc.Messageable) -> AsyncIterator[None]:
    """Within it Discord shows that the bot is typing."""
    task = asyncio.create_task(_keep_typing(channel))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _keep_typing(channel: discord.abc.Messageable) -> None:
    await asyncio.sleep(_TYPING_BEGINS_AFTER)
    while True:
        with contextlib.suppress(*REFUSALS):
            await channel.typing()
        await asyncio.sleep(_TYPING_SECONDS)
