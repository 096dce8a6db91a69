"""What Discord is told of the commands in other languages, and how texts name them."""

from __future__ import annotations

from typing import Any

import discord
import pytest
from discord import app_commands
from discord.ext import commands

from bot.catalogue import Catalogue
from bot.translator import CommandTranslator

KINDS = [app_commands.Choice(name="Quotes", value="quote"), app_commands.Choice(name="Unheard of", value="x")]


class Notes(commands.GroupCog, name="memory", description="What is known"):
    @app_commands.command(description="All of it")
    @app_commands.choices(kind=KINDS)
    @app_commands.describe(kind="One kind")
    async def show(self, interaction: discord.Interaction, kind: app_commands.Choice[str], unknown: int = 0) -> None:
        """Never called."""

    @app_commands.command(description="Not in the catalogues")
    async def burn(self, interaction: discord.Interaction) -> None:
        """Never called."""


async def payload(catalogue: Catalogue) -> dict[str, Any]:
    bot = commands.Bot(command_prefix=(), intents=discord.Intents(guilds=True))
    group = Notes().__cog_app_commands_group__
    assert isinstance(group, app_commands.Group)
    found: dict[str, Any] = await group.get_translated_payload(bot.tree, CommandTranslator(catalogue))
    return found


async def test_groups_commands_options_and_choices_are_told_in_japanese_and_in_both_kinds_of_chinese() -> None:
    group = await payload(Catalogue())
    show, burn = group["options"]
    kind, unknown = show["options"]

    assert group["name"] == "memory"
    assert group["name_localizations"] == {"ja": "記憶", "zh-CN": "记忆", "zh-TW": "记忆"}
    assert show["name_localizations"] == {"ja": "表示", "zh-CN": "查看", "zh-TW": "查看"}
    assert show["description_localizations"]["ja"] == "この物語が覚えていることをすべて見る"
    assert kind["name_localizations"]["ja"] == "種類"
    assert kind["description_localizations"]["zh-TW"] == "只看这一种记忆"
    assert kind["choices"][0]["name_localizations"] == {"ja": "引用", "zh-CN": "引文", "zh-TW": "引文"}
    for unheard_of in (burn, unknown, kind["choices"][1]):
        assert not unheard_of.get("name_localizations")
        assert not unheard_of.get("description_localizations")


async def test_the_operators_language_changes_nothing_of_it() -> None:
    assert await payload(Catalogue("ja")) == await payload(Catalogue())


@pytest.mark.parametrize(
    ("locale", "named"),
    [
        ("en-US", "`/session branches`"),
        ("ja", "`/物語 分岐`"),
        ("zh-CN", "`/故事 分支`"),
        ("zh-TW", "`/故事 分支`"),
        (None, "`/物語 分岐`"),
    ],
)
def test_a_text_names_a_command_as_discord_shows_it_in_that_language(locale: str | None, named: str) -> None:
    assert named in Catalogue("ja").text("rewind-done", locale)


def test_a_text_names_a_message_command_as_discord_shows_it_in_that_language() -> None:
    assert "「ここまで巻き戻す」" in Catalogue().text("retell-not-last-exchange", "ja")
    assert "“回退到这里”" in Catalogue().text("retell-not-last-exchange", "zh-CN")


def test_whose_language_is_none_of_ours_reads_the_default_with_the_commands_that_they_see() -> None:
    text = Catalogue("ja").text("rewind-done", "fr")

    assert text.startswith("巻き戻しました。")
    assert "`/session branches`" in text
    assert "「Rewind to here」" in Catalogue("ja").text("retell-not-last-exchange", "pt-BR")
