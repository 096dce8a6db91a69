"""The forms of what models answer: JSON schemas with bounded counts and lengths, and reading without trusting any of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from bot.memory.turns import BeatKind, Citation, Turn, TurnState

_MOST_CITES: Final = 6
# Hosted APIs allow some hundreds of enum values in a schema; of more numbers only the form is checked.
_MOST_NAMED: Final = 200
# Half of a character, or one that only a machine reads: databases and Discord refuse the one or the other.
_UNWRITABLE: Final = ("Cs", "Cc")


def text_form(longest: int) -> dict[str, Any]:
    """A string of at most so many characters."""
    return {"type": "string", "maxLength": longest}


def object_form(**properties: Any) -> dict[str, Any]:
    """An object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def array_form(items: dict[str, Any], most: int) -> dict[str, Any]:
    """A list of at most so many items."""
    return {"type": "array", "items": items, "maxItems": most}


def number_form(numbers: Collection[int]) -> dict[str, Any]:
    """One of these numbers; any whole one where there are none or too many to name."""
    return {"enum": sorted(numbers)} if 0 < len(numbers) <= _MOST_NAMED else {"type": "integer"}


def cites_form(turns: Sequence[Turn]) -> dict[str, Any]:
    """Citations of beats of these turns, at least one; what is out of character cannot be cited."""
    numbers = [
        f"{turn.seq}.{place}"
        for turn in turns
        if turn.state is TurnState.KEPT
        for place, beat in enumerate(turn.beats, start=1)
        if beat.kind is not BeatKind.OOC
    ]
    cite: dict[str, Any] = {"type": "string", "pattern": r"^[0-9]{1,7}\.[0-9]{1,2}$"}
    if 0 < len(numbers) <= _MOST_NAMED:
        cite = {"enum": numbers}
    return {"type": "array", "items": cite, "minItems": 1, "maxItems": _MOST_CITES}


def text_of(value: object) -> str:
    """A string as it can be stored; empty for anything else."""
    if not isinstance(value, str):
        return ""
    return "".join(c for c in value if c.isspace() or unicodedata.category(c) not in _UNWRITABLE)


def is_number(value: object) -> bool:
    """Whether JSON had a whole number there: Python counts true and false among them."""
    return isinstance(value, int) and not isinstance(value, bool)


def cites_of(value: object) -> tuple[Citation, ...]:
    """The citations in a list; what has another form is passed over."""
    texts = [str(v) for v in value[: _MOST_CITES * 2]] if isinstance(value, list) else []
    return tuple(citation for text in texts if (citation := Citation.parse(text)))


def objects_of(value: object, most: int) -> list[Mapping[str, Any]]:
    """The first objects in a list; what is none is passed over."""
    return [item for item in value if isinstance(item, Mapping)][:most] if isinstance(value, list) else []
