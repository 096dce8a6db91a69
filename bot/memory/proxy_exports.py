"""Reading what players own already: exports of PluralKit and Tupperbox and the personas of SillyTavern, with a word on each
entry that is wrong.

No address in an export is ever fetched; pictures are only counted. The files are a stranger's: their size and the number of
their values are bounded before anything is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from bot.memory.personas import (
    LONGEST_BRACKETS,
    LONGEST_NAME,
    MOST_BRACKETS,
    Brackets,
    Draft,
    PersonaError,
    name_key,
    tidy_description,
    tidy_name,
)

LARGEST_EXPORT: Final = 4 * 2**20
"""Bytes that are read at all: a thousand members with descriptions take one MiB, years of switches the rest."""
_MOST_SIGNS: Final = 500_000
"""Brackets, braces and commas: each may become an object of some sixty bytes."""
_LONGEST_SHOWN: Final = 40
_LONGEST_STEM: Final = LONGEST_NAME - len(" (500000)")
"""Characters of a name that stay whatever number it gets."""
_PRIVATE: Final = "private"


class ExportKind(StrEnum):
    """Which program wrote a file."""

    PLURALKIT = "PluralKit"
    TUPPERBOX = "Tupperbox"
    SILLYTAVERN = "SillyTavern"


class Wrong(StrEnum):
    """Why an entry is no persona."""

    NOT_AN_ENTRY = "shape"
    NO_NAME = "name"
    LONG_NAME = "name-long"
    LONG_DESCRIPTION = "description-long"
    BRACKETS = "brackets"


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry that cannot be taken over: its place in the file's list, counted from 1, and its name where it has one."""

    entry: int
    name: str
    wrong: Wrong


@dataclass(frozen=True, slots=True)
class Export:
    """What a file holds. ``pictures`` counts addresses of pictures, ``withheld`` descriptions that are marked private."""

    kind: ExportKind
    drafts: tuple[Draft, ...]
    problems: tuple[Problem, ...]
    pictures: int = 0
    withheld: int = 0


class _EntryError(Exception):
    def __init__(self, wrong: Wrong) -> None:
        super().__init__(wrong)
        self.wrong = wrong


def read_export(data: bytes) -> Export:
    """The personas in a file; several of one name are numbered, because a player tells theirs apart by their names.

    Raises PersonaError for a file that is no export: empty, too large, not text, broken (with the line), of another kind, or
    without anybody in it.
    """
    document = _document(data)
    kind, entries = _entries(document)
    read = _tupper if kind is ExportKind.TUPPERBOX else _member
    drafts: list[Draft] = []
    problems: list[Problem] = []
    for place, entry in enumerate(entries, start=1):
        try:
            drafts.append(_draft(entry, read))
        except _EntryError as error:
            problems.append(Problem(place, _name_of(entry), error.wrong))
    objects = [entry for entry in entries if isinstance(entry, dict)]
    pictures = sum(bool(entry.get("avatar_url")) for entry in objects)
    withheld = sum(bool(entry.get("description")) and _is_withheld(entry) for entry in objects)
    return Export(kind, _numbered(drafts), tuple(problems), pictures, withheld)


