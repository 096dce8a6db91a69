"""``/memory settings``: who may correct memories in a guild, where that is posted, its time zone and its language."""

from __future__ import annotations

import discord
from discord import app_commands
from discord.ext import commands

from bot.catalogue import spoken_language
from bot.client import KataribeBot
from bot.errors import NotAllowed, Refused
from bot.memory.wording import Language
from cogs._lines import bound
from cogs._time_zones import time_zones
from cogs._views import Interaction
from cogs._voice import REFUSALS

_CLEARED = [
    app_commands.Choice(name="The moderator role", value="role"),
    app_commands.Choice(name="The log channel", value="log"),
    app_commands.Choice(name="The time zone", value="zone"),
    app_commands.Choice(name="The language", value="language"),
]
_LANGUAGES: list[app_commands.Choice[str]] = [
    app_commands.Choice(name="English", value="en"),
    app_commands.Choice(name="Japanese · 日本語", value="ja"),
    app_commands.Choice(name="Chinese · 中文", value="zh"),
]


class GuildSettingsCommand(commands.Cog):
    """One command of the ``/memory`` group."""

    @app_commands.command(
        description="Who may correct memories, where that is posted, the time zone, the language (Manage Server)"
    )
    @app_commands.choices(language=_LANGUAGES, clear=_CLEARED)
    @app_commands.autocomplete(time_zone=time_zones)
    @app_commands.describe(
        moderator_role="Its members may correct memories, beside those who may manage messages",
        log_channel="Where corrections and reports are posted",
        time_zone="Where it is 05:00 when characters go over what they learned about people, such as Asia/Tokyo",
        language="What everybody in a channel reads is in this language",
        clear="What to unset",
    )
    async def settings(
        self,
        interaction: Interaction,
        moderator_role: discord.Role | None = None,
        log_channel: discord.TextChannel | None = None,
        time_zone: app_commands.Range[str, 1, 100] | None = None,
        language: app_commands.Choice[str] | None = None,
        clear: app_commands.Choice[str] | None = None,
    ) -> None:
        """Set or unset what is named, then show how things stand."""
        bot, say = interaction.client, bound(interaction.client.catalogue.text, interaction.locale)
        guild_id, unset = interaction.guild_id, clear.value if clear else ""
        if guild_id is None:
            raise Refused("settings-guild-only")
        if not interaction.permissions.manage_guild:
            raise NotAllowed("settings-manage-server")
        if moderator_role is not None and moderator_role.is_default():
            raise Refused("settings-role-everyone")
        await interaction.response.defer(ephemeral=True, thinking=True)
        if time_zone is not None:
            await bot.moderation.set_time_zone(guild_id, time_zone)
        if language is not None:
            await _speak(bot, guild_id, spoken_language(language.value))
        if log_channel is not None:
            await _greet(interaction, log_channel)
            await bot.moderation.set_log_channel(guild_id, log_channel.id)
        if moderator_role is not None:
            await bot.moderation.set_moderator_role(guild_id, moderator_role.id)
        if unset == "role":
            await bot.moderation.set_moderator_role(guild_id, None)
        if unset == "log":
            await bot.moderation.set_log_channel(guild_id, None)
        if unset == "zone":
            await bot.moderation.set_time_zone(guild_id, None)
        if unset == "language":
            await _speak(bot, guild_id, None)
        chosen = await bot.moderation.settings(guild_id)
        role, channel, zone = chosen.moderator_role_id, chosen.log_channel_id, chosen.time_zone
        lines = [
            say("settings-role", role=f"<@&{role}>") if role else say("settings-role-none"),
            say("settings-log", channel=f"<#{channel}>") if channel else say("settings-log-none"),
            say("settings-zone", zone=zone) if zone else say("settings-zone-none"),
            say("settings-language", language=chosen.language) if chosen.language else say("settings-language-none"),
        ]
        await interaction.followup.send("\n".join(lines), ephemeral=True)


async def _speak(bot: KataribeBot, guild_id: int, language: Language | None) -> None:
    await bot.moderation.set_language(guild_id, language)
    bot.languages = await bot.moderation.languages()


async def _greet(interaction: Interaction, channel: discord.TextChannel) -> None:
    """Say in a new log channel what it is for. Raises Refused when we cannot write there."""
    bot = interaction.client
    try:
        await channel.send(embed=discord.Embed(description=bot.catalogue.text("log-opened", bot.locale_of(channel))))
    except REFUSALS as error:
        raise Refused("settings-channel-closed", channel=channel.mention) from error
