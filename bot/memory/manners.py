"""When a character answers: the modes of a session, and whether a message speaks to the character.

A name counts as a word, and what a word is depends on the script: Latin names end where the letters end, Japanese ones where
the script changes, a particle or a form of address follows, and Chinese has no gaps between words at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile
from typing import Final

from bot.memory.turns import Beat, BeatKind


class Mode(StrEnum):
    """Which messages are answered: each one, those that speak to the character, or all together after a pause."""

    EVERY = "every"
    SPOKEN_TO = "spoken"
    PAUSE = "pause"


class Marks(StrEnum):
    """What marks talk out of character: ``((…))`` (with its kin ``[OOC: …]``), a line that starts with ``//``, or nothing."""

    BOTH = "both"
    BRACKETS = "brackets"
    SLASHES = "slashes"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SessionManners:
    """What the players of a session agreed on. ``pause_seconds`` is how long nobody writes before a character answers in the
    mode of that name.
    """

    mode: Mode = Mode.EVERY
    pause_seconds: int = 20
    marks: Marks = Marks.BOTH


USUAL: Final = SessionManners()
"""The manners of a session whose players set nothing."""

_ALPHABET: Final = "0-9A-Za-z\u00c0-\u1fff"
_HIRAGANA: Final = "ぁ-ゖ"
_KATAKANA: Final = "ァ-ヺー"
_HAN: Final = r"々〆\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HANGUL: Final = "가-힣"
_SCRIPTS: Final = (_ALPHABET, _HIRAGANA, _KATAKANA, _HAN, _HANGUL)
_KANA: Final = re.compile(f"[{_HIRAGANA}{_KATAKANA}]")
# Names of people that are also small words count only with their capital.
_ALSO_WORDS: Final = frozenset(
    "angel april art august autumn bill dawn drew faith frank grace grant guy hope iris ivy jack joy june mark may "
    "mercy miles pat pearl rain raven ray rich rob rose ruby sky summer sue violet will winter".split()
)
# Parts of a full name that call nobody, and those after which only what somebody is known for follows.
_NO_NAMES: Final = frozenset("and da de del der di dr el la le los mr mrs ms st van von".split())
_EPITHETS: Final = frozenset("a an of the".split())
_BETWEEN_PARTS: Final = re.compile(r"[\s・·=＝,、]+")

_CALLS: Final = ("ねえ", "ねぇ", "なあ", "おい", "やあ", "よう", "あの", "もしもし")
_PARTICLES: Final = "はがをにのともへでやね"
_AFTER_HIRAGANA: Final = rf"ちゃん|さん|くん|さま|たん|って|なら|から|まで|です|だ|よ|[{_PARTICLES}ーっ]"
_AFTER_KANJI: Final = "[様殿君氏嬢姫達兄姉]|先生|先輩|師匠"
_BEFORE_SINGLE: Final = "阿小老喂嗨嘿"
_AFTER_SINGLE: Final = "[啊呀呢吧吗嗎嘛哦喔哟你您的说說在是姐哥]|姑娘|先生|大人|老师|老師"


def names_of(name: str, nickname: str = "") -> tuple[str, ...]:
    """What a character is called by: the whole name, the nickname, and the parts of both that are names themselves."""
    called: dict[str, None] = {}
    for whole in filter(None, (name.strip(), nickname.strip())):
        parts = [part.strip(".,;:!?\"'“”()「」") for part in _BETWEEN_PARTS.split(whole)]
        own = takewhile(lambda part: part.casefold() not in _EPITHETS, parts)
        called |= dict.fromkeys([whole, *filter(_is_name, own)])
    return tuple(called)


def is_named(text: str, names: Iterable[str]) -> bool:
    """Whether one of the names stands in a text as a word. Width never matters, and capitals seldom do."""
    return next(places_named(text, names), None) is not None


def places_named(text: str, names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where the names stand in a text as words: from and to, in characters of the text as NFKC writes it; name by name."""
    plain = unicodedata.normalize("NFKC", text)
    is_japanese = _KANA.search(plain) is not None
    for name in names:
        yield from (match.span() for match in _pattern(name, is_japanese).finditer(plain))


def in_character(beats: Iterable[Beat]) -> str:
    """What of a message belongs to the story, as one text."""
    return "\n".join(beat.text for beat in beats if beat.kind is not BeatKind.OOC)


def _is_name(part: str) -> bool:
    """Whether a part of a name calls somebody: ``Mara`` of ``Dr. Mara Voss`` does, ``Dr.`` does not."""
    if not part or part.casefold() in _NO_NAMES:
        return False
    return _script(part[0]) != _ALPHABET or (len(part) > 1 and part[0].isupper())


@lru_cache(maxsize=1024)
def _pattern(name: str, is_japanese: bool) -> re.Pattern[str]:
    plain = unicodedata.normalize("NFKC", name)
    words = r"\s+".join(map(re.escape, plain.split()))
    flags = 0 if plain.casefold() in _ALSO_WORDS else re.IGNORECASE
    return re.compile(_before(plain, is_japanese) + words + _after(plain, is_japanese), flags)


def _before(name: str, is_japanese: bool) -> str:
    script = _script(name[0])
    plain = f"(?<![{script}])" if script else ""
    if script == _HIRAGANA:
        calls = "|".join(f"(?<={call})" for call in _CALLS)
        return rf"(?:{plain}|{calls}|(?<=[^{_HIRAGANA}][{_PARTICLES}]))"
    if script == _HAN and not is_japanese:
        return "" if len(name) > 1 else f"(?:{plain}|(?<=[{_BEFORE_SINGLE}]))"
    return plain


def _after(name: str, is_japanese: bool) -> str:
    script = _script(name[-1])
    plain = f"(?![{script}])" if script else ""
    if script == _KATAKANA:
        return f"[ーッ]*{plain}"
    if script == _HIRAGANA:
        return f"(?:{plain}|(?={_AFTER_HIRAGANA}))"
    if script == _HAN and is_japanese:
        return f"(?:{plain}|(?={_AFTER_KANJI}))"
    if script == _HAN:
        return "" if len(name) > 1 else f"(?:{plain}|(?={_AFTER_SINGLE}))"
    return "" if script == _HANGUL else plain


def _script(letter: str) -> str:
    """The letters of the same script; empty for what is no letter."""
    return next((script for script in _SCRIPTS if re.match(f"[{script}]", letter)), "")
