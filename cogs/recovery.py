"""After a restart: what the last process could not finish."""

from __future__ import annotations

from functools import partial

import discord
from discord.ext import commands

from bot.client import KataribeBot
from bot.engine import Reply
from bot.manners import Reason, Wait
from bot.memory.manners import Mode
from cogs._alarms import set_alarm
from cogs._answering import answer, send_notice
from cogs._delivery import deliver
from cogs._missed import catch_up
from cogs._remains import withdraw


class Recovery(commands.Cog):
    """Delivers replies that never arrived, takes back what was broken off, and tells players whose answer was interrupted."""

    def __init__(self, bot: KataribeBot) -> None:
        self.bot = bot
        self._arrived: set[int] = set()
        self._caught_up = False

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Note what comes while it is looked up what was missed."""
        if not self._caught_up:
            self._arrived.add(message.id)

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Only the first of these events finds something to do."""
        recovery, self.bot.recovery = self.bot.recovery, None
        if recovery is None:
            return
        with self.bot.working():
            waiting = {session.id: session.place.channel_id for session in recovery.interrupted}
            try:
                for reply in recovery.broken_off:
                    await self._withdraw(reply)
                for reply in recovery.undelivered:
                    await self._deliver(reply)
                for known in recovery.last_messages:
                    if await catch_up(self.bot, known, self._arrived):
                        waiting[known.session_id] = known.channel_id
            finally:
                self._caught_up = True
                self._arrived.clear()
            for session_id, channel_id in waiting.items():
                await self._offer_again(session_id, channel_id)

    async def _withdraw(self, reply: Reply) -> None:
        channel = await self.bot.channel(reply.session.place.channel_id)
        if channel is None:
            await self.bot.engine.delivered(reply.turn.id, reply.session.place.channel_id, [])
        else:
            await withdraw(self.bot, channel, reply)

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
        if channel is None:
            return
        if (await self.bot.engine.session(session_id)).manners.mode is Mode.PAUSE:
            # The pause may have been under way as well as a reply.
            ring = partial(answer, self.bot, channel, session_id)
            set_alarm(self.bot, channel, session_id, Wait(0, Reason.PAUSE, ()), ring)
        else:
            text = self.bot.catalogue.text("notice-interrupted", self.bot.locale_of(channel))
            await send_notice(self.bot, channel, session_id, text)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Recovery(bot))
