"""``/session`` in channels, threads and direct messages."""

from __future__ import annotations

import discord
import pytest
import simcord
from simcord.backend.models import Overwrite
from simcord.builders import ChannelHandle
from simcord.enums import OverwriteType

from bot.errors import NotFound, Refused
from bot.memory.prompt import Card
from bot.memory.story import Scope
from tests.cogs.conftest import KEEPER, RIN, World, told


@pytest.fixture
async def rin(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), RIN, "")


def thread_of(world: World) -> ChannelHandle:
    world.env.backend.create_thread(world.channel.id, "a side story", world.mio.id)
    return world.channel.threads[0]


@pytest.mark.usefixtures("rin")
async def test_a_story_begins_with_the_greeting(world: World) -> None:
    result = await world.mio.slash(world.channel, "session start", character="Rin")

    session = await world.engine.running_session(world.channel.id)
    assert session is not None
    assert session.place.guild_id == world.guild.id
    assert result.ephemeral
    assert told(result) == world.bot.catalogue.text("session-started", name="Rin")
    assert world.channel.history()[0].author.name == "Rin"
    assert world.channel.history()[0].content == RIN.first_message
    assert await world.raws(session) == [RIN.first_message]
    assert await world.store.turn_of_message(world.channel.history()[0].id) is not None
    assert world.server.of("reply") == []


@pytest.mark.usefixtures("rin")
async def test_a_story_can_begin_without_a_greeting(world: World) -> None:
    await world.mio.slash(world.channel, "session start", character="Rin", greeting="none")

    session = await world.engine.running_session(world.channel.id)
    assert session is not None
    assert await world.raws(session) == []


@pytest.mark.usefixtures("rin")
async def test_only_one_story_runs_in_a_channel(world: World) -> None:
    await world.mio.slash(world.channel, "session start", character="Rin")

    result = await world.mio.slash(world.channel, "session start", character="Rin")

    simcord.assert_error(world.env, Refused)
    assert result.ephemeral
    assert told(result) == world.bot.catalogue.text("session-already-running")
    assert len(await world.engine.stories(world.channel.id)) == 1


async def test_an_unknown_character_is_named_in_the_answer(world: World) -> None:
    result = await world.mio.slash(world.channel, "session start", character="Nobody")

    simcord.assert_error(world.env, NotFound)
    assert told(result) == world.bot.catalogue.text("character-unknown", name="Nobody")
    assert await world.engine.running_session(world.channel.id) is None


@pytest.mark.usefixtures("rin")
@pytest.mark.parametrize(
    ("denied", "named"),
    [
        ({"send_messages": False}, "permission-send"),
        ({"send_messages": False, "manage_webhooks": False}, "permission-send"),
        ({"view_channel": False}, "permission-view"),
    ],
)
async def test_a_missing_permission_without_which_nothing_works_is_named(
    world: World, denied: dict[str, bool], named: str
) -> None:
    assert world.bot.user is not None
    bits = discord.PermissionOverwrite(**denied).pair()[1].value
    world.env.backend.set_overwrite(world.channel.id, Overwrite(world.bot.user.id, OverwriteType.MEMBER, 0, bits))

    result = await world.mio.slash(world.channel, "session start", character="Rin")

    simcord.assert_error(world.env, Refused)
    assert told(result).splitlines()[1:] == ["- " + world.bot.catalogue.text(named)]
    assert await world.engine.running_session(world.channel.id) is None


@pytest.mark.usefixtures("rin")
async def test_permissions_that_would_help_are_named_and_the_story_begins(world: World) -> None:
    assert world.bot.user is not None
    bits = discord.Permissions(manage_webhooks=True, read_message_history=True, embed_links=True).value
    world.env.backend.set_overwrite(world.channel.id, Overwrite(world.bot.user.id, OverwriteType.MEMBER, 0, bits))

    result = await world.mio.slash(world.channel, "session start", character="Rin")

    say = world.bot.catalogue.text
    content = told(result)
    named = [f"- {say(f'permission-{name}')}" for name in ("webhooks", "history", "embeds")]
    assert content.splitlines()[-3:] == named
    assert world.said()[0][1] == f"**Rin**\n{RIN.first_message}"
    assert await world.engine.running_session(world.channel.id) is not None


