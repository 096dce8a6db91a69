"""``/memory settings``: the guild's moderator role, log channel, time zone and language."""

from __future__ import annotations

import discord
import pytest
import simcord
from simcord.actors import MemberActor

from bot.errors import NotAllowed, Refused
from bot.memory.moderation import GuildSettings
from bot.memory.story import Scope
from tests.cogs.conftest import KEEPER, World, told
from tests.cogs.moderated import words


@pytest.fixture
def owner(world: World) -> MemberActor:
    role = world.guild.create_role("Owners", permissions=discord.Permissions(manage_guild=True))
    return world.guild.add_member(world.env.create_user("aki"), roles=[role])


async def stored(world: World) -> GuildSettings:
    return await world.store.guild_settings(world.guild.id)


async def test_role_and_channel_are_set_and_shown(world: World, owner: MemberActor) -> None:
    log = world.guild.create_text_channel("log")
    role = world.guild.create_role("Storytellers")

    result = await owner.slash(world.channel, "memory settings", moderator_role=role, log_channel=log)
    await world.restart()
    again = await owner.slash(world.channel, "memory settings")

    assert result.ephemeral
    assert await stored(world) == GuildSettings(world.guild.id, role.id, log.id)
    assert told(again) == told(result)
    assert told(again).splitlines() == [
        f"Memories can be corrected by people with the permission Manage Messages, and by <@&{role.id}>.",
        f"Corrections and reports are posted in <#{log.id}>.",
        world.bot.catalogue.text("settings-zone-none"),
        world.bot.catalogue.text("settings-language-none"),
    ]
    assert [words(m) for m in log.history()] == [world.bot.catalogue.text("log-opened")]


@pytest.mark.parametrize("what", ["role", "log"])
async def test_each_can_be_unset_alone(world: World, owner: MemberActor, what: str) -> None:
    await world.moderation.set_moderator_role(world.guild.id, 7)
    await world.moderation.set_log_channel(world.guild.id, world.channel.id)

    result = await owner.slash(world.channel, "memory settings", clear=what)

    assert await stored(world) == (
        GuildSettings(world.guild.id, None, world.channel.id)
        if what == "role"
        else GuildSettings(world.guild.id, 7, None)
    )
    none = "settings-role-none" if what == "role" else "settings-log-none"
    assert world.bot.catalogue.text(none) in told(result)


async def test_a_time_zone_is_set_whatever_its_case_shown_and_unset(world: World, owner: MemberActor) -> None:
    await world.moderation.set_moderator_role(world.guild.id, 7)

    result = await owner.slash(world.channel, "memory settings", time_zone="america/new york")
    set_to = await stored(world)
    cleared = await owner.slash(world.channel, "memory settings", clear="zone")

    assert set_to == GuildSettings(world.guild.id, 7, None, "America/New_York")
    assert world.bot.catalogue.text("settings-zone", zone="America/New_York") in told(result)
    assert await stored(world) == GuildSettings(world.guild.id, 7)
    assert world.bot.catalogue.text("settings-zone-none") in told(cleared)


@pytest.mark.parametrize("written", ["Atlantis/Central", "../../etc/passwd", "/etc/localtime", "Europe", "*"])
async def test_an_unknown_time_zone_is_refused_and_nothing_else_is_set(
    world: World, owner: MemberActor, written: str
) -> None:
    role = world.guild.create_role("Storytellers")

    result = await owner.slash(world.channel, "memory settings", time_zone=written, moderator_role=role)

    simcord.assert_error(world.env, Refused)
    assert told(result).strip() == world.bot.catalogue.text("settings-time-zone-unknown", name=written)
    assert await stored(world) == GuildSettings(world.guild.id)


async def test_time_zones_are_offered_by_place_then_by_any_part_of_the_name(world: World, owner: MemberActor) -> None:
    by_place = await owner.autocomplete(world.channel, "memory settings", "time_zone", "tok")
    by_part = await owner.autocomplete(world.channel, "memory settings", "time_zone", "new york")
    everything = await owner.autocomplete(world.channel, "memory settings", "time_zone", "")
    nothing = await owner.autocomplete(world.channel, "memory settings", "time_zone", "atlantis")

    assert [c["value"] for c in by_place] == ["Asia/Tokyo", "Antarctica/Vostok", "Asia/Vladivostok"]
    assert [c["value"] for c in by_part] == ["America/New_York"]
    assert len(everything) == 25
    assert nothing == []


async def test_those_who_only_moderate_messages_are_refused(world: World) -> None:
    role = world.guild.create_role("Friends")

    result = await world.sora.slash(world.channel, "memory settings", moderator_role=role)

    simcord.assert_error(world.env, NotAllowed)
    assert told(result) == world.bot.catalogue.text("settings-manage-server")
    assert await stored(world) == GuildSettings(world.guild.id)


async def test_everybody_is_no_moderator_role(world: World, owner: MemberActor) -> None:
    result = await owner.slash(world.channel, "memory settings", moderator_role=world.guild.default_role)

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("settings-role-everyone")
    assert await stored(world) == GuildSettings(world.guild.id)


async def test_a_channel_that_is_closed_to_the_bot_is_refused(world: World, owner: MemberActor) -> None:
    me = world.guild.me
    assert me is not None
    closed = world.guild.create_text_channel(
        "closed", overwrites={me: discord.PermissionOverwrite(send_messages=False)}
    )

    result = await owner.slash(world.channel, "memory settings", log_channel=closed)

    simcord.assert_error(world.env, Refused)
    assert told(result).strip() == world.bot.catalogue.text("settings-channel-closed", channel=f"<#{closed.id}>")
    assert await stored(world) == GuildSettings(world.guild.id)


async def test_a_direct_message_has_no_settings(world: World) -> None:
    result = await world.mio.user.slash("memory settings")

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("settings-guild-only")


async def test_the_moderator_role_also_removes_characters(world: World) -> None:
    await world.begin()
    await world.engine.stop_session(world.channel.id)
    role = world.guild.create_role("Storytellers")
    kai = world.guild.add_member(world.env.create_user("kai"), roles=[role])
    await world.moderation.set_moderator_role(world.guild.id, role.id)

    await kai.slash(world.channel, "character delete", name="Rin")

    assert await world.characters.usable(Scope(world.guild.id, KEEPER)) == ()
