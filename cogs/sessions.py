"""``/session``: a story begins, pauses, goes on."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import KataribeBot
from cogs._cast import CastCommands
from cogs._lines import bound
from cogs._manners import MannersCommand
from cogs._people import channel_id, character_names, is_for_adults, public_locale
from cogs._report import session_report
from cogs._rewinding import RewindingCommands
from cogs._starting import greetings, start_story
from cogs._views import Interaction


async def story_numbers(interaction: Interaction, current: str) -> list[app_commands.Choice[int]]:
    """This channel's stories, newest first."""
    bot = interaction.client
    choices = []
    for session in await bot.engine.stories(channel_id(interaction)):
        label = bot.catalogue.text(
            "story-choice",
            interaction.locale,
            number=session.id,
            name=session.character.card.name,
            day=session.started_at.date().isoformat(),
        )
        if current.strip().casefold() in label.casefold():
            choices.append(app_commands.Choice(name=label[:100], value=session.id))
    return choices[:25]


class Sessions(
    CastCommands,
    MannersCommand,
    RewindingCommands,
    commands.GroupCog,
    name="session",
    description="The story of this channel",
):
    """Start, stop, resume and look at the story of a channel, thread or direct message."""

    @app_commands.command(description="Begin a new story in this channel")
    @app_commands.autocomplete(character=character_names, greeting=greetings)
    @app_commands.describe(character="Who is played", greeting="How they open it; the first way when you leave it out")
    async def start(self, interaction: Interaction, character: str, greeting: str | None = None) -> None:
        """Begin, and let the character greet."""
        await start_story(interaction, character, greeting)

    @app_commands.command(description="Pause this channel's story")
    async def stop(self, interaction: Interaction) -> None:
        """Pause; nothing is forgotten."""
        bot = interaction.client
        await interaction.response.defer()
        session = await bot.engine.stop_session(channel_id(interaction))
        await _say(interaction, "session-stopped", session.character.card.name)

    @app_commands.command(description="Go on with a paused story of this channel")
    @app_commands.autocomplete(story=story_numbers)
    @app_commands.describe(story="Which story; the newest when you leave it out")
    async def resume(self, interaction: Interaction, story: int | None = None) -> None:
        """Go on where the story stopped."""
        bot = interaction.client
        await interaction.response.defer()
        adults = is_for_adults(interaction)
        session = await bot.engine.resume_session(channel_id(interaction), story, for_adults=adults)
        await _say(interaction, "session-resumed", session.character.card.name)

    @app_commands.command(description="What runs here, and how much of it is remembered how")
    async def info(self, interaction: Interaction) -> None:
        """Counts, in plain words."""
        bot = interaction.client
        session = await bot.engine.readable_session(channel_id(interaction))
        figures = await bot.engine.figures(session.id)
        lines = session_report(bot, session, figures, interaction.locale)
        embed = discord.Embed(title=session.character.card.name, description="\n".join(lines))
        await interaction.response.send_message(embed=embed, ephemeral=True)


async def _say(interaction: Interaction, code: str, name: str) -> None:
    """Tell the whole channel."""
    say = bound(interaction.client.catalogue.text, public_locale(interaction))
    await interaction.followup.send(say(code, name=discord.utils.escape_markdown(name)))


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Sessions())
