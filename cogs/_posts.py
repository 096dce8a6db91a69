"""The messages that carry a reply, from its first words to its last."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import discord

from bot.client import KataribeBot
from bot.memory.story import Character
from cogs._voice import REFUSALS, Voice

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Post:
    """A message, and what it says."""

    message_id: int
    text: str


class Posts:
    """The messages of one turn in a channel.

    ``posts`` are those that are there. ``before`` are those of what the turn said until now, when it is told anew.
    """

    def __init__(
        self,
        bot: KataribeBot,
        channel: discord.abc.MessageableChannel,
        turn_id: int,
        who: Character,
        posts: Sequence[Post] = (),
        *,
        before: Sequence[Post] = (),
    ) -> None:
        self._bot, self._channel, self._turn_id, self._who = bot, channel, turn_id, who
        self._posts = list(posts or before)
        self._before = tuple(before)
        self._is_begun = not before
        self._voice: Voice | None = None

    @property
    def ids(self) -> list[int]:
        """The messages, in order."""
        return [post.message_id for post in self._posts]

    @property
    def is_retelling(self) -> bool:
        """Whether there is something to go back to."""
        return bool(self._before)

    async def voice(self) -> Voice:
        """Who speaks. Raises discord.HTTPException."""
        if self._voice is None:
            self._voice = await Voice.of(self._bot, self._channel, self._who)
        return self._voice

    async def say(self, text: str, *, is_whole: bool = False) -> None:
        """Let the messages say a text: what they say already is left alone, and what is too much is deleted.

        Each message is tied to the turn as soon as it is sent; the last of a reply that ``is_whole`` by the caller, who says
        that it is delivered. Raises discord.HTTPException.
        """
        await self._show((await self.voice()).parts(text), is_whole=is_whole)

    async def drop(self) -> None:
        """Take all the messages away; one that Discord does not let go is left to people."""
        while self._posts:
            try:
                await (await self.voice()).remove(self._posts.pop().message_id)
            except REFUSALS as error:
                log.warning("turn %d: a message could not be deleted: %r", self._turn_id, error)

    async def take_back(self) -> None:
        """Let the channel look as it did before. What Discord refuses now is tried again at the next start."""
        try:
            if self._posts or self._before:
                await self._show([post.text for post in self._before])
        except REFUSALS as error:
            log.warning("turn %d: its messages could not be taken back: %r", self._turn_id, error)
        await self._bot.engine.delivered(self._turn_id, self._channel.id, self.ids)

    async def _show(self, parts: Sequence[str], *, is_whole: bool = False) -> None:
        voice = await self.voice()
        if not self._is_begun:
            self._is_begun = True
            await self._bot.engine.begun(self._turn_id, self._channel.id, self.ids)
        for number, part in enumerate(parts):
            if number == len(self._posts):
                message = await voice.say(part)
                self._posts.append(Post(message.id, part))
                if not is_whole or number < len(parts) - 1:
                    await self._bot.engine.begun(self._turn_id, self._channel.id, [message.id])
            elif self._posts[number].text != part:
                await voice.revise(self._posts[number].message_id, part)
                self._posts[number] = Post(self._posts[number].message_id, part)
        while len(self._posts) > len(parts):
            await voice.remove(self._posts[-1].message_id)
            self._posts.pop()
