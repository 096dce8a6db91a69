"""The guild's log channel: where moderators read of corrections, of reports, and of what could not be folded."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import discord

from bot.client import KataribeBot
from bot.memory.story import Session
from bot.memory.turns import Turn
from cogs._history import message_link
from cogs._lines import Say
from cogs._voice import REFUSALS

log = logging.getLogger(__name__)


async def log_channel(bot: KataribeBot, session: Session) -> discord.abc.MessageableChannel | None:
    """Where a story's corrections and reports are posted; None where that was not set, or is closed to us."""
    channel_id = await bot.moderation.log_channel(session.id)
    if channel_id is None:
        return None
    try:
        return await bot.channel(channel_id)
    except REFUSALS as error:
        log.warning("log channel %d could not be found: %r", channel_id, error)
        return None


async def post(channel: discord.abc.MessageableChannel, embed: discord.Embed, view: discord.ui.View | None) -> bool:
    """Post to a log channel; False when Discord does not let us."""
    try:
        await (channel.send(embed=embed) if view is None else channel.send(embed=embed, view=view))
    except REFUSALS as error:
        log.warning("log channel %d: nothing could be posted: %r", channel.id, error)
        return False
    return True


def whereabouts(session: Session, cited: Sequence[tuple[Turn, Sequence[int]]], say: Say) -> str:
    """The story's channel, and links to the messages that a memory rests on."""
    links = [
        f"[{say('history-turn', seq=turn.seq)}]({message_link(session, messages[0])})"
        for turn, messages in cited[:5]
        if messages
    ]
    return " · ".join([f"<#{session.place.channel_id}>", *links])
