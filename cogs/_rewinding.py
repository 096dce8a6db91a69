"""The part of ``/session`` that goes back in a story, and forth again."""

from __future__ import annotations

import re
from typing import Final

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import NotFound, UserError
from bot.memory.branches import Branch
from bot.memory.turns import BeatKind
from cogs._lines import Say, bound
from cogs._people import channel_id, public_locale, require_scene
from cogs._taken_back import come_back
from cogs._told_otherwise import rewind
from cogs._views import Interaction

# A message's link ends with its id.
_LINK: Final = re.compile(r"(?:.*/)?([0-9]{15,20})")
_EXCERPT: Final = 80
_MOST: Final = 25
_VISIBLE: Final = (BeatKind.NARRATION, BeatKind.SPEECH)


async def branch_numbers(interaction: Interaction, current: str) -> list[app_commands.Choice[int]]:
    """The ways that this channel's story left, the last first."""
    bot = interaction.client
    try:
        session = await bot.engine.readable_session(channel_id(interaction))
        await require_scene(interaction, session)
    except UserError:
        return []
    say = bound(bot.catalogue.text, interaction.locale)
    labels = {branch.id: _label(branch, say) for branch in await bot.rewinding.branches(session.id)}
    wanted = current.strip().casefold()
    fitting = [(number, label) for number, label in labels.items() if wanted in label.casefold()]
    return [app_commands.Choice(name=label[:100], value=number) for number, label in fitting[:_MOST]]


class RewindingCommands(commands.Cog):
    """Commands of the ``/session`` group, for players of the story and moderators."""

    @app_commands.command(description="Go back to a message: what follows it never happened, until you return")
    @app_commands.describe(message="The link or id of the last message to keep")
    async def rewind(self, interaction: Interaction, message: str) -> None:
        """Set what follows aside."""
        bot = interaction.client
        found = _LINK.fullmatch(message.strip())
        if found is None:
            raise NotFound("retell-no-turn")
        told = await bot.rewinding.told(int(found[1]))
        if told.session.place.channel_id != channel_id(interaction):  # whoever moderates here may not elsewhere
            raise NotFound("retell-no-turn")
        await require_scene(interaction, told.session)
        await interaction.response.defer(ephemeral=True, thinking=True)
        channel = await bot.channel(told.session.place.channel_id)
        if channel is None:
            raise NotFound("session-unknown")
        code = await rewind(bot, channel, told, interaction.user.id)
        await interaction.followup.send(bot.catalogue.text(code, interaction.locale), ephemeral=True)

    @app_commands.command(description="Earlier branches of this story; choose one to return to it")
    @app_commands.autocomplete(branch=branch_numbers)
    @app_commands.describe(branch="The branch to return to; leave it out to see them all")
    async def branches(self, interaction: Interaction, branch: int | None = None) -> None:
        """List them, or set the present way aside and take one of them up again."""
        bot, say = interaction.client, bound(interaction.client.catalogue.text, interaction.locale)
        session = await bot.engine.readable_session(channel_id(interaction))
        await require_scene(interaction, session)
        if branch is None:
            lines = [f"- {_label(left, say)}" for left in (await bot.rewinding.branches(session.id))[:_MOST]]
            text = "\n".join([say("rewind-branches"), *lines]) if lines else say("rewind-branches-none")
            await interaction.response.send_message(text, ephemeral=True)
            return
        await interaction.response.defer()
        async with bot.lock("answer", session.id):
            taken = await bot.rewinding.take_up(session.id, branch, by=interaction.user.id)
            channel = await bot.channel(session.place.channel_id)
            if channel is not None:
                await come_back(bot, channel, taken)
        public = bound(bot.catalogue.text, public_locale(interaction))
        await interaction.followup.send(public("rewind-returned", turns=len(taken.turns)))


def _label(branch: Branch, say: Say) -> str:
    first = branch.turns[0]
    words = " ".join(" ".join(beat.text for beat in first.beats if beat.kind in _VISIBLE).split())
    short = words if len(words) <= _EXCERPT else words[:_EXCERPT].rstrip() + "…"
    excerpt = discord.utils.escape_mentions(short)
    return say("rewind-branch", number=branch.id, turns=len(branch.turns), name=first.author.name, excerpt=excerpt)
