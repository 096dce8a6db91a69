"""Bringing a reply to its channel, once."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import aiohttp
import discord

from bot.client import KataribeBot
from bot.engine import Reply
from bot.errors import Refused
from cogs._voice import Voice
from cogs._webhooks import home_of

log = logging.getLogger(__name__)

REFUSALS: Final = (discord.DiscordException, aiohttp.ClientError, OSError)
"""What a request to Discord may raise, timeouts among it."""
_CLOCK_SKEW: Final = timedelta(minutes=1)


async def deliver(
    bot: KataribeBot, channel: discord.abc.MessageableChannel, reply: Reply, *, again: bool = False
) -> None:
    """Send a reply and tie its messages to the turn; with ``again``, only what of it is not in the channel yet.

    Raises Refused when Discord does not take it: what was sent of it is taken back, and the reply never happened.
    """
    async with bot.lock("deliver", channel.id):
        sent: list[discord.Message] = []
        try:
            voice = await Voice.of(bot, channel, reply.session.character)
            parts = voice.parts(reply.text)
            sent += await _already_sent(bot, channel, reply, parts) if again else ()
            for part in parts[len(sent) :]:
                sent.append(await voice.say(part))
        except REFUSALS as error:
            log.warning("session %d: a reply could not be sent: %r", reply.session.id, error)
            await _take_back(sent)
            await bot.engine.undeliverable(reply.turn.id)
            raise Refused("delivery-refused") from error
        await bot.engine.delivered(reply.turn.id, channel.id, [message.id for message in sent])
    if voice.hook is None:
        await _hint(bot, channel)


async def _already_sent(
    bot: KataribeBot, channel: discord.abc.MessageableChannel, reply: Reply, parts: Sequence[str]
) -> list[discord.Message]:
    """The leading parts that stand in the channel already: Discord took them, but the process ended before it knew."""
    ours = await bot.engine.own_webhooks()
    found: list[discord.Message] = []
    with contextlib.suppress(discord.Forbidden):
        async for message in channel.history(limit=None, after=reply.turn.at - _CLOCK_SKEW, oldest_first=True):
            is_ours = message.webhook_id in ours or message.author == bot.user
            if is_ours and len(found) < len(parts) and message.content.strip() == parts[len(found)].strip():
                found.append(message)
    return found


async def _take_back(messages: Sequence[discord.Message]) -> None:
    for message in messages:
        with contextlib.suppress(*REFUSALS):
            await message.delete()


async def _hint(bot: KataribeBot, channel: discord.abc.MessageableChannel) -> None:
    """Say once per channel and process how the character would get its own name and picture."""
    if home_of(channel) is None or channel.id in bot.hinted:
        return
    bot.hinted.add(channel.id)
    with contextlib.suppress(*REFUSALS):
        await channel.send(bot.catalogue.text("hint-webhooks", bot.locale_of(channel)))