def _document(data: bytes) -> dict[str, Any]:
    """The file as JSON. Of numbers nothing is kept: no field that is read may be one."""
    if len(data) > LARGEST_EXPORT or sum(data.count(sign) for sign in b"[{,") > _MOST_SIGNS:
        raise PersonaError("persona-file-large", most=LARGEST_EXPORT >> 20)
    try:
        text = data.decode(json.detect_encoding(data))
    except UnicodeDecodeError as error:
        raise PersonaError("persona-file-not-text", line=data[: error.start].count(b"\n") + 1) from error
    if not text.strip():
        raise PersonaError("persona-file-empty")
    if text.lstrip()[0] not in "{[":
        raise PersonaError("persona-file-other")
    try:
        document = json.loads(text, parse_int=_no_number, parse_float=_no_number, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise PersonaError("persona-file-broken", line=error.lineno, column=error.colno) from error
    except RecursionError as error:
        raise PersonaError("persona-file-other") from error
    if not isinstance(document, dict):
        raise PersonaError("persona-file-other")
    return document


def _no_number(_: str) -> None:
    return None


def _entries(document: dict[str, Any]) -> tuple[ExportKind, list[Any]]:
    lists = {
        ExportKind.TUPPERBOX: document.get("tuppers"),
        ExportKind.PLURALKIT: document.get("members"),
        ExportKind.SILLYTAVERN: _of_sillytavern(document),
    }
    for kind, entries in lists.items():
        if isinstance(entries, list):
            if not entries:
                raise PersonaError("persona-file-nobody", program=kind.value)
            return kind, entries
    if {"spec", "first_mes", "char_persona"} & document.keys():
        raise PersonaError("persona-file-card")
    raise PersonaError("persona-file-other")


def _of_sillytavern(document: dict[str, Any]) -> list[Any] | None:
    """The names by picture and the descriptions by picture of a backup, as entries; None when it is none."""
    names, about = document.get("personas"), document.get("persona_descriptions")
    if not isinstance(names, dict) or not isinstance(about, dict):
        return None
    told = {picture: _text(what, "description") for picture, what in about.items() if isinstance(what, dict)}
    return [{"name": name, "description": told.get(picture, "")} for picture, name in names.items()]


def _draft(entry: Any, read: Callable[[dict[str, Any]], tuple[tuple[str, ...], list[Brackets | None]]]) -> Draft:
    if not isinstance(entry, dict):
        raise _EntryError(Wrong.NOT_AN_ENTRY)
    names, found = read(entry)
    brackets = tuple(dict.fromkeys(pair for pair in found if pair is not None))
    if len(brackets) > MOST_BRACKETS or any(pair.length > LONGEST_BRACKETS for pair in brackets):
        raise _EntryError(Wrong.BRACKETS)
    try:
        description = "" if _is_withheld(entry) else tidy_description(_text(entry, "description"))
    except PersonaError as error:
        raise _EntryError(Wrong.LONG_DESCRIPTION) from error
    return Draft(_first_name(names), description, brackets)


def _member(entry: dict[str, Any]) -> tuple[tuple[str, ...], list[Brackets | None]]:
    """A member of PluralKit, whose display name is what others read. Before there were several tags, they stood in the member."""
    tags = entry.get("proxy_tags")
    if tags is None:
        tags = [entry]
    if not isinstance(tags, list) or not all(isinstance(tag, dict) for tag in tags):
        raise _EntryError(Wrong.BRACKETS)
    pairs = [Brackets.of(_text(tag, "prefix"), _text(tag, "suffix")) for tag in tags]
    return (_text(entry, "display_name"), _text(entry, "name")), pairs


def _tupper(entry: dict[str, Any]) -> tuple[tuple[str, ...], list[Brackets | None]]:
    """A tupper; its brackets are prefixes and suffixes by turns."""
    signs = entry.get("brackets") or []
    if not isinstance(signs, list) or len(signs) % 2 or not all(isinstance(sign, str | None) for sign in signs):
        raise _EntryError(Wrong.BRACKETS)
    pairs = [Brackets.of(signs[at] or "", signs[at + 1] or "") for at in range(0, len(signs), 2)]
    return (_text(entry, "nick"), _text(entry, "name")), pairs


def _first_name(names: Sequence[str]) -> str:
    """The first of the names that can be one. The last is the one that each entry must have."""
    if not names[-1]:
        raise _EntryError(Wrong.NO_NAME)
    wrong = Wrong.NO_NAME
    for name in names:
        try:
            return tidy_name(name)
        except PersonaError as error:
            wrong = Wrong.LONG_NAME if error.code == "persona-name-long" else wrong
    raise _EntryError(wrong)


def _is_withheld(entry: dict[str, Any]) -> bool:
    """Whether its owner lets nobody else read the description: what a model is told may come out in the story."""
    privacy = entry.get("privacy")
    nested = privacy.get("description_privacy") if isinstance(privacy, dict) else None
    return _PRIVATE in (entry.get("description_privacy"), nested)


def _numbered(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    taken: set[str] = set()
    counts: dict[str, int] = {}
    told_apart = []
    for draft in drafts:
        name, stem = draft.name, name_key(draft.name[:_LONGEST_STEM])
        while name_key(name) in taken:
            counts[stem] = counts.get(stem, 1) + 1
            number = f" ({counts[stem]})"
            name = draft.name[: LONGEST_NAME - len(number)] + number
        taken.add(name_key(name))
        told_apart.append(replace(draft, name=name))
    return tuple(told_apart)


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _name_of(entry: Any) -> str:
    name = _text(entry, "name") if isinstance(entry, dict) else ""
    try:
        return tidy_name(name[:_LONGEST_SHOWN])
    except PersonaError:
        return ""
