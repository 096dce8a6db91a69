"""Pages of an answer that only one person sees, with buttons to turn them."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import discord

from cogs._views import AnsweringView, Interaction


@dataclass(frozen=True, slots=True)
class Page:
    """One page of several: its ``index`` from 0, and how many there are."""

    embed: discord.Embed
    index: int
    count: int


PageAt = Callable[[int], Awaitable[Page]]
"""Makes the page of an index; another when there is none of that index any more."""


class Pager(AnsweringView):
    """Pages of an ephemeral answer, each made when it is turned to, with more ``buttons`` beside those that turn them.

    All of them go before Discord ceases to accept changes, 15 minutes after a press.
    """

    def __init__(
        self,
        interaction: Interaction,
        page: Page,
        page_at: PageAt,
        buttons: Sequence[discord.ui.Button[Any]] = (),
    ) -> None:
        super().__init__(timeout=14 * 60)
        if page.count < 2:
            self.clear_items()
        for button in buttons:
            self.add_item(button)
        self._last = interaction
        self._page = page
        self._page_at = page_at
        self._mark()

    @classmethod
    def of(
        cls,
        interaction: Interaction,
        embeds: Sequence[discord.Embed],
        buttons: Sequence[discord.ui.Button[Any]] = (),
    ) -> Self:
        """A pager of pages that are there already, open at the first."""

        async def page_at(index: int) -> Page:
            return Page(embeds[index], index, len(embeds))

        return cls(interaction, Page(embeds[0], 0, len(embeds)), page_at, buttons)

    @classmethod
    async def answer(cls, interaction: Interaction, pages: Sequence[discord.Embed]) -> None:
        """Show pages to the person who asked, with buttons when there is more than one."""
        pager = cls.of(interaction, pages)
        if interaction.response.is_done():
            view = pager if pager.children else discord.utils.MISSING
            await interaction.followup.send(embed=pager.page, view=view, ephemeral=True)
        else:
            await pager.open()

    async def open(self) -> None:
        """Show the page to the person who asked, with the buttons when there are any."""
        view = self if self.children else discord.utils.MISSING
        await self._last.response.send_message(embed=self.page, view=view, ephemeral=True)

    @property
    def page(self) -> discord.Embed:
        """The page that is shown."""
        return self._page.embed

    @discord.ui.button(emoji="◀")
    async def back(self, interaction: Interaction, _: discord.ui.Button[Pager]) -> None:
        """Towards the beginning."""
        await self._turn(interaction, self._page.index - 1)

    @discord.ui.button(emoji="▶")
    async def forward(self, interaction: Interaction, _: discord.ui.Button[Pager]) -> None:
        """Towards the end."""
        await self._turn(interaction, self._page.index + 1)

    async def on_timeout(self) -> None:
        """Take the buttons away."""
        with contextlib.suppress(discord.HTTPException):
            await self._last.edit_original_response(view=None)

    async def _turn(self, interaction: Interaction, index: int) -> None:
        self._last = interaction
        self._page = await self._page_at(max(0, min(index, self._page.count - 1)))
        self._mark()
        await interaction.response.edit_message(embed=self.page, view=self)

    def _mark(self) -> None:
        self.back.disabled = self._page.index == 0
        self.forward.disabled = self._page.index >= self._page.count - 1
