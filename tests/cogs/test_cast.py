"""Several characters in one channel: who joins and leaves, and that each speaks, and is treated, as itself."""

from __future__ import annotations

import asyncio
import json

import discord
import pytest
import simcord
from simcord.backend.models import Overwrite
from simcord.enums import OverwriteType

from bot.errors import NotAllowed, NotFound, Refused
from bot.memory import markup
from bot.memory.manners import Mode
from bot.memory.policy import crosses_trigger
from bot.memory.prompt import Card
from bot.memory.story import Scope, Session
from bot.memory.turns import PlayerMessage, Telling
from bot.store import Due
from tests.cogs.conftest import KEEPER, World, told
from tests.support.model_server import Script

BROM = Card("Brom", "{{char}} is a smith who hums.", "*{{char}} puts the hammer down.*", alternate_greetings=("“Hm?”",))
BROMS_FACE = "https://cdn.discordapp.com/emojis/78.png"


@pytest.fixture
async def brom(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), BROM, BROMS_FACE)


@pytest.fixture
async def session(world: World, brom: None) -> Session:
    """Rin's story, which Brom joined."""
    session = await world.begin()
    await world.engine.casting.add(session.id, Scope(world.guild.id, KEEPER), "Brom")
    return session


async def cast(world: World, session: Session) -> list[str]:
    return [member.character.card.name for member in (await world.engine.session(session.id)).cast]


def text(world: World, code: str, **fields: str | int) -> str:
    return world.bot.catalogue.text(code, **fields)


# Joining and leaving


@pytest.mark.usefixtures("brom")
async def test_who_joins_is_announced_and_greets_in_its_own_voice(world: World) -> None:
    session = await world.begin()
    offered = await world.mio.autocomplete(world.channel, "session cast add", "character", "bro")
    greetings = await world.mio.autocomplete(world.channel, "session cast add", "greeting", "", character="Brom")

    result = await world.mio.slash(world.channel, "session cast add", character="Brom", greeting="1")

    assert [choice["value"] for choice in offered] == ["Brom"]
    assert [choice["value"] for choice in greetings] == ["0", "1", "none"]
    assert not result.ephemeral
    assert told(result) == text(world, "cast-joined", name="Brom")
    assert world.said()[-1] == ("Brom", "“Hm?”")
    assert world.sends()[-1]["avatar_url"] == BROMS_FACE
    assert await cast(world, session) == ["Rin", "Brom"]
    (turn,) = await world.turns(session)
    assert (turn.author.name, turn.raw) == ("Brom", "“Hm?”")
    assert await world.store.turn_of_message(world.channel.history()[-1].id) is not None


@pytest.mark.usefixtures("brom")
async def test_who_joins_says_nothing_unless_it_is_asked_to(world: World) -> None:
    session = await world.begin()

    await world.mio.slash(world.channel, "session cast add", character="Brom")

    assert await world.raws(session) == []
    assert await cast(world, session) == ["Rin", "Brom"]


async def test_who_leaves_is_announced_and_what_it_said_stays(world: World, session: Session) -> None:
    world.server.replies.extend(["“Aye.”", "“Gone.”"])
    await world.mio.send(world.channel, "Brom?")
    offered = await world.mio.autocomplete(world.channel, "session cast remove", "character", "")

    result = await world.mio.slash(world.channel, "session cast remove", character="brom")
    await world.mio.send(world.channel, "Brom?")

    assert [choice["value"] for choice in offered] == ["Brom"]
    assert told(result) == text(world, "cast-left", name="Brom")
    assert await cast(world, session) == ["Rin"]
    assert world.said()[-1] == ("Rin", "“Gone.”")
    assert "Brom: “Aye.”" in world.server.of("reply")[-1].prompt
    assert await world.raws(session) == ["Brom?", "“Aye.”", "Brom?", "“Gone.”"]


async def test_what_makes_no_sense_is_refused_in_words(world: World, session: Session) -> None:
    await world.mio.send(world.channel, "Hello.")
    tries = [
        ("add", "Brom", Refused),
        ("remove", "Rin", Refused),
        ("remove", "Kai", NotFound),
        ("add", "Kai", NotFound),
    ]
    answers = []
    for what, name, kind in tries:
        answers.append(told(await world.mio.slash(world.channel, f"session cast {what}", character=name)))
        simcord.assert_error(world.env, kind)
    await world.engine.stop_session(world.channel.id)
    answers.append(told(await world.mio.slash(world.channel, "session cast add", character="Brom")))
    simcord.assert_error(world.env, NotFound)

    assert answers == [
        text(world, "cast-there-already", name="Brom"),
        text(world, "cast-lead", name="Rin"),
        text(world, "cast-not-there"),
        text(world, "character-unknown", name="Kai"),
        text(world, "session-none"),
    ]
    assert await cast(world, session) == ["Rin", "Brom"]


