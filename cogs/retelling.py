"""A right click on a message, or a reaction to it: tell it anew, go on, take it back, rewind to it, ask who said it."""

from __future__ import annotations

from typing import Final

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import KataribeBot
from cogs._lines import bound
from cogs._people import require_scene
from cogs._reactions import react
from cogs._tellings import TellingButton
from cogs._told_otherwise import Act, go_on, retell, rewind, take_back, who
from cogs._views import Interaction

_COMMANDS: Final[dict[str, Act]] = {
    "Retell": retell,
    "Continue": go_on,
    "Take back": take_back,
    "Rewind to here": rewind,
}


class Retelling(commands.Cog):
    """Commands on messages, and the reactions that do the same."""

    def __init__(self, bot: KataribeBot) -> None:
        self.bot = bot
        self._menus = [_menu(name, act) for name, act in _COMMANDS.items()]
        self._menus.append(app_commands.ContextMenu(name="Who said this?", callback=_who_said))

    async def cog_load(self) -> None:
        """Publish the commands with the others."""
        for menu in self._menus:
            self.bot.tree.add_command(menu)

    async def cog_unload(self) -> None:
        """Take them away again."""
        for menu in self._menus:
            self.bot.tree.remove_command(menu.name, type=menu.type)

    @commands.Cog.listener()
    async def on_raw_reaction_add(self, payload: discord.RawReactionActionEvent) -> None:
        """A reaction to a message, however old it is."""
        await react(self.bot, payload)


def _menu(name: str, act: Act) -> app_commands.ContextMenu:
    async def callback(interaction: Interaction, message: discord.Message) -> None:
        bot = interaction.client
        told = await bot.rewinding.told(message.id)
        await require_scene(interaction, told.session)
        await interaction.response.defer(ephemeral=True, thinking=True)
        code = await act(bot, message.channel, told, interaction.user.id)
        await interaction.followup.send(bot.catalogue.text(code, interaction.locale), ephemeral=True)

    return app_commands.ContextMenu(name=name, callback=callback)


async def _who_said(interaction: Interaction, message: discord.Message) -> None:
    told = await interaction.client.rewinding.told(message.id)
    text = who(told, bound(interaction.client.catalogue.text, interaction.locale))
    await interaction.response.send_message(text, ephemeral=True)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    bot.add_dynamic_items(TellingButton)
    await bot.add_cog(Retelling(bot))
