"""Characters' pictures, kept as emoji of the application: their addresses do not expire, as those of attachments do."""

from __future__ import annotations

import asyncio
import logging
import re

import discord

from bot.client import KataribeBot
from bot.pictures import portrait
from cogs._delivery import REFUSALS

log = logging.getLogger(__name__)


async def upload_portrait(bot: KataribeBot, picture: discord.Attachment, unique: int) -> str | None:
    """Scale a picture and keep it; its address, or None when Discord does not take it now.

    ``unique`` is any number that was not used before. Raises Refused when it is no picture that we can read, or too large.
    """
    try:
        data = await picture.read()
    except REFUSALS as error:
        log.warning("a picture could not be downloaded: %r", error)
        return None
    scaled = await asyncio.to_thread(portrait, data)
    try:
        emoji = await bot.create_application_emoji(name=f"portrait_{unique}", image=scaled)
    except REFUSALS as error:
        log.warning("a picture could not be kept: %r", error)
        return None
    return emoji.url


async def remove_portrait(bot: KataribeBot, avatar_url: str) -> None:
    """Remove the emoji behind an address, so that the application's 2,000 places for emoji do not fill up."""
    found = re.search(r"/emojis/([0-9]+)\.", avatar_url)
    if found is None:
        return
    try:
        await (await bot.fetch_application_emoji(int(found[1]))).delete()
    except REFUSALS as error:
        log.warning("a picture could not be removed: %r", error)
