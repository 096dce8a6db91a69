"""The reactions that stand below the newest reply where the operator wants them."""

from __future__ import annotations

from typing import Any

from tests.cogs.conftest import World
from tests.support.wire import eventually


def reactions(message: Any) -> list[str]:
    return [str(reaction.emoji) for reaction in message.reactions]


async def test_the_newest_reply_has_them_and_the_one_before_no_more(world: World) -> None:
    world.bot.reply_reactions = True
    await world.begin()
    world.server.replies.extend(["*Her arm bleeds.*", "*She sits down.*"])
    await world.mio.send(world.channel, "Are you hurt?")
    await eventually(lambda: len(reactions(world.channel.history()[-1])) == 3)

    await world.mio.send(world.channel, "Sit down.")

    await eventually(lambda: [len(reactions(message)) for message in world.channel.history()[-4:]] == [0, 0, 0, 3])
    assert world.channel.history()[-1].content == "*She sits down.*"


async def test_pressed_they_do_what_they_say(world: World) -> None:
    world.bot.reply_reactions = True
    session = await world.begin()
    world.server.replies.extend(["*Her arm bleeds.*", "*Her knee bleeds.*"])
    await world.mio.send(world.channel, "Are you hurt?")
    reply = world.channel.history()[-1]
    await eventually(lambda: len(reactions(reply)) == 3)
    assert await world.raws(session) == ["Are you hurt?", "*Her arm bleeds.*"]

    await world.mio.react(reply, "🔁")

    await eventually(lambda: world.channel.history()[-1].content == "*Her knee bleeds.*")
    assert await world.raws(session) == ["Are you hurt?", "*Her knee bleeds.*"]


async def test_nobody_has_them_unasked(world: World) -> None:
    await world.begin()
    world.server.replies.append("*Her arm bleeds.*")
    await world.mio.send(world.channel, "Are you hurt?")

    assert reactions(world.channel.history()[-1]) == []