@pytest.mark.usefixtures("rin")
async def test_a_thread_has_a_story_of_its_own_through_its_parents_webhook(world: World) -> None:
    thread = thread_of(world)
    await world.mio.slash(thread, "session start", character="Rin", greeting="none")

    await world.mio.send(thread, "Are you here?")
    await world.mio.send(world.channel, "Nobody hears this.")

    session = await world.engine.running_session(thread.id)
    assert session is not None
    assert session.place.parent_id == world.channel.id
    assert await world.raws(session) == ["Are you here?", "Answer 1."]
    assert [text for _, text in world.said(thread)][-1] == "Answer 1."
    assert world.said()[-1] == ("Mio", "Nobody hears this.")
    assert [hook.channel_id for hook in world.env.backend.webhooks.values()] == [world.channel.id]


async def test_a_direct_message_has_characters_and_stories_of_its_own(world: World) -> None:
    scope = Scope(None, world.mio.id)
    await world.characters.create(scope, Card("Yuki", "A friend of Mio's alone."), "")
    home = world.mio.user.dm_channel

    await world.mio.user.slash("session start", character="Yuki")
    await world.mio.user.send_dm("Hello?")

    session = await world.engine.running_session(home.id)
    assert session is not None
    assert session.place.guild_id is None
    assert await world.raws(session) == ["Hello?", "Answer 1."]
    assert world.said(home)[-1][1] == "**Yuki**\nAnswer 1."
    assert await world.characters.usable(Scope(world.guild.id, world.mio.id)) == ()


@pytest.mark.usefixtures("rin")
async def test_a_stopped_story_is_silent_until_it_is_resumed(world: World) -> None:
    await world.mio.slash(world.channel, "session start", character="Rin", greeting="none")
    session = await world.engine.running_session(world.channel.id)
    assert session is not None

    stopped = await world.mio.slash(world.channel, "session stop")
    await world.mio.send(world.channel, "Nobody hears this.")
    resumed = await world.mio.slash(world.channel, "session resume")
    await world.mio.send(world.channel, "But this.")

    assert told(stopped) == world.bot.catalogue.text("session-stopped", name="Rin")
    assert told(resumed) == world.bot.catalogue.text("session-resumed", name="Rin")
    assert await world.raws(session) == ["But this.", "Answer 1."]


@pytest.mark.usefixtures("rin")
async def test_an_older_story_can_be_chosen_from_the_list(world: World) -> None:
    for _ in range(2):
        await world.mio.slash(world.channel, "session start", character="Rin", greeting="none")
        await world.mio.slash(world.channel, "session stop")
    newest, oldest = await world.engine.stories(world.channel.id)

    choices = await world.mio.autocomplete(world.channel, "session resume", "story", "rin")
    await world.mio.slash(world.channel, "session resume", story=oldest.id)

    assert [choice["value"] for choice in choices] == [newest.id, oldest.id]
    assert choices[0]["name"].startswith(f"Story {newest.id} · Rin · 2026-01-01")
    running = await world.engine.running_session(world.channel.id)
    assert running is not None
    assert running.id == oldest.id


async def test_without_a_story_the_way_to_one_is_shown(world: World) -> None:
    for command in ("stop", "info", "resume"):
        result = await world.mio.slash(world.channel, f"session {command}")
        assert "/session start" in told(result)
    simcord.assert_error(world.env, NotFound)


async def test_info_counts_in_plain_words(world: World) -> None:
    await world.begin()
    await world.mio.send(world.channel, "One")
    await world.mio.send(world.channel, "Two")

    result = await world.mio.slash(world.channel, "session info")

    assert result.ephemeral
    assert result.response is not None
    lines = (result.response.embeds[0].description or "").splitlines()
    assert lines[1] == "4 turns so far; the newest 4 are remembered word for word."
    assert lines[2] == "0 memories in use, in 0 chapters."
    assert "tokens are used" in lines[3]
    assert lines[-1] == "Model: scripted"


@pytest.mark.usefixtures("rin")
async def test_a_greeting_that_discord_refuses_is_explained_and_taken_out(world: World) -> None:
    world.env.inject_error("POST", "/webhooks/*", status=400, code=50035)

    result = await world.mio.slash(world.channel, "session start", character="Rin")

    session = await world.engine.running_session(world.channel.id)
    simcord.assert_error(world.env, Refused)
    assert session is not None
    assert await world.raws(session) == []
    assert told(result) == world.bot.catalogue.text("delivery-refused")
