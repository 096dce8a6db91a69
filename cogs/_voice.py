"""How a character speaks in a channel: through our webhook, else through the bot itself."""

from __future__ import annotations

import contextlib
from typing import Any, Final

import aiohttp
import discord

from bot.client import KataribeBot
from bot.memory.story import Character
from cogs._split import LONGEST, split
from cogs._webhooks import UNKNOWN_WEBHOOK, forget, home_of, webhook_for, webhook_name

REFUSALS: Final = (discord.DiscordException, aiohttp.ClientError, OSError)
"""What a request to Discord may raise, timeouts among it."""


class Voice:
    """A character in a channel. ``hook`` is None where it must speak through the bot itself."""

    def __init__(
        self, bot: KataribeBot, channel: discord.abc.MessageableChannel, who: Character, hook: discord.Webhook | None
    ) -> None:
        self._bot, self._channel, self._who = bot, channel, who
        self.hook = hook
        self.heading = "" if hook else f"**{discord.utils.escape_markdown(who.card.name)}**\n"

    @classmethod
    async def of(cls, bot: KataribeBot, channel: discord.abc.MessageableChannel, who: Character) -> Voice:
        """The best voice that the channel allows. Raises discord.HTTPException."""
        home = home_of(channel)
        return cls(bot, channel, who, await webhook_for(bot, home) if home else None)

    def parts(self, text: str) -> list[str]:
        """The messages that a text becomes."""
        first, *others = split(text, LONGEST - len(self.heading))
        return [self.heading + first, *others]

    async def say(self, part: str) -> discord.Message:
        """Send one message; a webhook that somebody deleted is made anew, once. Raises discord.HTTPException."""
        if self.hook is None:
            return await self._channel.send(part)
        try:
            return await self._through(self.hook, part)
        except discord.NotFound as error:
            home = home_of(self._channel)
            if error.code != UNKNOWN_WEBHOOK or home is None:
                raise
            await forget(self._bot, home, self.hook)
            renewed = await webhook_for(self._bot, home)
            if renewed is None:
                raise
            self.hook = renewed
            return await self._through(renewed, part)

    async def revise(self, message_id: int, part: str) -> None:
        """Let a message say something else. Raises discord.HTTPException: NotFound when it, or its webhook, is gone."""
        if self.hook is None:
            await self._message(message_id).edit(content=part)
        else:
            await self.hook.edit_message(
                message_id, content=part, thread=self._thread, allowed_mentions=discord.AllowedMentions.none()
            )

    async def remove(self, message_id: int) -> None:
        """Take a message back; one that is gone already is no error. Raises discord.HTTPException."""
        if self.hook is not None:
            try:
                await self.hook.delete_message(message_id, thread=self._thread)
            except discord.NotFound:  # or it is not this webhook's
                pass
            else:
                return
        with contextlib.suppress(discord.NotFound):
            await self._message(message_id).delete()

    def _message(self, message_id: int) -> discord.PartialMessage:
        channel: Any = self._channel
        return discord.PartialMessage(channel=channel, id=message_id)

    @property
    def _thread(self) -> discord.Thread:
        return self._channel if isinstance(self._channel, discord.Thread) else discord.utils.MISSING

    async def _through(self, hook: discord.Webhook, part: str) -> discord.Message:
        return await hook.send(
            part,
            username=webhook_name(self._who.card.name),
            avatar_url=self._who.avatar_url or None,
            thread=self._thread,
            allowed_mentions=discord.AllowedMentions.none(),
            wait=True,
        )
