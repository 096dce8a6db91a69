"""Carrying out a correction, with a form for what the command left open."""

from __future__ import annotations

import discord

from bot.client import KataribeBot
from bot.memory.corrections import LONGEST_TEXT, Correction, CorrectionKind
from bot.memory.memories import Memory
from cogs._lines import bound, memory_line
from cogs._views import AnsweringModal, Interaction

_LONGEST_REASON = 300


class CorrectionForm(AnsweringModal):
    """Asks for the new text of an edit, with the present one to start from, and for the reason."""

    def __init__(
        self, bot: KataribeBot, locale: discord.Locale, session_id: int, before: Memory, correction: Correction
    ) -> None:
        say = bot.catalogue.text
        super().__init__(title=say("form-correction-title", locale, number=before.number))
        self._session_id, self._before, self._correction = session_id, before, correction
        self._text = discord.ui.TextInput[CorrectionForm](
            custom_id="text",
            style=discord.TextStyle.paragraph,
            default=before.content.text[:LONGEST_TEXT],
            max_length=LONGEST_TEXT,
        )
        self._reason = discord.ui.TextInput[CorrectionForm](custom_id="reason", max_length=_LONGEST_REASON)
        self._asks_text = correction.kind is CorrectionKind.EDIT and not correction.text
        if self._asks_text:
            self.add_item(discord.ui.Label(text=say("form-correction-text", locale), component=self._text))
        if not correction.reason:
            self.add_item(discord.ui.Label(text=say("form-correction-reason", locale), component=self._reason))

    async def on_submit(self, interaction: Interaction, /) -> None:  # type: ignore[override]
        """Carry out the correction, now that it is complete."""
        given = self._correction
        correction = Correction(
            given.kind,
            given.moderator_id,
            reason=given.reason or self._reason.value,
            text=self._text.value if self._asks_text else given.text,
        )
        await carry_out(interaction, self._session_id, self._before, correction)


async def carry_out(interaction: Interaction, session_id: int, before: Memory, correction: Correction) -> None:
    """Correct a memory and show it as it was and as it is now. Raises UserError."""
    bot = interaction.client
    await interaction.response.defer(ephemeral=True, thinking=True)
    after = await bot.engine.correct(session_id, correction, before.number)
    say = bound(bot.catalogue.text, interaction.locale)
    heading = say("correction-done" if after.is_active else "correction-done-out", number=after.number)
    text = f"~~{memory_line(before, say, reveal=True)}~~\n{memory_line(after, say, reveal=True)}"
    await interaction.followup.send(embed=discord.Embed(title=heading, description=text), ephemeral=True)
