"""What moderators may do from a memory's history: read what is hidden, each time on purpose, and undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import discord

from bot.memory.story import MemoryDetail, Session
from bot.moderation import has_hidden_side, newest_correction
from cogs._corrections import undo
from cogs._lines import Say, bound, memory_line
from cogs._people import require_moderator
from cogs._views import Interaction, Press


def history_buttons(session: Session, detail: MemoryDetail, say: Say) -> Sequence[discord.ui.Button[Any]]:
    """*Undo* and *Reveal*, where there is something to undo or reveal."""
    number, version = detail.memory.number, newest_correction(detail)
    buttons = []

    async def take_back(interaction: Interaction) -> None:
        await undo(interaction, session.id, number, version or 0)

    async def reveal(interaction: Interaction) -> None:
        await reveal_memory(interaction, session.id, number)

    if version is not None:
        buttons.append(Press(say("button-undo"), "↩", take_back))
    if has_hidden_side(detail.memory):
        buttons.append(Press(say("button-reveal"), "👁", reveal))
    return buttons


async def reveal_memory(interaction: Interaction, session_id: int, number: int) -> None:
    """Show a moderator a memory with its hidden side; it is logged that they looked. Raises UserError."""
    await require_moderator(interaction)
    bot = interaction.client
    memory = await bot.moderation.reveal(session_id, number, by=interaction.user.id)
    say = bound(bot.catalogue.text, interaction.locale)
    lines = [memory_line(memory, say, reveal=True)]
    if memory.content.actual:
        actual = discord.utils.escape_mentions(discord.utils.escape_markdown(memory.content.actual))
        lines.append(say("reveal-actual", text=actual))
    embed = discord.Embed(title=say("history-title", number=number), description="\n".join(lines))
    await interaction.response.send_message(embed=embed, ephemeral=True)