@pytest.mark.usefixtures("brom")
async def test_once_somebody_plays_only_players_and_moderators_say_who_joins(world: World) -> None:
    stranger = world.guild.add_member(world.env.create_user("leo", global_name="Leo"))
    session = await world.begin()
    await stranger.slash(world.channel, "session cast add", character="Brom")
    await world.mio.send(world.channel, "Hello.")

    result = await stranger.slash(world.channel, "session cast remove", character="Brom")

    simcord.assert_error(world.env, NotAllowed)
    assert told(result) == text(world, "retell-scene-only")
    assert await cast(world, session) == ["Rin", "Brom"]
    await world.sora.slash(world.channel, "session cast remove", character="Brom")
    assert await cast(world, session) == ["Rin"]


async def test_a_character_for_adults_joins_in_age_restricted_channels_alone(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), BROM, "", adult=True)
    session = await world.begin()

    result = await world.mio.slash(world.channel, "session cast add", character="Brom")

    simcord.assert_error(world.env, Refused)
    assert told(result) == text(world, "character-adult", name="Brom")
    assert await cast(world, session) == ["Rin"]


async def test_anybody_can_see_who_plays_since_when(world: World, session: Session) -> None:
    member = (await world.engine.session(session.id)).cast[1]

    result = await world.mio.slash(world.channel, "session cast show")

    assert result.ephemeral
    assert result.response is not None
    (embed,) = result.response.embeds
    assert embed.description == "\n".join(
        [text(world, "cast-line", name="Rin"), text(world, "cast-line-late", name="Brom", seq=member.since)]
    )


# Speaking


async def test_each_answers_in_its_own_voice_by_name_by_reply_and_in_turn(world: World, session: Session) -> None:
    world.server.replies.extend(["“One.”", "“Two.”", "“Three.”", "“Four.”"])

    await world.mio.send(world.channel, "Brom, one?")
    first = world.channel.history()[-1]
    await world.sora.send(world.channel, "Two?")
    await world.mio.send(world.channel, "Three?", reply_to=first)
    await world.sora.send(world.channel, "Brom! Four?", reply_to=world.channel.history()[1])

    spoken = [(send["username"], send["content"], send["avatar_url"]) for send in world.sends()]
    rins_face = session.character.avatar_url
    assert spoken == [
        ("Brom", "“One.”", BROMS_FACE),
        ("Rin", "“Two.”", rins_face),
        ("Brom", "“Three.”", BROMS_FACE),
        ("Brom", "“Four.”", BROMS_FACE),
    ]
    assert [turn.author.name for turn in await world.turns(session)][1::2] == ["Brom", "Rin", "Brom", "Brom"]


async def test_one_whom_a_reply_calls_answers_too_and_then_it_is_the_players_turn(
    world: World, session: Session
) -> None:
    world.server.replies.extend(["“Brom, tell them.” `He lies.`", "“Rin knows it all.”"])

    await world.mio.send(world.channel, "Rin, what happened?")

    assert world.said()[1:] == [("Rin", "“Brom, tell them.”"), ("Brom", "“Rin knows it all.”")]
    first, second = world.server.of("reply")
    assert "Brom is a smith" not in first.prompt
    assert "Brom is a smith" in second.prompt
    assert second.messages[-1]["content"].splitlines() == ["Mio: Rin, what happened?", "Rin: “Brom, tell them.”"]
    assert (await world.store.waiting(session.id))[1] == ()


async def test_what_arrives_meanwhile_is_answered_by_whom_each_message_calls(world: World, session: Session) -> None:
    gate = asyncio.Event()
    world.server.replies.extend([Script("“First.”", hang=gate), "“Second.”", "“Third.”"])

    world.env.backend.create_message(world.channel.id, world.mio.id, "Rin, one?")
    await world.server.arrived(1)
    world.env.backend.create_message(world.channel.id, world.sora.id, "Brom, two?")
    world.env.backend.create_message(world.channel.id, world.mio.id, "Rin, three?")
    while len((await world.store.waiting(session.id))[1]) < 2:
        await asyncio.sleep(0)
    gate.set()
    await world.env.settle()

    replies = [said for said in world.said() if said[0] in ("Rin", "Brom")]
    assert replies == [("Rin", "“First.”"), ("Brom", "“Second.”"), ("Rin", "“Third.”")]
    assert (await world.store.waiting(session.id))[1] == ()
    assert len(world.server.of("reply")) == 3


async def test_what_fails_to_follow_is_said_and_can_be_tried_again(world: World, session: Session) -> None:
    world.server.replies.append("“Brom, tell them.”")
    world.server.on_reply = lambda body: ""

    await world.mio.send(world.channel, "Rin, what happened?")
    notice = world.channel.history()[-1]
    world.server.on_reply = lambda body: "“So be it.”"
    await world.mio.click(notice, label=text(world, "button-retry"))

    assert [said for name, said in world.said() if name in ("Rin", "Brom")] == ["“Brom, tell them.”", "“So be it.”"]
    assert await world.raws(session) == ["Rin, what happened?", "“Brom, tell them.”", "“So be it.”"]


