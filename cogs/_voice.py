"""How a character speaks in a channel: through our webhook, else through the bot itself."""

from __future__ import annotations

import discord

from bot.client import KataribeBot
from bot.memory.story import Character
from cogs._split import LONGEST, split
from cogs._webhooks import UNKNOWN_WEBHOOK, forget, home_of, webhook_for, webhook_name


class Voice:
    """A character in a channel. ``hook`` is None where it must speak through the bot itself."""

    def __init__(
        self, bot: KataribeBot, channel: discord.abc.MessageableChannel, who: Character, hook: discord.Webhook | None
    ) -> None:
        self._bot, self._channel, self._who = bot, channel, who
        self.hook = hook
        self._heading = "" if hook else f"**{discord.utils.escape_markdown(who.card.name)}**\n"

    @classmethod
    async def of(cls, bot: KataribeBot, channel: discord.abc.MessageableChannel, who: Character) -> Voice:
        """The best voice that the channel allows. Raises discord.HTTPException."""
        home = home_of(channel)
        return cls(bot, channel, who, await webhook_for(bot, home) if home else None)

    def parts(self, text: str) -> list[str]:
        """The messages that a text becomes."""
        first, *others = split(text, LONGEST - len(self._heading))
        return [self._heading + first, *others]

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

    async def _through(self, hook: discord.Webhook, part: str) -> discord.Message:
        return await hook.send(
            part,
            username=webhook_name(self._who.card.name),
            avatar_url=self._who.avatar_url or None,
            thread=self._channel if isinstance(self._channel, discord.Thread) else discord.utils.MISSING,
            allowed_mentions=discord.AllowedMentions.none(),
            wait=True,
        )
