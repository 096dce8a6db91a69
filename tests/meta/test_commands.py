"""What Discord shows of the commands: complete in each language, within Discord's rules, and named rightly in texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from inspect import Parameter, signature
from typing import Any, get_type_hints
from unittest.mock import create_autospec

import discord
import pytest
from discord import app_commands
from fluent.syntax import FluentParser
from fluent.syntax import ast as ftl
from fluent.syntax.visitor import Visitor

from bot.catalogue import Catalogue
from bot.client import COGS, KataribeBot
from bot.sight import Sight
from bot.translator import CommandTranslator, key_of
from tests.meta.source import ROOT

LOCALES = ("ja", "zh-CN", "zh-TW")
OTHERS = ("ja", "zh")
CHAT_INPUT = 1
# https://discord.com/developers/docs/interactions/application-commands
LONGEST_NAME, LONGEST_TEXT, LONGEST_COMMAND = 32, 100, 8_000
COMMAND = re.compile(r"`/([a-z-]+(?: [a-z-]+)*)`")
MENU = re.compile(r"(?<!\*)\*([A-Z][^*]*)\*(?!\*)")


class _Recorder(CommandTranslator):
    """Keeps the keys that were looked up, each with the English; a description is ``key.description``."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self.texts: dict[str, set[str]] = {}

    async def translate(
        self, string: app_commands.locale_str, locale: discord.Locale, context: app_commands.TranslationContextTypes
    ) -> str | None:
        part = ".description" if context.location.name.endswith("_description") else ""
        self.texts.setdefault(key_of(context) + part, set()).add(string.message)
        return await super().translate(string, locale, context)


class _Calls(Visitor):
    """Collects what is given to Fluent functions, as (function, argument)."""

    def __init__(self) -> None:
        self.found: set[tuple[str, str]] = set()

    def visit_FunctionReference(self, node: ftl.FunctionReference) -> None:  # noqa: N802
        for argument in node.arguments.positional:
            if isinstance(argument, ftl.StringLiteral):
                self.found.add((node.id.name, argument.parse()["value"]))


@pytest.fixture
async def bot() -> KataribeBot:
    """The bot with all its cogs, not connected."""
    hints = get_type_hints(KataribeBot.__init__)
    needed = [each.name for each in signature(KataribeBot).parameters.values() if each.default is Parameter.empty]
    parts = {name: create_autospec(hints[name], instance=True) for name in needed if name != "catalogue"}
    parts["engine"].sight = create_autospec(Sight, instance=True)
    bot = KataribeBot(**parts, catalogue=Catalogue())
    for name in COGS:
        await bot.load_extension(name)
    return bot


async def _payloads(bot: KataribeBot, translator: CommandTranslator) -> list[dict[str, Any]]:
    """What the tree sends to Discord."""
    found = [command for kind in discord.AppCommandType for command in bot.tree.get_commands(type=kind)]
    return [await command.get_translated_payload(bot.tree, translator) for command in found]


