"""Answering in a channel: typing, the reply, and the notice with a button when there is none."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator
from typing import Any, Final

import discord

from bot.client import KataribeBot
from cogs._delivery import REFUSALS, deliver

log = logging.getLogger(__name__)

# Discord shows typing for ten seconds (https://discord.com/developers/docs/resources/channel#trigger-typing-indicator),
# also after a webhook has spoken: so it does not begin where there turns out to be nothing to write.
_TYPING_SECONDS: Final = 8
_TYPING_BEGINS_AFTER: Final = 0.3


async def answer(bot: KataribeBot, channel: discord.abc.MessageableChannel, session_id: int) -> None:
    """Write and deliver the next reply of a session; what goes wrong is said in the channel, with *Try again*.

    One reply is delivered before the next is begun, so that none builds on a reply which Discord then refuses. A failure
    stands for all who waited meanwhile: they are told once.
    """
    failures = bot.failures[session_id]
    with bot.working():
        async with bot.lock("answer", session_id):
            if bot.failures[session_id] != failures:
                return
            try:
                async with _typing(channel):
                    reply = await bot.engine.reply(session_id)
                    if reply is not None:
                        await deliver(bot, channel, reply)
            except Exception as error:  # noqa: BLE001 - explained to the players, and logged where that is done
                bot.failures[session_id] += 1
                await send_notice(bot, channel, session_id, bot.explain(error, bot.locale_of(channel)))
            else:
                await _clear_notice(bot, session_id)


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


@contextlib.asynccontextmanager
async def _typing(channel: discord.abc.Messageable) -> AsyncIterator[None]:
    task = asyncio.create_task(_keep_typing(channel))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _keep_typing(channel: discord.abc.Messageable) -> None:
    await asyncio.sleep(_TYPING_BEGINS_AFTER)
    while True:
        with contextlib.suppress(*REFUSALS):
            await channel.typing()
        await asyncio.sleep(_TYPING_SECONDS)
