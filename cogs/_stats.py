"""``/memory stats``: how a story's memory is kept, in figures and a picture."""

from __future__ import annotations

import asyncio
from io import BytesIO

import discord
from discord import app_commands
from discord.ext import commands

from bot.memory.figures import Mark, StoryFigures
from bot.sawtooth import Words, sawtooth
from cogs._lines import Say, bound
from cogs._people import channel_id, require_moderator
from cogs._stats_report import stats_embed
from cogs._views import Interaction

_PICTURE = "sawtooth.png"


class StatsCommand(commands.Cog):
    """One command of the ``/memory`` group."""

    @app_commands.command(description="Figures of this story's folds, times, corrections and reuse (moderators)")
    async def stats(self, interaction: Interaction) -> None:
        """The figures, and how the prompts grew and were folded."""
        bot, say = interaction.client, bound(interaction.client.catalogue.text, interaction.locale)
        await require_moderator(interaction)
        await interaction.response.defer(ephemeral=True, thinking=True)
        session = await bot.engine.readable_session(channel_id(interaction))
        story = await bot.statistics.story(session.id)
        embed = stats_embed(story, session, bot.catalogue, interaction.locale)
        if not story.points:
            embed.set_footer(text=say("stats-no-replies"))
            await interaction.followup.send(embed=embed, ephemeral=True)
            return
        drawn = await asyncio.to_thread(sawtooth, story.points, _words(say), first=story.first)
        file = discord.File(BytesIO(drawn), _PICTURE, description=_description(story, say))
        embed.set_image(url=f"attachment://{_PICTURE}")
        await interaction.followup.send(embed=embed, file=file, ephemeral=True)


def _words(say: Say) -> Words:
    return Words(
        title=say("stats-picture-title"),
        replies=say("stats-picture-replies"),
        tokens=say("stats-picture-tokens"),
        prompt=say("stats-picture-prompt"),
        computed=say("stats-picture-computed"),
        marks={mark: say(f"stats-picture-{mark}") for mark in Mark},
    )


def _description(story: StoryFigures, say: Say) -> str:
    """What the picture shows, for those who cannot see it."""
    folds = sum(point.mark in (Mark.FOLD, Mark.MAJOR_FOLD) for point in story.points)
    largest = max(point.prompt for point in story.points)
    return say("stats-picture-described", replies=len(story.points), largest=largest, folds=folds)
