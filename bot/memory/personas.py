"""Personas: who a player plays, which of them a message speaks as, and what the model is told of those who are there.

A message in a persona's brackets speaks as that persona, as players know it from PluralKit and Tupperbox; any other as the one
that is active where it was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.memory.language import detect_language
from bot.memory.markup import ended_at_sentence, plain_name
from bot.memory.turns import Turn
from bot.memory.wording import Language

MOST_PERSONAS: Final = 100
"""Personas of one player."""
LONGEST_NAME: Final = 80
"""Characters; as long as Discord lets a webhook's name be."""
LONGEST_DESCRIPTION: Final = 2_000
"""Characters; PluralKit allows half of it."""
LONGEST_BRACKETS: Final = 100
"""Characters of a prefix and suffix together, as PluralKit allows."""
MOST_BRACKETS: Final = 20
"""Pairs of brackets of one persona."""
_PLACEHOLDER: Final = re.compile("text", re.IGNORECASE)
_MENTIONS: Final = re.compile(r"(?:<@!?[0-9]{1,20}>\s*)+")
# Of a heart, say, which is two characters: what remains when a bracket is the first of them.
_EMOJI_VARIANT: Final = "\ufe0f"
# What Discord writes for mentions and emoji: brackets such as <text> must not take them apart.
_TOKEN: Final = r"<(?:@[!&]?|#|a?:\w{1,40}:)[0-9]{1,20}>"
_FIRST_TOKEN: Final = re.compile(rf"\A{_TOKEN}")
_LAST_TOKEN: Final = re.compile(rf"{_TOKEN}\Z")
# Of a description, so that everybody at a table of six is introduced for about a thousand tokens.
_INTRODUCED: Final = 800
_INTRODUCED_WIDE: Final = 400
# How descriptions from SillyTavern name the person themselves.
_USER: Final = re.compile(r"\{\{user\}\}|<user>", re.IGNORECASE)
_ROUND: Final = str.maketrans("[]【】", "()()")
_INTRODUCTIONS: Final[Mapping[Language, str]] = {
    "en": "[{name} is played by a player, who describes them like this: {text}]",
    "ja": "[{name}はプレイヤーが演じる人物。プレイヤーによる紹介: {text}]",
    "zh": "[{name}由玩家扮演。玩家的介绍：{text}]",
}


class PersonaError(ValueError):
    """What a player gave cannot be a persona; ``code`` says why, ``fields`` fill it in."""

    def __init__(self, code: str, **fields: str | int) -> None:
        super().__init__(code, fields)
        self.code = code
        self.fields = fields


@dataclass(frozen=True, slots=True)
class Brackets:
    """What stands around a message that speaks as a persona; one of the two may be empty."""

    prefix: str
    suffix: str

    def __str__(self) -> str:
        return f"{self.prefix}text{self.suffix}"

    @property
    def length(self) -> int:
        """Characters of both."""
        return len(self.prefix) + len(self.suffix)

    @classmethod
    def of(cls, prefix: str, suffix: str) -> Brackets | None:
        """The pair as messages can match it; None when both are empty.

        Spaces at the ends never reach a bot; those beside the words are left to taste, unless a letter or digit stands
        there: ``mio: text`` is also met by ``mio:hello``, but ``I text`` never by ``In the morning``.
        """
        prefix, suffix = _printable(prefix).lstrip(), _printable(suffix).rstrip()
        if not prefix.rstrip()[-1:].isalnum():
            prefix = prefix.rstrip()
        if not suffix.lstrip()[:1].isalnum():
            suffix = suffix.lstrip()
        return cls(prefix, suffix) if prefix or suffix else None

    def cut(self, text: str, *, exactly: bool) -> str | None:
        """What stands between them in a text; None when it does not stand in them, or nothing does.

        Unless ``exactly``, the case of letters is no matter to brackets that have any other sign: a telephone writes ``Mio:``
        for ``mio:``. Those of letters alone would take whole words for themselves.
        """
        end = len(text) - len(self.suffix)
        if end < len(self.prefix) or not self._fits(text[: len(self.prefix)], text[end:], exactly=exactly):
            return None
        if self._splits_token(text):
            return None
        inner = text[len(self.prefix) : end].strip().removeprefix(_EMOJI_VARIANT).strip()
        return inner or None

    def _fits(self, start: str, end: str, *, exactly: bool) -> bool:
        if (start, end) == (self.prefix, self.suffix):
            return True
        if exactly or all(c.isalnum() or c.isspace() for c in self.prefix + self.suffix):
            return False
        return (start.casefold(), end.casefold()) == (self.prefix.casefold(), self.suffix.casefold())

    def _splits_token(self, text: str) -> bool:
        first, last = _FIRST_TOKEN.search(text), _LAST_TOKEN.search(text)
        cuts_first = first is not None and 0 < len(self.prefix) < first.end()
        return cuts_first or (last is not None and 0 < len(self.suffix) < len(last[0]))


@dataclass(frozen=True, slots=True)
class Draft:
    """What a persona is, before it is somebody's."""

    name: str
    description: str = ""
    brackets: tuple[Brackets, ...] = ()


