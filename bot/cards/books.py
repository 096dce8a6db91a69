"""Lorebooks of cards, with the decorators of V3 and the extensions of SillyTavern, as the domain knows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from bot.cards.values import number, numeral, text, texts
from bot.memory.lore import SCAN_DEPTH, LoreBook, LoreEntry, Secondary

MOST_ENTRIES: Final = 2_000
MOST_KEYS: Final = 200
"""Keys of an entry that are looked for."""
LONGEST_KEY: Final = 500
MOST_DECORATORS: Final = 20
"""Decorators of an entry that are followed: each may bring 200 keys."""

_DECORATOR: Final = re.compile(r"(@{2,3})([A-Za-z_]+)[ \t]*(.*)")
# SillyTavern's selectiveLogic, by number.
_LOGIC: Final = (Secondary.ANY, Secondary.NOT_ALL, Secondary.NOT_ANY, Secondary.ALL)
_PLACES: Final = ("before_desc", "after_desc")
_ROLES: Final = ("assistant", "system", "user")


def read_book(value: object) -> LoreBook | None:
    """The lorebook of a card's ``character_book``; None when there is none, or none with an entry."""
    if not isinstance(value, Mapping):
        return None
    listed = value.get("entries")
    found = listed.values() if isinstance(listed, Mapping) else listed if isinstance(listed, list) else ()
    entries = tuple(_entry(item) for item in list(found)[:MOST_ENTRIES] if isinstance(item, Mapping))
    if not entries:
        return None
    budget = number(value.get("token_budget")) or 0
    depth = number(value.get("scan_depth")) or 0
    return LoreBook(
        entries=entries,
        name=text(value.get("name")),
        scan_depth=depth if depth > 0 else SCAN_DEPTH,
        token_budget=budget if budget > 0 else None,
        recursive=_is_true(value.get("recursive_scanning")),
    )


def without_decorators(content: str) -> str:
    """An entry's content as a V2 program should get it."""
    return _decorators(content)[1]


def _entry(item: Mapping[str, Any]) -> LoreEntry:
    own = item.get("extensions")
    extensions: Mapping[str, Any] = own if isinstance(own, Mapping) else {}
    logic = number(extensions.get("selectiveLogic")) or 0
    chance = number(extensions.get("probability"))
    never = _is_true(extensions.get("useProbability")) and chance is not None and chance <= 0
    depth = number(extensions.get("scan_depth"))
    order, priority = number(item.get("insertion_order")), number(item.get("priority"))
    decorators, content = _decorators(text(item.get("content")))
    entry = LoreEntry(
        keys=read_keys(item.get("keys")),
        content=content,
        name=text(item.get("name")) or text(item.get("comment")),
        enabled=_is_true(_first(item.get("enabled"), True)) and not never,
        constant=_is_true(item.get("constant")),
        order=100 if order is None else order,
        priority=priority,
        case_sensitive=_is_true(_first(item.get("case_sensitive"), extensions.get("case_sensitive"))),
        whole_words=_is_true(extensions.get("match_whole_words")),
        # SillyTavern sets the flag on all that it exports, plain words too; its patterns stand between slashes.
        use_regex=_is_true(item.get("use_regex")) and "display_index" not in extensions,
        secondary_keys=read_keys(item.get("secondary_keys")) if _is_true(item.get("selective")) else (),
        secondary=_LOGIC[logic] if 0 <= logic < len(_LOGIC) else Secondary.ANY,
        scan_depth=depth if depth is not None and depth >= 0 else None,
        before_card=item.get("position") == "before_char",
        found_by_entries=not _is_true(extensions.get("exclude_recursion")),
        finds_entries=not _is_true(extensions.get("prevent_recursion")),
    )
    return _decorated(entry, decorators)


def _decorated(entry: LoreEntry, decorators: list[tuple[str, str]]) -> LoreEntry:
    """The entry with its decorators followed, each name once but for the keys, which add up."""
    first = dict(reversed(decorators))
    counts = {"scan_depth": "scan_depth", "activate_only_after": "after", "activate_only_every": "every"}
    changes: dict[str, Any] = {counts[name]: numeral(value) for name, value in first.items() if name in counts}
    if "activate" in first:
        changes["constant"] = True
    elif "dont_activate" in first:
        changes["enabled"] = False
    if "position" in first:
        changes["before_card"] = first["position"] == "before_desc"
    return replace(
        entry,
        **changes,
        additional_keys=tuple(read_keys(value) for name, value in decorators if name == "additional_keys"),
        exclude_keys=tuple(key for name, value in decorators if name == "exclude_keys" for key in read_keys(value)),
    )


def _is_count(value: str) -> bool:
    found = numeral(value)
    return found is not None and found >= 0


# The decorators that we know, and what a good value of each is. Depth and role have no effect: what is not constant stands in
# the tail, near the newest turn, because in the midst of the history it would break the prefix.
_VALUES: Final[Mapping[str, Callable[[str], bool]]] = {
    "scan_depth": _is_count,
    "activate_only_after": _is_count,
    "activate_only_every": _is_count,
    "additional_keys": bool,
    "exclude_keys": bool,
    "activate": lambda _: True,
    "dont_activate": lambda _: True,
    "position": _PLACES.__contains__,
    "depth": _is_count,
    "role": _ROLES.__contains__,
}


def _decorators(content: str) -> tuple[list[tuple[str, str]], str]:
    """The decorators that we follow, and the content behind them.

    One that is unknown or has no good value gives way to its fallbacks (``@@@``), from top to bottom.
    """
    followed: list[tuple[str, str]] = []
    lines = content.split("\n")
    start, answered = 0, True
    for line in lines:
        found = _DECORATOR.fullmatch(line.strip())
        if not found and line.strip():
            break
        start += 1
        if found and (found[1] == "@@" or not answered):
            name, value = found[2].lower(), found[3].strip()
            answered = name in _VALUES and _VALUES[name](value)
            if answered and len(followed) < MOST_DECORATORS:
                followed.append((name, value))
    if not any(line.strip() for line in lines[:start]):
        return [], content
    return followed, "\n".join(lines[start:]).strip("\n")


def read_keys(value: object) -> tuple[str, ...]:
    """The keys in a list, or in a string with commas; a pattern between slashes keeps its commas."""
    listed = value if isinstance(value, list) else list(_split(value)) if isinstance(value, str) else []
    return tuple(key.strip()[:LONGEST_KEY] for key in texts(listed)[:MOST_KEYS] if key.strip())


def _split(value: str) -> Iterator[str]:
    for found in re.finditer(r"\s*(/(?:\\.|[^/\\])+/[a-z]*(?=\s*(?:,|$))|[^,]+)", value):
        yield found[1]


def _first(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _is_true(value: object) -> bool:
    return value.strip().lower() in ("true", "1", "yes") if isinstance(value, str) else bool(value)
