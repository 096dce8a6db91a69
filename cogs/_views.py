"""Views and forms that answer when they fail: their errors never reach the handler of the command tree."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
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


class Pager(AnsweringView):
    """Pages of an ephemeral answer, with more ``buttons`` beside those that turn them.

    All of them go before Discord ceases to accept changes, 15 minutes after a press.
    """

    def __init__(
        self,
        interaction: Interaction,
        pages: Sequence[discord.Embed],
        index: int = 0,
        buttons: Sequence[discord.ui.Button[Any]] = (),
    ) -> None:
        super().__init__(timeout=14 * 60)
        if len(pages) < 2:
            self.clear_items()
        for button in buttons:
            self.add_item(button)
        self._last = interaction
        self._pages = pages
        self._index = index
        self._mark()

    @classmethod
    async def answer(cls, interaction: Interaction, pages: Sequence[discord.Embed]) -> None:
        """Show pages to the person who asked, with buttons when there is more than one."""
        pager = cls(interaction, pages)
        view = pager if pager.children else discord.utils.MISSING
        if interaction.response.is_done():
            await interaction.followup.send(embed=pager.page, view=view, ephemeral=True)
        else:
            await interaction.response.send_message(embed=pager.page, view=view, ephemeral=True)

    @property
    def page(self) -> discord.Embed:
        """The page that is shown."""
        return self._pages[self._index]

    @discord.ui.button(emoji="◀")
    async def back(self, interaction: Interaction, _: discord.ui.Button[Pager]) -> None:
        """Towards the beginning."""
        await self._turn(interaction, self._index - 1)

    @discord.ui.button(emoji="▶")
    async def forward(self, interaction: Interaction, _: discord.ui.Button[Pager]) -> None:
        """Towards the end."""
        await self._turn(interaction, self._index + 1)

    async def on_timeout(self) -> None:
        """Take the buttons away."""
        with contextlib.suppress(discord.HTTPException):
            await self._last.edit_original_response(view=None)

    async def _turn(self, interaction: Interaction, index: int) -> None:
        self._last = interaction
        self._index = max(0, min(index, len(self._pages) - 1))
        self._mark()
        await interaction.response.edit_message(embed=self.page, view=self)

    def _mark(self) -> None:
        self.back.disabled = self._index == 0
        self.forward.disabled = self._index == len(self._pages) - 1
