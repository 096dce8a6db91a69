"""The time zones that ``/memory settings`` offers while somebody types."""

from __future__ import annotations

from discord import app_commands

from bot.time_zones import known_zones
from cogs._views import Interaction

# Discord shows no more (https://discord.com/developers/docs/interactions/application-commands#autocomplete).
_MOST = 25


async def time_zones(_: Interaction, current: str) -> list[app_commands.Choice[str]]:
    """The zones whose name has what was typed in it; those whose place begins with it come first."""
    wanted = "_".join(current.split()).casefold()
    fitting = [name for name in known_zones() if wanted in name.casefold()]
    fitting.sort(key=lambda name: not name.rpartition("/")[2].casefold().startswith(wanted))
    return [app_commands.Choice(name=name, value=name) for name in fitting[:_MOST]]