async def test_when_spoken_to_means_any_of_the_cast(world: World, session: Session) -> None:
    await world.manners.change(session.id, mode=Mode.SPOKEN_TO)
    world.server.replies.append("“Here.”")

    await world.mio.send(world.channel, "Nice weather, Sora.")
    assert world.server.requests == []
    await world.mio.send(world.channel, "Are you there, Brom?")

    assert world.said()[-1] == ("Brom", "“Here.”")


async def test_without_a_webhook_the_bot_says_who_speaks(world: World, session: Session) -> None:
    denied = discord.Permissions(manage_webhooks=True).value
    assert world.bot.user is not None
    world.env.backend.set_overwrite(world.channel.id, Overwrite(world.bot.user.id, OverwriteType.MEMBER, 0, denied))
    world.server.replies.append("“Here.”")

    await world.mio.send(world.channel, "Brom?")

    assert world.channel.history()[1].content == "**Brom**\n“Here.”"


async def test_a_player_called_like_who_joins_is_told_from_them(world: World, brom: None) -> None:
    session = await world.begin()
    namesake = world.guild.add_member(world.env.create_user("brom", global_name="Brom"))
    world.server.replies.extend(["“One.”", "“Two.”"])
    await namesake.send(world.channel, "Hello.")
    await world.engine.casting.add(session.id, Scope(world.guild.id, KEEPER), "Brom")

    await namesake.send(world.channel, "Rin!")

    players = [turn.author.name for turn in await world.turns(session) if turn.author.is_player]
    assert players == ["Brom", "Brom (2)"]
    assert world.server.of("reply")[-1].messages[-1]["content"] == "Brom (2): Rin!"


# Afterwards


async def test_a_reply_is_told_anew_by_its_own_character(world: World, session: Session) -> None:
    world.server.replies.extend(["“One.”", "“Another.”"])
    await world.mio.send(world.channel, "Brom?")
    reply = world.channel.history()[-1]

    await world.mio.context_menu(world.channel, "Retell", reply)
    who = await world.mio.context_menu(world.channel, "Who said this?", reply)

    first, second = world.server.of("reply")
    assert second.messages == first.messages
    assert world.said() == [("Mio", "Brom?"), ("Brom", "“Another.”")]
    assert (await world.turns(session))[-1].author.name == "Brom"
    assert "Brom" in told(who)
    assert "Rin" not in told(who)


async def test_who_left_does_not_tell_anew(world: World, session: Session) -> None:
    world.server.replies.append("“One.”")
    await world.mio.send(world.channel, "Brom?")
    reply = world.channel.history()[-1]
    await world.engine.casting.remove(session.id, "Brom")

    result = await world.mio.context_menu(world.channel, "Retell", reply)

    simcord.assert_error(world.env, Refused)
    assert told(result) == text(world, "cast-gone", name="Brom")
    assert world.said() == [("Mio", "Brom?"), ("Brom", "“One.”")]
    assert await world.raws(session) == ["Brom?", "“One.”"]


async def test_what_one_of_them_said_is_taken_back_alone_and_said_again_by_the_same(
    world: World, session: Session
) -> None:
    world.server.replies.extend(["“Brom, tell them.”", "“No.”"])
    await world.mio.send(world.channel, "Rin, what happened?")
    before = world.said()

    await world.mio.context_menu(world.channel, "Take back", world.channel.history()[-1])
    assert world.said() == before[:-1]
    (branch,) = await world.rewinding.branches(session.id)
    await world.mio.slash(world.channel, "session branches", branch=branch.id)

    assert [said for said in world.said() if said[0] in ("Rin", "Brom")] == before[1:]
    assert await world.raws(session) == ["Rin, what happened?", "“Brom, tell them.”", "“No.”"]


async def test_a_reply_that_never_left_is_sent_after_a_restart_as_who_gave_it(world: World, session: Session) -> None:
    await world.engine.hear(PlayerMessage(1, world.channel.id, world.mio.id, "Mio", "Brom?", world.env.now()))
    begun = await world.store.begin_reply(session.id, world.env.now())
    assert begun is not None
    raw = json.dumps({"beats": [{"kind": "speech", "speaker": "Brom", "text": "Here."}]})
    due = Due(lambda raw, memory: crosses_trigger(world.engine.budgets, raw, memory), at=world.env.now())
    written = Telling(raw, markup.parse_reply(raw, "Brom"), 3, "stop")
    await world.store.finish_reply(begun.turn.id, written, due)

    await world.restart()

    assert world.said() == [("Brom", "“Here.”")]
    assert world.sends()[-1]["avatar_url"] == BROMS_FACE
