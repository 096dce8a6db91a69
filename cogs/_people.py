"""Who asks, and where: plain data for the engine."""

from __future__ import annotations

import discord
from discord import app_commands

from bot.errors import NotAllowed, NotFound, Refused
from bot.memory.story import Place, Scope, Session
from cogs._views import Interaction


def scope_of(interaction: Interaction) -> Scope:
    """Whose characters these are: the guild's, or in a direct message the person's own."""
    return Scope(interaction.guild_id, interaction.user.id)


async def character_names(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
    """The characters whose names fit what was typed so far; Discord shows 25 at most."""
    known = await interaction.client.characters.names(scope_of(interaction))
    fitting = [name for name in known if current.strip().casefold() in name.casefold()]
    return [app_commands.Choice(name=name, value=name) for name in fitting[:25]]


def place_of(interaction: Interaction) -> Place:
    """The channel, thread or direct message of a command."""
    channel = interaction.channel
    parent_id = channel.parent_id if isinstance(channel, discord.Thread) else None
    return Place(interaction.guild_id, channel_id(interaction), parent_id)


def channel_id(interaction: Interaction) -> int:
    """The channel of a command; every command has one."""
    return interaction.channel_id or 0


def public_locale(interaction: Interaction) -> object:
    """The locale for an answer that everybody here reads: the person's own where nobody else does."""
    return interaction.locale if interaction.guild_id is None else interaction.client.locale_of(interaction.channel)


def is_for_adults(interaction: Interaction) -> bool:
    """Whether a character for adults may be played here: in an age-restricted channel, its threads, and direct messages, where
    everybody has only their own.
    """
    return interaction.guild_id is None or bool(getattr(interaction.channel, "is_nsfw", bool)())


def require_age_restriction(channel: object, session: Session) -> None:
    """Raises Refused where a character for adults would speak in a channel that is not age-restricted, or no longer."""
    restricted = getattr(channel, "guild", None) is None or bool(getattr(channel, "is_nsfw", bool)())
    if session.character.adult and not restricted:
        raise Refused("character-adult", name=session.character.card.name)


async def is_moderator(interaction: Interaction) -> bool:
    """Whether the person may manage messages here, or has the role that the guild set for it.

    In direct messages everybody is their own moderator.
    """
    if interaction.guild_id is None or interaction.permissions.manage_messages:
        return True
    roles = [role.id for role in interaction.user.roles] if isinstance(interaction.user, discord.Member) else []
    return await interaction.client.moderation.is_moderator_role(interaction.guild_id, roles)


async def require_moderator(interaction: Interaction) -> None:
    """Raises NotAllowed for anybody but moderators."""
    if not await is_moderator(interaction):
        raise NotAllowed("moderators-only")


async def require_own_guild(interaction: Interaction, session: Session) -> None:
    """Raises NotFound where a button is pressed outside the guild, or direct message, of its story."""
    place = session.place
    here = interaction.guild_id == place.guild_id
    if not here or (place.guild_id is None and interaction.channel_id != place.channel_id):
        raise NotFound("session-unknown")


async def require_scene(interaction: Interaction, session: Session) -> None:
    """Raises NotAllowed for anybody but players of the story and moderators, and NotFound outside of its guild."""
    await require_own_guild(interaction, session)
    is_player = await interaction.client.rewinding.is_player(session.id, interaction.user.id)
    if not is_player and not await is_moderator(interaction):
        raise NotAllowed("retell-scene-only")


def missing_permissions(interaction: Interaction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the bot lacks here: first what no story can do without, then what it would be better with.

    Each is the end of a message id, ``permission-…``. Direct messages need none.
    """
    if interaction.guild_id is None:
        return (), ()
    held = interaction.app_permissions
    is_thread = isinstance(interaction.channel, discord.Thread)
    speaks = held.send_messages_in_threads if is_thread else held.send_messages
    needed = {"view": held.view_channel, "threads" if is_thread else "send": speaks}
    better = {
        "webhooks": held.manage_webhooks,
        "history": held.read_message_history,
        "embeds": held.embed_links,
    }
    return tuple(n for n, has in needed.items() if not has), tuple(n for n, has in better.items() if not has)
