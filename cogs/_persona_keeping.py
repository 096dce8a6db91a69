"""Choosing a persona, keeping one with its picture, and taking personas over from a file."""

from __future__ import annotations

import logging

import discord
from discord import app_commands

from bot.errors import Refused
from bot.memory.proxy_exports import LARGEST_EXPORT
from bot.pictures import LARGEST_UPLOAD
from cogs._lines import bound
from cogs._personas import import_report, persona_page
from cogs._portraits import remove_portrait, upload_portrait
from cogs._views import Interaction
from cogs._voice import REFUSALS

log = logging.getLogger(__name__)


async def persona_names(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
    """The names of one's own personas that fit what was typed so far; Discord shows 25 at most."""
    known = await interaction.client.personas.repertoire(interaction.user.id, interaction.guild_id)
    wanted = current.strip().casefold()
    fitting = sorted(persona.name for persona in known.personas if wanted in persona.name.casefold())
    return [app_commands.Choice(name=name, value=name) for name in fitting[:25]]


async def keep(
    interaction: Interaction,
    name: str,
    *,
    new_name: str | None,
    description: str | None,
    brackets: str | None,
    picture: discord.Attachment | None,
) -> None:
    """Change a persona or add it, with a picture when it can be kept, and show what it is now. Raises Refused."""
    bot = interaction.client
    if picture is not None and picture.size > LARGEST_UPLOAD:
        raise Refused("picture-too-large")
    await interaction.response.defer(ephemeral=True)
    address = await upload_portrait(bot, picture, interaction.id) if picture else None
    try:
        saved = await bot.personas.save(
            interaction.user.id,
            interaction.guild_id,
            name,
            new_name=new_name,
            description=description,
            brackets=brackets,
            avatar_url=address,
        )
    except Exception:
        await remove_portrait(bot, address or "")
        raise
    if address and saved.before:
        await remove_portrait(bot, saved.before.avatar_url)
    say = bound(bot.catalogue.text, interaction.locale)
    lines = [say("persona-changed" if saved.before else "persona-created", name=saved.now.name)]
    if picture and address is None:
        lines.append(say("persona-without-picture"))
    page = persona_page(saved.now, say, is_active=True)
    await interaction.followup.send("\n".join(lines), embed=page, ephemeral=True)


async def take_over(interaction: Interaction, file: discord.Attachment) -> None:
    """Import an export, and say what became of each entry. Raises Refused."""
    bot = interaction.client
    if file.size > LARGEST_EXPORT:
        raise Refused("persona-file-large", most=LARGEST_EXPORT >> 20)
    await interaction.response.defer(ephemeral=True)
    try:
        data = await file.read()
    except REFUSALS as error:
        log.warning("an export could not be downloaded: %r", error)
        raise Refused("persona-file-not-loaded") from error
    done = await bot.personas.import_file(interaction.user.id, data)
    report = import_report(done, bound(bot.catalogue.text, interaction.locale))
    await interaction.followup.send(embed=report, ephemeral=True)
