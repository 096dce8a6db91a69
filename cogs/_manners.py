"""``/session settings``: when the character answers, and what marks talk out of character."""

from __future__ import annotations

from typing import Final

import discord
from discord import app_commands
from discord.ext import commands

from bot.memory.manners import Marks, Mode
from cogs._answering import answer
from cogs._lines import bound
from cogs._people import channel_id, public_locale, require_scene
from cogs._views import Interaction

_MODES: Final = [
    app_commands.Choice(name="Every message", value=Mode.EVERY.value),
    app_commands.Choice(name="When spoken to", value=Mode.SPOKEN_TO.value),
    app_commands.Choice(name="After a pause", value=Mode.PAUSE.value),
]
_MARKS: Final = [
    app_commands.Choice(name="((…)) and //", value=Marks.BOTH.value),
    app_commands.Choice(name="Only ((…))", value=Marks.BRACKETS.value),
    app_commands.Choice(name="Only //", value=Marks.SLASHES.value),
    app_commands.Choice(name="Nothing: all is story", value=Marks.NONE.value),
]
_SHORTEST_PAUSE: Final = 3
_LONGEST_PAUSE: Final = 3_600


class MannersCommand(commands.Cog):
    """One command of the ``/session`` group, for players of the story and moderators."""

    @app_commands.command(description="When the character answers, and how you talk out of character")
    @app_commands.choices(mode=_MODES, out_of_character=_MARKS)
    @app_commands.describe(
        mode="Which messages are answered",
        pause="Seconds that nobody writes before the character answers, in the mode After a pause",
        out_of_character="What marks words that don't belong to the story",
    )
    async def settings(
        self,
        interaction: Interaction,
        mode: app_commands.Choice[str] | None = None,
        pause: app_commands.Range[int, _SHORTEST_PAUSE, _LONGEST_PAUSE] | None = None,
        out_of_character: app_commands.Choice[str] | None = None,
    ) -> None:
        """Set what is named, and show what holds: to the whole channel when something changed."""
        bot = interaction.client
        session = await bot.engine.readable_session(channel_id(interaction))
        changes = any(option is not None for option in (mode, pause, out_of_character))
        if changes:
            await require_scene(interaction, session)
        await interaction.response.defer(ephemeral=not changes, thinking=True)
        manners = await bot.manners.change(
            session.id,
            mode=Mode(mode.value) if mode else None,
            pause_seconds=pause,
            marks=Marks(out_of_character.value) if out_of_character else None,
        )
        say = bound(bot.catalogue.text, public_locale(interaction) if changes else interaction.locale)
        name = discord.utils.escape_markdown(session.character.card.name)
        lines = [
            say(f"manners-mode-{manners.mode}", name=name, seconds=manners.pause_seconds),
            say(f"manners-marks-{manners.marks}", name=name),
        ]
        await interaction.followup.send("\n".join(lines), ephemeral=not changes)
        channel = await bot.channel(session.place.channel_id)
        if session.id in bot.alarms and channel is not None:
            await answer(bot, channel, session.id)
