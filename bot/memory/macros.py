"""The macros of cards: ``{{char}}``, ``{{user}}`` and the others of the specifications, in any case.

What is drawn by lot is decided by a seed, so that a text filled twice is the same text and a prompt's prefix never moves.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Final

_MACRO: Final = re.compile(r"\{\{([^{}]*)\}\}")
_TAG: Final = re.compile(r"<(user|bot|char)>", re.IGNORECASE)
_PARTS: Final = re.compile(r"\s*(//|[A-Za-z_]+)\s*(?:(::|:|\s)(.*))?", re.DOTALL)
_COMMA: Final = re.compile(r"(?<!\\),")
_DICE: Final = re.compile(r"(?:(\d{0,2})d)?(\d{1,6})([+-]\d{1,6})?", re.IGNORECASE)
_DEEPEST: Final = 5
"""How far macros may stand within macros."""
_LONGEST: Final = 1_000_000
_ROOM: Final = 100_000
"""Characters by which a text may grow, and lots that may be drawn for it: names and prompts put in take a few thousand."""
# Two code points that no text holds keep braces of what was put in from being read as macros.
_HIDE: Final = str.maketrans("{}<", "\ufdd0\ufdd1\ufdd2")
_SHOW: Final = str.maketrans("\ufdd0\ufdd1\ufdd2", "{}<")


def filled(
    text: str,
    *,
    char: str,
    user: str,
    original: str = "",
    values: Mapping[str, str] | None = None,
    seed: str = "",
) -> str:
    """The text with its macros filled in; an unknown one stays as it is.

    ``original`` is what ``{{original}}`` stands for: the prompt that the card's own replaces. ``values`` are further macros by
    name in small letters, such as ``persona``. ``seed`` decides every lot: ``{{pick}}`` by its own words, ``{{random}}`` and
    ``{{roll}}`` by their place too. Comments and hidden keys leave nothing. Once a text would grow by more than 100,000
    characters, the macros behind stay as they are.
    """
    known = {**(values or {}), "char": char, "user": user, "original": original, "newline": "\n", "noop": ""}
    lot = _Lot(seed)
    tags = {"user": user, "bot": char, "char": char}
    filling = _TAG.sub(lambda m: lot.put_in(m, lambda: tags[m[1].lower()].translate(_HIDE)), text[:_LONGEST])
    for _ in range(_DEEPEST):
        before = filling
        filling = _MACRO.sub(lambda m: lot.put_in(m, lambda: _value(m, known, lot)), filling)
        if filling == before:
            break
    return filling.translate(_SHOW) + text[_LONGEST:]


class _Lot:
    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn = 0
        self._room = _ROOM

    def put_in(self, macro: re.Match[str], value: Callable[[], str]) -> str:
        """The value in the macro's place; the macro itself once there is no room any more."""
        if self._room <= 0:
            return macro[0]
        found = value()
        self._room -= max(0, len(found) - len(macro[0]))
        return found if self._room >= 0 else macro[0]

    def draw(self, sides: int, words: str, *, again: bool) -> int:
        """A number below ``sides``; another one each time for the same words, or always the same."""
        self._drawn += again
        self._room -= 1
        place = self._drawn if again else 0
        digest = hashlib.blake2b(f"{self._seed}\0{place}\0{words}".encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % sides


def _value(macro: re.Match[str], known: Mapping[str, str], lot: _Lot) -> str:
    parts = _PARTS.fullmatch(macro[1])
    if not parts:
        return macro[0]
    name, mark, body = parts[1].lower(), parts[2], parts[3]
    if body is None or not body.strip():
        return known[name].translate(_HIDE) if name in known else _WITH_BODY.get(name, _unknown)(macro[0], "", "", lot)
    return _WITH_BODY.get(name, _unknown)(macro[0], mark, body, lot)


def _unknown(macro: str, mark: str, body: str, lot: _Lot) -> str:
    return macro


def _nothing(macro: str, mark: str, body: str, lot: _Lot) -> str:
    return ""


def _reversed(macro: str, mark: str, body: str, lot: _Lot) -> str:
    return body[::-1] if body else macro


def _one_of(macro: str, mark: str, body: str, lot: _Lot, *, again: bool) -> str:
    if not body:
        return macro
    choices = body.split("::") if mark == "::" and "::" in body else _COMMA.split(body)
    return choices[lot.draw(len(choices), body, again=again)].strip().replace("\\,", ",")


def _random(macro: str, mark: str, body: str, lot: _Lot) -> str:
    return _one_of(macro, mark, body, lot, again=True)


def _pick(macro: str, mark: str, body: str, lot: _Lot) -> str:
    return _one_of(macro, mark, body, lot, again=False)


def _roll(macro: str, mark: str, body: str, lot: _Lot) -> str:
    """``6``, ``d6``, ``2d6`` and ``2d6+1``."""
    dice = _DICE.fullmatch(body.replace(" ", ""))
    if not dice or int(dice[2]) < 1:
        return macro
    count, sides, more = int(dice[1] or 1), int(dice[2]), int(dice[3] or 0)
    return str(sum(1 + lot.draw(sides, body, again=True) for _ in range(count)) + more)


_WITH_BODY: Final[Mapping[str, Callable[[str, str, str, _Lot], str]]] = {
    "//": _nothing,
    "comment": _nothing,
    "hidden_key": _nothing,
    "reverse": _reversed,
    "random": _random,
    "pick": _pick,
    "roll": _roll,
}
