"""The form in which a person puts a trait of theirs in their own words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import discord

from bot.memory.people import Trait
from bot.people import LONGEST_TEXT
from cogs._lines import Say
from cogs._views import AnsweringModal, Interaction

# Discord's bound of a text field.
_MOST: Final = 4000


class TraitForm(AnsweringModal):
    """Asks for the new text, with the present one to start from; ``then`` shows what became of it."""

    def __init__(self, say: Say, trait: Trait, then: Callable[[Interaction], Awaitable[None]]) -> None:
        super().__init__(title=say("about-form-title"))
        self._trait_id, self._then = trait.id, then
        self._text = discord.ui.TextInput[TraitForm](
            custom_id="text",
            style=discord.TextStyle.paragraph,
            default=trait.text[:_MOST],
            max_length=min(_MOST, max(LONGEST_TEXT, len(trait.text))),
        )
        self.add_item(discord.ui.Label(text=say("about-form-text"), component=self._text))

    async def on_submit(self, interaction: Interaction, /) -> None:  # type: ignore[override]
        """Keep the text."""
        await interaction.response.defer()
        await interaction.client.people.edit_trait(interaction.user.id, self._trait_id, self._text.value)
        await self._then(interaction)
