"""Who asks, and where: plain data for the engine."""

from __future__ import annotations

import discord

from bot.errors import NotAllowed, NotFound
from bot.memory.story import Place, Scope, Session
from cogs._views import Interaction


def scope_of(interaction: Interaction) -> Scope:
    """Whose characters these are: the guild's, or in a direct message the person's own."""
    return Scope(interaction.guild_id, interaction.user.id)


def place_of(interaction: Interaction) -> Place:
    """The channel, thread or direct message of a command."""
    channel = interaction.channel
    parent_id = channel.parent_id if isinstance(channel, discord.Thread) else None
    return Place(interaction.guild_id, channel_id(interaction), parent_id)


def channel_id(interaction: Interaction) -> int:
    """The channel of a command; every command has one."""
    return interaction.channel_id or 0


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
    better = {"webhooks": held.manage_webhooks, "history": held.read_message_history}
    return tuple(n for n, has in needed.items() if not has), tuple(n for n, has in better.items() if not has)
