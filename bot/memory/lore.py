"""Lorebooks: what the prompt tells of a world, always or when the talk comes to it.

Constant entries belong to the stable part of the prompt. The others are looked for in the newest texts and belong to the
tail, so that the prefix never breaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from bot.memory.patterns import Pattern, read_pattern, slashed

SCAN_DEPTH: Final = 4
"""Newest texts that are searched where neither the book nor the entry says how many; the specifications leave it open."""
MOST_ROUNDS: Final = 3
"""How often the entries found so far are searched themselves."""
_LONGEST_TEXT: Final = 4_000
_LONGEST_ENTRY: Final = 8_000
# What a look-up may cost, in steps of patterns and in characters that plain keys are looked for in: about a second each
# (measured in CPython 3.11). Keys behind that find nothing.
_MOST_STEPS: Final = 80_000_000
_MOST_CHARACTERS: Final = 200_000_000
_LOOK: Final = 100
_UNSEEN: Final = re.compile(r"\{\{\s*(?://|comment\s*:)[^{}]*\}\}", re.IGNORECASE)
_HIDDEN_KEY: Final = re.compile(r"\{\{\s*hidden_key\s*:([^{}]*)\}\}", re.IGNORECASE)


class Secondary(StrEnum):
    """What an entry's secondary keys ask for, once one of its keys was found."""

    ANY = "any"
    ALL = "all"
    NOT_ANY = "not_any"
    NOT_ALL = "not_all"


@dataclass(frozen=True, slots=True)
class LoreEntry:
    """One piece of lore. A key of the form ``/pattern/flags`` is a pattern; with ``use_regex`` every key is one.

    ``priority`` says who stays when the budget is short (the order where it is None), ``order`` who stands first.
    ``after`` and ``every`` count the character's replies.
    """

    keys: tuple[str, ...]
    content: str
    name: str = ""
    enabled: bool = True
    constant: bool = False
    order: int = 100
    priority: int | None = None
    case_sensitive: bool = False
    whole_words: bool = False
    use_regex: bool = False
    secondary_keys: tuple[str, ...] = ()
    secondary: Secondary = Secondary.ANY
    additional_keys: tuple[tuple[str, ...], ...] = ()
    exclude_keys: tuple[str, ...] = ()
    scan_depth: int | None = None
    after: int = 0
    every: int = 0
    before_card: bool = False
    found_by_entries: bool = True
    finds_entries: bool = True

    @property
    def all_keys(self) -> tuple[str, ...]:
        """Whatever it is looked for by, and kept away by."""
        additional = (key for keys in self.additional_keys for key in keys)
        return (*self.keys, *self.secondary_keys, *additional, *self.exclude_keys)

    @property
    def is_stable(self) -> bool:
        """Whether it stands in every prompt, whatever is said."""
        return self.constant and not (self.additional_keys or self.exclude_keys or self.after or self.every)


@dataclass(frozen=True, slots=True)
class LoreBook:
    """A card's lorebook. ``token_budget`` is None where the book does not bound itself."""

    entries: tuple[LoreEntry, ...]
    name: str = ""
    scan_depth: int = SCAN_DEPTH
    token_budget: int | None = None
    recursive: bool = False


