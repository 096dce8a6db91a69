"""``/privacy``: a copy of what is kept of oneself, and being forgotten; and guilds that come and go."""

from __future__ import annotations

import io
from functools import partial

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import KataribeBot
from cogs._lines import bound
from cogs._portraits import take_down
from cogs._privacy_forgetting import Confirmation, going_embed
from cogs._views import Interaction


class PrivacyCommands(commands.GroupCog, name="privacy", description="What is kept of you, and how it goes"):
    """Each command serves the person who uses it, and nobody else sees the answer."""

    def __init__(self, bot: KataribeBot) -> None:
        self.bot = bot

    async def cog_load(self) -> None:
        """From now on pictures can go with their persons."""
        self.bot.privacy.remove_picture = partial(take_down, self.bot)

    @app_commands.command(description="Everything that is kept of you, as a file")
    async def export(self, interaction: Interaction) -> None:
        """One file, or several where one would be too large for Discord."""
        bot, say = interaction.client, bound(interaction.client.catalogue.text, interaction.locale)
        await interaction.response.defer(ephemeral=True, thinking=True)
        documents = await bot.privacy.export(interaction.user.id)
        for number, document in enumerate(documents, start=1):
            name = "kataribe.json" if len(documents) == 1 else f"kataribe-{number}.json"
            text = say("privacy-export") if number == 1 else ""
            await interaction.followup.send(text, file=discord.File(io.BytesIO(document), name), ephemeral=True)

    @app_commands.command(name="forget-me", description="Delete everything that is kept of you, in all stories")
    async def forget_me(self, interaction: Interaction) -> None:
        """What goes and what stays; nothing happens before the button is pressed."""
        bot, say = interaction.client, bound(interaction.client.catalogue.text, interaction.locale)
        await interaction.response.defer(ephemeral=True, thinking=True)
        going = await bot.privacy.what_goes(interaction.user.id)
        if going.is_nothing:
            await interaction.followup.send(say("privacy-nothing"), ephemeral=True)
            return
        view = Confirmation(interaction, say)
        await interaction.followup.send(embed=going_embed(going, say), view=view, ephemeral=True)

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Guilds may have removed or invited the bot while it was away."""
        await self.bot.privacy.reconcile([guild.id for guild in self.bot.guilds])

    @commands.Cog.listener()
    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Invited, perhaps again."""
        await self.bot.privacy.guild_joined(guild.id)

    @commands.Cog.listener()
    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """Removed; a guild that is only out of reach for a while has another event."""
        await self.bot.privacy.guild_left(guild.id)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(PrivacyCommands(bot))
