"""Cutting a long text into messages, where a reader would pause, with its markup intact."""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate
from typing import Final

from cogs._marks import closers, open_marks, quotation

LONGEST: Final = 2_000
"""Characters of a message (https://discord.com/developers/docs/resources/message#create-message). An emoji counts as two
here, as in UTF-16, so that neither way of counting is exceeded."""
_MARGIN: Final = 24  # for the marks that close and open again what a cut runs through
_PAUSES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n\s*\n",
        r"(?<=[.!?…])[\"'”’)*_~|]*\s+|[。！？…]+[」』）”’*_~|]*(?![。！？…」』）”’*_~|])|\n",
        r"(?<=[,;:—])\s+|[、，；：]",
        r"\s+",
    )
)
_FLAG_LETTERS: Final = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two of them make a flag


def split(text: str, limit: int = LONGEST) -> list[str]:
    """The text in pieces of at most ``limit`` characters; a text without words becomes one ellipsis."""
    rest = text.strip() or "…"
    parts = []
    while _size(rest) > limit:
        cut = _cut(rest, limit - _MARGIN)
        head, tail = rest[:cut].rstrip(), rest[cut:].lstrip()
        marks = open_marks(rest, cut)
        parts.append(head + closers(marks))
        rest = quotation(rest, cut) + "".join(marks) + tail
    return [*parts, rest]


def _size(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _cut(text: str, room: int) -> int:
    """Where to cut: at the strongest pause in the later half of the room, outside of any markup if there is such a one."""
    sizes = accumulate(1 + (character > "\uffff") for character in text)
    end = next((place for place, size in enumerate(sizes) if size > room), len(text))
    for pause in _PAUSES:
        places = [match.end() for match in pause.finditer(text, 0, end) if match.end() > end // 2]
        if places:
            return next((place for place in reversed(places) if not open_marks(text, place)), places[-1])
    while end > 1 and _are_joined(text, end):
        end -= 1
    return end


def _are_joined(text: str, place: int) -> bool:
    """Whether the characters around a place are shown as one: accents, emoji with modifiers, families, flags."""
    left, right = text[place - 1], text[place]
    if right in _FLAG_LETTERS:
        before = text[:place]
        return (len(before) - len(before.rstrip(_FLAG_LETTERS))) % 2 == 1
    return (
        unicodedata.combining(right) != 0
        or right in "\u200d\ufe0e\ufe0f"
        or left == "\u200d"
        or "\U0001f3fb" <= right <= "\U0001f3ff"
    )
