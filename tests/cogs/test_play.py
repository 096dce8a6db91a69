"""Players' messages in, replies out: what stands in the channel, and what in the rows."""

from __future__ import annotations

import asyncio

from simcord.backend import serializers
from simcord.enums import MessageType

from bot.memory.prompt import Card
from bot.memory.turns import unanswered
from tests.cogs.conftest import World
from tests.support.model_server import Script


async def test_a_message_is_answered_by_the_character_through_a_webhook(world: World) -> None:
    session = await world.begin()
    world.server.replies.append("*Rin waves.* “Hello, Mio.”")

    await world.mio.send(world.channel, "Hello?")

    assert world.said() == [("Mio", "Hello?"), ("Rin", "*Rin waves.* “Hello, Mio.”")]
    assert await world.raws(session) == ["Hello?", "*Rin waves.* “Hello, Mio.”"]
    reply = world.channel.history()[-1]
    found = await world.store.turn_of_message(reply.id)
    assert reply.webhook_id in await world.engine.own_webhooks()
    assert found is not None
    assert found[1].raw == reply.content
    assert world.sends()[-1]["avatar_url"] == "https://cdn.discordapp.com/emojis/77.png"


async def test_a_thought_is_kept_but_not_shown(world: World) -> None:
    session = await world.begin()
    world.server.replies.extend(["“Fine.” `I am not fine.`", "`Nothing to say.`", "“Really.”"])

    await world.mio.send(world.channel, "How are you?")
    await world.mio.send(world.channel, "Really?")

    assert [text for name, text in world.said() if name == "Rin"] == ["“Fine.”", "“Really.”"], (
        "what is only thought is drawn again"
    )
    assert (await world.raws(session))[1] == "“Fine.” `I am not fine.`"


async def test_nothing_generated_can_ping(world: World) -> None:
    await world.begin()
    world.server.replies.append(f"@everyone @here <@{world.sora.id}> come!")

    await world.mio.send(world.channel, "Call them.")

    assert world.sends()[-1]["allowed_mentions"] == {"parse": []}
    assert not world.channel.history()[-1].mention_everyone


async def test_five_messages_at_once_are_all_kept_in_order_and_answered(world: World) -> None:
    session = await world.begin()
    texts = [f"Message {number}" for number in range(1, 6)]

    for text in texts:
        world.env.backend.create_message(world.channel.id, world.mio.id, text)
    await world.env.settle()

    turns = await world.turns(session)
    requests = world.server.of("reply")
    assert [turn.raw for turn in turns if turn.author.is_player] == texts
    assert unanswered(turns) == ()
    assert [text for text in texts if text not in requests[-1].prompt] == []
    assert len([turn for turn in turns if not turn.author.is_player]) == len(requests) < 5
    assert [text for name, text in world.said() if name == "Rin"] == [
        turn.raw for turn in turns if not turn.author.is_player
    ]


async def test_what_arrives_while_a_reply_is_written_is_answered_by_the_next(world: World) -> None:
    session = await world.begin()
    gate = asyncio.Event()
    world.server.replies.extend([Script("First.", hang=gate), "Second."])

    world.env.backend.create_message(world.channel.id, world.mio.id, "One")
    await world.server.arrived(1)
    world.env.backend.create_message(world.channel.id, world.mio.id, "Two")
    gate.set()
    await world.env.settle()

    first, second = world.server.of("reply")
    assert "Two" not in first.prompt
    assert "Two" in second.prompt
    assert sorted(await world.raws(session)) == ["First.", "One", "Second.", "Two"]
    assert [text for name, text in world.said() if name == "Rin"] == ["First.", "Second."]


async def test_talk_out_of_character_is_kept_and_not_answered(world: World) -> None:
    session = await world.begin()

    await world.mio.send(world.channel, "((back in five minutes))")

    assert await world.raws(session) == ["((back in five minutes))"]
    assert world.server.requests == []
    assert world.said() == [("Mio", "((back in five minutes))")]


async def test_bots_webhooks_system_messages_and_files_without_words_are_no_story(world: World) -> None:
    session = await world.begin()
    robot = world.guild.add_member(world.env.create_user("robot", bot=True))
    hook = world.guild.create_webhook(world.channel, "Somebody's")

    await robot.send(world.channel, "beep")
    await hook.send("proxied")
    await world.mio.send(world.channel, attachments=[("cat.txt", b"meow")])
    world.guild.create_system_message(world.channel, MessageType.CHANNEL_NAME_CHANGE, author=world.mio)
    await world.env.settle()

    assert await world.raws(session) == []
    assert world.server.requests == []


