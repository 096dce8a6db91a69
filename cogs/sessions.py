"""``/session``: a story begins, pauses, goes on."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import KataribeBot
from bot.errors import Refused
from cogs._delivery import deliver
from cogs._people import channel_id, missing_permissions, place_of, scope_of
from cogs._report import session_report
from cogs._views import Interaction
from cogs.characters import character_names


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


class Sessions(commands.GroupCog, name="session", description="The story of this channel"):
    """Start, stop, resume and look at the story of a channel, thread or direct message."""

    @app_commands.command(description="Begin a new story in this channel")
    @app_commands.autocomplete(character=character_names)
    @app_commands.describe(character="Who is played", greeting="Whether they speak first")
    async def start(self, interaction: Interaction, character: str, greeting: bool = True) -> None:
        """Begin, and let the character greet."""
        bot, locale = interaction.client, interaction.locale
        await interaction.response.defer(ephemeral=True)
        needed, better = missing_permissions(interaction)
        if needed:
            raise Refused("session-permissions", missing=_named(bot, needed, locale))
        place, scope = place_of(interaction), scope_of(interaction)
        started = await bot.engine.start_session(place, scope, character, greeting=greeting)
        lines = [bot.catalogue.text("session-started", locale, name=started.session.character.card.name)]
        if better:
            lines.append(bot.catalogue.text("session-permissions-better", locale, missing=_named(bot, better, locale)))
        channel = await bot.channel(place.channel_id)
        if started.greeting is not None and channel is not None:
            await deliver(bot, channel, started.greeting)
        await interaction.followup.send("\n\n".join(lines), ephemeral=True)

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
        session = await bot.engine.resume_session(channel_id(interaction), story)
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
    bot = interaction.client
    locale = bot.locale_of(interaction.channel)
    await interaction.followup.send(bot.catalogue.text(code, locale, name=discord.utils.escape_markdown(name)))


def _named(bot: KataribeBot, names: tuple[str, ...], locale: discord.Locale) -> str:
    """Permissions as Discord's own settings call them, one per line."""
    return "\n".join("- " + bot.catalogue.text(f"permission-{name}", locale) for name in names)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Sessions())
