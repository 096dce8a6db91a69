"""What the last process left of a reply in its channel."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Container
from datetime import timedelta
from typing import Final

import discord

from bot.client import KataribeBot
from bot.engine import Reply
from cogs._posts import Post, Posts
from cogs._voice import REFUSALS, Voice

log = logging.getLogger(__name__)

_CLOCK_SKEW: Final = timedelta(minutes=1)


async def withdraw(bot: KataribeBot, channel: discord.abc.MessageableChannel, reply: Reply) -> None:
    """Take back what the last process showed of a reply that it did not bring to an end."""
    posts = await known_posts(bot, channel, reply)
    try:
        posts = await left_behind(bot, channel, reply)
    except REFUSALS as error:
        log.warning("session %d: what is left of a reply could not be looked for: %r", reply.session.id, error)
    await posts.take_back()


async def known_posts(bot: KataribeBot, channel: discord.abc.MessageableChannel, reply: Reply) -> Posts:
    """The messages that are tied to a reply, whatever they say."""
    posts = [Post(message_id, "") for message_id in await bot.engine.messages_of(reply.turn.id)]
    return Posts(bot, channel, reply.turn.id, reply.character, posts)


async def left_behind(bot: KataribeBot, channel: discord.abc.MessageableChannel, reply: Reply) -> Posts:
    """The messages of a reply that stand in the channel, one that Discord took just before the process ended among them.

    Raises discord.HTTPException.
    """
    voice = await Voice.of(bot, channel, reply.character)
    parts = voice.parts(reply.text) if reply.text else []
    known = frozenset(await bot.engine.messages_of(reply.turn.id))
    hooks = await bot.engine.own_webhooks()
    found: list[Post] = []
    with contextlib.suppress(discord.Forbidden):
        async for message in channel.history(limit=None, after=reply.turn.at - _CLOCK_SKEW, oldest_first=True):
            said_itself = message.author == bot.user and voice.hook is None and _is_part(message, voice.heading, parts)
            if message.id in known or message.webhook_id in hooks or said_itself:
                found.append(Post(message.id, message.content))
    others = await bot.engine.tied([post.message_id for post in found]) - known
    posts = [post for post in found if post.message_id not in others]
    return Posts(bot, channel, reply.turn.id, reply.character, posts)


def _is_part(message: discord.Message, heading: str, parts: Container[str]) -> bool:
    """Whether a message of the bot itself carries a reply rather than a notice."""
    return message.content in parts or message.content.startswith(heading)
