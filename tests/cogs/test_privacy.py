"""``/privacy``: the copy of one's own data, being forgotten, and a server that removes the bot."""

from __future__ import annotations

import io
import json

import discord
import pytest
import simcord
from PIL import Image

from bot.errors import Refused
from bot.memory.corrections import CorrectionKind
from bot.memory.memories import Content, MemoryKind, MemoryStatus, NewMemory
from bot.memory.story import Session
from bot.memory.turns import Citation
from bot.store.people_tables import departures, forgettings, personas
from bot.store.tables import turns
from cogs._lines import bound
from cogs._report_text import report_embed
from tests.cogs.conftest import KEEP_DAYS, World, told
from tests.cogs.moderated import answered, labels, remembered, shown
from tests.store.tale import rows

PEARLS = "I buried seven pearls under the third stone."
HUSBAND = "Have you seen my husband?"
MEMORIES = (
    NewMemory(Content(MemoryKind.EVENT, "Seven pearls lie under a stone."), (Citation(1, 1),)),
    NewMemory(Content(MemoryKind.EVENT, "A husband is missed."), (Citation(3, 1),)),
)


def emblem() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (30, 20), "teal").save(out, "PNG")
    return out.getvalue()


@pytest.fixture
async def session(world: World) -> Session:
    """Mio tells of her pearls, Sora asks for her husband; both are folded."""
    session = await world.begin()
    world.server.replies.extend(["“A deep hole, I hope.”", "“Not since the flood.”"])
    await world.mio.send(world.channel, PEARLS)
    await world.sora.send(world.channel, HUSBAND)
    await world.fold(session, MEMORIES)
    return session


async def test_the_copy_is_a_file_for_whoever_asks(world: World, session: Session) -> None:
    result = await world.mio.slash(world.channel, "privacy export")

    assert result.ephemeral
    (file,) = answered(result).attachments
    assert file.filename == "kataribe.json"
    data = json.loads(await file.read())
    assert data["player_id"] == str(world.mio.id)
    assert [turn["text"] for turn in data["turns"]] == [PEARLS]
    assert [(memory["number"], memory["text"]) for memory in data["memories"]] == [(1, MEMORIES[0].content.text)]
    assert session.id == data["stories"][0]["session_id"]


async def test_nothing_goes_before_the_button_is_pressed(world: World, session: Session) -> None:
    asked = await world.mio.slash(world.channel, "privacy forget-me")

    message = answered(asked)
    goes, stays, _ = message.embeds[0].fields
    assert asked.ephemeral
    assert goes.value.splitlines() == [
        "• the text of one message of yours, and your name with it",
        "• at least one memory: all that tell of you or rest on what you wrote",
        "• in one story with others, the lines of replies that name you or repeat your words",
    ]
    assert "What other people wrote" in stays.value
    assert labels(message) == ["Forget me", "Leave it as it is"]
    await world.mio.click(message, label="Leave it as it is")
    assert answered(asked).content == "Nothing has been changed."
    assert PEARLS in await world.raws(session)
    assert await rows(world.store, forgettings) == []


async def test_pressed_it_is_done(world: World, session: Session) -> None:
    asked = await world.mio.slash(world.channel, "privacy forget-me")

    await world.mio.click(answered(asked), label="Forget me")
    await world.env.settle()

    assert answered(asked).content == "You are forgotten."
    assert answered(asked).components == []
    assert PEARLS not in await world.raws(session)
    assert HUSBAND in await world.raws(session)
    assert {row.author_id for row in await rows(world.store, turns)}.isdisjoint({world.mio.id})
    assert await rows(world.store, forgettings) == []
    assert (await remembered(world, session, 1)).status is MemoryStatus.FORGOTTEN
    assert (await remembered(world, session, 2)).is_active


async def test_personas_go_with_their_pictures(world: World, session: Session) -> None:
    picture = ("h.png", emblem())
    await world.mio.slash(world.channel, "persona set", name="Haru", description="A guard.", picture=picture)
    await world.sora.slash(world.channel, "persona set", name="Ren", picture=picture)
    assert len(world.env.backend.application_emojis) == 2
    await world.mio.send(world.channel, "Halt!")

    asked = await world.mio.slash(world.channel, "privacy forget-me")
    goes = answered(asked).embeds[0].fields[0].value
    await world.mio.click(answered(asked), label="Forget me")
    await world.env.settle()

    assert "• your persona, with its picture" in goes.splitlines()
    assert answered(asked).content == "You are forgotten."
    (left,) = await rows(world.store, personas)
    assert left.name == "Ren"
    assert [f"https://cdn.discordapp.com/emojis/{emoji}.png" for emoji in world.env.backend.application_emojis] == [
        left.avatar_url
    ]


