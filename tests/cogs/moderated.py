"""A story with memories to be corrected, and short ways to read what stands in embeds and on buttons."""

from __future__ import annotations

from typing import Any

import discord
from simcord.builders import ChannelHandle
from simcord.results import InteractionResult

from bot.memory.memories import Content, Memory, MemoryKind, NewMemory
from bot.memory.story import Session
from bot.memory.turns import Citation
from tests.cogs.conftest import World

LIE = "The bridge burnt down."
MEMORIES = (
    NewMemory(Content(MemoryKind.FACT, LIE), (Citation(2, 1),)),
    NewMemory(
        Content(MemoryKind.SECRET, "Rin smiles", "Rin", actual="She is afraid"), (Citation(2, 1), Citation(2, 2))
    ),
    NewMemory(Content(MemoryKind.QUOTE, LIE, "Rin"), (Citation(2, 1),)),
)


async def tell_a_lie(world: World) -> Session:
    """A story in which Rin told a lie that was folded as a fact, memory 1; memory 2 is a secret, memory 3 a quote."""
    session = await world.begin()
    world.server.replies.append("“The bridge burnt down.” `It did not.`")
    await world.mio.send(world.channel, "How do I cross?")
    await world.fold(session, MEMORIES)
    return session


async def log_channel(world: World) -> ChannelHandle:
    """A channel where corrections and reports are posted."""
    channel = world.guild.create_text_channel("log")
    await world.moderation.set_log_channel(world.guild.id, channel.id)
    return channel


async def remembered(world: World, session: Session, number: int) -> Memory:
    """A memory as it stands."""
    found = (await world.store.memory(session.id)).get(number)
    assert found is not None
    return found


def link_to_lie(world: World) -> str:
    """The address of the message with the lie."""
    reply = world.channel.history()[1]
    return f"https://discord.com/channels/{world.guild.id}/{world.channel.id}/{reply.id}"


def labels(message: discord.Message | Any) -> list[str]:
    """The labels of a message's buttons, in order."""
    if isinstance(message, discord.Message):
        return [child.label or "" for row in message.components for child in row.children]  # type: ignore[union-attr]
    return [child.get("label") or "" for row in message.components for child in row["components"]]


def words(message: discord.Message | Any) -> str:
    """The text of a message's embed."""
    return message.embeds[0].description or ""


def shown(result: InteractionResult) -> str:
    """The embeds that answered, whichever way."""
    answers = [result.response, *result.followups]
    return "\n".join(e.description or "" for answer in answers if answer is not None for e in answer.embeds)


def answered(result: InteractionResult) -> Any:
    """The message that answered an interaction."""
    found = [answer for answer in (result.response, *result.followups) if answer is not None]
    return found[-1]
