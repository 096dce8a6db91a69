"""Which messages are story, as plain data."""

from __future__ import annotations

from typing import Final

import discord

from bot.memory.attached import MOST_PICTURES
from bot.memory.markup import plain_name
from bot.memory.turns import PlayerMessage

_REPLY: Final = discord.MessageType.reply
_STORY: Final = (discord.MessageType.default, _REPLY)
_PICTURES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")


def story_message(message: discord.Message, bot_id: int) -> PlayerMessage | None:
    """A message as plain data; None for what no person wrote: bots, webhooks, Discord itself, or neither words nor pictures.

    ``bot_id`` is ours: a mention of us, or of the role that Discord made for us, calls the character.
    """
    if (
        message.author.bot
        or message.webhook_id is not None
        or message.type not in _STORY
        or not (message.content.strip() or pictures_of(message))
    ):
        return None
    return PlayerMessage(
        message_id=message.id,
        channel_id=message.channel.id,
        author_id=message.author.id,
        author_name=plain_name(message.author.display_name),
        text=message.content,
        at=message.created_at,
        pictures=picture_labels(message),
        reply_to=message.reference.message_id if message.reference and message.type is _REPLY else None,
        mentions_bot=_mentions(message, bot_id),
    )


def pictures_of(message: discord.Message) -> list[discord.Attachment]:
    """The pictures that came with a message, as many as count."""
    pictures = [each for each in message.attachments if (each.content_type or "").partition(";")[0] in _PICTURES]
    return pictures[:MOST_PICTURES]


def picture_labels(message: discord.Message) -> tuple[str, ...]:
    """What the author says that each of them shows, else the name of its file."""
    return tuple(each.description or each.filename.removeprefix("SPOILER_") for each in pictures_of(message))


def _mentions(message: discord.Message, user_id: int) -> bool:
    roles = (role.tags for role in message.role_mentions)
    is_ours = any(tags is not None and tags.bot_id == user_id for tags in roles)
    return is_ours or any(user.id == user_id for user in message.mentions)
