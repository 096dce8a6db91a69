"""What players change afterwards: their edits and deletions reach the story, however old the message is."""

from __future__ import annotations

import discord
from discord.ext import commands

from bot.client import KataribeBot
from cogs._messages import picture_labels


class Upkeep(commands.Cog):
    """Listens to the raw events, which come also for messages that no cache holds."""

    def __init__(self, bot: KataribeBot) -> None:
        self.bot = bot

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A new text; a link's preview that Discord adds by itself is an update too, but no edit."""
        message = payload.message
        if message.author.bot or message.webhook_id is not None or message.edited_at is None:
            return
        await self.bot.engine.message_edited(message.id, message.content, picture_labels(message))

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """One message was taken back."""
        await self.bot.engine.messages_deleted([payload.message_id])

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """A moderator or another bot swept a channel."""
        await self.bot.engine.messages_deleted(sorted(payload.message_ids))


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Upkeep(bot))