async def test_a_picture_that_is_gone_already_hinders_nothing_and_an_error_of_discord_only_delays(
    world: World, session: Session
) -> None:
    await world.mio.slash(world.channel, "persona set", name="Haru", picture=("h.png", emblem()))
    (emoji,) = world.env.backend.application_emojis
    world.env.inject_error("DELETE", "/applications/*/emojis/*", status=500)
    await world.privacy.forget(world.mio.id)
    await world.privacy.run_due()
    assert not await world.privacy.is_forgotten(world.mio.id)

    world.env.backend.application_emojis.pop(emoji)
    await world.privacy.run_due()

    assert await world.privacy.is_forgotten(world.mio.id)
    assert await rows(world.store, personas) == []


async def test_who_has_nothing_here_is_told_so(world: World, session: Session) -> None:
    stranger = world.guild.add_member(world.env.create_user("ren"))

    asked = await stranger.slash(world.channel, "privacy forget-me")

    assert told(asked) == "I keep nothing of you, so there's nothing to forget."
    assert await rows(world.store, forgettings) == []


async def test_a_forgotten_memory_is_shown_as_such_and_no_moderator_brings_it_back(
    world: World, session: Session
) -> None:
    await world.privacy.forget(world.mio.id)
    await world.privacy.run_due()

    history = await world.sora.slash(world.channel, "memory history", number=1)
    restored = []
    for kind in (CorrectionKind.RESTORE, CorrectionKind.RETRACT):
        restored.append(
            await world.sora.slash(world.channel, "memory correct", number=1, what=kind.value, reason="It was so.")
        )
        simcord.assert_error(world.env, Refused)

    assert "forgotten: somebody it told of asked for that" in shown(history)
    assert "after somebody asked to be forgotten" in shown(history)
    assert "pearls" not in shown(history)
    assert all("told of somebody who asked to be forgotten" in told(result) for result in restored)
    assert (await remembered(world, session, 1)).status is MemoryStatus.FORGOTTEN


async def test_a_forgotten_moderator_is_named_nowhere(world: World, session: Session) -> None:
    await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="Never happened.")
    await world.privacy.forget(world.sora.id)
    await world.privacy.run_due()
    owner = world.guild.create_role("Owners", permissions=discord.Permissions(manage_messages=True))
    other = world.guild.add_member(world.env.create_user("aki"), roles=[owner])

    history = await other.slash(world.channel, "memory history", number=1)

    assert "somebody who has been forgotten since" in shown(history)
    assert str(world.sora.id) not in shown(history)
    assert "Never happened" not in shown(history)
    assert (await remembered(world, session, 1)).status is MemoryStatus.RETRACTED


async def test_a_report_that_a_forgotten_moderator_decided_names_nobody(world: World, session: Session) -> None:
    await world.mio.slash(world.channel, "memory flag", number=2, why="Not so.")
    await world.moderation.dismiss(1, by=world.sora.id)
    await world.privacy.forget(world.sora.id)
    await world.privacy.run_due()

    embed = report_embed(await world.moderation.report(1), bound(world.bot.catalogue.text, "en-US"))

    assert "**somebody who has been forgotten since left it as it is.**" in str(embed.description)
    assert "<@0>" not in str(embed.description)


async def test_a_server_that_removes_the_bot_is_deleted_in_time(world: World, session: Session) -> None:
    guild = world.bot.get_guild(world.guild.id)
    assert guild is not None

    await guild.leave()
    await world.env.settle()

    assert [row.guild_id for row in await rows(world.store, departures)] == [world.guild.id]
    await world.privacy.delete_departed()
    assert await world.store.session(session.id) is not None
    await world.env.advance_time(KEEP_DAYS * 86_400 + 60)
    await world.privacy.delete_departed()
    assert await world.store.session(session.id) is None


async def test_at_the_start_the_departures_are_put_right(world: World, session: Session) -> None:
    await world.privacy.guild_left(world.guild.id)

    await world.restart()

    assert await rows(world.store, departures) == []
    assert session.place.guild_id == world.guild.id


async def test_whoever_leaves_the_server_is_not_forgotten(world: World, session: Session) -> None:
    world.guild.remove_member(world.mio)
    await world.env.settle()

    assert PEARLS in await world.raws(session)
    assert await rows(world.store, forgettings) == []
