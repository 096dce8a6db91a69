"""The form of a correction: what the command left open, beside the turns that the memory rests on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

import discord

from bot.client import KataribeBot
from bot.memory.corrections import LONGEST_TEXT, Correction, CorrectionKind
from bot.memory.memories import MemoryKind
from bot.memory.story import MemoryDetail, Session
from cogs._corrections import carry_out
from cogs._history import evidence_blocks
from cogs._lines import bound, is_withheld
from cogs._views import AnsweringModal, Interaction

_LONGEST_REASON: Final = 300
# A form may hold 4,000 characters of text; a phone shows half of it above the fields in a few screens.
_LONGEST_EVIDENCE: Final = 2_000


class CorrectionForm(AnsweringModal):
    """Asks for the new text of an edit, with the present one to start from, and for the reason.

    The actual side of a secret may be written anew, but is not shown, nor is a thought: whoever wants to read them reveals
    them on purpose.
    ``flag_id`` is the report that the correction settles, and ``then`` is done when it was carried out or failed.
    """

    def __init__(
        self,
        bot: KataribeBot,
        locale: discord.Locale,
        session: Session,
        detail: MemoryDetail,
        correction: Correction,
        *,
        flag_id: int | None = None,
        then: Callable[[Interaction], Awaitable[None]] | None = None,
    ) -> None:
        say = bound(bot.catalogue.text, locale)
        content = detail.memory.content
        hidden = content.private or is_withheld(detail.memory)
        super().__init__(title=say("form-correction-title", number=detail.memory.number))
        self._session_id, self._number, self._correction = session.id, detail.memory.number, correction
        self._flag_id, self._then = flag_id, then
        self._text, self._actual, self._reason = (
            discord.ui.TextInput[CorrectionForm](
                custom_id="text",
                style=discord.TextStyle.paragraph,
                default=None if hidden else content.text[:LONGEST_TEXT],
                max_length=LONGEST_TEXT,
            ),
            discord.ui.TextInput[CorrectionForm](
                custom_id="actual", style=discord.TextStyle.paragraph, required=False, max_length=LONGEST_TEXT
            ),
            discord.ui.TextInput[CorrectionForm](custom_id="reason", max_length=_LONGEST_REASON),
        )
        evidence = _shortened(evidence_blocks(detail, session, say))
        if evidence:
            self.add_item(discord.ui.TextDisplay(evidence))
        self._asks_text = correction.kind is CorrectionKind.EDIT and not correction.text
        if self._asks_text:
            self.add_item(discord.ui.Label(text=say("form-correction-text"), component=self._text))
            if content.kind is MemoryKind.SECRET:
                label, hint = say("form-correction-actual"), say("form-correction-actual-hint")
                self.add_item(discord.ui.Label(text=label, description=hint, component=self._actual))
        if not correction.reason:
            self.add_item(discord.ui.Label(text=say("form-correction-reason"), component=self._reason))

    async def on_submit(self, interaction: Interaction, /) -> None:  # type: ignore[override]
        """Carry out the correction, now that it is complete."""
        correction = replace(self._correction, reason=self._correction.reason or self._reason.value)
        if self._asks_text:
            correction = replace(correction, text=self._text.value, actual=self._actual.value)
        if self._then is None:
            await interaction.response.defer(ephemeral=True, thinking=True)
            await carry_out(interaction, self._session_id, self._number, correction, flag_id=self._flag_id)
            return
        await interaction.response.defer()
        try:
            await carry_out(interaction, self._session_id, self._number, correction, flag_id=self._flag_id)
        finally:
            await self._then(interaction)


def _shortened(blocks: list[str]) -> str:
    """As many whole blocks as a form can show."""
    text = ""
    for block in blocks:
        if len(text) + len(block) > _LONGEST_EVIDENCE:
            return f"{text}\n…"
        text = f"{text}\n{block}".strip()
    return text
