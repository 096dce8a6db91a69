"""The message of ``/memory about-me``: pages, one line with its reasons, and the question before all of it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import discord

from bot.memory.fading import RESTORABLE_FOR
from bot.memory.people import Acquaintance
from cogs._about_deeds import Lines, known_buttons, line_buttons, stop_buttons
from cogs._about_pages import about_pages
from cogs._about_rows import about_of, where
from cogs._about_why import why_text
from cogs._lines import Say, bound
from cogs._views import AnsweringView, Interaction, Press


class AboutView(AnsweringView):
    """One message for all steps. Each step reads the rows anew, and only those of whoever takes it.

    The buttons go before Discord ceases to accept changes, 15 minutes after a press.
    """

    def __init__(self, asked: Interaction, character: str) -> None:
        super().__init__(timeout=14 * 60)
        self._last = asked
        self._character = character
        self._index = 0

    async def on_timeout(self) -> None:
        """Take the buttons away."""
        with contextlib.suppress(discord.HTTPException):
            await self._last.edit_original_response(view=None)

    async def show_page(self, interaction: Interaction, index: int | None = None) -> None:
        """A page of the list; the one that was open last unless ``index`` says another."""
        say = await _begun(interaction)
        about = await about_of(interaction, self._character)
        pages = about_pages(about, say, partial(where, interaction, say))
        self._index = max(0, min(self._index if index is None else index, len(pages) - 1))
        page = pages[self._index]
        who = page.portrait.acquaintance if page.portrait else None
        items: list[discord.ui.Item[Any]] = [Lines(say("about-pick"), page.lines, self.show_line)] if page.lines else []
        if len(pages) > 1:
            items += [self._leaf("◀", self._index - 1, len(pages)), self._leaf("▶", self._index + 1, len(pages))]
        ask = partial(self._ask, who=who)
        items += known_buttons(who, say, is_stranger=about.is_stranger, ask=ask, back=self.show_page)
        footer = f"{self._index + 1}/{len(pages)}" if len(pages) > 1 else None
        await self._show(interaction, _title(who, say), page.text, items, footer)

    async def show_line(self, interaction: Interaction, line: str) -> None:
        """A trait or note, ``trait:…`` or ``note:…``, with what can be done about it. Raises NotFound."""
        say = await _begun(interaction)
        kind, _, number = line.partition(":")
        people = interaction.client.people
        why = await (people.why_note if kind == "note" else people.why_trait)(interaction.user.id, int(number))
        buttons = line_buttons(why, say, again=partial(self.show_line, line=line), back=self.show_page)
        await self._show(interaction, _title(why.acquaintance, say), why_text(why, say), buttons)

    async def _ask(self, interaction: Interaction, who: Acquaintance | None) -> None:
        say = await _begun(interaction)
        await self._show(
            interaction,
            say("about-stop"),
            say("about-stop-what", days=RESTORABLE_FOR.days),
            stop_buttons(who, say, back=self.show_page),
        )

    async def _show(
        self,
        interaction: Interaction,
        title: str,
        text: str,
        items: Sequence[discord.ui.Item[Any]],
        footer: str | None = None,
    ) -> None:
        self._last = interaction
        self.clear_items()
        for item in items:
            self.add_item(item)
        embed = discord.Embed(title=title, description=text).set_footer(text=footer)
        await interaction.edit_original_response(embed=embed, view=self)

    def _leaf(self, emoji: str, to: int, count: int) -> Press:
        button = Press("", emoji, partial(self.show_page, index=to))
        button.disabled = not 0 <= to < count
        return button


async def _begun(interaction: Interaction) -> Say:
    """The words for the person who asks, after Discord was told that an answer comes."""
    if not interaction.response.is_done():
        await interaction.response.defer()
    return bound(interaction.client.catalogue.text, interaction.locale)


def _title(who: Acquaintance | None, say: Say) -> str:
    return say("about-title", name=who.character_name) if who else say("about-title-nobody")
