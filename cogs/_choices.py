"""What an option of a command offers while somebody types."""

from __future__ import annotations

from discord import app_commands

from bot.memory.memories import MemoryKind
from cogs._lines import plain_line
from cogs._people import channel_id
from cogs._views import Interaction

# Longer than any memory is.
_WHOLE = 1_000
KINDS = [
    app_commands.Choice(name=name, value=kind.value)
    for name, kind in (
        ("Events", MemoryKind.EVENT),
        ("Facts", MemoryKind.FACT),
        ("What was said", MemoryKind.CLAIM),
        ("Appearances", MemoryKind.SECRET),
        ("What is still open", MemoryKind.LOOSE_END),
        ("Quotes", MemoryKind.QUOTE),
    )
]


async def memory_numbers(interaction: Interaction, current: str) -> list[app_commands.Choice[int]]:
    """The memories whose number or text fits what was typed, the newest first."""
    engine = interaction.client.engine
    session = await engine.readable_session(channel_id(interaction))
    known = await engine.offered(session.id, current)
    wanted = current.strip().lstrip("#").casefold()
    fitting = [m for m in reversed(known) if wanted in plain_line(m, _WHOLE).removeprefix("#").casefold()]
    exact = [m for m in fitting if str(m.number) == wanted]
    chosen = [*exact, *(m for m in fitting if m not in exact and (m.is_active or m.corrected))]
    return [app_commands.Choice(name=plain_line(m, 100), value=m.number) for m in chosen[:25]]
