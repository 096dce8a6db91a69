"""Bringing a reply to its channel, once."""

from __future__ import annotations

import contextlib
import logging

import discord

from bot.client import KataribeBot
from bot.engine import Reply
from bot.errors import Refused
from cogs._posts import Posts
from cogs._remains import known_posts, left_behind
from cogs._voice import REFUSALS
from cogs._webhooks import home_of

log = logging.getLogger(__name__)


async def deliver(
    bot: KataribeBot,
    channel: discord.abc.MessageableChannel,
    reply: Reply,
    *,
    posts: Posts | None = None,
    again: bool = False,
) -> None:
    """Let the channel say a reply, and tie its messages to the turn.

    ``posts`` are the messages that show a part of it, or what is told anew, already; with ``again`` they are looked for in
    the channel. Raises Refused when Discord does not take it: what was sent of it is taken back, and it never happened; of a
    retelling the messages say again what they said, and it is for the caller to choose the former telling.
    """
    async with bot.lock("deliver", channel.id):
        shown = posts or await known_posts(bot, channel, reply)
        try:
            if again:
                shown = await left_behind(bot, channel, reply)
            await _say(shown, reply.text)
        except REFUSALS as error:
            log.warning("session %d: a reply could not be sent: %r", reply.session.id, error)
            if not shown.is_retelling:
                await bot.engine.undeliverable(reply.turn.id)
            await shown.take_back()
            raise Refused("delivery-refused") from error
        await bot.engine.delivered(reply.turn.id, channel.id, shown.ids)
    if (await shown.voice()).hook is None:
        await _hint(bot, channel)


async def _say(posts: Posts, text: str) -> None:
    """Say it by editing; where a message or its webhook was taken away meanwhile, say it all anew."""
    had = bool(posts.ids)
    try:
        await posts.say(text, is_whole=True)
    except (discord.NotFound, discord.Forbidden):
        if not had:
            raise
        await posts.drop()
        await posts.say(text, is_whole=True)


async def _hint(bot: KataribeBot, channel: discord.abc.MessageableChannel) -> None:
    """Say once per channel and process how the character would get its own name and picture."""
    if home_of(channel) is None or channel.id in bot.hinted:
        return
    bot.hinted.add(channel.id)
    with contextlib.suppress(*REFUSALS):
        await channel.send(bot.catalogue.text("hint-webhooks", bot.locale_of(channel)))
