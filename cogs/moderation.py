"""Buttons of corrections and reports from earlier processes, and folds that need a moderator's eye."""

from __future__ import annotations

from typing import Final

import discord
from discord.ext import commands

from bot.client import KataribeBot
from bot.memory.story import Fold
from cogs._corrections import UndoButton
from cogs._lines import bound
from cogs._log import log_channel, post
from cogs._reports import FlagButton

_COLOUR: Final = discord.Colour.orange()


class Moderation(commands.Cog):
    """Tells the moderators of a story when its memory could not be folded."""

    def __init__(self, bot: KataribeBot) -> None:
        self.bot = bot

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """What failed before Discord was connected."""
        await self.on_fold_given_up()

    @commands.Cog.listener()
    async def on_fold_given_up(self) -> None:
        """Post what nobody was told of yet, each once."""
        given_up, self.bot.given_up = self.bot.given_up, []
        for fold in given_up:
            await self._tell(fold)

    async def _tell(self, fold: Fold) -> None:
        session = await self.bot.engine.session(fold.session_id)
        channel = await log_channel(self.bot, session)
        if channel is None:
            return
        say = bound(self.bot.catalogue.text, self.bot.locale_of(channel))
        where = f"<#{session.place.channel_id}> · `{fold.error}`"
        text = f"{say(f'failed-{fold.kind}', chapter=fold.chapter or 0)}\n{where}"
        embed = discord.Embed(title=say("failed-title"), description=text, colour=_COLOUR)
        await post(channel, embed, None)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    bot.add_dynamic_items(UndoButton, FlagButton)
    await bot.add_cog(Moderation(bot))
