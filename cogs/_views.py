"""Views and forms that answer when they fail: their errors never reach the handler of the command tree."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import discord

from bot.client import KataribeBot

Interaction = discord.Interaction[KataribeBot]


class AnsweringView(discord.ui.View):
    """A view whose errors are explained to whoever pressed."""

    async def on_error(self, interaction: Interaction, error: Exception, item: discord.ui.Item[Any], /) -> None:  # type: ignore[override]
        """Explain what went wrong."""
        await interaction.client.answer_error(interaction, error)


class AnsweringModal(discord.ui.Modal):
    """A form whose errors are explained to whoever sent it."""

    async def on_error(self, interaction: Interaction, error: Exception, /) -> None:  # type: ignore[override]
        """Explain what went wrong."""
        await interaction.client.answer_error(interaction, error)


class Press(discord.ui.Button[Any]):
    """A button of an :class:`AnsweringView` that does one thing."""

    def __init__(self, label: str, emoji: str, action: Callable[[Interaction], Awaitable[None]]) -> None:
        super().__init__(label=label, emoji=emoji)
        self._action = action

    async def callback(self, interaction: Interaction, /) -> None:  # type: ignore[override]
        """Do it."""
        await self._action(interaction)
