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
_SAME_OF_BOTH: Final = 0.45


def features(text: str) -> frozenset[str]:
    """The comparable parts of a text: bigrams of wide scripts; words of the others, less the commonest and single letters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    parts: set[str] = set()
    for word in _WORDS.findall(folded):
        if _WIDE.search(word):
            parts.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in _COMMON and (len(word) > 1 or not word.isascii() or word.isdigit()):
            parts.add(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return frozenset(parts)


def closeness(left: str, right: str) -> float:
    """The share (0 to 1) of all features of two texts that they have in common; 1 only when they have the same."""
    one, two = features(left), features(right)
    return len(one & two) / len(one | two) if one and two else 0.0


def likeness(left: str, right: str) -> float:
    """The share (0 to 1) of the shorter text's features that the other has too; 0 with fewer than three in common.

    The three is the seed's figure: with fewer shared bigrams, chance decides. A text with under three features must
    equal the other.
    """
    one, two = features(left), features(right)
    if not one or not two:
        return 0.0
    shorter = min(len(one), len(two))
    shared = len(one & two)
    if shorter < _SHARED_AT_LEAST:
        return 1.0 if one == two else 0.0
    return shared / shorter if shared >= _SHARED_AT_LEAST else 0.0


def is_same(left: str, right: str) -> bool:
    """Whether two texts say the same in other words: most of the shorter one, and nearly half of both."""
    return likeness(left, right) >= _SAME_SHARE and closeness(left, right) >= _SAME_OF_BOTH
