"""What was written while the bot was away."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Final

import discord

from bot.client import KataribeBot
from bot.memory.story import LastMessage
from cogs._messages import story_message
from cogs._voice import REFUSALS

log = logging.getLogger(__name__)

# A night's worth of a busy channel; whatever is older stays in the channel only.
_MOST_MISSED: Final = 500


async def catch_up(bot: KataribeBot, known: LastMessage, arrived: Collection[int]) -> bool:
    """Hear what a channel's players wrote meanwhile, oldest first; whether any of it waits for an answer.

    The messages that have ``arrived`` by the gateway since the start are heard and answered as ever.
    """
    channel = await bot.channel(known.channel_id)
    if channel is None:
        return False
    since = max(known.message_id or 0, discord.utils.time_snowflake(known.since))
    waits = False
    try:
        async with bot.lock("hear", known.channel_id):
            async for message in channel.history(limit=_MOST_MISSED, after=discord.Object(since), oldest_first=True):
                written = story_message(message, bot.id) if message.id not in arrived else None
                heard = await bot.engine.hear(written) if written else None
                waits = waits or (heard is not None and heard.is_answered)
    except REFUSALS as error:
        log.warning("channel %d: what was missed could not be read: %r", known.channel_id, error)
    return waits
