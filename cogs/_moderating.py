"""The part of ``/memory`` that sets memories right: corrections, and players' reports."""

from __future__ import annotations

from discord import app_commands
from discord.ext import commands

from bot.errors import Refused
from bot.memory.corrections import Correction, CorrectionKind
from cogs._choices import memory_numbers
from cogs._correction_form import CorrectionForm
from cogs._corrections import carry_out
from cogs._lines import bound
from cogs._people import channel_id, require_moderator
from cogs._report_text import report_embed
from cogs._reports import post_report, report_view
from cogs._views import Interaction

_CORRECTIONS = [
    app_commands.Choice(name="It was said, but it is not true", value=CorrectionKind.SAID_NOT_TRUE.value),
    app_commands.Choice(name="Change its text", value=CorrectionKind.EDIT.value),
    app_commands.Choice(name="Take it out", value=CorrectionKind.RETRACT.value),
    app_commands.Choice(name="Undo the last correction", value=CorrectionKind.RESTORE.value),
]
# So many reports are shown at once; the others follow when these are decided.
_REPORTS = 5


class Moderating(commands.Cog):
    """Commands of the ``/memory`` group; what players may not do is refused with a word on who may."""

    @app_commands.command(description="Put a memory right, for good (moderators)")
    @app_commands.autocomplete(number=memory_numbers)
    @app_commands.choices(what=_CORRECTIONS)
    @app_commands.describe(
        number="The number of the memory",
        what="What is wrong with it",
        text="The new text, for a change",
        reason="Why; kept in its history",
    )
    async def correct(
        self,
        interaction: Interaction,
        number: int,
        what: app_commands.Choice[str],
        text: app_commands.Range[str, 1, 500] | None = None,
        reason: app_commands.Range[str, 1, 300] | None = None,
    ) -> None:
        """Correct at once, or ask in a form for what is missing."""
        bot, kind = interaction.client, CorrectionKind(what.value)
        await require_moderator(interaction)
        session = await bot.engine.readable_session(channel_id(interaction))
        correction = Correction(kind, interaction.user.id, reason or "", text or "")
        if not reason or (kind is CorrectionKind.EDIT and not text):
            detail = await bot.engine.detail(session.id, number)
            form = CorrectionForm(bot, interaction.locale, session, detail, correction)
            await interaction.response.send_modal(form)
            return
        await interaction.response.defer(ephemeral=True, thinking=True)
        await carry_out(interaction, session.id, number, correction)

    @app_commands.command(description="Tell the moderators that a memory is wrong")
    @app_commands.autocomplete(number=memory_numbers)
    @app_commands.describe(number="The number of the memory", why="What is wrong with it")
    async def flag(self, interaction: Interaction, number: int, why: app_commands.Range[str, 1, 300]) -> None:
        """Keep the report, and put it before the moderators."""
        bot = interaction.client
        if interaction.guild_id is None:
            raise Refused("flag-guild-only")
        await interaction.response.defer(ephemeral=True, thinking=True)
        session = await bot.engine.readable_session(channel_id(interaction))
        report = await bot.moderation.flag(session.id, number, by=interaction.user.id, why=why)
        posted = await post_report(bot, report)
        text = bot.catalogue.text("flag-sent" if posted else "flag-kept", interaction.locale, number=number)
        await interaction.followup.send(text, ephemeral=True)

    @app_commands.command(description="What players reported and nobody has decided yet (moderators)")
    async def flags(self, interaction: Interaction) -> None:
        """The oldest reports of the guild, each with its buttons."""
        bot, say = interaction.client, bound(interaction.client.catalogue.text, interaction.locale)
        await require_moderator(interaction)
        await interaction.response.defer(ephemeral=True, thinking=True)
        reports = await bot.moderation.open_reports(interaction.guild_id) if interaction.guild_id else ()
        await interaction.followup.send(say("flags-open", count=len(reports)), ephemeral=True)
        for report in reports[:_REPORTS]:
            await interaction.followup.send(
                embed=report_embed(report, say), view=report_view(report, say), ephemeral=True
            )
