"""The forms in which a character's card is changed, one for each part of it: Discord shows five fields at most."""

from __future__ import annotations

from typing import Final

import discord
from discord import app_commands

from bot.characters import Sheet
from bot.errors import Refused
from bot.pictures import LARGEST_UPLOAD
from cogs._lines import bound
from cogs._people import is_moderator, scope_of
from cogs._portraits import remove_portrait, upload_portrait
from cogs._views import AnsweringModal, Interaction

PARTS: Final = [
    app_commands.Choice(name="Who they are", value="who"),
    app_commands.Choice(name="How they are played", value="how"),
]
# The fields of each form, with how much they take; Discord's own limit is 4,000 characters.
_FIELDS: Final = {
    "who": {"name": 32, "description": 4000, "personality": 4000, "scenario": 4000, "first_message": 4000},
    "how": {
        "nickname": 80,
        "system_prompt": 4000,
        "post_history_instructions": 4000,
        "mes_example": 4000,
        "creator_notes": 4000,
    },
}
_ONE_LINE: Final = 100


class EditForm(AnsweringModal):
    """What a card says now, to be written over. A text that a form cannot hold is left out, and stays as it is."""

    def __init__(
        self, interaction: Interaction, sheet: Sheet, part: str, picture: discord.Attachment | None, adult: bool | None
    ) -> None:
        self._say = bound(interaction.client.catalogue.text, interaction.locale)
        super().__init__(title=self._say("form-character-edit-title"))
        self._character, self._picture, self._adult = sheet.character, picture, adult
        self._inputs: dict[str, discord.ui.TextInput[EditForm]] = {}
        self._left_out: list[str] = []
        for name, most in _FIELDS[part].items():
            label = self._say(f"form-character-{name.replace('_', '-')}")
            text = sheet.character.card.name if name == "name" else str(getattr(sheet.fields, name))
            if len(text) > most:
                self._left_out.append(label)
                continue
            style = discord.TextStyle.short if most < _ONE_LINE else discord.TextStyle.paragraph
            field = discord.ui.TextInput[EditForm](
                custom_id=name, style=style, max_length=most, default=text or None, required=name == "name"
            )
            self._inputs[name] = field
            self.add_item(discord.ui.Label(text=label, component=field))

    async def on_submit(self, interaction: Interaction, /) -> None:  # type: ignore[override]
        """Keep what was written, with the picture when it can be kept."""
        bot, before = interaction.client, self._character
        await interaction.response.defer(ephemeral=True, thinking=True)
        address = await upload_portrait(bot, self._picture, interaction.id) if self._picture else None
        # What was left alone may have been changed by somebody else since the form was opened.
        texts = {name: field.value for name, field in self._inputs.items() if field.value != (field.default or "")}
        try:
            changed = await bot.characters.change(before, texts, adult=self._adult, avatar_url=address)
        except Exception:
            await remove_portrait(bot, address or "")
            raise
        if address:
            await remove_portrait(bot, before.avatar_url)
        lines = [self._say("character-edited", name=changed.card.name)]
        if self._picture and address is None:
            lines.append(self._say("character-edited-without-picture"))
        if self._left_out:
            lines.append(self._say("character-edited-left-out", fields=", ".join(self._left_out)))
        await interaction.followup.send("\n".join(lines), ephemeral=True)


async def open_form(
    interaction: Interaction, name: str, part: str, picture: discord.Attachment | None, adult: bool | None
) -> None:
    """Show the form to who may change the character. Raises UserError."""
    bot = interaction.client
    if picture is not None and picture.size > LARGEST_UPLOAD:
        raise Refused("picture-too-large")
    character = await bot.characters.owned(
        scope_of(interaction), name, by=interaction.user.id, is_moderator=await is_moderator(interaction)
    )
    sheet = await bot.characters.sheet(character)
    await interaction.response.send_modal(EditForm(interaction, sheet, part, picture, adult))
