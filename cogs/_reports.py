"""Players' reports before the moderators, with the buttons that decide them."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import partial
from typing import Any, Final

import discord

from bot.client import KataribeBot
from bot.memory.corrections import Correction, CorrectionKind, is_told_as_true
from bot.moderation import Report
from cogs._correction_form import CorrectionForm
from cogs._corrections import carry_out
from cogs._lines import Say, bound
from cogs._log import log_channel, post
from cogs._people import require_moderator, require_own_guild
from cogs._report_text import report_embed, show_decision
from cogs._views import Interaction


class Decision(StrEnum):
    """What a moderator can do about a report."""

    CLAIM = "claim"
    EDIT = "edit"
    RETRACT = "retract"
    DISMISS = "dismiss"


_EMOJI: Final = {Decision.CLAIM: "💬", Decision.EDIT: "✏", Decision.RETRACT: "🗑", Decision.DISMISS: "✖"}
_CORRECTIONS: Final = {
    Decision.CLAIM: CorrectionKind.SAID_NOT_TRUE,
    Decision.EDIT: CorrectionKind.EDIT,
    Decision.RETRACT: CorrectionKind.RETRACT,
}


async def post_report(bot: KataribeBot, report: Report) -> bool:
    """Put a report before the moderators; False when no log channel is set or reachable."""
    channel = await log_channel(bot, report.session)
    if channel is None:
        return False
    say = bound(bot.catalogue.text, bot.locale_of(channel))
    return await post(channel, report_embed(report, say), report_view(report, say))


def report_view(report: Report, say: Say) -> discord.ui.View:
    """The buttons of what can be decided; they work in any process that has the report."""
    view = discord.ui.View(timeout=None)
    for decision in Decision:
        if decision is not Decision.CLAIM or is_told_as_true(report.detail.memory):
            view.add_item(FlagButton(report.flag.id, decision, say(f"button-{decision}")))
    return view


class FlagButton(
    discord.ui.DynamicItem[discord.ui.Button[Any]],
    template=r"flag:(?P<flag>[0-9]{1,18}):(?P<decision>claim|edit|retract|dismiss)",
):
    """One decision about one report. For moderators, also after a restart of the bot."""

    def __init__(self, flag_id: int, decision: Decision, label: str | None = None) -> None:
        custom_id = f"flag:{flag_id}:{decision}"
        super().__init__(discord.ui.Button(label=label, emoji=_EMOJI[decision], custom_id=custom_id))
        self._flag_id, self._decision = flag_id, decision

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> FlagButton:
        """The button of a message that another process may have sent."""
        return cls(int(match["flag"]), Decision(match["decision"]))

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Errors here reach no handler of discord.py's: they are answered here."""
        try:
            await self._press(interaction)
        except Exception as error:  # noqa: BLE001 - explained to the person, and logged where that is done
            await interaction.client.answer_error(interaction, error)

    async def _press(self, interaction: Interaction) -> None:
        bot = interaction.client
        await require_moderator(interaction)
        report = await bot.moderation.report(self._flag_id)
        await require_own_guild(interaction, report.session)
        then = partial(show_decision, flag_id=self._flag_id)
        if self._decision is Decision.EDIT and report.flag.is_open:
            correction = Correction(CorrectionKind.EDIT, interaction.user.id, reason=report.flag.why)
            form = CorrectionForm(
                bot, interaction.locale, report.session, report.detail, correction, flag_id=self._flag_id, then=then
            )
            await interaction.response.send_modal(form)
            return
        await interaction.response.defer()
        try:
            await self._decide(interaction, report)
        finally:
            await then(interaction)

    async def _decide(self, interaction: Interaction, report: Report) -> None:
        kind = _CORRECTIONS.get(self._decision)
        if kind is None:
            await interaction.client.moderation.dismiss(self._flag_id, by=interaction.user.id)
            return
        correction = Correction(kind, interaction.user.id, reason=report.flag.why)
        await carry_out(interaction, report.session.id, report.flag.number, correction, flag_id=self._flag_id)
