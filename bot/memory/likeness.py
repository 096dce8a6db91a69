"""How alike two short texts are: shared character bigrams for Japanese and Chinese, shared words for the rest."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_WIDE: Final = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]")
_WORDS: Final = re.compile(r"[^\W_]+")
_COMMON: Final = frozenset(
    "a an and are as at be been but by for from had has have he her his i in is it its of on or she that the their "
    "them they this to was were who will with you your says said what when where why how which do does did there here me my "
    "we our us one ll re ve don".split()
)
_SHARED_AT_LEAST: Final = 3
# Unrelated sentences about the same people share names and a verb, about half of a short line; a retelling shares most.
_SAME_SHARE: Final = 0.7
# A short line is contained in many a longer one that only shares its names, so much of both must be the same.
SAME_OF_BOTH: Final = 0.45
# Of two traits: the seed's half of the shorter text's character pairs, and more of what they are about, because "likes cats"
# and "likes dogs" share most of their characters. The figures are in docs/people.md.
_ALIKE_SHARE: Final = 0.5
_ALIKE_SUBJECT: Final = 0.7
_ALIKE_WITHOUT_SUBJECT: Final = 0.8
_KANA: Final = re.compile(r"[぀-ヿ]")
# What stands between the words that a trait is about.
_JAPANESE_FRAME: Final = re.compile(
    r"[ぁ-ゟ]+|好|嫌|苦手|得意|趣味|特技|自分|毎[日朝晩週]|最近|普段|今日|明日|昨日|本当|私|僕|俺|"
    r"(?<![㐀-鿿])[何人事物時思言行来見気食](?![㐀-鿿])"
)
_CHINESE_FRAME: Final = re.compile(
    "喜[欢歡爱愛]|讨厌|討厭|最近|每天|今天|明天|昨天|经常|經常|一[直般]|正在|[觉覺]得|知道|[什怎][么麼]|可以|非常|比[较較]|"
    "一[个個只隻部名本位]|[的了是在我你他她也和与與都就很最还還爱愛常去来來不没沒会會要想这這那有着过過说說们們吗嗎呢吧啊]"
)
_ENGLISH_FRAME: Final = frozenset(
    "about also alway been best can day each enjo ever favorit favourit feel get go goe good hav just know lik lot lov mak "
    "much never no not often out real say som tell thing think tim toda try use usual ver want week weekend wel would year".split()
)
_SHORTEST_STEM: Final = 3
_ENGLISH_ENDING: Final = re.compile(rf"(?<=\w{{{_SHORTEST_STEM}}})(?:y?ing|y?ed|ie|e|y)\Z")
_DENIED: Final = re.compile(
    r"ない|ません|嫌|苦手|やめ|辞め|不|没|沒|讨厌|討厭|戒|n['’]t\b|\b(?:not?|never|cannot|hates?|dislikes?|stopped|quit|avoids?)\b"
)


def features(text: str) -> frozenset[str]:
    """The comparable parts of a text: bigrams of wide scripts; words of the others, less the commonest and single letters."""
    parts: set[str] = set()
    for word in _WORDS.findall(_folded(text)):
        if _WIDE.search(word):
            parts.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in _COMMON and (len(word) > 1 or not word.isascii() or word.isdigit()):
            parts.add(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return frozenset(parts)


def closeness(left: str, right: str) -> float:
    """The share (0 to 1) of all features of two texts that they have in common; 1 only when they have the same."""
    return _closeness(features(left), features(right))


def likeness(left: str, right: str) -> float:
    """The share (0 to 1) of the shorter text's features that the other has too; 0 with fewer than three in common.

    The three is the seed's figure: with fewer shared bigrams, chance decides. A text with under three features must
    equal the other.
    """
    return _likeness(features(left), features(right))


def is_same(left: str, right: str) -> bool:
    """Whether two texts say the same in other words: most of the shorter one, and nearly half of both."""
    return have_same(features(left), features(right))


def have_same(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether two texts of which these are the features say the same, as :func:`is_same` has it."""
    return _likeness(one, two) >= _SAME_SHARE and _closeness(one, two) >= SAME_OF_BOTH


def _closeness(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / len(one | two) if one and two else 0.0


def _likeness(one: frozenset[str], two: frozenset[str]) -> float:
    if not one or not two:
        return 0.0
    shorter = min(len(one), len(two))
    shared = len(one & two)
    if shorter < _SHARED_AT_LEAST:
        return 1.0 if one == two else 0.0
    return shared / shorter if shared >= _SHARED_AT_LEAST else 0.0


def alike(left: str, right: str) -> bool:
    """Whether two traits of one person say the same, in much the same words.

    They share at least three pairs of characters and half of the shorter text's, seven tenths of what the one with less is
    about (words without the likes, the habits and the grammar around them), and both deny something or neither does. A text
    with under three pairs must be contained in the other. The same in other words is for a judge to tell.
    """
    texts = _folded(left), _folded(right)
    letters, others = ("".join(_WORDS.findall(text)) for text in texts)
    one, two = _character_pairs(letters), _character_pairs(others)
    shared, shorter = len(one & two), min(len(one), len(two))
    if letters == others or not shorter:
        return letters == others != ""
    if shared < min(_SHARED_AT_LEAST, shorter) or shared < _ALIKE_SHARE * shorter:
        return False
    if bool(_DENIED.search(texts[0])) != bool(_DENIED.search(texts[1])):
        return False
    about, other = _subject_of(texts[0]), _subject_of(texts[1])
    least = min(len(about), len(other))
    return len(about & other) >= _ALIKE_SUBJECT * least if least else shared >= _ALIKE_WITHOUT_SUBJECT * shorter


def subject(text: str) -> frozenset[str]:
    """What a text is about, less the likes, habits and grammar around it: stems of words, pairs or lone wide characters."""
    return _subject_of(_folded(text))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _character_pairs(text: str) -> frozenset[str]:
    return frozenset(text[i : i + 2] for i in range(len(text) - 1))


def _subject_of(text: str) -> frozenset[str]:
    frame = _JAPANESE_FRAME if _KANA.search(text) else _CHINESE_FRAME
    parts: set[str] = set()
    for word in _WORDS.findall(text):
        if _WIDE.search(word):
            for piece in filter(None, frame.split(word)):
                parts |= _character_pairs(piece) or {piece}
        else:
            parts.update(_stem(feature) for feature in features(word))
    return frozenset(parts - _ENGLISH_FRAME)


def _stem(word: str) -> str:
    """An English word without its ending: runs, running and run are one."""
    stem = _ENGLISH_ENDING.sub("", word)
    return stem[:-1] if len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2] else stem
