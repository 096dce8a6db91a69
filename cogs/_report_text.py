"""What a player's report looks like, before and after it is decided."""

from __future__ import annotations

import discord

from bot.memory.moderation import BY_AUDIT, Flag
from bot.moderation import Report
from cogs._corrections import DID
from cogs._lines import Say, bound, memory_line
from cogs._log import whereabouts
from cogs._views import Interaction


def report_embed(report: Report, say: Say) -> discord.Embed:
    """The memory, who reported it and why; and who did what about it, once somebody did."""
    flag, memory = report.flag, report.detail.memory
    lines = [
        memory_line(memory, say),
        "",
        *([say("report-by-audit")] if flag.by == BY_AUDIT else _by_player(flag, say)),
        whereabouts(report.session, report.detail.turns, say),
    ]
    if not flag.is_open:
        did = "did-dismiss" if flag.correction is None else DID[flag.correction]
        by = f"<@{flag.decided_by}>" if flag.decided_by else say("privacy-by-forgotten")
        lines += ["", f"**{say(did, by=by)}**"]
    return discord.Embed(title=say("report-title", number=flag.number), description="\n".join(lines))


def _by_player(flag: Flag, say: Say) -> tuple[str, str]:
    return say("report-by", by=f"<@{flag.by}>"), f"> {discord.utils.escape_markdown(flag.why)}"


async def show_decision(interaction: Interaction, *, flag_id: int) -> None:
    """Say in the report's message who did what, and take its buttons away, once it is decided."""
    bot, message = interaction.client, interaction.message
    report = await bot.moderation.report(flag_id)
    if report.flag.is_open:
        return
    is_private = message is not None and message.flags.ephemeral
    locale = interaction.locale if is_private else bot.locale_of(interaction.channel)
    embed = report_embed(report, bound(bot.catalogue.text, locale))
    await interaction.edit_original_response(embed=embed, view=None)
