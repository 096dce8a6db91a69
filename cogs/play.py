"""The story itself: players' messages in, replies out."""

from __future__ import annotations

import discord
from discord.ext import commands

from bot.client import KataribeBot
from cogs._answering import RetryButton, answer
from cogs._messages import story_message


class Play(commands.Cog):
    """Hears the channels in which a story runs."""

    def __init__(self, bot: KataribeBot) -> None:
        self.bot = bot

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Commit what a player wrote, and answer it."""
        written = story_message(message, self.bot.id)
        if written is None:
            return
        try:
            # discord.py runs a task for each event: the lock keeps the order in which they came.
            async with self.bot.lock("hear", written.channel_id):
                heard = await self.bot.engine.hear(written)
        except Exception as error:  # noqa: BLE001 - explained to the player, and logged where that is done
            await message.reply(self.bot.explain(error, self.bot.locale_of(message.channel)))
            return
        if heard is not None and heard.is_answered:
            await answer(self.bot, message.channel, heard.session.id)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    bot.add_dynamic_items(RetryButton)
    await bot.add_cog(Play(bot))
