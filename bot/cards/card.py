"""A card: the whole document as its author's program wrote it, and the fields that we use of it.

The specifications: V1 and V2 by malfoyslastname/character-card-spec-v2, V3 by kwaroran/character-card-spec-v3. Programs
disagree with them in small things, so a field of another type is taken for what it means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal

from bot.cards.books import read_book, read_keys, without_decorators
from bot.cards.kinds import V1_KEYS, Kind, NotACard, is_v1, kind_by_keys
from bot.cards.values import text, texts
from bot.memory.lore import LoreBook

Spec = Literal["v1", "v2", "v3"]
Written = Literal["v2", "v3"]

_SPEC: Final = re.compile(r"chara_card_v(\d{1,3})", re.IGNORECASE)
_VERSIONS: Final[Mapping[Written, str]] = {"v2": "2.0", "v3": "3.0"}
# The names of our fields in the documents, where they differ.
_KEYS: Final = {"first_message": "first_mes"}
_TEXTS: Final = (
    *V1_KEYS,
    "creator_notes",
    "system_prompt",
    "post_history_instructions",
    "creator",
    "character_version",
)
_LISTS: Final = ("alternate_greetings", "tags")
# What programs wrote beside the keys of V1 before V2 gave it a place.
_BESIDE: Final = (*_TEXTS, *_LISTS, "character_book", "extensions")
EMBEDDED: Final = ("embeded://", "embedded://")
"""How addresses within a .charx begin: as the specification spells it, and as English does."""


@dataclass(frozen=True, slots=True)
class CardFields:
    """What we use of a card. ``creator_notes`` are shown to people and never sent to a model.

    ``{{char}}`` is the nickname where there is one. ``notes_by_language`` holds the notes per ISO 639-1 code.
    """

    name: str
    description: str = ""
    nickname: str = ""
    personality: str = ""
    scenario: str = ""
    first_message: str = ""
    alternate_greetings: tuple[str, ...] = ()
    group_only_greetings: tuple[str, ...] = ()
    mes_example: str = ""
    system_prompt: str = ""
    post_history_instructions: str = ""
    creator_notes: str = ""
    notes_by_language: tuple[tuple[str, str], ...] = ()
    creator: str = ""
    character_version: str = ""
    tags: tuple[str, ...] = ()
    book: LoreBook | None = None

    @property
    def called(self) -> str:
        """What ``{{char}}`` becomes."""
        return self.nickname or self.name

    def notes(self, language: str) -> str:
        """The creator's notes in a language, else in English."""
        known = {"en": self.creator_notes, **dict(self.notes_by_language)}
        return known.get(language) or known["en"]


@dataclass(frozen=True, slots=True)
class CardFile:
    """A card as it was read. ``raw`` is the whole document; keep it, and pass it to ``card_of`` later.

    ``picture`` is a picture in any format. ``assets_left_out`` counts what a .charx held besides its main icon: we do not
    keep it, and V3 wants people to be told.
    """

    spec: Spec
    raw: dict[str, Any] = field(repr=False)
    card: CardFields = field(repr=False)
    picture: bytes | None = field(default=None, repr=False)
    assets_left_out: int = 0


def card_of(document: dict[str, Any], *, name: str = "", picture: bytes | None = None) -> CardFile:
    """The card in a document; ``name`` is its name when the document has only a description.

    Raises NotACard when it is none, or has neither a name nor a description.
    """
    spec = _spec_of(document)
    data = _data_of(document)
    card = CardFields(
        name=_one_line(text(data.get("name"))) or _one_line(name),
        description=text(data.get("description")),
        nickname=_one_line(text(data.get("nickname"))),
        personality=text(data.get("personality")),
        scenario=text(data.get("scenario")),
        first_message=text(data.get("first_mes")),
        alternate_greetings=texts(data.get("alternate_greetings")),
        group_only_greetings=texts(data.get("group_only_greetings")),
        mes_example=text(data.get("mes_example")),
        system_prompt=text(data.get("system_prompt")),
        post_history_instructions=text(data.get("post_history_instructions")),
        creator_notes=text(data.get("creator_notes")),
        notes_by_language=_by_language(data.get("creator_notes_multilingual")),
        creator=text(data.get("creator")),
        character_version=text(data.get("character_version")),
        tags=_tags(data.get("tags")),
        book=read_book(data.get("character_book")),
    )
    return CardFile(spec, document, card, picture)


def created(card: CardFields) -> CardFile:
    """The file of a character that was made here."""
    return edited(CardFile("v2", as_spec({"data": {}}, "v2"), CardFields("")), card)


def edited(file: CardFile, card: CardFields) -> CardFile:
    """The file with the fields that differ written into its document; its lorebook stays as it is.

    SillyTavern repeats the fields of V1 beside ``data``; they follow. A V1 document becomes V2.
    """
    document = as_spec(file.raw, "v3" if file.spec == "v3" else "v2")
    data = document["data"]
    for each in fields(CardFields):
        new = getattr(card, each.name)
        if each.name in ("book", "notes_by_language") or new == getattr(file.card, each.name):
            continue
        key = _KEYS.get(each.name, each.name)
        data[key] = list(new) if isinstance(new, tuple) else new
        for mirror in (key, *(("creatorcomment",) if key == "creator_notes" else ())):
            if mirror in document:
                document[mirror] = data[key]
    return replace(
        file,
        spec="v3" if file.spec == "v3" else "v2",
        raw=document,
        card=replace(card, book=file.card.book, notes_by_language=file.card.notes_by_language),
    )