def with_keys(book: LoreBook, fill: Callable[[str], str]) -> LoreBook:
    """The book with ``fill`` applied to every plain key, such as ``{{user}}``. Contents are filled when they are written out."""

    def filled(keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(key if slashed(key) else fill(key) for key in keys)

    return replace(
        book,
        entries=tuple(
            replace(
                entry,
                keys=filled(entry.keys),
                secondary_keys=filled(entry.secondary_keys),
                additional_keys=tuple(filled(keys) for keys in entry.additional_keys),
                exclude_keys=filled(entry.exclude_keys),
            )
            for entry in book.entries
        ),
    )


def constant_entries(book: LoreBook) -> tuple[LoreEntry, ...]:
    """What stands in every prompt of the character, in insertion order. A function of the book alone."""
    return _in_order(entry for entry in book.entries if _is_usable(entry) and entry.is_stable)


def matching(
    book: LoreBook,
    texts_newest_last: Sequence[str],
    budget_tokens: int,
    size: Callable[[str], int],
    *,
    replies: int | None = None,
) -> tuple[LoreEntry, ...]:
    """The entries that the newest texts call for, in insertion order, without the stable ones.

    ``size`` counts tokens; the book's own budget counts when it is smaller. Over the budget, those of the highest priority
    that fit are kept. ``replies`` is how many replies the character has given in the story, for entries that wait for a
    number of them; None ignores that condition. Looks at the last 4,000 characters of a text.
    """
    scan = _Scan(texts_newest_last, book.scan_depth)
    waiting = [
        entry for entry in book.entries if _is_usable(entry) and not entry.is_stable and _is_time(entry, replies)
    ]
    found = [entry for entry in waiting if scan.calls_for(entry)]
    if book.recursive:
        found += _found_by_entries(scan, waiting, found, [*constant_entries(book), *found])
    return _in_order(_affordable(found, min(budget_tokens, book.token_budget or budget_tokens), size))


def _found_by_entries(
    scan: _Scan, waiting: Sequence[LoreEntry], found: Sequence[LoreEntry], newest: Sequence[LoreEntry]
) -> list[LoreEntry]:
    more: list[LoreEntry] = []
    known = set(map(id, found))
    left = [entry for entry in waiting if entry.found_by_entries and id(entry) not in known]
    for _ in range(MOST_ROUNDS):
        scan.entries += [_searchable(entry.content) for entry in newest if entry.finds_entries]
        newest = [entry for entry in left if scan.calls_for(entry)]
        if not newest:
            break
        more += newest
        known.update(map(id, newest))
        left = [entry for entry in left if id(entry) not in known]
    return more


class _Scan:
    """The texts that keys are looked for in, and the work that patterns may still do."""

    def __init__(self, texts: Sequence[str], depth: int) -> None:
        self.texts = [text[-_LONGEST_TEXT:] for text in texts]
        self.depth = depth
        self.entries: list[str] = []
        self.steps = _MOST_STEPS
        self.characters = _MOST_CHARACTERS
        self._folded: dict[str, str] = {}

    def calls_for(self, entry: LoreEntry) -> bool:
        depth = self.depth if entry.scan_depth is None else entry.scan_depth
        texts = [*(self.texts[-depth:] if depth > 0 else ()), *self.entries]

        def has(key: str) -> bool:
            return self._has(entry, key, texts)

        if not entry.constant and not any(map(has, entry.keys)):
            return False
        if not all(any(map(has, keys)) for keys in entry.additional_keys):
            return False
        # The specification takes both from entries whose keys are patterns.
        return entry.use_regex or (_agrees(entry, has) and not any(map(has, entry.exclude_keys)))

    def _has(self, entry: LoreEntry, key: str, texts: Sequence[str]) -> bool:
        pattern = _key_pattern(key, entry.case_sensitive, entry.whole_words, entry.use_regex)
        if isinstance(pattern, str):
            return bool(pattern) and any(self._holds(text, pattern, entry.case_sensitive) for text in texts)
        return pattern is not None and any(self._occurs(pattern, text) for text in texts)

    def _holds(self, text: str, words: str, case_sensitive: bool) -> bool:
        self.characters -= len(text) + _LOOK
        if not case_sensitive and text not in self._folded:
            self._folded[text] = text.casefold()
        return self.characters >= 0 and words in (text if case_sensitive else self._folded[text])

    def _occurs(self, pattern: Pattern, text: str) -> bool:
        self.steps -= pattern.cost(text)
        return self.steps >= 0 and pattern.is_in(text)


@lru_cache(maxsize=4_096)
def _key_pattern(key: str, case_sensitive: bool, whole_words: bool, use_regex: bool) -> Pattern | str | None:
    """What a key looks for: a pattern, or plain text (folded where case does not count); None for a pattern not to be run."""
    if parts := slashed(key):
        return read_pattern(*parts)
    if use_regex:
        return read_pattern(key, "" if case_sensitive else "i")
    if whole_words and key.strip():
        return read_pattern(rf"(?<!\w){re.escape(key.strip())}(?!\w)", "" if case_sensitive else "i")
    return key.strip() if case_sensitive else key.strip().casefold()


def _agrees(entry: LoreEntry, has: Callable[[str], bool]) -> bool:
    if not entry.secondary_keys or entry.constant:
        return True
    match entry.secondary:
        case Secondary.ANY:
            return any(map(has, entry.secondary_keys))
        case Secondary.ALL:
            return all(map(has, entry.secondary_keys))
        case Secondary.NOT_ANY:
            return not any(map(has, entry.secondary_keys))
        case Secondary.NOT_ALL:
            return not all(map(has, entry.secondary_keys))


def _is_usable(entry: LoreEntry) -> bool:
    return entry.enabled and bool(entry.content.strip())


def _is_time(entry: LoreEntry, replies: int | None) -> bool:
    if replies is None:
        return True
    return replies >= entry.after and not (entry.every and replies % entry.every)


def _searchable(content: str) -> str:
    """An entry as others are looked for in it: without comments, with hidden keys."""
    return _HIDDEN_KEY.sub(r"\1", _UNSEEN.sub("", content[:_LONGEST_ENTRY]))


def _affordable(entries: Sequence[LoreEntry], budget: int, size: Callable[[str], int]) -> list[LoreEntry]:
    kept = []
    for entry in sorted(entries, key=lambda e: e.order if e.priority is None else e.priority, reverse=True):
        tokens = size(entry.content)
        if tokens <= budget:
            budget -= tokens
            kept.append(entry)
    return kept


def _in_order(entries: Iterable[LoreEntry]) -> tuple[LoreEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.order))
