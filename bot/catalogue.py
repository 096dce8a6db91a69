"""The message catalogues: every word that the bot itself says to people, in English, Japanese and Chinese.

The texts are Fluent files in ``bot/locales``, one for each language (https://projectfluent.org), and beside it one with what
Discord shows of the commands in that language; the English of those is in the code. A text names a command by
``COMMAND("memory show")`` or ``MENU("Retell")``, and says what its reader sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any, Final

from fluent.runtime import FluentBundle, FluentResource
from fluent.syntax import ast

from bot.memory.wording import Language

LANGUAGES: Final[tuple[Language, ...]] = ("en", "ja", "zh")
CODE_LANGUAGE: Final[Language] = "en"
"""The language that commands are written in."""


class Catalogue:
    """All messages in all languages. ``default`` speaks to people whose language is none of them."""

    def __init__(self, default: Language = "en") -> None:
        self.default = default
        self._command_words = {language: _command_words(language) for language in LANGUAGES}
        self._bundles = {language: self._bundle(language, language) for language in LANGUAGES}
        # To these people Discord shows the commands as the code has them.
        self._for_others = self._bundle(default, CODE_LANGUAGE)

    def __contains__(self, code: object) -> bool:
        return isinstance(code, str) and self._bundles[self.default].has_message(code)

    def language(self, locale: object = None) -> Language:
        """The language for a Discord locale such as ``zh-TW``; the default for any that we do not speak."""
        return spoken_language(locale) or self.default

    def text(self, code: str, locale: object = None, **fields: str | int) -> str:
        """The message ``code`` for a Discord locale, filled with ``fields``.

        Raises LookupError when there is no such message, or one of its variables is missing.
        """
        is_other = bool(locale) and spoken_language(locale) is None
        bundle = self._for_others if is_other else self._bundles[self.language(locale)]
        if not bundle.has_message(code):
            raise LookupError(f"no message {code}")
        pattern = bundle.get_message(code).value
        if pattern is None:
            raise LookupError(f"the message {code} has no text")
        text, errors = bundle.format_pattern(pattern, fields)
        if errors:
            raise LookupError(f"{code}: {errors[0]}") from errors[0]
        return str(text)

    def command_word(self, key: str, language: Language, attribute: str = "") -> str | None:
        """What Discord shows of a command in a language, by a :func:`command_key`; None when it is what the code says."""
        bundle = self._command_words[language]
        if not bundle.has_message(key):
            return None
        message = bundle.get_message(key)
        pattern = message.attributes.get(attribute) if attribute else message.value
        return None if pattern is None else str(bundle.format_pattern(pattern)[0])

    def _bundle(self, language: Language, shown: Language) -> FluentBundle:
        """The messages of a language for people to whom Discord shows the commands in the language ``shown``."""

        def command(path: str) -> str:
            words = path.split()
            keys = [command_key("cmd", *words[:depth]) for depth in range(1, len(words) + 1)]
            return "/" + " ".join(self.command_word(key, shown) or word for key, word in zip(keys, words, strict=True))

        def menu(name: str) -> str:
            return self.command_word(command_key("menu", name), shown) or name

        bundle = _empty_bundle(language, {"COMMAND": command, "MENU": menu})
        bundle.add_resource(_resource(f"{language}.ftl"))
        return bundle


def spoken_language(locale: object) -> Language | None:
    """The language of ours that a Discord locale such as ``zh-TW`` stands for, if any."""
    spoken = str(locale or "").partition("-")[0].lower()
    return next((language for language in LANGUAGES if language == spoken), None)


def command_key(kind: str, *names: str) -> str:
    """The message id for what Discord shows of a command: ``cmd-memory-show``, ``opt-memory-show-page``, ``choice-event``."""
    return "-".join([kind, *re.findall("[a-z0-9]+", " ".join(names).lower())])


def _command_words(language: Language) -> FluentBundle:
    bundle = _empty_bundle(language, {})
    if language != CODE_LANGUAGE:
        bundle.add_resource(_resource(f"commands.{language}.ftl"))
    return bundle


def _empty_bundle(language: Language, functions: dict[str, Callable[[Any], Any]]) -> FluentBundle:
    # Fluent isolates inserted text with invisible characters, which Discord's search and copying would keep.
    return FluentBundle([language], functions=functions, use_isolating=False)


@cache
def _resource(name: str) -> ast.Resource:
    return FluentResource(resources.files("bot.locales").joinpath(name).read_text(encoding="utf-8"))
