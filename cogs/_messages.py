"""Which messages are story, as plain data."""

from __future__ import annotations

import discord

from bot.memory.markup import plain_name
from bot.memory.turns import PlayerMessage

_STORY = (discord.MessageType.default, discord.MessageType.reply)


def story_message(message: discord.Message) -> PlayerMessage | None:
    """A message as plain data; None for what no person wrote: bots, webhooks, Discord itself, or no words at all."""
    if (
        message.author.bot
        or message.webhook_id is not None
        or message.type not in _STORY
        or not message.content.strip()
    ):
        return None
    return PlayerMessage(
        message_id=message.id,
        channel_id=message.channel.id,
        author_id=message.author.id,
        author_name=plain_name(message.author.display_name),
        text=message.content,
        at=message.created_at,
    )
