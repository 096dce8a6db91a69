"""``/character import`` and ``/character export``: cards in the community's formats, in and out."""

from __future__ import annotations

import io
import logging
import re

import discord
from discord import app_commands
from discord.ext import commands

from bot.characters import LARGEST_FILE, CardFile, Form, Kind, Written
from bot.errors import Refused
from cogs._card_pages import import_report
from cogs._lines import bound
from cogs._people import character_names, is_moderator, scope_of
from cogs._portraits import keep_portrait, load_portrait, remove_portrait
from cogs._views import Interaction
from cogs._voice import REFUSALS

log = logging.getLogger(__name__)


class CardFiles(commands.Cog):
    """Commands of the ``/character`` group."""

    @app_commands.command(name="import", description="Bring a character from a card: PNG, JSON or .charx")
    @app_commands.describe(
        file="The card, up to 25 MB",
        name="Another name for them, when theirs is taken",
        adult="Only to be played in age-restricted channels",
    )
    async def import_card(
        self,
        interaction: Interaction,
        file: discord.Attachment,
        name: app_commands.Range[str, 1, 32] | None = None,
        adult: bool = False,
    ) -> None:
        """Keep the card whole, and tell what was found in it."""
        bot = interaction.client
        if file.size > LARGEST_FILE:
            raise Refused(Kind.LARGE.value)
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            data = await file.read()
        except REFUSALS as error:
            log.warning("a card could not be downloaded: %r", error)
            raise Refused("card-not-loaded") from error
        card = await bot.characters.read(data, file.filename)
        address = await _portrait(interaction, card)
        try:
            character = await bot.characters.add(scope_of(interaction), card, address, name=name or "", adult=adult)
        except Exception:
            await remove_portrait(bot, address)
            raise
        say = bound(bot.catalogue.text, interaction.locale)
        report = import_report(character, card, say, str(interaction.locale))
        await interaction.followup.send(embed=report, ephemeral=True)

    @app_commands.command(description="Take a character along as a card, with everything that came in with it")
    @app_commands.autocomplete(name=character_names)
    @app_commands.rename(form="format")
    @app_commands.describe(
        name="Whose card",
        form="A picture with the card in it, or the card alone; a picture when you leave it out",
        version="Which version of the format; V2 when you leave it out, which most programs read",
    )
    async def export(self, interaction: Interaction, name: str, form: Form = "png", version: Written = "v2") -> None:
        """For who created the character, and moderators."""
        bot = interaction.client
        await interaction.response.defer(ephemeral=True, thinking=True)
        character = await bot.characters.owned(
            scope_of(interaction), name, by=interaction.user.id, is_moderator=await is_moderator(interaction)
        )
        picture = await load_portrait(bot, character.avatar_url) if form == "png" else None
        data = await bot.characters.written(character, form, version, picture)
        if len(data) > interaction.filesize_limit:
            raise Refused("card-export-large", name=character.card.name)
        stem = re.sub(r"[^\w-]+", "_", character.card.name).strip("_") or "card"
        await interaction.followup.send(file=discord.File(io.BytesIO(data), f"{stem}.{form}"), ephemeral=True)


async def _portrait(interaction: Interaction, card: CardFile) -> str:
    """The address of the card's picture; empty when it has none, or none that can be kept now."""
    if card.picture is None:
        return ""
    try:
        return await keep_portrait(interaction.client, card.picture, interaction.id) or ""
    except Refused as refused:
        log.info("a card's picture was left out: %s", refused)
        return ""
