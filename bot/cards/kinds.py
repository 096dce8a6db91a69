"""What a file is that is no card, so that people can be told what to do with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from bot.errors import Refused


class Kind(StrEnum):
    """What was uploaded instead of a card; the values are codes of the message catalogues."""

    WORLD = "card-is-world"
    """A lorebook without a character."""
    PRESET = "card-is-preset"
    """Sampler settings, an instruct or context template."""
    PICTURE = "card-is-picture"
    """A picture without a card in it."""
    CAMEL = "card-is-camel"
    """A character in another program's JSON: ``firstMessage`` where the specification says ``first_mes``."""
    PLAIN = "card-is-plain"
    """A character for text-generation-webui or Pygmalion: YAML, or JSON with ``char_name``."""
    TEXT = "card-is-text"
    JSON = "card-is-json"
    """JSON that is none of the above."""
    ARCHIVE = "card-is-archive"
    """A zip without ``card.json``."""
    LARGE = "card-too-large"
    DEEP = "card-too-deep"
    BROKEN = "card-broken"
    ENCODING = "card-not-utf-8"
    EMPTY = "card-empty"
    """A card with neither a name nor a description."""


class NotACard(Refused):
    """The file holds no card that we read; ``kind`` says what it is instead, and its value is the error's code."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind.value)
        self.kind = kind


V1_KEYS: Final = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
_CAMEL: Final = frozenset(
    "firstMessage alternateGreetings exampleMessages exampleDialogue systemPrompt postHistoryInstructions "
    "mesExample firstMes creatorNotes".split()
)
_PLAIN: Final = frozenset("char_name char_persona char_greeting world_scenario example_dialogue".split())
_PRESET: Final = frozenset(
    "temperature temp temp_openai top_p top_k rep_pen prompts prompt_order input_sequence output_sequence story_string "
    "chat_completion_source openai_max_context genamt max_length".split()
)
_PICTURES: Final = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")
_YAML: Final = re.compile(r"^(name|context|greeting|char_name|char_persona|first_mes|description)\s*:", re.MULTILINE)


def is_v1(document: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a V1 card: a name or description, and one key that nothing else has, or no other key."""
    if not (document.get("name") or document.get("description")):
        return False
    return any(key in document for key in V1_KEYS[4:]) or (
        not kind_by_keys(document)
        and (any(key in document for key in V1_KEYS[2:]) or all(key in V1_KEYS for key in document))
    )


def kind_by_keys(document: Mapping[str, Any]) -> Kind | None:
    """What a JSON object is that is no card, by its keys; None when they say nothing."""
    keys = frozenset(document)
    if isinstance(document.get("entries"), list | dict) or str(document.get("spec", "")).startswith("lorebook"):
        return Kind.WORLD
    if document.get("type") == "risu" and isinstance(document.get("data"), list):
        return Kind.WORLD
    if keys & _PLAIN or {"context", "greeting"} <= keys:
        return Kind.PLAIN
    if keys & _CAMEL:
        return Kind.CAMEL
    if keys & _PRESET or {"name", "content"} == keys - {"post_history"}:
        return Kind.PRESET
    return None


def is_picture(data: bytes) -> bool:
    """Whether the first bytes are those of a PNG, JPEG, GIF, WebP, AVIF or HEIC file."""
    return (
        data.startswith(_PICTURES)
        or (data[:4], data[8:12]) == (b"RIFF", b"WEBP")
        or data[4:12] in (b"ftypavif", b"ftypheic")
    )


def kind_of_text(text: str) -> Kind:
    """What a text is that is not JSON."""
    if text.lstrip().startswith(("{", "[")):
        return Kind.BROKEN
    if len(_YAML.findall(text[:20_000])) >= 2:
        return Kind.PLAIN
    return Kind.BROKEN if any(sign < " " and not sign.isspace() for sign in text[:2_000]) else Kind.TEXT
