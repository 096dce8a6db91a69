"""A reply of a character: shown while it is written, then delivered."""

from __future__ import annotations

import discord

from bot.client import KataribeBot
from bot.engine import Reply
from cogs._delivery import deliver
from cogs._streaming import Stream


async def speak(
    bot: KataribeBot, channel: discord.abc.MessageableChannel, session_id: int, *, unasked: bool = False
) -> Reply | None:
    """Write the next reply of a session and deliver it; None when nobody waits for one, unless it is ``unasked``.

    Raises UserError.
    """
    async with Stream(bot, channel) as stream:
        reply = await bot.engine.reply(session_id, unasked=unasked, watch=stream.watch)
    if reply is not None:
        await deliver(bot, channel, reply, posts=stream.posts)
    return reply
