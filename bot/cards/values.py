"""Values of a card as they should be, from what programs wrote: numbers as strings, strings as lists, null for nothing."""

from __future__ import annotations

import math
import re
from typing import Final

_LARGEST: Final = 10**9
_NUMERAL: Final = re.compile(r"[+-]?\d{1,12}(?:\.\d{0,6})?")


def text(value: object) -> str:
    """A text: numbers written out, a list's texts on a line each, nothing for the rest. Line breaks are ``\\n``, NULs go."""
    match value:
        case str():
            return value.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
        case bool():
            return ""
        case int() | float():
            return str(value)
        case list():
            return "\n".join(texts(value))
    return ""


def texts(value: object) -> tuple[str, ...]:
    """The texts of a list, without the blank ones; a single text is a list of one."""
    listed = value if isinstance(value, list) else [value]
    return tuple(found for item in listed if not isinstance(item, list) and (found := text(item)).strip())


def number(value: object) -> int | None:
    """A whole number within a thousand million either way, also from a string; None for everything else."""
    match value:
        case bool():
            return None
        case str():
            return numeral(value)
        case float() if not math.isfinite(value):
            return None
        case int() | float():
            return max(-_LARGEST, min(_LARGEST, int(value)))
    return None


def numeral(value: str) -> int | None:
    """The whole number that a string begins to be, as ``number`` bounds it; None when it is no number."""
    found = _NUMERAL.fullmatch(value.strip())
    return max(-_LARGEST, min(_LARGEST, int(float(found[0])))) if found else None
