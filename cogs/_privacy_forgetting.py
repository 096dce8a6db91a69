"""What goes when a person is forgotten, and the buttons that decide it."""

from __future__ import annotations

import contextlib

import discord

from bot.privacy import Going
from cogs._lines import Say
from cogs._views import AnsweringView, Interaction


def going_embed(going: Going, say: Say) -> discord.Embed:
    """What goes, with counts, then what stays and what comes after it."""
    lines = [
        say("privacy-goes-turns", count=going.turns) if going.turns else "",
        say("privacy-goes-own-stories", count=going.own_stories) if going.own_stories else "",
        say("privacy-goes-memories", count=going.memories) if going.memories else "",
        say("privacy-goes-replies", count=going.stories) if going.stories else "",
        say("privacy-goes-kept", notes=going.notes, traits=going.traits) if going.notes or going.traits else "",
        say("privacy-goes-characters", count=going.characters) if going.characters else "",
        say("privacy-goes-personas", count=going.personas) if going.personas else "",
        say("privacy-goes-reports", count=going.reports) if going.reports else "",
        say("privacy-goes-made", count=going.made) if going.made else "",
    ]
    embed = discord.Embed(title=say("privacy-forget-title"), description=say("privacy-forget-intro"))
    embed.add_field(name=say("privacy-goes"), value="\n".join(f"• {line}" for line in lines if line), inline=False)
    embed.add_field(name=say("privacy-stays"), value=say("privacy-stays-what"), inline=False)
    embed.add_field(name=say("privacy-after"), value=say("privacy-after-what"), inline=False)
    return embed


class Confirmation(AnsweringView):
    """Asks once more. The buttons go before Discord ceases to accept changes, 15 minutes after the command."""

    def __init__(self, interaction: Interaction, say: Say) -> None:
        super().__init__(timeout=14 * 60)
        self._asked, self._say = interaction, say
        self.confirm.label, self.keep.label = say("privacy-button-forget"), say("privacy-button-keep")

    @discord.ui.button(style=discord.ButtonStyle.danger)
    async def confirm(self, interaction: Interaction, _: discord.ui.Button[Confirmation]) -> None:
        """The wish is on record before anything is answered; whatever happens then, it is carried out."""
        self.stop()
        privacy = interaction.client.privacy
        await privacy.forget(interaction.user.id)
        await interaction.response.edit_message(content=self._say("privacy-begun"), embed=None, view=None)
        with interaction.client.working():
            await privacy.run_due()
        done = await privacy.is_forgotten(interaction.user.id)
        text = self._say("privacy-done" if done else "privacy-later")
        with contextlib.suppress(discord.HTTPException):
            await interaction.edit_original_response(content=text)

    @discord.ui.button(style=discord.ButtonStyle.secondary)
    async def keep(self, interaction: Interaction, _: discord.ui.Button[Confirmation]) -> None:
        """Nothing happens."""
        self.stop()
        await interaction.response.edit_message(content=self._say("privacy-kept"), embed=None, view=None)

    async def on_timeout(self) -> None:
        """Take the buttons away."""
        with contextlib.suppress(discord.HTTPException):
            await self._asked.edit_original_response(view=None)
