"""Reactions that the bot leaves on the newest reply, to be pressed."""

from __future__ import annotations

import contextlib
from typing import Final

import discord

from bot.client import KataribeBot
from bot.engine import Reply
from cogs._voice import REFUSALS

# What cogs/_reactions.py understands, less the question that hardly anybody asks.
_OFFERED: Final = ("🔁", "▶️", "↩️")


async def offer_controls(bot: KataribeBot, channel: discord.abc.MessageableChannel, reply: Reply) -> None:
    """Leave the reactions on a delivered reply, and take them from the one before, if the operator wants them at all.

    Discord lets through one reaction in a quarter of a second or so
    (https://discord.com/developers/docs/topics/rate-limits), so call it when nobody waits for it.
    """
    message_ids = await bot.engine.messages_of(reply.turn.id) if bot.reply_reactions else ()
    if not message_ids or isinstance(channel, discord.PartialMessageable | discord.GroupChannel):
        return
    former, bot.controls[reply.session.id] = bot.controls.get(reply.session.id), message_ids[-1]
    with contextlib.suppress(*REFUSALS):
        for emoji in _OFFERED:
            await channel.get_partial_message(message_ids[-1]).add_reaction(emoji)
    if former is not None and former != message_ids[-1] and bot.user is not None:
        with contextlib.suppress(*REFUSALS):
            for emoji in _OFFERED:
                await channel.get_partial_message(former).remove_reaction(emoji, bot.user)
