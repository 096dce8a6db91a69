"""``/character``: who can be played."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import KataribeBot
from bot.errors import Refused
from bot.pictures import LARGEST_UPLOAD
from cogs._card_files import CardFiles
from cogs._card_pages import list_pages, sheet_pages
from cogs._creation import CharacterForm
from cogs._editing import PARTS, open_form
from cogs._lines import bound
from cogs._pager import Pager
from cogs._people import character_names, is_for_adults, is_moderator, scope_of
from cogs._removal import RemovalView, remove
from cogs._views import Interaction


class Characters(CardFiles, commands.GroupCog, name="character", description="The characters that Kataribe plays"):
    """Create, look at, change and remove characters."""

    @app_commands.command(description="Create a character; a form asks for who they are")
    @app_commands.describe(
        picture="Their picture: PNG, JPEG, GIF or WebP, up to 8 MB",
        adult="Only to be played in age-restricted channels",
    )
    async def create(
        self, interaction: Interaction, picture: discord.Attachment | None = None, adult: bool = False
    ) -> None:
        """Ask for the card in a form."""
        if picture is not None and picture.size > LARGEST_UPLOAD:
            raise Refused("picture-too-large")
        form = CharacterForm(interaction.client, interaction.locale, picture, adult=adult)
        await interaction.response.send_modal(form)

    @app_commands.command(name="list", description="Who can be played here")
    async def list_all(self, interaction: Interaction) -> None:
        """All characters of this place, one line each."""
        bot = interaction.client
        found = await bot.characters.usable(scope_of(interaction))
        pages = list_pages(found, bound(bot.catalogue.text, interaction.locale))
        await Pager.answer(interaction, pages)

    @app_commands.command(description="Show a character's card")
    @app_commands.autocomplete(name=character_names)
    @app_commands.describe(name="Whose card")
    async def show(self, interaction: Interaction, name: str) -> None:
        """The card as it was written, with what its creator says of it."""
        bot = interaction.client
        character = await bot.characters.named(scope_of(interaction), name)
        if character.adult and not is_for_adults(interaction):
            raise Refused("character-adult", name=character.card.name)
        await interaction.response.defer(ephemeral=True, thinking=True)
        sheet = await bot.characters.sheet(character)
        pages = sheet_pages(sheet, bound(bot.catalogue.text, interaction.locale), str(interaction.locale))
        await Pager.answer(interaction, pages)

    @app_commands.command(description="Change a character's card in a form")
    @app_commands.autocomplete(name=character_names)
    @app_commands.choices(part=PARTS)
    @app_commands.describe(
        name="Whose card",
        part="What the form shows; who they are when you leave it out",
        picture="A new picture: PNG, JPEG, GIF or WebP, up to 8 MB",
        adult="Whether they may only be played in age-restricted channels",
    )
    async def edit(
        self,
        interaction: Interaction,
        name: str,
        part: app_commands.Choice[str] | None = None,
        picture: discord.Attachment | None = None,
        adult: bool | None = None,
    ) -> None:
        """For who created the character, and moderators."""
        await open_form(interaction, name, part.value if part else "who", picture, adult)

    @app_commands.command(description="Remove a character; their stories stay readable")
    @app_commands.autocomplete(name=character_names)
    @app_commands.describe(name="Who leaves")
    async def delete(self, interaction: Interaction, name: str) -> None:
        """For who created the character, and moderators; while stories run, only after a second thought."""
        bot, say = interaction.client, bound(interaction.client.catalogue.text, interaction.locale)
        await interaction.response.defer(ephemeral=True)
        character = await bot.characters.owned(
            scope_of(interaction), name, by=interaction.user.id, is_moderator=await is_moderator(interaction)
        )
        stories = await bot.characters.stories(character)
        if not stories:
            await remove(interaction, character)
            return
        warning = say("character-delete-sure", name=character.card.name, stories=stories)
        await interaction.followup.send(warning, view=RemovalView(interaction, character), ephemeral=True)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Characters())
