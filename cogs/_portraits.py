"""Characters' pictures, kept as emoji of the application: their addresses do not expire, as those of attachments do."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from typing import Final

import discord

from bot.client import KataribeBot
from bot.pictures import portrait
from cogs._voice import REFUSALS

log = logging.getLogger(__name__)

_EMOJI: Final = re.compile(r"/emojis/([0-9]+)\.")


async def upload_portrait(bot: KataribeBot, picture: discord.Attachment, unique: int) -> str | None:
    """Scale a picture and keep it; its address, or None when Discord does not take it now.

    ``unique`` is any number that was not used before. Raises Refused when it is no picture that we can read, or too large.
    """
    try:
        data = await picture.read()
    except REFUSALS as error:
        log.warning("a picture could not be downloaded: %r", error)
        return None
    return await keep_portrait(bot, data, unique)


async def keep_portrait(bot: KataribeBot, picture: bytes, unique: int) -> str | None:
    """The same for a picture that is at hand already."""
    async with bot.lock("picture", 0):
        scaled = await asyncio.to_thread(portrait, picture)
    try:
        emoji = await bot.create_application_emoji(name=f"portrait_{unique}", image=scaled)
    except REFUSALS as error:
        log.warning("a picture could not be kept: %r", error)
        return None
    return emoji.url


async def load_portrait(bot: KataribeBot, avatar_url: str) -> bytes | None:
    """A picture that we kept; None when there is none, or Discord does not give it now."""
    found = _EMOJI.search(avatar_url)
    if found is None:
        return None
    try:
        return await (await bot.fetch_application_emoji(int(found[1]))).read()
    except REFUSALS as error:
        log.warning("a picture could not be loaded: %r", error)
        return None


async def take_down(bot: KataribeBot, avatar_url: str) -> None:
    """Remove the emoji behind an address, unless it is gone already. Raises what a request to Discord may raise."""
    found = _EMOJI.search(avatar_url)
    if found is not None:
        with contextlib.suppress(discord.NotFound):
            await (await bot.fetch_application_emoji(int(found[1]))).delete()


async def remove_portrait(bot: KataribeBot, avatar_url: str) -> None:
    """Remove the emoji behind an address, so that the application's 2,000 places for emoji do not fill up."""
    try:
        await take_down(bot, avatar_url)
    except REFUSALS as error:
        log.warning("a picture could not be removed: %r", error)