async def test_nothing_is_answered_where_no_story_runs(world: World) -> None:
    await world.begin()
    other = world.guild.create_text_channel("other")

    await world.mio.send(other, "Hello?")

    assert world.said(other) == [("Mio", "Hello?")]
    assert world.server.requests == []


async def test_a_repeated_gateway_event_is_harmless(world: World) -> None:
    session = await world.begin()
    sent = await world.mio.send(world.channel, "Once.")
    stored = world.env.backend.get_message(world.channel.id, sent.id)

    world.env.backend.emit("MESSAGE_CREATE", serializers.message_payload(world.env.backend, stored))
    await world.env.settle()

    assert (await world.raws(session)).count("Once.") == 1
    assert len(world.server.of("reply")) == 1
    assert len(world.said()) == 2


async def test_a_long_message_of_a_subscriber_is_heard_whole(world: World) -> None:
    session = await world.begin()
    text = "word " * 700
    payload_of = serializers.message_payload
    sent = await world.mio.send(world.guild.create_text_channel("elsewhere"), "x")
    stored = world.env.backend.get_message(sent.channel.id, sent.id)
    payload = {**payload_of(world.env.backend, stored), "id": str(sent.id + 1), "content": text}

    world.env.backend.emit("MESSAGE_CREATE", {**payload, "channel_id": str(world.channel.id)})
    await world.env.settle()

    assert (await world.raws(session))[0] == text


async def test_nine_thousand_characters_are_split_at_sentences_and_tied_to_one_turn(world: World) -> None:
    session = await world.begin()
    world.server.replies.append(Script("*The river is wide.* “Come with me!” " * 240, pieces=None))

    await world.mio.send(world.channel, "Tell me everything.")

    messages = world.channel.history()[1:]
    turn = (await world.turns(session))[-1]
    assert len(messages) >= 5
    assert all(len(m.content) <= 2_000 and m.content[-1] in "*”" for m in messages)
    assert " ".join(m.content for m in messages).split() == turn.raw.split()
    ties = [await world.store.turn_of_message(m.id) for m in messages]
    assert {tie[1].id for tie in ties if tie} == {turn.id}


async def test_a_refused_name_is_altered(world: World) -> None:
    await world.begin(card=Card("Clyde", "A thief."))

    await world.mio.send(world.channel, "Hello?")

    assert world.channel.history()[-1].author.name.replace("\u200a", "") == "Clyde"
    assert world.channel.history()[-1].author.name != "Clyde"


async def test_refused_typing_stops_nothing(world: World) -> None:
    session = await world.begin()
    world.env.inject_error("POST", "/channels/*/typing", status=403, code=50013, times=None)

    await world.mio.send(world.channel, "Hello?")

    assert len(await world.raws(session)) == 2
    assert world.said()[-1][0] == "Rin"


async def test_an_edit_and_a_deletion_reach_the_rows(world: World) -> None:
    session = await world.begin()
    first = await world.mio.send(world.channel, "I am your sister.")
    second = await world.mio.send(world.channel, "Forget it.")

    await world.mio.edit(first, "I am your cousin.")
    await world.mio.delete(second)

    raws = await world.raws(session)
    assert "I am your cousin." in raws
    assert "I am your sister." not in raws
    assert "Forget it." not in raws
    assert len(world.server.of("reply")) == 2


async def test_a_bulk_deletion_reaches_the_rows(world: World) -> None:
    session = await world.begin()
    sent = [await world.mio.send(world.channel, text) for text in ("One.", "Two.")]

    world.env.backend.bulk_delete_messages(world.channel.id, [message.id for message in sent])
    await world.env.settle()

    assert not {"One.", "Two."} & set(await world.raws(session))


async def test_a_link_preview_is_no_edit(world: World) -> None:
    session = await world.begin()
    sent = await world.mio.send(world.channel, "Look: https://example.com")
    before = await world.turns(session)
    stored = world.env.backend.get_message(world.channel.id, sent.id)

    payload = {**serializers.message_payload(world.env.backend, stored), "embeds": [{"title": "Example"}]}
    world.env.backend.emit("MESSAGE_UPDATE", payload)
    await world.env.settle()

    assert await world.turns(session) == before
