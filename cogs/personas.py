"""``/persona``: who a player plays."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import KataribeBot
from bot.errors import NotFound
from bot.memory.personas import LONGEST_BRACKETS, LONGEST_DESCRIPTION, LONGEST_NAME
from cogs._lines import bound
from cogs._pager import Pager
from cogs._persona_keeping import keep, persona_names, take_over
from cogs._personas import persona_page, persona_pages
from cogs._portraits import remove_portrait
from cogs._views import Interaction

Name = app_commands.Range[str, 1, LONGEST_NAME]
Description = app_commands.Range[str, 1, LONGEST_DESCRIPTION]
# With the word between them.
Example = app_commands.Range[str, 1, LONGEST_BRACKETS + len("text")]


class Personas(commands.GroupCog, name="persona", description="Who you play"):
    """Everything here is about the person who asks, and shown to nobody else."""

    @app_commands.command(name="set", description="Play somebody: create a persona, or change one of yours")
    @app_commands.autocomplete(name=persona_names)
    @app_commands.describe(
        name="What they are called",
        description="Who they are, as the characters learn it",
        brackets="How a message speaks as them anywhere, as in mio: text or [text]; text alone for no brackets",
        picture="Their picture: PNG, JPEG, GIF or WebP, up to 8 MB",
        new_name="What they are called from now on",
    )
    async def set_up(
        self,
        interaction: Interaction,
        name: Name,
        description: Description | None = None,
        brackets: Example | None = None,
        picture: discord.Attachment | None = None,
        new_name: Name | None = None,
    ) -> None:
        """Keep what was given, and play them here from now on."""
        given = {"new_name": new_name, "description": description, "brackets": brackets}
        await keep(interaction, name, **given, picture=picture)

    @app_commands.command(description="Show one of your personas; the one you play here when you name none")
    @app_commands.autocomplete(name=persona_names)
    @app_commands.describe(name="Whom to show")
    async def show(self, interaction: Interaction, name: Name | None = None) -> None:
        """All that is known of a persona."""
        personas, say = interaction.client.personas, bound(interaction.client.catalogue.text, interaction.locale)
        active = (await personas.repertoire(interaction.user.id, interaction.guild_id)).active
        persona = await personas.named(interaction.user.id, name) if name else active
        if persona is None:
            raise NotFound("persona-none")
        page = persona_page(persona, say, is_active=persona == active)
        await interaction.response.send_message(embed=page, ephemeral=True)

    @app_commands.command(name="list", description="Your personas, and which one you play here")
    async def list_all(self, interaction: Interaction) -> None:
        """One line each."""
        personas, say = interaction.client.personas, bound(interaction.client.catalogue.text, interaction.locale)
        pages = persona_pages(await personas.repertoire(interaction.user.id, interaction.guild_id), say)
        await Pager.of(interaction, pages).open()

    @app_commands.command(description="Play one of your personas here")
    @app_commands.autocomplete(name=persona_names)
    @app_commands.describe(name="Whom to play")
    async def use(self, interaction: Interaction, name: Name) -> None:
        """From the next message on."""
        persona = await interaction.client.personas.use(interaction.user.id, interaction.guild_id, name)
        text = interaction.client.catalogue.text("persona-used", interaction.locale, name=persona.name)
        await interaction.response.send_message(text, ephemeral=True)

    @app_commands.command(description="Speak as yourself here again")
    async def clear(self, interaction: Interaction) -> None:
        """Brackets still work."""
        await interaction.client.personas.clear(interaction.user.id, interaction.guild_id)
        text = interaction.client.catalogue.text("persona-cleared", interaction.locale)
        await interaction.response.send_message(text, ephemeral=True)

    @app_commands.command(description="Remove one of your personas for good")
    @app_commands.autocomplete(name=persona_names)
    @app_commands.describe(name="Who leaves")
    async def delete(self, interaction: Interaction, name: Name) -> None:
        """With its picture."""
        bot = interaction.client
        await interaction.response.defer(ephemeral=True)
        persona = await bot.personas.delete(interaction.user.id, name)
        await remove_portrait(bot, persona.avatar_url)
        text = bot.catalogue.text("persona-deleted", interaction.locale, name=persona.name)
        await interaction.followup.send(text, ephemeral=True)

    @app_commands.command(name="import", description="Bring your personas from PluralKit, Tupperbox or SillyTavern")
    @app_commands.describe(file="What pk;export or tul!export sends you, or a backup of your personas; up to 4 MB")
    async def import_file(self, interaction: Interaction, file: discord.Attachment) -> None:
        """Those with names that are there already are brought up to date."""
        await take_over(interaction, file)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Personas())