@dataclass(frozen=True, slots=True)
class Persona:
    """Who a player plays. ``avatar_url`` is an address that does not expire, or empty. An id is never given twice."""

    id: int
    player_id: int
    name: str
    description: str = ""
    brackets: tuple[Brackets, ...] = ()
    avatar_url: str = ""


@dataclass(frozen=True, slots=True)
class Repertoire:
    """A player's personas in the order they were added, and the one that is active in a guild or direct message."""

    personas: tuple[Persona, ...] = ()
    active: Persona | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of the persona called ``name``, or of a new one; what is None stays as it is."""

    name: str
    new_name: str | None = None
    description: str | None = None
    brackets: tuple[Brackets, ...] | None = None
    avatar_url: str | None = None


def name_key(name: str) -> str:
    """What is the same for two personas of one player when only the case of letters tells their names apart."""
    return name.casefold()


def tidy_name(name: str) -> str:
    """A persona's name on one line. Raises PersonaError when it is too long, or nothing of it can be shown."""
    tidy = " ".join(_printable(name).split())
    if plain_name(tidy) == "?":
        raise PersonaError("persona-name-empty")
    if len(tidy) > LONGEST_NAME:
        raise PersonaError("persona-name-long", most=LONGEST_NAME)
    return tidy


def tidy_description(description: str) -> str:
    """A persona's description without what cannot be shown. Raises PersonaError when it is too long."""
    tidy = _printable(description).strip()
    if len(tidy) > LONGEST_DESCRIPTION:
        raise PersonaError("persona-description-long", most=LONGEST_DESCRIPTION)
    return tidy


def parse_brackets(example: str) -> tuple[Brackets, ...]:
    """The brackets that an example shows around the word ``text``; none when it is that word alone.

    Raises PersonaError when the word is not in it once, or they are too long.
    """
    parts = _PLACEHOLDER.split(example.strip())
    if len(parts) != 2:
        raise PersonaError("persona-brackets-unclear")
    brackets = Brackets.of(*parts)
    if brackets is not None and brackets.length > LONGEST_BRACKETS:
        raise PersonaError("persona-brackets-long", most=LONGEST_BRACKETS)
    return () if brackets is None else (brackets,)


def speaking(text: str, known: Repertoire) -> tuple[Persona | None, str]:
    """Who a message speaks as, and what they say: by brackets, which are cut off, else the active persona, else nobody.

    Where several brackets fit, the longest win, then those in the same case, then the persona that was there first. A mention
    before the brackets stays before the words.
    """
    mention, words = _after_mentions(text)
    fitting = [
        (-brackets.length, not exactly, persona.id, persona, inner)
        for persona in known.personas
        for brackets in persona.brackets
        for exactly in (True, False)
        if (inner := brackets.cut(words, exactly=exactly)) is not None
    ]
    if not fitting:
        return known.active, text
    *_, persona, inner = min(fitting, key=lambda match: match[:3])
    return persona, mention + inner


def without_brackets(text: str, persona: Persona) -> str:
    """What a persona says in a message that is known to be theirs."""
    return speaking(text, Repertoire((persona,)))[1]


def present(turns: Sequence[Turn], known: Mapping[int, Persona]) -> tuple[tuple[str, Persona], ...]:
    """The personas who speak in turns, by the label that stands before their newest one; who spoke last comes first."""
    labels: dict[int, str] = {}
    for turn in reversed(turns):
        if turn.author.persona_id is not None:
            labels.setdefault(turn.author.persona_id, turn.author.name)
    return tuple((label, known[persona_id]) for persona_id, label in labels.items() if persona_id in known)


def introductions(
    personas: Sequence[tuple[str, Persona]],
    already: str,
    language: Language,
    *,
    tokens: int,
    size: Callable[[str], int],
) -> tuple[str, ...]:
    """A line about each of the personas (by label) whose description ``already``, what the prompt has, does not tell.

    As many whole lines as ``tokens`` hold, counted by ``size``; the others may come before a later turn. A long description is
    told up to a sentence within the first 800 characters, 400 of a wide script.
    """
    lines: list[str] = []
    for label, persona in personas:
        if not persona.description:
            continue
        told = {spoken: _introduction(label, persona, spoken) for spoken in _INTRODUCTIONS}
        if any(line in already for line in told.values()):
            continue
        tokens -= size(told[language])
        if tokens < 0:
            break
        lines.append(told[language])
    return tuple(lines)


def _introduction(label: str, persona: Persona, language: Language) -> str:
    # On one line and without the brackets of what we say ourselves, so that it cannot pose as anything else.
    text = " ".join(_USER.sub(lambda _: label, persona.description).translate(_ROUND).split())
    most = _INTRODUCED if detect_language(text) == "en" else _INTRODUCED_WIDE
    return _INTRODUCTIONS[language].format(
        name=label, text=text if len(text) <= most else ended_at_sentence(text[:most])
    )


def _after_mentions(text: str) -> tuple[str, str]:
    """Mentions at the head of a text as they were written, and the rest without the space around it."""
    found = _MENTIONS.match(text.lstrip())
    if found is None:
        return "", text.strip()
    return found[0], text.lstrip()[found.end() :].strip()


def _printable(text: str) -> str:
    """Without control characters but line breaks, and without halves of characters, which no database takes."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))
