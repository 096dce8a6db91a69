"""Which language Discord is told the commands in, and a guild's channels are spoken to."""

from __future__ import annotations

from typing import Any

import discord
import pytest
import simcord
from simcord.actors import MemberActor

from bot.errors import NotAllowed, NotFound
from bot.memory.moderation import GuildSettings
from bot.memory.prompt import Card
from bot.memory.story import Scope
from tests.cogs.conftest import World, speak, told


@pytest.fixture
def owner(world: World) -> MemberActor:
    role = world.guild.create_role("Owners", permissions=discord.Permissions(manage_guild=True))
    return world.guild.add_member(world.env.create_user("aki"), roles=[role])


def published(world: World) -> list[dict[str, Any]]:
    """What the bot sent when it published its commands."""
    sent = [r for r in world.env.http_requests if r.method == "PUT" and r.path.endswith("/commands")]
    assert len(sent) == 1
    assert isinstance(sent[0].json, list)
    return sent[0].json


async def test_discord_is_told_names_and_descriptions_in_japanese_and_chinese(world: World) -> None:
    sent = {command["name"]: command for command in published(world)}
    memory = sent["memory"]
    show = next(option for option in memory["options"] if option["name"] == "show")
    kind = next(option for option in show["options"] if option["name"] == "kind")

    assert memory["name_localizations"] == {"ja": "記憶", "zh-CN": "记忆", "zh-TW": "记忆"}
    assert show["description_localizations"]["zh-CN"] == "查看这个故事记得的一切"
    assert kind["choices"][0]["name_localizations"]["ja"] == "出来事"
    assert sent["Who said this?"]["name_localizations"]["ja"] == "誰の言葉？"
    assert all(set(command["name_localizations"]) == {"ja", "zh-CN", "zh-TW"} for command in sent.values())


async def test_the_language_of_a_guild_is_that_of_what_the_whole_channel_reads(
    world: World, owner: MemberActor
) -> None:
    await world.begin()
    say = world.bot.catalogue.text

    result = await owner.slash(world.channel, "memory settings", language="ja")
    stopped = await world.mio.slash(world.channel, "session stop")
    await world.restart()
    resumed = await world.mio.slash(world.channel, "session resume")

    assert await world.store.guild_settings(world.guild.id) == GuildSettings(world.guild.id, language="ja")
    assert "What everybody in a channel reads is in Japanese." in told(result).splitlines()
    assert told(stopped) == say("session-stopped", "ja", name="Rin")
    assert "/物語 再開" in told(stopped)
    assert told(resumed) == say("session-resumed", "ja", name="Rin")
    assert not resumed.ephemeral


async def test_a_new_log_channel_is_greeted_in_the_language_chosen_with_it(world: World, owner: MemberActor) -> None:
    log = world.guild.create_text_channel("log")

    await owner.slash(world.channel, "memory settings", log_channel=log, language="zh")

    assert [m.embeds[0].description for m in log.history()] == [world.bot.catalogue.text("log-opened", "zh-CN")]


async def test_an_unset_language_is_again_the_servers_own(world: World, owner: MemberActor) -> None:
    await world.begin()
    await owner.slash(world.channel, "memory settings", language="zh")

    cleared = await owner.slash(world.channel, "memory settings", clear="language")
    stopped = await world.mio.slash(world.channel, "session stop")

    assert await world.store.guild_settings(world.guild.id) == GuildSettings(world.guild.id)
    assert world.bot.catalogue.text("settings-language-none") in told(cleared)
    assert told(stopped) == world.bot.catalogue.text("session-stopped", name="Rin")


async def test_another_guild_keeps_its_own_language(world: World, owner: MemberActor) -> None:
    other = world.env.create_guild()
    tale = other.create_text_channel("tale")
    await owner.slash(world.channel, "memory settings", language="ja")

    here, there = (world.bot.get_channel(channel.id) for channel in (world.channel, tale))

    assert world.bot.locale_of(here) == "ja"
    assert world.bot.locale_of(there) is None


async def test_a_person_is_answered_in_the_language_of_their_discord_and_told_the_commands_that_they_see(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak(monkeypatch, "ja")

    result = await world.mio.slash(world.channel, "memory show")

    simcord.assert_error(world.env, NotFound)
    assert told(result) == "このチャンネルにはまだ物語がありません。`/物語 開始` で始められます。"


async def test_a_direct_message_is_in_its_persons_language(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.characters.create(Scope(None, world.mio.id), Card("雪", "一个朋友。"), "")
    speak(monkeypatch, "zh-TW")

    await world.mio.user.slash("session start", character="雪")
    stopped = await world.mio.user.slash("session stop")

    assert told(stopped) == world.bot.catalogue.text("session-stopped", "zh-CN", name="雪")
    assert "`/故事 继续`" in told(stopped)


async def test_players_cannot_choose_the_language(world: World) -> None:
    result = await world.mio.slash(world.channel, "memory settings", language="ja")

    simcord.assert_error(world.env, NotAllowed)
    assert told(result) == world.bot.catalogue.text("settings-manage-server")
    assert await world.store.guild_settings(world.guild.id) == GuildSettings(world.guild.id)
    assert world.bot.languages == {}
