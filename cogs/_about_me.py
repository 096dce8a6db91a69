"""``/memory about-me``: what characters keep about the person who asks, shown to nobody else."""

from __future__ import annotations

from discord import app_commands
from discord.ext import commands

from cogs._about_rows import about_of
from cogs._about_view import AboutView
from cogs._views import Interaction


async def acquainted_names(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
    """The characters that know the person who types, by name."""
    portraits = (await about_of(interaction)).portraits
    names = sorted({portrait.acquaintance.character_name for portrait in portraits}, key=str.casefold)
    fitting = [name for name in names if current.strip().casefold() in name.casefold()]
    return [app_commands.Choice(name=name, value=name) for name in fitting[:25]]


class AboutMeCommand(commands.Cog):
    """One command of the ``/memory`` group."""

    @app_commands.command(name="about-me", description="What characters keep about you; only you can see it")
    @app_commands.autocomplete(character=acquainted_names)
    @app_commands.describe(character="Only what this character keeps")
    async def about_me(self, interaction: Interaction, character: str = "") -> None:
        """The first page; the rest is done there."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        await AboutView(interaction, character.strip()).show_page(interaction)
