"""The message catalogues: every word that the bot itself says to people, in English, Japanese and Chinese.

The texts are Fluent files in ``bot/locales``, one for each language (https://projectfluent.org).
"""

from __future__ import annotations

from importlib import resources
from typing import Final

from fluent.runtime import FluentBundle, FluentResource

from bot.memory.wording import Language

LANGUAGES: Final[tuple[Language, ...]] = ("en", "ja", "zh")


class Catalogue:
    """All messages in all languages. ``default`` speaks to people whose language is none of them."""

    def __init__(self, default: Language = "en") -> None:
        self.default = default
        self._bundles = {language: _bundle(language) for language in LANGUAGES}

    def __contains__(self, code: object) -> bool:
        return isinstance(code, str) and self._bundles[self.default].has_message(code)

    def language(self, locale: object = None) -> Language:
        """The language for a Discord locale such as ``zh-TW``; the default for any that we do not speak."""
        spoken = str(locale or "").partition("-")[0].lower()
        return next((language for language in LANGUAGES if language == spoken), self.default)

    def text(self, code: str, locale: object = None, **fields: str | int) -> str:
        """The message ``code`` for a Discord locale, filled with ``fields``.

        Raises LookupError when there is no such message, or one of its variables is missing.
        """
        bundle = self._bundles[self.language(locale)]
        if not bundle.has_message(code):
            raise LookupError(f"no message {code}")
        pattern = bundle.get_message(code).value
        if pattern is None:
            raise LookupError(f"the message {code} has no text")
        text, errors = bundle.format_pattern(pattern, fields)
        if errors:
            raise LookupError(f"{code}: {errors[0]}") from errors[0]
        return str(text)


def _bundle(language: Language) -> FluentBundle:
    # Fluent isolates inserted text with invisible characters, which Discord's search and copying would keep.
    bundle = FluentBundle([language], use_isolating=False)
    text = resources.files("bot.locales").joinpath(f"{language}.ftl").read_text(encoding="utf-8")
    bundle.add_resource(FluentResource(text))
    return bundle
