"""Beginning a story: what is asked first, how the character opens it, and what people are told."""

from __future__ import annotations

import discord
from discord import app_commands

from bot.client import KataribeBot
from bot.errors import Refused, UserError
from bot.memory.prompt import greeting_text
from bot.memory.turns import Author, AuthorKind
from cogs._delivery import deliver
from cogs._people import is_for_adults, missing_permissions, place_of, scope_of
from cogs._views import Interaction

NO_GREETING = "none"
# Discord shows 25 choices of at most 100 characters.
_MOST_GREETINGS = 24
_LONGEST_CHOICE = 100
# Of a greeting so much is read for its choice: macros may be longer than what they stand for.
_LONGEST_READ = 500


async def greetings(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
    """The greetings of the character that was chosen, and none, as far as they fit what was typed."""
    bot, locale = interaction.client, interaction.locale
    try:
        character = await bot.characters.named(scope_of(interaction), interaction.namespace.character or "")
    except UserError:
        return []
    none = bot.catalogue.text("character-greeting-none", locale)
    choices = []
    for number in range(len(character.card.greetings[:_MOST_GREETINGS])):
        # The language only decides what several players are called, and here it is one.
        text = greeting_text(character.card, number, "en", player=interaction.user.display_name, longest=_LONGEST_READ)
        choices.append((f"{number + 1} · {' '.join(text.split())}", str(number)))
    wanted = current.strip().casefold()
    return [
        app_commands.Choice(name=label[:_LONGEST_CHOICE], value=value)
        for label, value in [*choices, (none, NO_GREETING)]
        if wanted in label.casefold()
    ]


def greeting_number(greeting: str | None, character: str) -> int | None:
    """Which greeting was chosen, from 0; None for none. Raises Refused for what is no choice."""
    if greeting in (None, NO_GREETING):
        return None
    if not greeting.isdecimal():
        raise Refused("character-no-such-greeting", name=character)
    return int(greeting)


async def start_story(interaction: Interaction, character: str, greeting: str | None) -> None:
    """Begin, and let the character greet. Raises UserError, before anything is started where a permission is missing."""
    bot, locale = interaction.client, interaction.locale
    await interaction.response.defer(ephemeral=True)
    needed, better = missing_permissions(interaction)
    if needed:
        raise Refused("session-permissions", missing=_named(bot, needed, locale))
    number = 0 if greeting is None else greeting_number(greeting, character)
    place = place_of(interaction)
    active = (await bot.personas.repertoire(interaction.user.id, interaction.guild_id)).active
    started = await bot.engine.start_session(
        place,
        scope_of(interaction),
        character,
        greeting=number is not None,
        number=number or 0,
        player=Author(
            AuthorKind.PLAYER,
            interaction.user.id,
            active.name if active else interaction.user.display_name,
            active.id if active else None,
        ),
        for_adults=is_for_adults(interaction),
    )
    lines = [bot.catalogue.text("session-started", locale, name=started.session.character.card.name)]
    if better:
        lines.append(bot.catalogue.text("session-permissions-better", locale, missing=_named(bot, better, locale)))
    channel = await bot.channel(place.channel_id)
    if started.greeting is not None and channel is not None:
        await deliver(bot, channel, started.greeting)
    await interaction.followup.send("\n\n".join(lines), ephemeral=True)


def _named(bot: KataribeBot, names: tuple[str, ...], locale: discord.Locale) -> str:
    """Permissions as Discord's own settings call them, one per line."""
    return "\n".join("- " + bot.catalogue.text(f"permission-{name}", locale) for name in names)
