"""One webhook of ours per channel, through which characters speak under their own names."""

from __future__ import annotations

import logging
import re
from typing import Final

import discord

from bot.client import KataribeBot

log = logging.getLogger(__name__)

# https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
UNKNOWN_WEBHOOK: Final = 10015
_TOO_MANY_WEBHOOKS: Final = 30007
_NAME: Final = "Kataribe"
_HAIR_SPACE: Final = "\u200a"
_LONGEST_NAME: Final = 80
_REFUSED: Final = re.compile(r"(?i)(?<=c)(?=lyde)|(?<=d)(?=iscord)|(?<=^e)(?=veryone$)|(?<=^h)(?=ere$)")
_SIGNS: Final = str.maketrans("@#:`", "＠＃：ˋ")

Home = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.ForumChannel


def home_of(channel: object) -> Home | None:
    """The channel whose webhooks speak here: a thread's are its parent's; direct messages have none."""
    home = channel.parent if isinstance(channel, discord.Thread) else channel
    return home if isinstance(home, Home) else None


async def webhook_for(bot: KataribeBot, home: Home) -> discord.Webhook | None:
    """Our webhook in a channel, made when there is none; None without the permission, or when the channel is full of them."""
    async with bot.lock("webhook", home.id):
        known = bot.webhooks.get(home.id)
        if known is not None:
            return known
        if not home.permissions_for(home.guild.me).manage_webhooks:
            return None
        try:
            found = [hook for hook in await home.webhooks() if _is_ours(bot, hook)]
            hook = found[0] if found else await home.create_webhook(name=_NAME)
        except discord.HTTPException as error:
            if isinstance(error, discord.Forbidden) or error.code == _TOO_MANY_WEBHOOKS:
                return None
            raise
        bot.webhooks[home.id] = hook
        await bot.engine.remember_webhook(home.id, hook.id)
        return hook


async def forget(bot: KataribeBot, home: Home, hook: discord.Webhook) -> None:
    """Somebody deleted our webhook."""
    log.info("the webhook of channel %d is gone", home.id)
    bot.webhooks.pop(home.id, None)
    await bot.engine.forget_webhook(hook.id)


def webhook_name(name: str) -> str:
    """A character's name as Discord accepts it for a webhook, altered where it must be so that it still reads the same.

    Refused are names that contain "clyde" or "discord" and the names "everyone" and "here", in any case, and more than 80
    characters (https://discord.com/developers/docs/resources/webhook#create-webhook); usernames must not have "@", "#", ":" or
    three grave accents (https://discord.com/developers/docs/resources/user#usernames-and-nicknames).
    """
    return _REFUSED.sub(_HAIR_SPACE, " ".join(name.translate(_SIGNS).split()))[:_LONGEST_NAME].strip() or "?"


def _is_ours(bot: KataribeBot, hook: discord.Webhook) -> bool:
    return bool(hook.token) and hook.user is not None and bot.user is not None and hook.user.id == bot.user.id
