"""What a channel shows of an exchange that was taken back, and that came back."""

from __future__ import annotations

import contextlib
from typing import Any, Final

import discord

from bot.client import KataribeBot
from bot.memory.branches import Branch
from bot.rewinding import TakenUp, Told
from cogs._delivery import deliver
from cogs._tellings import show_buttons
from cogs._voice import REFUSALS, Voice

_MARK: Final = "↩️"


async def clear(bot: KataribeBot, channel: discord.abc.MessageableChannel, told: Told, branch: Branch) -> None:
    """Delete our messages, and mark the players'.

    Ours are untied before, so that their deletion does not take the words out of the database.
    """
    for turn in branch.turns:
        ids = await bot.engine.messages_of(turn.id)
        if turn.author.is_player:
            for message_id in ids:
                with contextlib.suppress(*REFUSALS):
                    await _partial(channel, message_id).add_reaction(_MARK)
            continue
        await bot.engine.delivered(turn.id, channel.id, [])
        for message_id in ids:
            with contextlib.suppress(*REFUSALS):
                await (await Voice.of(bot, channel, told.session.author(turn))).remove(message_id)


async def come_back(bot: KataribeBot, channel: discord.abc.MessageableChannel, taken: TakenUp) -> None:
    """What was taken back is said again, and loses its mark. Raises Refused when Discord does not take it."""
    players = [turn for turn in taken.turns if turn.author.is_player]
    if not taken.unseen and len(players) < len(taken.turns):  # it was rewound: nothing bears a mark
        players = []
    for message_id in [message_id for turn in players for message_id in await bot.engine.messages_of(turn.id)]:
        with contextlib.suppress(*REFUSALS):
            await _partial(channel, message_id).remove_reaction(_MARK, discord.Object(bot.user.id if bot.user else 0))
    for told in taken.unseen:
        await deliver(bot, channel, told.reply)
    for told in taken.unseen[-1:]:
        await show_buttons(bot, channel, told.turn.id)


def _partial(channel: Any, message_id: int) -> discord.PartialMessage:
    return discord.PartialMessage(channel=channel, id=message_id)
