"""``/character``: who can be played."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import KataribeBot
from bot.errors import Refused
from bot.pictures import LARGEST_UPLOAD
from cogs._creation import CharacterForm
from cogs._people import is_moderator, scope_of
from cogs._portraits import remove_portrait
from cogs._views import Interaction

_LONGEST_LINE = 90


async def character_names(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
    """The names that fit what was typed so far; Discord shows 25 at most."""
    known = await interaction.client.engine.characters(scope_of(interaction))
    fitting = [c.card.name for c in known if current.strip().casefold() in c.card.name.casefold()]
    return [app_commands.Choice(name=name, value=name) for name in fitting[:25]]


class Characters(commands.GroupCog, name="character", description="The characters that Kataribe plays"):
    """Create, look at and remove characters."""

    @app_commands.command(description="Create a character; a form asks for who they are")
    @app_commands.describe(picture="Their picture: PNG, JPEG, GIF or WebP, up to 8 MB")
    async def create(self, interaction: Interaction, picture: discord.Attachment | None = None) -> None:
        """Ask for the card in a form."""
        if picture is not None and picture.size > LARGEST_UPLOAD:
            raise Refused("picture-too-large")
        await interaction.response.send_modal(CharacterForm(interaction.client, interaction.locale, picture))

    @app_commands.command(name="list", description="Who can be played here")
    async def list_all(self, interaction: Interaction) -> None:
        """All characters of this place, one line each."""
        bot = interaction.client
        found = await bot.engine.characters(scope_of(interaction))
        lines = [_line(c.card.name, c.card.description) for c in found]
        text = "\n".join(lines) or bot.catalogue.text("character-list-empty", interaction.locale)
        title = bot.catalogue.text("character-list-title", interaction.locale)
        await interaction.response.send_message(
            embed=discord.Embed(title=title, description=text[:4000]), ephemeral=True
        )

    @app_commands.command(description="Show a character's card")
    @app_commands.autocomplete(name=character_names)
    @app_commands.describe(name="Whose card")
    async def show(self, interaction: Interaction, name: str) -> None:
        """The card as it was written."""
        bot = interaction.client
        character = await bot.engine.character(scope_of(interaction), name)
        card = discord.Embed(title=character.card.name, description=character.card.description[:4000])
        if character.avatar_url:
            card.set_thumbnail(url=character.avatar_url)
        embeds = [card]
        if character.card.first_message:
            title = bot.catalogue.text("character-first-message", interaction.locale)
            embeds.append(discord.Embed(title=title, description=character.card.first_message[:1900]))
        await interaction.response.send_message(embeds=embeds, ephemeral=True)

    @app_commands.command(description="Remove a character; their stories stay readable")
    @app_commands.autocomplete(name=character_names)
    @app_commands.describe(name="Who leaves")
    async def delete(self, interaction: Interaction, name: str) -> None:
        """For who created the character, and moderators."""
        bot, person = interaction.client, interaction.user.id
        await interaction.response.defer(ephemeral=True)
        removed = await bot.engine.remove_character(
            scope_of(interaction), name, by=person, is_moderator=await is_moderator(interaction)
        )
        await remove_portrait(bot, removed.avatar_url)
        text = bot.catalogue.text("character-deleted", interaction.locale, name=removed.card.name)
        await interaction.followup.send(text, ephemeral=True)


def _line(name: str, description: str) -> str:
    words = discord.utils.escape_markdown(" ".join(description.split()))
    short = words if len(words) <= _LONGEST_LINE else words[:_LONGEST_LINE].rstrip("\\ ") + "…"
    return f"**{discord.utils.escape_markdown(name)}** {short}"


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Characters())
