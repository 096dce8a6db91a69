"""Removing a character, and asking first while stories run with it."""

from __future__ import annotations

import contextlib

import discord

from bot.memory.story import Character
from cogs._portraits import remove_portrait
from cogs._views import AnsweringView, Interaction, Press


class RemovalView(AnsweringView):
    """One button, for the person who asked, until Discord ceases to accept changes 15 minutes after the command."""

    def __init__(self, interaction: Interaction, character: Character) -> None:
        super().__init__(timeout=14 * 60)
        self._interaction = interaction
        self._character = character
        label = interaction.client.catalogue.text("character-delete-button", interaction.locale)
        self.add_item(Press(label, "🗑", self._remove))

    async def on_timeout(self) -> None:
        """Take the button away."""
        with contextlib.suppress(discord.HTTPException):
            await self._interaction.edit_original_response(view=None)

    async def _remove(self, interaction: Interaction) -> None:
        self.stop()
        await interaction.response.edit_message(view=None)
        await remove(interaction, self._character, stop_stories=True)


async def remove(interaction: Interaction, character: Character, *, stop_stories: bool = False) -> None:
    """Take a character out of use with its picture, and say so. Raises Refused while stories run that may not be stopped."""
    bot = interaction.client
    await bot.characters.remove(character, stop_stories=stop_stories)
    await remove_portrait(bot, character.avatar_url)
    text = bot.catalogue.text("character-deleted", interaction.locale, name=character.card.name)
    await interaction.followup.send(text, ephemeral=True)
