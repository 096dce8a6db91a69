"""Answering in a channel: typing, the reply, and the notice with a button when there is none."""

from __future__ import annotations

import contextlib
import logging
import re
from functools import partial
from typing import Any

import discord

from bot.client import KataribeBot
from cogs._alarms import clear_alarm, set_alarm
from cogs._controls import offer_controls
from cogs._people import require_age_restriction
from cogs._speaking import speak
from cogs._typing import typing
from cogs._voice import REFUSALS

log = logging.getLogger(__name__)


async def answer(bot: KataribeBot, channel: discord.abc.MessageableChannel, session_id: int) -> None:
    """Write and deliver the next reply of a session, as soon as its manners and the limits allow, and those of others of the
    cast whom it calls; what goes wrong is said in the channel, with *Try again*.

    One reply is delivered before the next is begun, so that none builds on a reply which Discord then refuses. A failure
    stands for all who waited meanwhile: they are told once.
    """
    failures, reply = bot.failures[session_id], None
    with bot.working():
        async with bot.lock("answer", session_id):
            if bot.failures[session_id] != failures:
                return
            try:
                session, waiting = await bot.manners.waiting(session_id)
                require_age_restriction(channel, session)
                wait = bot.manners.admit(session, waiting)
                if wait is not None:
                    set_alarm(bot, channel, session_id, wait, partial(answer, bot, channel, session_id))
                    return
                clear_alarm(bot, session_id)
                async with typing(channel):
                    reply = await speak(bot, channel, session_id)
                    while await bot.engine.goes_on(session_id, reply):
                        reply = await speak(bot, channel, session_id, unasked=True) or reply
            except Exception as error:  # noqa: BLE001 - explained to the players, and logged where that is done
                bot.failures[session_id] += 1
                await send_notice(bot, channel, session_id, bot.explain(error, bot.locale_of(channel)))
            else:
                await _clear_notice(bot, session_id)
        if reply is not None and bot.failures[session_id] == failures:
            await offer_controls(bot, channel, reply)


async def send_notice(bot: KataribeBot, channel: discord.abc.MessageableChannel, session_id: int, text: str) -> None:
    """Say something to the whole channel, with a button that tries again, also after a restart of the bot."""
    await _clear_notice(bot, session_id)
    view = discord.ui.View(timeout=None)
    view.add_item(RetryButton(session_id, bot.catalogue.text("button-retry", bot.locale_of(channel))))
    try:
        bot.notices[session_id] = await channel.send(text, view=view)
    except REFUSALS as error:
        log.warning("channel %d: a notice could not be sent: %r", channel.id, error)


async def _clear_notice(bot: KataribeBot, session_id: int) -> None:
    """Take the session's last notice away: it is out of date."""
    notice = bot.notices.pop(session_id, None)
    if notice is not None:
        with contextlib.suppress(*REFUSALS):
            await notice.delete()


class RetryButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"retry:(?P<session>[0-9]{1,18})"):
    """*Try again*: takes the notice away and lets the session answer. Anybody of the channel may press it."""

    def __init__(self, session_id: int, label: str | None = None) -> None:
        super().__init__(discord.ui.Button(label=label, emoji="🔁", custom_id=f"retry:{session_id}"))
        self._session_id = session_id

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> RetryButton:
        """The button of a message that another process may have sent."""
        return cls(int(match["session"]))

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Errors here reach no handler of discord.py's: they are answered here."""
        bot: KataribeBot = interaction.client
        try:
            await interaction.response.defer()
            bot.notices.pop(self._session_id, None)
            with contextlib.suppress(discord.NotFound):  # somebody else pressed it too
                await interaction.delete_original_response()
            channel = await bot.channel(interaction.channel_id or 0)
            if channel is not None:
                await answer(bot, channel, self._session_id)
        except Exception as error:  # noqa: BLE001 - explained to the person, and logged where that is done
            await bot.answer_error(interaction, error)