def as_spec(document: dict[str, Any], spec: Written) -> dict[str, Any]:
    """The document as V2 or V3. Nothing is taken away but references into a .charx, whose files we do not keep.

    What the specification demands is filled in; a V1 card keeps its own keys beside ``data``, where V1 programs look.
    """
    data = _data_of(document)
    for key in _TEXTS:
        if not isinstance(data.get(key), str):
            data[key] = text(data.get(key))
    for key in (*_LISTS, *(("group_only_greetings",) if spec == "v3" or "group_only_greetings" in data else ())):
        if not isinstance(data.get(key), list):
            data[key] = list(_tags(data.get(key)) if key == "tags" else texts(data.get(key)))
    if not isinstance(data.get("extensions"), dict):
        data["extensions"] = {}
    if isinstance(data.get("character_book"), dict):
        data["character_book"] = _book_as(data["character_book"], spec)
    else:
        data.pop("character_book", None)
    _leave_out_embedded(data)
    current = _SPEC.fullmatch(text(document.get("spec")))
    is_same = current is not None and f"v{current[1]}" == spec and isinstance(document.get("spec_version"), str)
    version = document["spec_version"] if is_same else _VERSIONS[spec]
    return {**document, "spec": f"chara_card_{spec}", "spec_version": version, "data": data}


def document_of(file: CardFile, spec: Written) -> dict[str, Any]:
    """The file's document as V2 or V3; a card that was named after its file has that name in it."""
    document = as_spec(file.raw, spec)
    document["data"]["name"] = document["data"]["name"] if _one_line(document["data"]["name"]) else file.card.name
    return document


def backfilled(file: CardFile) -> dict[str, Any]:
    """The V2 document that stands beside a V3 one for older programs: without decorators, as the specification asks."""
    document = document_of(file, "v2")
    book = document["data"].get("character_book")
    if file.spec == "v3" and book:
        entries = [
            {**entry, "content": without_decorators(text(entry.get("content")))} if isinstance(entry, dict) else entry
            for entry in book["entries"]
        ]
        document["data"]["character_book"] = {**book, "entries": entries}
    return document


def _spec_of(document: dict[str, Any]) -> Spec:
    data = document.get("data")
    declared = _SPEC.fullmatch(text(document.get("spec")).strip())
    if isinstance(data, dict) and (
        declared or (not kind_by_keys(document) and not kind_by_keys(data) and "name" in data)
    ):
        if not (text(data.get("name")) + text(data.get("description"))).strip():
            raise NotACard(Kind.EMPTY)
        return "v3" if declared and int(declared[1]) >= 3 else "v2"
    if is_v1(document):
        if not (text(document.get("name")) + text(document.get("description"))).strip():
            raise NotACard(Kind.EMPTY)
        return "v1"
    inner = kind_by_keys(data) if isinstance(data, dict) else None
    empty = Kind.EMPTY if declared or any(key in document for key in V1_KEYS[4:]) else None
    raise NotACard(kind_by_keys(document) or inner or empty or Kind.JSON)


def _data_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a card of any version: those within ``data``, and what is missing there from beside it."""
    nested = document.get("data")
    data = nested if isinstance(nested, dict) else {}
    beside = {key: document[key] for key in _BESIDE if key in document and key not in data}
    if "creator_notes" not in {**data, **beside} and "creatorcomment" in document:
        beside["creator_notes"] = document["creatorcomment"]
    return {**data, **beside}


def _book_as(book: dict[str, Any], spec: Written) -> dict[str, Any]:
    listed = book.get("entries")
    entries = list(listed.values()) if isinstance(listed, dict) else listed if isinstance(listed, list) else []
    extensions = book.get("extensions")
    return {
        **book,
        "extensions": extensions if isinstance(extensions, dict) else {},
        "entries": [_entry_as(entry, spec) if isinstance(entry, dict) else entry for entry in entries],
    }


def _entry_as(entry: dict[str, Any], spec: Written) -> dict[str, Any]:
    needed: dict[str, Any] = {"keys": [], "content": "", "extensions": {}, "enabled": True, "insertion_order": 100}
    if spec == "v3":
        needed["use_regex"] = False
    missing = {key: value for key, value in needed.items() if entry.get(key) is None}
    if isinstance(entry.get("keys"), str):
        missing["keys"] = list(read_keys(entry["keys"]))
    return {**entry, **missing}


def _leave_out_embedded(data: dict[str, Any]) -> None:
    assets = data.get("assets")
    if not isinstance(assets, list):
        return
    left = []
    for asset in assets:
        if isinstance(asset, dict) and text(asset.get("uri")).startswith(EMBEDDED):
            if (asset.get("type"), asset.get("name")) != ("icon", "main"):
                continue
            asset = {**asset, "uri": "ccdefault:"}
        left.append(asset)
    data["assets"] = left
    if assets and not left:
        del data["assets"]


def _tags(value: object) -> tuple[str, ...]:
    listed = value.split(",") if isinstance(value, str) else value
    return tuple(tag.strip() for tag in texts(listed))


def _by_language(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        return ()
    return tuple((code.lower(), found) for code, notes in value.items() if (found := text(notes)).strip())


def _one_line(name: str) -> str:
    return " ".join(name.split())
