"""When the character answers: each message, when spoken to, or after a pause; limits; and what marks talk out of character."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
import simcord

from bot.catalogue import LANGUAGES, Catalogue
from bot.errors import NotAllowed
from bot.manners import Manners
from bot.memory.manners import Marks, Mode, SessionManners
from bot.memory.story import Session
from tests.cogs.conftest import World, told


async def begin(world: World, **manners: object) -> Session:
    session = await world.begin()
    await world.manners.change(session.id, **manners)  # type: ignore[arg-type]
    return session


async def stored(world: World, session: Session) -> SessionManners:
    found = await world.store.session(session.id)
    assert found is not None
    return found.manners


def limited(world: World, *, player: int = 0, guild: int = 0) -> None:
    """The bot keeps these limits from now on."""
    world.bot.manners = Manners(world.store, world.engine, player_limit=player, guild_limit=guild, clock=world.env.now)


def replies(world: World) -> list[str]:
    return [text for name, text in world.said() if name == "Rin"]


def newest(prompt: str) -> str:
    """What a prompt has behind the last reply."""
    return prompt.removesuffix("<|end|><|assistant|>").rpartition("<|user|>")[2]


# When spoken to


async def test_what_is_not_addressed_is_heard_and_answered_along_with_what_is(world: World) -> None:
    session = await begin(world, mode=Mode.SPOKEN_TO)
    world.server.replies.append("“Yes?”")

    await world.mio.send(world.channel, "Nice weather, Sora.")
    await world.sora.send(world.channel, "There is a ring in the spring.")
    assert world.server.requests == []
    await world.mio.send(world.channel, "What do you think, rin?")

    (request,) = world.server.of("reply")
    assert newest(request.prompt).splitlines() == [
        "Mio: Nice weather, Sora.",
        "Sora: There is a ring in the spring.",
        "Mio: What do you think, rin?",
    ]
    assert replies(world) == ["“Yes?”"]
    assert len(await world.raws(session)) == 4


async def test_a_reply_to_the_character_and_a_mention_of_the_bot_call_it(world: World) -> None:
    await begin(world, mode=Mode.SPOKEN_TO)
    world.server.replies.extend(["“One.”", "“Two.”"])
    assert world.bot.user is not None

    hello = await world.mio.send(world.channel, f"<@{world.bot.user.id}> are you there?")
    spoken = world.channel.history()[-1]
    await world.sora.send(world.channel, "Me too!", reply_to=hello)
    assert replies(world) == ["“One.”"]
    await world.sora.send(world.channel, "And me?", reply_to=spoken)

    assert replies(world) == ["“One.”", "“Two.”"]


async def test_nobody_is_told_after_a_restart_that_an_answer_to_no_question_was_interrupted(world: World) -> None:
    await begin(world, mode=Mode.SPOKEN_TO)
    await world.mio.send(world.channel, "Nice weather, Sora.")

    await world.restart()

    assert world.said() == [("Mio", "Nice weather, Sora.")]


# After a pause


async def test_each_message_begins_the_pause_anew_and_one_reply_answers_them_all(world: World) -> None:
    session = await begin(world, mode=Mode.PAUSE, pause_seconds=30)
    world.server.replies.append("“All of you.”")

    for text in ("One.", "Two.", "Three."):
        await world.mio.send(world.channel, text)
        await world.env.advance_time(29)
        assert world.server.requests == []
    await world.env.advance_time(1)

    (request,) = world.server.of("reply")
    assert newest(request.prompt).splitlines() == ["Mio: One.", "Mio: Two.", "Mio: Three."]
    assert replies(world) == ["“All of you.”"]
    await world.env.advance_time(600)
    assert len(world.server.of("reply")) == 1
    assert world.bot.alarms == {}
    assert (await world.store.waiting(session.id))[1] == ()


async def test_a_pause_goes_on_after_a_restart_from_when_the_last_message_came(world: World) -> None:
    await begin(world, mode=Mode.PAUSE, pause_seconds=30)
    world.server.replies.append("“Still here.”")
    await world.mio.send(world.channel, "Rin?")
    await world.env.advance_time(20)

    ended = world.bot
    await world.restart()

    assert all(task.done() for _, task in ended.alarms.values())
    assert world.said() == [("Mio", "Rin?")]
    await world.env.advance_time(9)
    assert world.server.requests == []
    await world.env.advance_time(1)
    assert replies(world) == ["“Still here.”"]


async def test_a_pause_that_ended_while_the_bot_was_away_is_answered_at_once(world: World) -> None:
    await begin(world, mode=Mode.PAUSE, pause_seconds=30)
    world.server.replies.append("“Still here.”")
    await world.mio.send(world.channel, "Rin?")
    await world.bot.close()
    await world.env.advance_time(3_600)

    await world.restart()

    assert replies(world) == ["“Still here.”"]


async def test_a_story_that_is_stopped_within_the_pause_is_not_answered(world: World) -> None:
    await begin(world, mode=Mode.PAUSE, pause_seconds=30)
    await world.mio.send(world.channel, "Rin?")

    await world.engine.stop_session(world.channel.id)
    await world.env.advance_time(60)

    assert world.server.requests == []


async def test_a_change_of_the_mode_reaches_an_answer_that_waits(world: World) -> None:
    session = await begin(world, mode=Mode.PAUSE, pause_seconds=300)
    world.server.replies.append("“Now.”")
    await world.mio.send(world.channel, "Rin?")

    await world.mio.slash(world.channel, "session settings", mode=Mode.EVERY.value)

    assert replies(world) == ["“Now.”"]
    assert await stored(world, session) == SessionManners(Mode.EVERY, 300)


# Limits


async def test_what_is_beyond_a_players_limit_waits_with_one_notice_and_is_answered_once(world: World) -> None:
    session = await begin(world)
    limited(world, player=2)
    world.server.replies.extend(["“One.”", "“Two.”", "“The rest.”"])

    for text in ("a", "b"):
        await world.mio.send(world.channel, text)
        await world.env.advance_time(5)
    for text in ("c", "d", "e"):
        await world.mio.send(world.channel, text)

    notice = world.bot.catalogue.text("manners-wait-player", players="Mio", name="Rin", seconds=50)
    assert [text for _, text in world.said()].count(notice) == 1
    assert await world.raws(session) == ["a", "“One.”", "b", "“Two.”", "c", "d", "e"]
    await world.env.advance_time(49)
    assert len(world.server.of("reply")) == 2
    await world.env.advance_time(1)

    assert replies(world) == ["“One.”", "“Two.”", "“The rest.”"]
    assert newest(world.server.of("reply")[-1].prompt).splitlines() == ["Mio: c", "Mio: d", "Mio: e"]
    assert notice not in [text for _, text in world.said()]
    await world.env.advance_time(600)
    assert len(world.server.of("reply")) == 3


async def test_somebody_else_takes_those_along_who_wait(world: World) -> None:
    await begin(world)
    limited(world, player=1)
    world.server.replies.extend(["“One.”", "“Both.”"])
    await world.mio.send(world.channel, "a")
    await world.mio.send(world.channel, "b")
    assert len(world.said()) == 4, "two messages, a reply, and the notice"

    await world.sora.send(world.channel, "c")
    await world.env.advance_time(600)

    assert world.said() == [("Mio", "a"), ("Rin", "“One.”"), ("Mio", "b"), ("Sora", "c"), ("Rin", "“Both.”")]


async def test_the_limit_of_a_guild_counts_all_its_channels(world: World) -> None:
    await begin(world)
    other = world.guild.create_text_channel("other")
    await world.begin(other)
    limited(world, guild=1)
    world.server.replies.extend(["“Here.”", "“There.”"])

    await world.mio.send(world.channel, "a")
    await world.sora.send(other, "b")

    notice = world.bot.catalogue.text("manners-wait-guild", name="Rin", seconds=60)
    assert [text for _, text in world.said(other)] == ["b", notice]
    await world.env.advance_time(60)
    assert [text for _, text in world.said(other)] == ["b", "“There.”"]
    assert replies(world) == ["“Here.”"]


async def test_a_notice_does_not_outlive_its_process_and_the_message_is_not_lost(world: World) -> None:
    session = await begin(world)
    limited(world, player=1)
    await world.mio.send(world.channel, "a")
    await world.mio.send(world.channel, "b")
    notice = world.said()[-1]

    await world.restart()

    assert notice not in world.said()
    assert world.said()[-1][1] == world.bot.catalogue.text("notice-interrupted")
    assert [turn.raw for turn in (await world.store.waiting(session.id))[1]] == ["b"]


# Out of character


async def test_marks_that_were_given_up_are_story(world: World) -> None:
    await begin(world, marks=Marks.SLASHES)
    world.server.replies.append("“Hm.”")

    await world.mio.send(world.channel, "// back in five minutes")
    assert world.server.requests == []
    await world.mio.send(world.channel, "((a whisper))")

    assert newest(world.server.of("reply")[0].prompt) == "Mio: ((a whisper))"


async def test_an_edit_is_read_under_the_same_marks(world: World) -> None:
    session = await begin(world, marks=Marks.NONE)
    message = await world.mio.send(world.channel, "Hello.")

    await world.mio.edit(message, "// Hello.")

    assert [turn.is_out_of_character for turn in await world.turns(session)] == [False, False]


# /session settings


async def test_a_player_sets_and_everybody_reads_what_holds(world: World) -> None:
    session = await begin(world)
    await world.mio.send(world.channel, "Hello.")

    result = await world.mio.slash(
        world.channel, "session settings", mode=Mode.PAUSE.value, pause=45, out_of_character=Marks.BRACKETS.value
    )
    looked = await world.sora.slash(world.channel, "session settings")

    text = world.bot.catalogue.text
    assert told(result).splitlines() == [
        text("manners-mode-pause", name="Rin", seconds=45), text("manners-marks-brackets", name="Rin"),
    ]  # fmt: skip
    assert (result.ephemeral, looked.ephemeral) == (False, True)
    assert told(looked) == told(result)
    assert await stored(world, session) == SessionManners(Mode.PAUSE, 45, Marks.BRACKETS)


async def test_only_players_of_the_story_and_moderators_set_anything(world: World) -> None:
    session = await begin(world)
    kai = world.guild.add_member(world.env.create_user("kai"))

    result = await kai.slash(world.channel, "session settings", mode=Mode.SPOKEN_TO.value)
    simcord.assert_error(world.env, NotAllowed)
    assert told(result) == world.bot.catalogue.text("retell-scene-only")
    assert await stored(world, session) == SessionManners()

    assert told(await kai.slash(world.channel, "session settings"))
    await world.sora.slash(world.channel, "session settings", mode=Mode.SPOKEN_TO.value)
    assert await stored(world, session) == SessionManners(Mode.SPOKEN_TO)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_manners_have_words(language: str) -> None:
    catalogue = Catalogue()
    for mode in Mode:
        assert "Rin" in catalogue.text(f"manners-mode-{mode}", language, name="Rin", seconds=5)
    for marks in Marks:
        assert catalogue.text(f"manners-marks-{marks}", language, name="Rin")


# Many at once


async def test_wrong_reply_five_players_in_bursts_are_each_answered_by_exactly_one_reply(world: World) -> None:
    """Two hundred messages, five of them within two seconds each time, over a minute apart: none lost, none answered twice."""
    session = await begin(world)
    limited(world, player=10, guild=60)
    names = ("Aki", "Ben", "Chie", "Dan", "Emi")
    players = [world.guild.add_member(world.env.create_user(name.lower(), global_name=name)) for name in names]
    world.server.on_reply = lambda body: f"“To {newest_name(body['messages'][-1]['content'])}.”"
    texts = []

    for burst in range(40):
        for player, name in zip(players, names, strict=True):
            texts.append(f"{name} says word{burst:02}{name}.")
            world.env.backend.create_message(world.channel.id, player.id, texts[-1])
            # Some are heard while the reply before is being written, some together.
            for _ in range((burst * 7 + len(texts)) % 5):
                await asyncio.sleep(0)
        await world.env.settle()
        await world.env.advance_time(30)

    requests = world.server.of("reply")
    turns = await world.turns(session)
    assert [turn.raw for turn in turns if turn.author.is_player] == texts
    answered = [line for request in requests for line in newest(request.prompt).splitlines()]
    assert Counter(answered) == Counter(f"{text.split()[0]}: {text}" for text in texts)
    written = [turn.raw for turn in turns if not turn.author.is_player]
    assert replies(world) == written
    assert 40 < len(written) == len(requests) < 200


def newest_name(content: str) -> str:
    return content.splitlines()[-1].partition(":")[0]
