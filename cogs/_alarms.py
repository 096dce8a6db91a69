"""Answers that wait: for a pause in the talk, or until a limit allows them."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import discord

from bot.client import KataribeBot
from bot.manners import Reason, Wait
from cogs._voice import REFUSALS

_WORTH_A_NOTICE: Final = 1.0
_CODES: Final = {Reason.PLAYER: "manners-wait-player", Reason.GUILD: "manners-wait-guild"}


def set_alarm(
    bot: KataribeBot,
    channel: discord.abc.MessageableChannel,
    session_id: int,
    wait: Wait,
    ring: Callable[[], Awaitable[None]],
) -> None:
    """Let a running session be answered later, by ``ring``.

    A pause begins anew each time. A limit is waited for once, and said once, until somebody may be answered.
    """
    known = bot.alarms.get(session_id)
    if known is not None and known[0].is_limit and wait.is_limit:
        return
    clear_alarm(bot, session_id)
    bot.alarms[session_id] = (wait, asyncio.create_task(_ring(bot, channel, session_id, wait, ring)))


def clear_alarm(bot: KataribeBot, session_id: int) -> None:
    """Nothing waits for its time any more."""
    known = bot.alarms.pop(session_id, None)
    if known is not None:
        known[1].cancel()


async def _ring(
    bot: KataribeBot,
    channel: discord.abc.MessageableChannel,
    session_id: int,
    wait: Wait,
    ring: Callable[[], Awaitable[None]],
) -> None:
    with bot.working():
        async with _notice(bot, channel, session_id, wait):
            await asyncio.sleep(wait.seconds)
        bot.alarms.pop(session_id, None)
        if (await bot.engine.session(session_id)).running:
            await ring()


@contextlib.asynccontextmanager
async def _notice(
    bot: KataribeBot, channel: discord.abc.MessageableChannel, session_id: int, wait: Wait
) -> AsyncIterator[None]:
    """Within it the channel reads for how long a limit lets people wait; a pause is nothing to speak of."""
    code = _CODES.get(wait.reason)
    if code is None or wait.seconds < _WORTH_A_NOTICE:
        yield
        return
    text = bot.catalogue.text(
        code,
        bot.locale_of(channel),
        players=discord.utils.escape_markdown(", ".join(wait.names)),
        name=discord.utils.escape_markdown((await bot.engine.casting.next_speaker(session_id)).character.card.name),
        seconds=math.ceil(wait.seconds),
    )
    # A task of its own, so that a notice which is just being sent is known when nothing has to be waited for any more.
    sending = asyncio.create_task(channel.send(text))
    try:
        yield
    finally:
        with contextlib.suppress(*REFUSALS):
            await (await sending).delete()
