"""After a restart: what the last process could not finish."""

from __future__ import annotations

import logging
from typing import Final

import discord
from discord.ext import commands

from bot.client import KataribeBot
from bot.engine import Reply
from bot.memory.story import LastMessage
from cogs._answering import send_notice
from cogs._delivery import REFUSALS, deliver
from cogs._messages import story_message

log = logging.getLogger(__name__)

# A night's worth of a busy channel; whatever is older stays in the channel only.
_MOST_MISSED: Final = 500


class Recovery(commands.Cog):
    """Delivers replies that never arrived, and tells players whose answer was interrupted."""

    def __init__(self, bot: KataribeBot) -> None:
        self.bot = bot

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Only the first of these events finds something to do."""
        recovery, self.bot.recovery = self.bot.recovery, None
        if recovery is None:
            return
        with self.bot.working():
            for reply in recovery.undelivered:
                await self._deliver(reply)
            waiting = {session.id: session.place.channel_id for session in recovery.interrupted}
            for known in recovery.last_messages:
                if await self._catch_up(known):
                    waiting[known.session_id] = known.channel_id
            for session_id, channel_id in waiting.items():
                await self._offer_again(session_id, channel_id)

    async def _catch_up(self, known: LastMessage) -> bool:
        """Hear what was written while the bot was away, oldest first; whether any of it waits for an answer."""
        channel = await self.bot.channel(known.channel_id)
        if channel is None:
            return False
        since = max(known.message_id or 0, discord.utils.time_snowflake(known.since))
        waits = False
        try:
            async with self.bot.lock("hear", known.channel_id):
                async for message in channel.history(
                    limit=_MOST_MISSED, after=discord.Object(since), oldest_first=True
                ):
                    written = story_message(message)
                    heard = await self.bot.engine.hear(written) if written else None
                    waits = waits or (heard is not None and heard.is_answered)
        except REFUSALS as error:
            log.warning("channel %d: what was missed could not be read: %r", known.channel_id, error)
        return waits

    async def _deliver(self, reply: Reply) -> None:
        channel = await self.bot.channel(reply.session.place.channel_id)
        if channel is None:
            await self.bot.engine.undeliverable(reply.turn.id)
            return
        try:
            await deliver(self.bot, channel, reply, again=True)
        except Exception as error:  # noqa: BLE001 - explained to the players, and logged where that is done
            text = self.bot.explain(error, self.bot.locale_of(channel))
            await send_notice(self.bot, channel, reply.session.id, text)

    async def _offer_again(self, session_id: int, channel_id: int) -> None:
        channel = await self.bot.channel(channel_id)
        if channel is not None:
            text = self.bot.catalogue.text("notice-interrupted", self.bot.locale_of(channel))
            await send_notice(self.bot, channel, session_id, text)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Recovery(bot))
