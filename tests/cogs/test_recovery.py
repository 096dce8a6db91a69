"""What the last process left is brought to an end by the next, once."""

from __future__ import annotations

from datetime import timedelta

from bot.memory import markup
from bot.memory.policy import crosses_trigger
from bot.memory.story import Session
from bot.memory.turns import PlayerMessage, Turn
from bot.store import Due
from tests.cogs.conftest import World


async def interrupted(world: World, *, text: str | None) -> tuple[Session, Turn]:
    """A player's message and a reply that was begun, and with ``text`` written, when the process ended."""
    session = await world.begin()
    message = PlayerMessage(1, world.channel.id, world.mio.id, "Mio", "Hello?", world.env.now())
    await world.engine.hear(message)
    turn = await world.store.begin_reply(session.id, world.env.now())
    assert turn is not None
    if text is not None:
        due = Due(lambda raw, memory: crosses_trigger(world.engine.budgets, raw, memory), at=world.env.now())
        beats = markup.parse_reply(text, "Rin")
        turn = await world.store.finish_reply(turn.id, text, beats, 3, "stop", 1, 0, 3, "scripted", due)
    return session, turn


async def test_a_reply_that_never_left_is_sent_once(world: World) -> None:
    session, turn = await interrupted(world, text="I am here.")

    await world.restart()
    world.bot.dispatch("ready")
    await world.restart()

    assert [text for _, text in world.said()] == ["I am here."]
    assert await world.raws(session) == ["Hello?", "I am here."]
    found = await world.store.turn_of_message(world.channel.history()[-1].id)
    assert found is not None
    assert found[1].id == turn.id
    assert world.server.of("reply") == []


async def test_a_reply_that_discord_took_just_before_the_end_is_not_sent_again(world: World) -> None:
    await world.begin()
    await world.mio.send(world.channel, "A webhook is made.")
    await world.engine.stop_session(world.channel.id)
    session, turn = await interrupted(world, text="I am here.")
    (hook,) = world.bot.webhooks.values()
    with world.env._bot_scope():
        sent = await hook.send("I am here.", username="Rin", wait=True)
    await world.mio.send(world.channel, "I am here.")
    before = world.said()

    await world.restart()

    assert world.said()[: len(before)] == before
    assert [text for name, text in world.said() if name == "Rin"].count("I am here.") == 1
    found = await world.store.turn_of_message(sent.id)
    assert found is not None
    assert found[1].id == turn.id
    assert "I am here." in await world.raws(session)


async def test_only_the_missing_parts_of_a_long_reply_are_sent(world: World) -> None:
    text = "A sentence like any other. " * 150
    await world.begin()
    await world.mio.send(world.channel, "A webhook is made.")
    await world.engine.stop_session(world.channel.id)
    await interrupted(world, text=text)
    (hook,) = world.bot.webhooks.values()
    with world.env._bot_scope():
        await hook.send(text[:1_970].rpartition(".")[0] + ".", username="Rin", wait=True)

    await world.restart()

    told = " ".join(t for name, t in world.said() if name == "Rin" and t.startswith("A sentence"))
    assert told.split() == text.split()


async def test_players_whose_answer_was_interrupted_are_told_and_can_try_again(world: World) -> None:
    session, _ = await interrupted(world, text=None)
    world.server.replies.append("Where was I?")

    await world.restart()

    notice = world.channel.history()[-1]
    assert notice.content == world.bot.catalogue.text("notice-interrupted")

    await world.mio.click(notice, custom_id=f"retry:{session.id}")

    assert [text for _, text in world.said()] == ["Where was I?"]
    assert await world.raws(session) == ["Hello?", "Where was I?"]


async def test_a_reply_for_a_channel_that_is_gone_never_happened(world: World) -> None:
    session, _ = await interrupted(world, text="I am here.")

    world.env.backend.delete_channel(world.channel.id)
    await world.restart()

    assert await world.raws(session) == ["Hello?"]


async def test_ready_again_and_again_does_nothing(world: World) -> None:
    await world.begin()
    await world.mio.send(world.channel, "Hello?")
    before = world.said()

    for _ in range(3):
        world.bot.dispatch("ready")
    await world.env.advance_time(timedelta(seconds=1).total_seconds())

    assert world.said() == before
