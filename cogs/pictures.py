"""Showing a model the pictures of a channel: fetched again from Discord for each reply that they belong to."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

import discord

from bot.client import KataribeBot
from bot.errors import Refused
from bot.pictures import LARGEST_UPLOAD, for_model
from cogs._messages import pictures_of
from cogs._portraits import load_portrait
from cogs._voice import REFUSALS

log = logging.getLogger(__name__)

# A reply does not wait longer for pictures: it is written without.
_PATIENCE_SECONDS: Final = 15


class DiscordEyes:
    """Reads the attachments of messages, and the portraits that we keep; no address that somebody wrote."""

    def __init__(self, bot: KataribeBot) -> None:
        self._bot = bot

    async def attached(self, channel_id: int, message_id: int) -> list[bytes | None]:
        """The pictures of a message in their order, None for one that cannot be shown; none when it is gone."""
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                channel = await self._bot.channel(channel_id)
                message = await channel.fetch_message(message_id) if channel else None
                return [await self._read(attachment) for attachment in pictures_of(message)] if message else []
        except REFUSALS as error:
            log.warning("channel %d: pictures could not be loaded: %r", channel_id, error)
            return []

    async def portrait(self, avatar_url: str) -> bytes | None:
        """A picture that we keep ourselves; None when it cannot be shown."""
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                data = await load_portrait(self._bot, avatar_url)
                return await self._scaled(data) if data else None
        except TimeoutError:
            return None

    async def _read(self, attachment: discord.Attachment) -> bytes | None:
        if attachment.size > LARGEST_UPLOAD:
            return None
        try:
            data = await attachment.read()
        except REFUSALS as error:
            log.warning("a picture could not be downloaded: %r", error)
            return None
        return await self._scaled(data)

    async def _scaled(self, data: bytes) -> bytes | None:
        # One at a time, portraits too: the largest takes 200 MB while it is scaled.
        async with self._bot.lock("picture", 0):
            try:
                return await asyncio.to_thread(for_model, data)
            except Refused as error:
                log.info("a picture cannot be shown: %s", error.code)
                return None


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    bot.engine.sight.eyes = DiscordEyes(bot)
