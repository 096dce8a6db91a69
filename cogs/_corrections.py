"""Carrying out a correction, telling the moderators' log of it, and taking it back with one click."""

from __future__ import annotations

import re
from typing import Any, Final

import discord

from bot.memory.corrections import Correction, CorrectionKind
from bot.moderation import Corrected
from cogs._lines import Say, bound, memory_line
from cogs._log import log_channel, post, whereabouts
from cogs._people import require_moderator, require_own_guild
from cogs._views import Interaction

DID: Final = {
    CorrectionKind.SAID_NOT_TRUE: "did-claim",
    CorrectionKind.EDIT: "did-edit",
    CorrectionKind.RETRACT: "did-retract",
    CorrectionKind.RESTORE: "did-restore",
}
_LONGEST: Final = 4_096


async def carry_out(
    interaction: Interaction, session_id: int, number: int, correction: Correction, *, flag_id: int | None = None
) -> None:
    """Correct a memory, show it as it was and as it is now, and post that to the guild's log.

    The interaction must be deferred. Raises UserError.
    """
    done = await interaction.client.moderation.correct(session_id, correction, number, flag_id=flag_id)
    await _tell(interaction, done)


async def undo(interaction: Interaction, session_id: int, number: int, version: int) -> None:
    """Take a correction back; the message with the button says so, and loses its buttons. Raises UserError."""
    bot = interaction.client
    await require_moderator(interaction)
    await require_own_guild(interaction, await bot.engine.session(session_id))
    await interaction.response.defer()
    done = await bot.moderation.undo(session_id, number, version, by=interaction.user.id)
    await _tell(interaction, done)
    said = bot.catalogue.text("did-restore", interaction.locale, by=interaction.user.mention)
    embeds = interaction.message.embeds[:1] if interaction.message else []
    for embed in embeds:
        embed.description = f"{(embed.description or '')[: _LONGEST - len(said) - 2]}\n\n{said}"
    await interaction.edit_original_response(embeds=embeds, view=None)


async def _tell(interaction: Interaction, done: Corrected) -> None:
    bot = interaction.client
    say = bound(bot.catalogue.text, interaction.locale)
    await interaction.followup.send(
        embed=_before_and_after(done, say, reveal=True), view=_undo_view(done, say), ephemeral=True
    )
    channel = await log_channel(bot, done.session)
    if channel is not None:
        say = bound(bot.catalogue.text, bot.locale_of(channel))
        await post(channel, _log_entry(done, say), _undo_view(done, say))


def _before_and_after(done: Corrected, say: Say, *, reveal: bool = False) -> discord.Embed:
    heading = say("correction-done" if done.after.is_active else "correction-done-out", number=done.after.number)
    lines = [f"~~{memory_line(done.before, say, reveal=reveal)}~~", memory_line(done.after, say, reveal=reveal)]
    if done.before.content.actual != done.after.content.actual:
        lines.append(say("correction-actual"))
    return discord.Embed(title=heading, description="\n".join(lines))


def _log_entry(done: Corrected, say: Say) -> discord.Embed:
    embed = _before_and_after(done, say)
    lines = [embed.description or "", "", say(DID[done.correction.kind], by=f"<@{done.correction.moderator_id}>")]
    if reason := " ".join(done.correction.reason.split()):
        lines.append(f"> {discord.utils.escape_markdown(reason)}")
    embed.description = "\n".join([*lines, whereabouts(done.session, done.detail.turns, say)])
    return embed


def _undo_view(done: Corrected, say: Say) -> discord.ui.View:
    # Never in a view with a timeout: when one ends, discord.py forgets the persistent items of all others too.
    view = discord.ui.View(timeout=None)
    view.add_item(UndoButton(done.session.id, done.after.number, done.after.version, say("button-undo")))
    return view


class UndoButton(
    discord.ui.DynamicItem[discord.ui.Button[Any]],
    template=r"undo:(?P<session>[0-9]{1,18}):(?P<number>[0-9]{1,9}):(?P<version>[0-9]{1,9})",
):
    """*Undo* of the correction that made one version of a memory. For moderators, also after a restart of the bot."""

    def __init__(self, session_id: int, number: int, version: int, label: str | None = None) -> None:
        custom_id = f"undo:{session_id}:{number}:{version}"
        super().__init__(discord.ui.Button(label=label, emoji="↩", custom_id=custom_id))
        self._of = session_id, number, version

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> UndoButton:
        """The button of a message that another process may have sent."""
        return cls(int(match["session"]), int(match["number"]), int(match["version"]))

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Errors here reach no handler of discord.py's: they are answered here."""
        try:
            await undo(interaction, *self._of)
        except Exception as error:  # noqa: BLE001 - explained to the person, and logged where that is done
            await interaction.client.answer_error(interaction, error)
