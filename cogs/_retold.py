"""Telling a reply otherwise in its channel: the messages that carry it are edited."""

from __future__ import annotations

import logging

import discord

from bot.client import KataribeBot
from bot.errors import Refused, UserError
from bot.rewinding import Told
from cogs._delivery import deliver
from cogs._posts import Post, Posts
from cogs._streaming import Stream
from cogs._voice import REFUSALS, Voice

log = logging.getLogger(__name__)


async def say_otherwise(
    bot: KataribeBot, channel: discord.abc.MessageableChannel, turn_id: int, number: int | None = None
) -> None:
    """Let a reply be told anew, or as it was told before under a number; its messages follow.

    Raises UserError; then the story and the channel are as they were.
    """
    before = await bot.rewinding.turn(turn_id)
    session = before.session
    said = await _said(bot, channel, before)
    posts = Posts(bot, channel, turn_id, before.character, before=said)
    if number is not None and number <= len(before.tellings):
        reply = await bot.engine.choose_telling(session.id, turn_id, number)
    else:
        async with Stream(bot, channel, said) as stream:
            reply = await bot.engine.retell(session.id, turn_id, watch=stream.watch)
        posts = stream.posts or posts
    try:
        await deliver(bot, channel, reply, posts=posts)
    except UserError:
        await bot.engine.choose_telling(session.id, turn_id, before.number)
        raise


async def show_view(
    bot: KataribeBot,
    channel: discord.abc.MessageableChannel,
    told: Told,
    message_id: int,
    view: discord.ui.View | None,
) -> None:
    """Put buttons below a message of a reply, or with None take them away; without them it stands too."""
    try:
        voice = await Voice.of(bot, channel, told.character)
        if voice.hook is None:
            await channel.get_partial_message(message_id).edit(view=view)  # type: ignore[union-attr]
        else:
            thread = channel if isinstance(channel, discord.Thread) else discord.utils.MISSING
            await voice.hook.edit_message(message_id, view=view, thread=thread)
    except REFUSALS as error:
        log.warning("turn %d: its buttons could not be shown: %r", told.turn.id, error)


async def _said(bot: KataribeBot, channel: discord.abc.MessageableChannel, told: Told) -> list[Post]:
    """The messages of a reply, with what they say. Raises Refused when Discord does not answer."""
    try:
        voice = await Voice.of(bot, channel, told.character)
    except REFUSALS as error:
        raise Refused("delivery-refused") from error
    ids = await bot.engine.messages_of(told.turn.id)
    parts = [*voice.parts(told.reply.text), *("…" for _ in ids)]
    return [Post(message_id, part) for message_id, part in zip(ids, parts, strict=False)]
