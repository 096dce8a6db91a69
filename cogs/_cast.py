"""``/session cast``: who plays in a story beside the character it began with."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import NotFound
from bot.memory.story import Member, Session
from cogs._delivery import deliver
from cogs._lines import Say, bound
from cogs._people import channel_id, character_names, is_for_adults, require_scene, scope_of
from cogs._starting import greeting_number, greetings
from cogs._views import Interaction


async def others_names(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
    """Those who may leave this channel's story, by name."""
    session = await interaction.client.engine.running_session(channel_id(interaction))
    names = [member.character.card.name for member in session.cast[1:]] if session else []
    fitting = [name for name in names if current.strip().casefold() in name.casefold()]
    return [app_commands.Choice(name=name, value=name) for name in fitting[:25]]


class CastCommands(commands.Cog):
    """Part of the ``/session`` group, for players of the story and moderators; before anybody has played, for all."""

    cast = app_commands.Group(name="cast", description="Who plays in this story")

    @cast.command(description="Let another character join; it knows only what happens from then on")
    @app_commands.autocomplete(character=character_names, greeting=greetings)
    @app_commands.describe(character="Who joins", greeting="How they greet; not at all when you leave it out")
    async def add(self, interaction: Interaction, character: str, greeting: str | None = None) -> None:
        """Say so to the whole channel, and let the character greet."""
        bot = interaction.client
        session = await _running(interaction)
        number = greeting_number(greeting, character)
        await interaction.response.defer()
        async with bot.lock("answer", session.id):
            joined = await bot.engine.casting.add(
                session.id, scope_of(interaction), character, greeting=number, for_adults=is_for_adults(interaction)
            )
            await _tell_all(interaction, "cast-joined", joined.member.character.card.name)
            channel = await bot.channel(session.place.channel_id)
            if joined.greeting is not None and channel is not None:
                await deliver(bot, channel, (await bot.rewinding.turn(joined.greeting.id)).reply)

    @cast.command(description="Let a character leave; what it said stays")
    @app_commands.autocomplete(character=others_names)
    @app_commands.describe(character="Who leaves")
    async def remove(self, interaction: Interaction, character: str) -> None:
        """Say so to the whole channel."""
        bot = interaction.client
        session = await _running(interaction)
        await interaction.response.defer()
        async with bot.lock("answer", session.id):
            gone = await bot.engine.casting.remove(session.id, character)
        await _tell_all(interaction, "cast-left", gone.card.name)

    @cast.command(description="Who plays in this story, and since when")
    async def show(self, interaction: Interaction) -> None:
        """One line for each, the one it began with first."""
        bot = interaction.client
        session = await bot.engine.readable_session(channel_id(interaction))
        say = bound(bot.catalogue.text, interaction.locale)
        lines = [_line(member, say) for member in session.cast]
        embed = discord.Embed(title=say("cast-title"), description="\n".join(lines))
        await interaction.response.send_message(embed=embed, ephemeral=True)


async def _running(interaction: Interaction) -> Session:
    """The story that runs here. Raises NotFound, and NotAllowed for who has no say in it."""
    engine = interaction.client.engine
    session = await engine.running_session(channel_id(interaction))
    if session is None:
        raise NotFound("session-none")
    if await engine.casting.has_begun(session.id):
        await require_scene(interaction, session)
    return session


def _line(member: Member, say: Say) -> str:
    name = discord.utils.escape_markdown(member.character.card.name)
    return say("cast-line-late", name=name, seq=member.since) if member.since else say("cast-line", name=name)


async def _tell_all(interaction: Interaction, code: str, name: str) -> None:
    bot = interaction.client
    locale = bot.locale_of(interaction.channel)
    await interaction.followup.send(bot.catalogue.text(code, locale, name=discord.utils.escape_markdown(name)))
