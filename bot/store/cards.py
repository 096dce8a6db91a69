"""How a card is written down: the part of it that has no columns of its own."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from bot.memory.lore import LoreBook, LoreEntry, Secondary
from bot.memory.prompt import Card

_COLUMNS: Final = frozenset({"name", "description", "first_message"})


class CardText(TypeDecorator[Card]):
    """A card without its name, description and first message, as JSON text; what is as usual is left out."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Card | None, dialect: Dialect) -> str | None:
        """An object."""
        if value is None:
            return None
        parts = {name: part for name, part in _unusual(value, Card("", "")).items() if name not in _COLUMNS}
        if value.book is not None:
            entries = [_unusual(entry, LoreEntry((), "")) for entry in value.book.entries]
            parts["book"] = {**_unusual(value.book, LoreBook(())), "entries": entries}
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: Any, dialect: Dialect) -> Card | None:
        """The card, nameless."""
        return None if value is None else _read(value)


def _unusual(value: Card | LoreBook | LoreEntry, usual: object) -> dict[str, Any]:
    """The fields of a value that differ from the usual."""
    names = [each.name for each in fields(value)]
    return {name: getattr(value, name) for name in names if getattr(value, name) != getattr(usual, name)}


@lru_cache(maxsize=32)
def _read(value: str) -> Card:
    """Cached: a session's row is read several times for each message, and a lorebook may be a megabyte."""
    parts = json.loads(value)
    if "alternate_greetings" in parts:
        parts["alternate_greetings"] = tuple(parts["alternate_greetings"])
    if "book" in parts:
        book = parts["book"]
        parts["book"] = LoreBook(**{**book, "entries": tuple(_entry(entry) for entry in book["entries"])})
    return Card("", "", **parts)


def _entry(written: dict[str, Any]) -> LoreEntry:
    """JSON knows no tuples."""
    for name in ("keys", "secondary_keys", "exclude_keys"):
        if name in written:
            written[name] = tuple(written[name])
    if "additional_keys" in written:
        written["additional_keys"] = tuple(map(tuple, written["additional_keys"]))
    if "secondary" in written:
        written["secondary"] = Secondary(written["secondary"])
    return LoreEntry(**{"keys": (), "content": "", **written})
