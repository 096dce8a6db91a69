"""When a reply cannot be had or delivered: the players are told, nothing is half kept, and they can try again."""

from __future__ import annotations

import asyncio

import discord
from simcord.backend.models import Overwrite
from simcord.enums import OverwriteType

from tests.cogs.conftest import World
from tests.support.model_server import Script


def deny(world: World, **permissions: bool) -> None:
    """Take permissions of the bot's in the channel away."""
    assert world.bot.user is not None
    _, denied = discord.PermissionOverwrite(**permissions).pair()
    world.env.backend.set_overwrite(
        world.channel.id, Overwrite(world.bot.user.id, OverwriteType.MEMBER, 0, denied.value)
    )


async def test_a_failing_model_is_explained_and_the_button_tries_again(world: World) -> None:
    session = await world.begin()
    world.server.replies.extend([Script.failure(503), "Here I am."])

    await world.mio.send(world.channel, "Hello?")

    notice = world.channel.history()[-1]
    assert notice.content == world.bot.catalogue.text("model-unavailable")
    assert await world.raws(session) == ["Hello?"]

    await world.sora.click(notice, custom_id=f"retry:{session.id}")

    assert world.said() == [("Mio", "Hello?"), ("Rin", "Here I am.")]
    assert await world.raws(session) == ["Hello?", "Here I am."]


async def test_the_button_works_after_a_restart(world: World) -> None:
    session = await world.begin()
    world.server.replies.extend([Script.failure(503), "Here I am."])
    await world.mio.send(world.channel, "Hello?")
    notice = world.channel.history()[-1]

    await world.restart()
    await world.mio.click(notice, custom_id=f"retry:{session.id}")

    assert ("Rin", "Here I am.") in world.said()
    assert await world.raws(session) == ["Hello?", "Here I am."]


async def test_the_button_pressed_too_late_changes_nothing(world: World) -> None:
    session = await world.begin()
    world.server.replies.extend([Script.failure(503), "Both at once."])
    await world.mio.send(world.channel, "Hello?")
    notice = world.channel.history()[-1]
    world.bot.notices.clear()
    await world.mio.send(world.channel, "Anybody?")

    await world.mio.click(notice, custom_id=f"retry:{session.id}")

    assert await world.raws(session) == ["Hello?", "Anybody?", "Both at once."]
    assert world.said()[-1] == ("Rin", "Both at once.")


async def test_a_failure_is_told_once_to_all_who_waited(world: World) -> None:
    session = await world.begin()
    gate = asyncio.Event()

    async def fail(_: object) -> Script:
        await gate.wait()
        return Script.failure(503)

    world.server.on_reply = fail
    for number in range(5):
        world.env.backend.create_message(world.channel.id, world.mio.id, f"Message {number}")
    async with asyncio.timeout(30):
        while len(await world.raws(session)) < 5:
            await asyncio.sleep(0)
    gate.set()
    await world.env.settle()

    notices = [text for name, text in world.said() if name != "Mio"]
    assert notices == [world.bot.catalogue.text("model-unavailable")]
    assert len(world.server.of("reply")) == 1
    assert len(await world.raws(session)) == 5


async def test_only_the_newest_notice_stays_and_an_answer_takes_it_away(world: World) -> None:
    await world.begin()
    world.server.replies.extend([Script.failure(503), Script.failure(503), "At last."])

    await world.mio.send(world.channel, "One")
    await world.mio.send(world.channel, "Two")
    after_two = [text for name, text in world.said() if name != "Mio"]
    await world.mio.send(world.channel, "Three")

    assert after_two == [world.bot.catalogue.text("model-unavailable")]
    assert [text for _, text in world.said()] == ["One", "Two", "Three", "At last."]


async def test_a_deleted_webhook_is_made_again(world: World) -> None:
    session = await world.begin()
    await world.mio.send(world.channel, "One")
    (old,) = await world.engine.own_webhooks()

    world.env.backend.delete_webhook(old)
    await world.mio.send(world.channel, "Two")

    (new,) = await world.engine.own_webhooks()
    assert new != old
    assert world.channel.history()[-1].webhook_id == new
    assert len(await world.raws(session)) == 4


async def test_our_webhook_is_found_again_after_a_restart(world: World) -> None:
    await world.begin()
    await world.mio.send(world.channel, "One")

    await world.restart()
    await world.mio.send(world.channel, "Two")

    assert len(world.env.backend.webhooks) == 1
    assert world.channel.history()[-1].webhook_id in world.env.backend.webhooks


async def test_without_the_permission_the_bot_speaks_itself_and_hints_once(world: World) -> None:
    session = await world.begin()
    deny(world, manage_webhooks=False)
    world.server.replies.extend(["First.", "Second."])

    await world.mio.send(world.channel, "One")
    await world.mio.send(world.channel, "Two")

    own = [m for m in world.channel.history() if world.bot.user and m.author.id == world.bot.user.id]
    assert [m.content for m in own] == [
        "**Rin**\nFirst.",
        world.bot.catalogue.text("hint-webhooks"),
        "**Rin**\nSecond.",
    ]
    assert await world.raws(session) == ["One", "First.", "Two", "Second."]
    assert await world.store.turn_of_message(own[0].id) is not None


async def test_a_reply_that_discord_refuses_never_happened(world: World) -> None:
    session = await world.begin()
    world.env.inject_error("POST", "/webhooks/*", status=400, code=50035)
    world.server.replies.extend(["Refused.", "Accepted."])

    await world.mio.send(world.channel, "Hello?")

    notice = world.channel.history()[-1]
    assert notice.content == world.bot.catalogue.text("delivery-refused")
    assert await world.raws(session) == ["Hello?"]

    await world.mio.click(notice, custom_id=f"retry:{session.id}")

    assert await world.raws(session) == ["Hello?", "Accepted."]
    assert world.said()[-1] == ("Rin", "Accepted.")


async def test_what_was_sent_of_a_refused_reply_is_taken_back(world: World) -> None:
    session = await world.begin()
    await world.mio.send(world.channel, "One")
    before = world.said()
    world.server.replies.append("A sentence like any other. " * 150)
    sends = len(world.sends())

    def refuse_the_second(event: str, payload: object) -> None:
        if event == "MESSAGE_CREATE" and len(world.sends()) == sends + 1:
            fault = {
                "method": "POST",
                "path": "/webhooks/*",
                "status": 500,
                "code": 0,
                "message": "refused",
                "times": 1,
            }
            world.env.backend.faults.append(fault)

    world.env.backend.subscribers.append(refuse_the_second)
    await world.mio.send(world.channel, "Two")

    assert [text for name, text in world.said() if name == "Rin"] == [text for name, text in before if name == "Rin"]
    assert world.said()[-1][1] == world.bot.catalogue.text("delivery-refused")
    assert (await world.raws(session))[-1] == "Two"


async def test_a_channel_closed_to_the_bot_is_no_crash(world: World) -> None:
    session = await world.begin()
    deny(world, send_messages=False, manage_webhooks=False)

    await world.mio.send(world.channel, "Hello?")

    assert world.said() == [("Mio", "Hello?")]
    assert await world.raws(session) == ["Hello?"]
