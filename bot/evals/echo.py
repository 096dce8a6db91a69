"""The bot to compare with: discord.py and nothing else, that says again what it hears.

    python -m bot.evals.echo --api URL --gateway URL --cdn URL

It hears a message, lets whoever wrote it be, and answers through its webhook of the channel, which it makes when there is none;
it waits for Discord's answer, as one must who wants to know the message's id. It keeps nothing. Intents, mentions and caches are
set as Kataribe's are.
"""

from __future__ import annotations

import asyncio
import sys

import discord

from bot.demo.child import run_pointed
from bot.evals.light_discord import TOKEN

NAME = "Kataribe"


class Echo(discord.Client):
    """Answers each message with its own words."""

    def __init__(self) -> None:
        intents = discord.Intents(guilds=True, guild_messages=True, message_content=True)
        super().__init__(
            intents=intents,
            allowed_mentions=discord.AllowedMentions.none(),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=None,
        )
        self._webhooks: dict[int, asyncio.Future[discord.Webhook]] = {}

    async def on_message(self, message: discord.Message) -> None:
        """Say it again, once."""
        if message.author.bot or message.webhook_id is not None or not isinstance(message.channel, discord.TextChannel):
            return
        hook = await self._webhook(message.channel)
        await hook.send(message.content, username="Echo", wait=True)

    async def _webhook(self, channel: discord.TextChannel) -> discord.Webhook:
        found = self._webhooks.get(channel.id)
        if found is None:
            found = self._webhooks[channel.id] = asyncio.ensure_future(_ours(channel))
        return await found


async def _ours(channel: discord.TextChannel) -> discord.Webhook:
    known = [hook for hook in await channel.webhooks() if hook.token]
    return known[0] if known else await channel.create_webhook(name=NAME)


def _run() -> int:
    discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
    Echo().run(TOKEN, log_handler=None)
    return 0


if __name__ == "__main__":
    sys.exit(run_pointed(sys.argv[1:], _run))
