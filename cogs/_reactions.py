"""Reactions to a message of a story that ask for the same as the commands on it."""

from __future__ import annotations

import contextlib
from typing import Final

import discord

from bot.client import KataribeBot
from bot.errors import UserError
from cogs._lines import bound
from cogs._told_otherwise import Act, go_on, retell, take_back, who
from cogs._voice import REFUSALS

_ACTS: Final[dict[str, Act]] = {"🔁": retell, "▶": go_on, "↩": take_back}
_ASKS: Final = "❓"
# Which Discord adds to some emoji and not to others.
_VARIATION: Final = "\ufe0f"


async def react(bot: KataribeBot, payload: discord.RawReactionActionEvent) -> None:
    """Do what a reaction asks; those of anybody but a player of the story or a moderator mean nothing."""
    emoji = str(payload.emoji).rstrip(_VARIATION)
    act = _ACTS.get(emoji)
    if (act is None and emoji != _ASKS) or payload.user_id == (bot.user.id if bot.user else 0):
        return
    channel = await bot.channel(payload.channel_id)
    if channel is None:
        return
    try:
        told = await bot.rewinding.told(payload.message_id)
        if not await _may(bot, channel, payload, told.session.id):
            return
        say = bound(bot.catalogue.text, bot.locale_of(channel))
        if act is None:
            await _tell(bot, payload.user_id, who(told, say))
        else:
            await act(bot, channel, told, payload.user_id)
    except UserError as error:
        if error.code != "retell-no-turn":
            await _tell(bot, payload.user_id, bot.explain(error, bot.locale_of(channel)))
    except Exception as error:  # noqa: BLE001 - explained to the person, and logged where that is done
        await _tell(bot, payload.user_id, bot.explain(error, bot.locale_of(channel)))


async def _may(
    bot: KataribeBot, channel: discord.abc.MessageableChannel, payload: discord.RawReactionActionEvent, session_id: int
) -> bool:
    member = payload.member
    if member is None or isinstance(channel, discord.PartialMessageable):
        return payload.guild_id is None
    if member.bot:
        return False
    if await bot.rewinding.is_player(session_id, member.id):
        return True
    roles = [role.id for role in member.roles]
    is_moderator = await bot.moderation.is_moderator_role(member.guild.id, roles)
    return is_moderator or channel.permissions_for(member).manage_messages


async def _tell(bot: KataribeBot, user_id: int, text: str) -> None:
    """A reaction has no answer that only its author sees, so it comes as a direct message, if they take any."""
    with contextlib.suppress(*REFUSALS):
        await (await bot.create_dm(discord.Object(user_id))).send(text)
