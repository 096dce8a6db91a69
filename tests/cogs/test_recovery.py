"""What the last process left is brought to an end by the next, once."""

from __future__ import annotations

from datetime import timedelta

from bot.memory import markup
from bot.memory.policy import crosses_trigger
from bot.memory.story import Session
from bot.memory.turns import PlayerMessage, Telling, Turn
from bot.store import Due
from tests.cogs.conftest import World


async def interrupted(world: World, *, text: str | None) -> tuple[Session, Turn]:
    """A player's message and a reply that was begun, and with ``text`` written, when the process ended."""
    session = await world.begin()
    message = PlayerMessage(1, world.channel.id, world.mio.id, "Mio", "Hello?", world.env.now())
    await world.engine.hear(message)
    begun = await world.store.begin_reply(session.id, world.env.now())
    assert begun is not None
    turn = begun.turn
    if text is not None:
        due = Due(lambda raw, memory: crosses_trigger(world.engine.budgets, raw, memory), at=world.env.now())
        beats = markup.parse_reply(text, "Rin")
        turn = await world.store.finish_reply(turn.id, Telling(text, beats, 3, "stop", 1, 0, 3, "scripted"), due)
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


async def shown(world: World, turn: Turn | None, text: str) -> int:
    """Send a part of a reply as the last process did, and with a turn, tie it; its id."""
    (hook,) = world.bot.webhooks.values()
    with world.env._bot_scope():
        sent = await hook.send(text, username="Rin", wait=True)
    if turn is not None:
        await world.engine.begun(turn.id, world.channel.id, [sent.id])
    return sent.id


async def began(world: World, *, text: str | None) -> tuple[Session, Turn, int]:
    """An interrupted reply in a channel with a webhook, and how many messages there are before it."""
    await world.begin()
    await world.mio.send(world.channel, "A webhook is made.")
    await world.engine.stop_session(world.channel.id)
    session, turn = await interrupted(world, text=text)
    return session, turn, len(world.said())


async def test_what_was_shown_of_a_reply_that_was_broken_off_is_taken_back(world: World) -> None:
    session, turn, before = await began(world, text=None)
    await shown(world, turn, "Where was")
    await shown(world, None, "I? Not tied yet.")

    await world.restart()

    assert [text for _, text in world.said()[before:]] == [world.bot.catalogue.text("notice-interrupted")]
    assert await world.raws(session) == ["Hello?"]
    assert await world.store.messages_of(turn.id) == ()
    assert await world.store.unfinished() == ()


async def test_what_discord_would_not_take_back_is_tried_again_at_the_next_start(world: World) -> None:
    _, turn, before = await began(world, text=None)
    half = await shown(world, turn, "Where was")

    world.env.inject_error("DELETE", "/webhooks/*", status=400, code=50_000)
    await world.restart()
    assert "Where was" in [text for _, text in world.said()]
    assert await world.store.messages_of(turn.id) == (half,)

    await world.restart()
    assert "Where was" not in [text for _, text in world.said()[before:]]
    assert await world.store.unfinished() == ()


async def test_what_was_shown_of_a_committed_reply_becomes_the_whole(world: World) -> None:
    session, turn, before = await began(world, text="I am here. Where else?")
    first = await shown(world, turn, "I am")
    second = await shown(world, None, "superfluous")

    await world.restart()

    assert [text for _, text in world.said()[before:]] == ["I am here. Where else?"]
    assert world.channel.history()[-1].id == first
    assert await world.store.messages_of(turn.id) == (first,)
    assert await world.store.turn_of_message(second) is None
    assert await world.raws(session) == ["Hello?", "I am here. Where else?"]


async def test_a_broken_off_reply_in_a_channel_that_is_gone_leaves_nothing(world: World) -> None:
    _, turn, _ = await began(world, text=None)
    await shown(world, turn, "Where was")

    world.env.backend.delete_channel(world.channel.id)
    await world.restart()

    assert await world.store.unfinished() == ()


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
