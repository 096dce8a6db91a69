"""What may be done with a message of a story: by a command on it, or by a reaction to it."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable

import discord

from bot.client import KataribeBot
from bot.errors import NotFound, Refused
from bot.memory.turns import TurnState
from bot.rewinding import Told
from cogs._history import message_link
from cogs._lines import Say
from cogs._people import require_age_restriction
from cogs._speaking import speak
from cogs._taken_back import clear
from cogs._tellings import tell
from cogs._voice import REFUSALS

Act = Callable[[KataribeBot, "discord.abc.MessageableChannel", Told, int], Awaitable[str]]


async def retell(bot: KataribeBot, channel: discord.abc.MessageableChannel, told: Told, by: int) -> str:
    """Another telling of the newest reply. The id of the message that says so; raises UserError."""
    _require_running(told)
    await tell(bot, channel, told.turn.id, by=by)
    return "retell-done"


async def go_on(bot: KataribeBot, channel: discord.abc.MessageableChannel, told: Told, by: int) -> str:
    """One more reply, although nobody wrote. The id of the message that says so; raises UserError."""
    _require_running(told)
    with bot.working():
        async with bot.lock("answer", told.session.id):
            require_age_restriction(channel, told.session)
            bot.manners.spend(told.session, by)
            if await speak(bot, channel, told.session.id, unasked=True) is None:  # the story was removed meanwhile
                raise NotFound("session-unknown")
    return "retell-went-on"


async def take_back(bot: KataribeBot, channel: discord.abc.MessageableChannel, told: Told, by: int) -> str:
    """The last exchange leaves the story: our messages the channel too, players' get a mark. Raises UserError."""
    async with bot.lock("answer", told.session.id):
        branch = await bot.rewinding.take_back(told, by=by)
        await clear(bot, channel, told, branch)
    return "retell-taken-back"


async def rewind(bot: KataribeBot, channel: discord.abc.MessageableChannel, told: Told, by: int) -> str:
    """What follows the message leaves the story; it stays in the channel, where a line says so. Raises UserError."""
    async with bot.lock("answer", told.session.id):
        branch = await bot.rewinding.rewind(told, by=by)
    ids = await bot.engine.messages_of(told.turn.id)
    link = message_link(told.session, ids[-1]) if ids else "…"
    text = bot.catalogue.text(
        "rewind-announced", bot.locale_of(channel), by=f"<@{by}>", link=link, turns=len(branch.turns)
    )
    with contextlib.suppress(*REFUSALS):
        await channel.send(text)
    return "rewind-done"


def who(told: Told, say: Say) -> str:
    """Which player or character a message is from, and what became of it."""
    author, turn = told.turn.author, told.turn
    name = discord.utils.escape_mentions(discord.utils.escape_markdown(author.name))
    if author.is_player:
        lines = [say("retell-who-player", seq=turn.seq, player=f"<@{author.id}>", name=name)]
    else:
        model = told.tellings[told.number - 1].model or "?"
        lines = [say("retell-who-character", seq=turn.seq, name=name, model=model)]
        if len(told.tellings) > 1:
            lines.append(say("retell-who-telling", number=told.number, count=len(told.tellings)))
    if turn.state is not TurnState.KEPT:
        lines.append(say("retell-who-aside"))
    return "\n".join(lines)


def _require_running(told: Told) -> None:
    if not told.session.running:
        raise Refused("retell-paused")
    if told.turn.state is TurnState.WRITING:
        raise Refused("retell-writing")
    if told.turn.state is not TurnState.KEPT:
        raise Refused("rewind-out-of-sight")
