"""The client by itself: what it asks of Discord, what it says of errors, and how it ends."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from unittest.mock import create_autospec

import discord
import pytest
from discord import app_commands

from bot.catalogue import Catalogue
from bot.characters import Characters
from bot.client import KataribeBot
from bot.engine import Engine
from bot.errors import ModelBusy, ModelUnavailable, Refused
from bot.manners import Manners
from bot.moderation import Moderation
from bot.people import People
from bot.personas import Personas
from bot.privacy import Privacy
from bot.rewinding import Rewinding
from bot.statistics import Statistics


@pytest.fixture
def bot() -> KataribeBot:
    engine, moderation, people, privacy, characters, rewinding, personas, manners, statistics = (
        create_autospec(part, instance=True)
        for part in (Engine, Moderation, People, Privacy, Characters, Rewinding, Personas, Manners, Statistics)
    )
    return KataribeBot(
        engine, moderation, people, privacy, Catalogue("ja"),
        characters=characters, rewinding=rewinding, personas=personas, manners=manners, statistics=statistics,
    )  # fmt: skip


def test_it_asks_for_no_more_than_it_needs(bot: KataribeBot) -> None:
    wanted = {name for name, value in bot.intents if value}

    reactions = {"guild_reactions", "dm_reactions"}
    assert wanted == {"guilds", "guild_messages", "dm_messages", "message_content", *reactions}
    assert bot.allowed_mentions is not None
    mentions = bot.allowed_mentions
    assert not any((mentions.everyone, mentions.users, mentions.roles, mentions.replied_user))


def test_an_error_for_people_is_said_in_their_language(bot: KataribeBot) -> None:
    assert bot.explain(Refused("character-in-use", name="Rin"), "en-US").startswith("Rin is in a story")
    assert bot.explain(ModelBusy(waiting=3), "zh-TW").startswith("已有 3 条")
    assert bot.explain(ModelUnavailable(detail="500"), None).startswith("いま言語モデル")


def test_what_nobody_foresaw_is_logged_under_the_reference_that_the_person_reads(
    bot: KataribeBot, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        text = bot.explain(RuntimeError("secret detail"), "en-US")

    reference = text.rpartition("reference: ")[2].strip("`")
    assert len(reference) == 8
    assert reference in caplog.text
    assert "secret detail" not in text


def test_a_code_without_a_text_is_treated_as_unforeseen(bot: KataribeBot) -> None:
    assert "`" in bot.explain(Refused("no-such-code"), "en-US")


def test_the_cause_of_a_failed_command_is_explained(bot: KataribeBot) -> None:
    command = create_autospec(app_commands.Command, instance=True)
    command.name = "stop"
    error = app_commands.CommandInvokeError(command, Refused("session-already-running"))

    assert bot.explain(error, "en-US") == bot.catalogue.text("session-already-running", "en-US")


@pytest.mark.parametrize(
    ("guild", "features", "language"), [(1, ["COMMUNITY"], "zh"), (1, [], "ja"), (2, ["COMMUNITY"], "en")]
)
def test_a_channel_is_spoken_to_in_the_language_of_its_guilds_choice_else_its_communitys_else_the_operators(
    bot: KataribeBot, guild: int, features: list[str], language: str
) -> None:
    bot.languages = {2: "en"}
    channel = SimpleNamespace(
        guild=SimpleNamespace(id=guild, features=features, preferred_locale=discord.Locale.chinese)
    )

    assert bot.catalogue.language(bot.locale_of(channel)) == language
    assert bot.catalogue.language(bot.locale_of(SimpleNamespace())) == "ja"


async def test_a_lock_is_shared_as_long_as_somebody_uses_it(bot: KataribeBot) -> None:
    order: list[int] = []

    async def work(number: int) -> None:
        async with bot.lock("deliver", 1):
            order.append(number)
            await asyncio.sleep(0)
            order.append(number)

    async with bot.lock("webhook", 1), bot.lock("deliver", 2):
        await asyncio.gather(*(work(number) for number in range(3)))

    assert order == [0, 0, 1, 1, 2, 2]


async def test_closing_ends_the_work_and_waits_for_it(bot: KataribeBot) -> None:
    ended = asyncio.Event()
    begun = asyncio.Event()

    async def work() -> None:
        with bot.working(), bot.working():
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.set()

    task = asyncio.create_task(work())
    await begun.wait()
    await bot.close()

    assert ended.is_set()
    assert task.cancelled()
    assert bot.is_closed()
