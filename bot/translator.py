"""What Discord shows of the commands in other languages than the code's, from the catalogues."""

from __future__ import annotations

from typing import Final

from discord import Locale, app_commands
from discord.app_commands import TranslationContextLocation as Location

from bot.catalogue import CODE_LANGUAGE, Catalogue, command_key, spoken_language

_DESCRIPTIONS: Final = (Location.command_description, Location.group_description, Location.parameter_description)


class CommandTranslator(app_commands.Translator):
    """Names and descriptions of commands, groups, options, choices and message commands."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def translate(
        self, string: app_commands.locale_str, locale: Locale, context: app_commands.TranslationContextTypes
    ) -> str | None:
        """Called by discord.py for each string and each of Discord's locales; None leaves the English to Discord."""
        language = spoken_language(locale)
        if language is None or language == CODE_LANGUAGE:
            return None
        attribute = "description" if context.location in _DESCRIPTIONS else ""
        return self._catalogue.command_word(key_of(context), language, attribute)


def key_of(context: app_commands.TranslationContextTypes) -> str:
    """The message id of what is translated. A choice has one by its value, whatever option it belongs to."""
    match context.data:
        case app_commands.Parameter() as option:
            return command_key("opt", option.command.qualified_name, option.display_name)
        case app_commands.Choice() as choice:
            return command_key("choice", str(choice.value))
        case app_commands.ContextMenu() as menu:
            return command_key("menu", menu.name)
        case command:
            return command_key("cmd", command.qualified_name)
