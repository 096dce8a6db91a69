"""The demo's guild: who is in it, with ids that stay the same from run to run, so that stored state stays valid."""

from __future__ import annotations

import io
import json
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import discord
import simcord
from discord.utils import time_snowflake
from PIL import Image, ImageDraw, ImageFont
from simcord.backend import Backend
from simcord.backend.cdn import CDN_BASE
from simcord.backend.models import Channel, Role, User, Webhook
from simcord.builders import ChannelHandle, GuildHandle, UserHandle

from bot.demo.simulation import Simulation

STORY = Path(__file__).with_name("story.json")
GUILD_NAME = "Gannet Rock"
CHANNEL_NAME = "the-museum-at-night"
BOT_NAME = "Kataribe"
USHER_NAME = "About this demo"
_FOUNDED = time_snowflake(datetime(2026, 1, 5, tzinfo=UTC))
_COLOURS = ("#2c6e8e", "#92542a", "#5e4c8c", "#347854", "#a03c50", "#60646c", "#7a6a1e")
_AVATAR = 96
"""Pixels of an avatar's side."""


@dataclass(frozen=True, slots=True)
class Member:
    """A person of the demo's guild."""

    user_id: int
    name: str

    @property
    def username(self) -> str:
        return "".join(letter for letter in self.name.lower() if letter.isalnum()) or f"user{self.user_id}"


@dataclass(frozen=True, slots=True)
class World:
    """The demo's guild in numbers: what both the simulated Discord and the bot's database refer to.

    ``usher_id`` is the user that explains the demo in the channel; ``webhook_id`` belongs to the bot's webhook.
    """

    guild_id: int
    channel_id: int
    players: tuple[Member, ...]
    moderator: Member
    bot_user_id: int
    usher_id: int
    role_id: int
    webhook_id: int

    @property
    def members(self) -> tuple[Member, ...]:
        return (*self.players, self.moderator)


@dataclass(frozen=True, slots=True)
class SeededMessage:
    """A message of the story that was played before. ``author_id`` is None for the character, who uses the webhook."""

    message_id: int
    author_name: str
    author_id: int | None
    content: str
    at: datetime


def _id(number: int) -> int:
    # A second apart: simcord draws default colours from the timestamp's part of an id.
    return _FOUNDED + (number << 22) * 1000


def the_world(story: Path = STORY) -> World:
    """The demo's world; the people are those of the story file."""
    people = json.loads(story.read_text(encoding="utf-8"))
    players = tuple(Member(_id(20 + n), str(each["name"])) for n, each in enumerate(people["players"]))
    return World(
        guild_id=_id(1),
        channel_id=_id(2),
        players=players,
        moderator=Member(_id(10), str(people["moderator"]["name"])),
        bot_user_id=_id(3),
        usher_id=_id(4),
        role_id=_id(5),
        webhook_id=_id(6),
    )


def avatar(name: str) -> bytes:
    """A PNG with the first letter of ``name``: the page loads no remote pictures."""
    image = Image.new("RGB", (_AVATAR, _AVATAR), _COLOURS[zlib.crc32(name.encode()) % len(_COLOURS)])
    font = ImageFont.load_default(size=_AVATAR * 0.55)
    ImageDraw.Draw(image).text((_AVATAR / 2, _AVATAR / 2), name[:1].upper(), "white", font=font, anchor="mm")
    packed = io.BytesIO()
    image.save(packed, "PNG")
    return packed.getvalue()


def _add_user(backend: Backend, user: User) -> None:
    user.avatar = "initial"
    backend.users[backend.reserve_id(user.id)] = user
    picture = avatar(user.global_name or user.name)
    backend.cdn._blobs[f"{CDN_BASE}/avatars/{user.id}/{user.avatar}.png"] = picture


def _become(backend: Backend, bot_user_id: int) -> None:
    """Give the bot its lasting id; an application has the id of its bot."""
    del backend.users[backend.bot_user.id]
    backend.bot_user.id = backend.application_id = bot_user_id
    backend.bot_user.name = BOT_NAME
    _add_user(backend, backend.bot_user)


def build(simulation: Simulation, world: World, *, topic: str) -> ChannelHandle:
    """Put the world into the simulated Discord, and return the channel that the page shows."""
    backend = simulation.backend
    _become(backend, world.bot_user_id)
    for member in world.members:
        _add_user(backend, User(id=member.user_id, name=member.username, global_name=member.name))
    _add_user(backend, User(id=world.usher_id, name=USHER_NAME, bot=True))
    guild = backend.create_guild(GUILD_NAME, id=world.guild_id)
    manage = discord.Permissions(manage_messages=True).value
    guild.roles[world.role_id] = Role(
        id=world.role_id, name="Moderator", permissions=manage, position=2, color=0xC27C0E
    )
    for member in world.members:
        backend.add_member(guild.id, member.user_id, roles=[world.role_id] if member is world.moderator else [])
    backend.add_member(guild.id, world.usher_id)
    channel = Channel(id=world.channel_id, type=0, name=CHANNEL_NAME, guild_id=guild.id, topic=topic)
    backend.channels[backend.reserve_id(channel.id)] = channel
    backend.messages[channel.id] = {}
    guild.channel_ids.append(channel.id)
    add_webhook(
        backend,
        Webhook(
            id=world.webhook_id,
            token=f"demo-webhook-{world.webhook_id}",
            channel_id=channel.id,
            guild_id=guild.id,
            name=BOT_NAME,
            creator_id=world.bot_user_id,
            webhook_user_id=world.webhook_id,
        ),
    )
    return ChannelHandle(simulation, GuildHandle(simulation, guild), channel)


def add_webhook(backend: Backend, webhook: Webhook) -> None:
    """Register a webhook and the user that its messages are from."""
    backend.webhooks[webhook.id] = webhook
    backend.webhook_tokens[webhook.token] = webhook.id
    backend.users[webhook.webhook_user_id] = User(id=webhook.webhook_user_id, name=webhook.name, bot=True)


def actor(simulation: Simulation, world: World, member: Member) -> simcord.MemberActor:
    """The member as someone who can write, click and run commands."""
    guild = GuildHandle(simulation, simulation.backend.get_guild(world.guild_id))
    return simcord.MemberActor(simulation, guild, UserHandle(simulation, simulation.backend.get_user(member.user_id)))
