"""What the demo keeps between two runs, and how it ends."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from discord.utils import time_snowflake

from bot.demo import stage, transcript
from bot.demo.errors import DemoError
from bot.demo.simulation import Simulation
from bot.demo.stage import Options
from bot.demo.world import SeededMessage, World, build, the_world

AT = datetime(2026, 2, 1, tzinfo=UTC)
TOLD = SeededMessage(time_snowflake(AT), "Dorrit", None, "told", AT)


async def simulated(world: World) -> Simulation:
    simulation = Simulation()
    await simulation.start()
    build(simulation, world, topic="")
    return simulation


async def test_what_is_saved_is_restored_with_its_ids(tmp_path: Path) -> None:
    world, file = the_world(), tmp_path / "discord.json"
    before = (await simulated(world)).backend
    transcript.place(before, world, [TOLD])
    upload = before.store_attachments(world.channel_id, [("a.txt", b"content")])
    said = before.create_message(world.channel_id, world.players[0].user_id, "said", attachments=upload)
    before.set_reaction(world.channel_id, said.id, "👍", world.players[1].user_id, True)
    own = before.create_webhook(world.channel_id, "another", world.bot_user_id)
    before.commands[None] = {("memory", 1): {"id": "7", "name": "memory", "type": 1}}
    before.create_message(world.channel_id, world.bot_user_id, "only for one", flags=1 << 6, interaction_metadata={})
    transcript.announce(before, world, "about")
    transcript.save(before, world, file)

    after = (await simulated(world)).backend
    transcript.restore(after, world, file)
    messages = after.messages[world.channel_id]
    assert list(messages) == [TOLD.message_id, said.id]
    assert messages[TOLD.message_id].author_name == "Dorrit"
    assert messages[said.id] == said
    assert after.cdn.get(upload[0]["url"]) == b"content"
    assert after.webhook_tokens[own.token] == own.id
    assert after.commands[None] == before.commands[None]
    assert after.create_message(world.channel_id, world.players[0].user_id, "next").id > said.id


async def test_the_usher_speaks_once_and_last(tmp_path: Path) -> None:
    world = the_world()
    backend = (await simulated(world)).backend
    transcript.announce(backend, world, "first run")
    transcript.place(backend, world, [TOLD])
    transcript.announce(backend, world, "second run")
    texts = [backend.messages[world.channel_id][each].content for each in sorted(backend.messages[world.channel_id])]
    assert texts == ["told", "second run"]


async def test_only_the_newest_messages_are_kept() -> None:
    world = the_world()
    backend = (await simulated(world)).backend
    for number in range(transcript.KEPT_MESSAGES + 5):
        backend.create_message(world.channel_id, world.players[0].user_id, str(number))
    transcript.trim(backend, world)
    kept = [each.content for each in backend.messages[world.channel_id].values()]
    assert (len(kept), kept[0], kept[-1]) == (transcript.KEPT_MESSAGES, "5", str(transcript.KEPT_MESSAGES + 4))


@pytest.mark.parametrize("content", ["", "[]", '{"format": 99}', '{"format": 1}'])
async def test_an_unusable_transcript_is_told_in_one_line(tmp_path: Path, content: str) -> None:
    world, file = the_world(), tmp_path / "discord.json"
    file.write_text(content)
    with pytest.raises(DemoError, match="start over with --reset") as told:
        transcript.restore((await simulated(world)).backend, world, file)
    assert "\n" not in str(told.value)


def test_ids_stay_the_same_between_runs() -> None:
    first, second = the_world(), the_world()
    assert first == second
    ids = [first.guild_id, first.channel_id, first.bot_user_id, *(each.user_id for each in first.members)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("reset", [False, True])
def test_a_complete_state_is_kept_unless_reset(tmp_path: Path, reset: bool) -> None:
    options = Options(data=tmp_path, reset=reset)
    for file in (options.database, options.transcript):
        file.write_text("kept")
    assert stage.prepare(options) is reset
    assert options.database.exists() is not reset


@pytest.mark.parametrize("missing", ["database", "transcript"])
def test_half_a_state_is_set_aside(tmp_path: Path, missing: str) -> None:
    options = Options(data=tmp_path)
    there = options.transcript if missing == "database" else options.database
    there.write_text("half")
    assert stage.prepare(options)
    assert not there.exists()
    (aside,) = tmp_path.iterdir()
    assert (aside.suffix, aside.read_text()) == (".old", "half")


def test_two_demos_do_not_share_a_folder(tmp_path: Path) -> None:
    with stage.only_one(tmp_path), pytest.raises(DemoError, match="another demo is running"), stage.only_one(tmp_path):
        pass
    with stage.only_one(tmp_path):
        pass
