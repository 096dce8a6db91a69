"""The form in which a character is written."""

from __future__ import annotations

import discord

from bot.client import KataribeBot
from bot.memory.prompt import Card
from cogs._people import scope_of
from cogs._portraits import remove_portrait, upload_portrait
from cogs._views import AnsweringModal, Interaction


class CharacterForm(AnsweringModal):
    """Name, description, first message. A form may stay open for long; the picture was chosen before."""

    def __init__(
        self, bot: KataribeBot, locale: discord.Locale, picture: discord.Attachment | None, *, adult: bool
    ) -> None:
        say = bot.catalogue.text
        super().__init__(title=say("form-character-title", locale))
        self._picture = picture
        self._adult = adult
        self._name = discord.ui.TextInput[CharacterForm](custom_id="name", max_length=32)
        self._description = discord.ui.TextInput[CharacterForm](
            custom_id="description", style=discord.TextStyle.paragraph, max_length=4000
        )
        self._first = discord.ui.TextInput[CharacterForm](
            custom_id="first_message", style=discord.TextStyle.paragraph, max_length=2000, required=False
        )
        for code, field in (
            ("form-character-name", self._name),
            ("form-character-description", self._description),
            ("form-character-first-message", self._first),
        ):
            hint = say(f"{code}-hint", locale)
            self.add_item(discord.ui.Label(text=say(code, locale), description=hint, component=field))

    async def on_submit(self, interaction: Interaction, /) -> None:  # type: ignore[override]
        """Store the character, with the picture when it can be kept."""
        bot, locale = interaction.client, interaction.locale
        await interaction.response.defer(ephemeral=True, thinking=True)
        address = await upload_portrait(bot, self._picture, interaction.id) if self._picture else ""
        card = Card(self._name.value, self._description.value, self._first.value)
        try:
            character = await bot.characters.create(scope_of(interaction), card, address or "", adult=self._adult)
        except Exception:
            await remove_portrait(bot, address or "")
            raise
        code = "character-created" if address is not None else "character-created-without-picture"
        await interaction.followup.send(bot.catalogue.text(code, locale, name=character.card.name), ephemeral=True)