def _walk(node: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """A command with all that is in it, each under where it stands."""
    path = f"{path} {node['name']}".strip()
    yield path, node
    for inner in [*node.get("options", ()), *node.get("choices", ())]:
        yield from _walk(inner, path)


def _is_slash_name(text: str) -> bool:
    r"""Discord's ^[-_'\p{L}\p{N}]{1,32}$, in lower case."""
    letters = all(c in "-_'" or unicodedata.category(c)[0] in "LN" for c in text)
    return letters and text == text.lower() and 0 < len(text) <= LONGEST_NAME


def _entries(name: str) -> dict[str, ftl.Message]:
    body = FluentParser().parse((ROOT / "bot/locales" / name).read_text(encoding="utf-8")).body
    return {entry.id.name: entry for entry in body if isinstance(entry, ftl.Message)}


def _source(name: str) -> dict[str, str]:
    """The text of each message as it stands in the file."""
    text = (ROOT / "bot/locales" / name).read_text(encoding="utf-8")
    return {key: text[entry.span.start : entry.span.end] for key, entry in _entries(name).items() if entry.span}


async def test_everything_that_discord_shows_has_a_name_and_a_description_in_each_language(bot: KataribeBot) -> None:
    missing = [
        (path, part, locale)
        for payload in await _payloads(bot, CommandTranslator(bot.catalogue))
        for path, node in _walk(payload)
        for part in ("name", "description")
        for locale in LOCALES
        if node.get(part) and not node.get(f"{part}_localizations", {}).get(locale)
    ]

    assert missing == []


@pytest.mark.parametrize("language", OTHERS)
async def test_the_catalogues_have_what_is_looked_up_and_nothing_else(bot: KataribeBot, language: str) -> None:
    translator = _Recorder(bot.catalogue)
    await _payloads(bot, translator)
    written = {
        key if attribute is None else f"{key}.{attribute.id.name}"
        for key, entry in _entries(f"commands.{language}.ftl").items()
        for attribute in (None, *entry.attributes)
    }

    assert written - translator.texts.keys() == set(), "no longer used"
    assert translator.texts.keys() - written == set(), "not translated"


async def test_no_two_english_texts_share_a_translation(bot: KataribeBot) -> None:
    translator = _Recorder(bot.catalogue)
    await _payloads(bot, translator)

    assert {key: english for key, english in translator.texts.items() if len(english) > 1} == {}


async def test_all_names_and_descriptions_are_such_as_discord_takes(bot: KataribeBot) -> None:
    wrong = []
    for payload in await _payloads(bot, CommandTranslator(bot.catalogue)):
        is_slash = payload.get("type", CHAT_INPUT) == CHAT_INPUT
        for path, node in _walk(payload):
            names = [node["name"], *node.get("name_localizations", {}).values()]
            texts = [node["description"]] if node.get("description") else []
            texts += node.get("description_localizations", {}).values()
            if "value" in node:
                wrong += [(path, name) for name in names if not 0 < len(name) <= LONGEST_TEXT]
            elif is_slash:
                wrong += [(path, name) for name in names if not _is_slash_name(name)]
            else:
                wrong += [(path, name) for name in names if not 0 < len(name) <= LONGEST_NAME]
            wrong += [(path, text) for text in texts if not 0 < len(text) <= LONGEST_TEXT]

    assert wrong == []


async def test_no_two_things_beside_each_other_have_the_same_name(bot: KataribeBot) -> None:
    payloads = await _payloads(bot, CommandTranslator(bot.catalogue))
    slash = [payload for payload in payloads if payload.get("type", CHAT_INPUT) == CHAT_INPUT]
    menus = [payload for payload in payloads if payload not in slash]
    groups = [slash, menus]
    for payload in payloads:
        for _, node in _walk(payload):
            groups += [node[part] for part in ("options", "choices") if node.get(part)]

    for group in groups:
        for locale in LOCALES:
            names = [node.get("name_localizations", {}).get(locale, node["name"]) for node in group]
            assert sorted(names) == sorted(set(names))


async def test_no_command_is_longer_than_discord_takes_counting_the_longest_language(bot: KataribeBot) -> None:
    for payload in await _payloads(bot, CommandTranslator(bot.catalogue)):
        length = 0
        for _, node in _walk(payload):
            for part in ("name", "description"):
                length += max(map(len, [node.get(part) or "", *node.get(f"{part}_localizations", {}).values()]))
            length += len(str(node.get("value", "")))
        assert length <= LONGEST_COMMAND, payload["name"]


async def test_english_texts_mention_commands_that_there_are(bot: KataribeBot) -> None:
    slash = {command.qualified_name for command in bot.tree.walk_commands()}
    menus = {menu.name for menu in bot.tree.get_commands(type=discord.AppCommandType.message)}
    texts = _source("en.ftl").items()
    commands = {(key, name) for key, text in texts for name in COMMAND.findall(text)}
    names = {(key, name) for key, text in texts for name in MENU.findall(text)}

    assert commands
    assert {(key, name) for key, name in commands if name not in slash} == set()
    assert names
    assert {(key, name) for key, name in names if name not in menus} == set()


@pytest.mark.parametrize("language", OTHERS)
def test_texts_in_other_languages_mention_the_same_commands_by_what_discord_shows(language: str) -> None:
    english, entries = _source("en.ftl"), _entries(f"{language}.ftl")
    mentioned = {}
    for key, entry in entries.items():
        calls = _Calls()
        calls.visit(entry)
        mentioned[key] = {(kind, name) for kind, name in calls.found if kind in ("COMMAND", "MENU")}
    expected = {
        key: {("COMMAND", name) for name in COMMAND.findall(text)} | {("MENU", name) for name in MENU.findall(text)}
        for key, text in english.items()
    }

    assert {key: mentioned[key] for key in mentioned if mentioned[key] != expected[key]} == {}
    written_out = [key for key, text in _source(f"{language}.ftl").items() if re.search("`/[a-z]", text)]
    assert written_out == [], 'write `{ COMMAND("memory show") }`, so that the text cannot drift from the name'
