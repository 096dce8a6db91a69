"""What is kept about the person who asks, and where, as far as it may be shown where they ask."""

from __future__ import annotations

from dataclasses import replace

from bot.people import About
from cogs._about_pages import shown
from cogs._lines import Say
from cogs._views import Interaction


async def about_of(interaction: Interaction, character: str = "") -> About:
    """What is kept about the person who asks: by the guild's characters, or in a direct message by all.

    With ``character`` only by those of that name.
    """
    everywhere = interaction.guild_id is None
    about = await interaction.client.people.about(interaction.user.id, interaction.guild_id, everywhere=everywhere)
    named = [p for p in about.portraits if character.casefold() in ("", p.acquaintance.character_name.casefold())]
    return replace(about, portraits=tuple(named))


def where(interaction: Interaction, say: Say, guild_id: int | None) -> str:
    """Where a character is; not said in a guild, where all of them are of that guild."""
    if interaction.guild_id is not None:
        return ""
    guild = interaction.client.get_guild(guild_id) if guild_id else None
    if guild is not None:
        return say("about-in-guild", name=shown(guild.name))
    return say("about-in-other-guild" if guild_id else "about-in-direct")
