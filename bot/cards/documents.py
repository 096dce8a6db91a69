"""JSON of strangers, read within limits.

Depth and number of values are counted before anything is parsed: Python's parser recurses, and sixteen megabytes of empty
brackets would become hundreds of megabytes of objects.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from typing import Any, Final

from bot.cards.kinds import Kind, NotACard, kind_of_text

LARGEST_FILE: Final = 25 * 2**20
"""Bytes of a file that are read at all."""
LARGEST_TEXT: Final = 16 * 2**20
"""Bytes of a card's JSON, also after decompression, all chunks of a file together."""
DEEPEST: Final = 64
"""Levels of nesting; a card with a lorebook has six."""
MOST_SIGNS: Final = 300_000
"""Brackets and commas in a document; a lorebook of a thousand entries from SillyTavern has forty thousand."""

# An unclosed string reaches to the end, so that no start is tried twice.
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_STRUCTURE: Final = bytes(set(range(256)) - set(b"[]{},"))
_ONE_BRACKET: Final = bytes.maketrans(b"{}", b"[]")
_LONE_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/]")


def read_document(data: bytes) -> dict[str, Any]:
    """The JSON object in ``data``. Numbers that JSON does not know become None, halves of a character a question mark.

    Raises NotACard for what is too large, too deep, not UTF-8, no JSON, or no object.
    """
    text = _text(data)
    _check_structure(data)
    try:
        document = json.loads(text, parse_constant=lambda _: None, parse_float=_number)
        if _LONE_SURROGATE.search(text):
            document = json.loads(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise NotACard(_kind_of_broken(text)) from error
    if not isinstance(document, dict):
        raise NotACard(Kind.JSON)
    return document


def read_encoded(data: bytes) -> dict[str, Any]:
    """The JSON object in a chunk of a picture: in base64 as the specifications say, or as it is, as some programs write it.

    Raises NotACard like ``read_document``.
    """
    if _is_like_json(data):
        return read_document(data)
    letters = _NOT_BASE64.sub(b"", data.translate(bytes.maketrans(b"-_", b"+/")))
    try:
        decoded = base64.b64decode(letters + b"=" * (-len(letters) % 4))
    except binascii.Error as error:
        raise NotACard(Kind.BROKEN) from error
    if not _is_like_json(decoded):
        raise NotACard(Kind.BROKEN)
    return read_document(decoded)


def written(document: dict[str, Any]) -> bytes:
    """The document as UTF-8 JSON."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode()


def _is_like_json(data: bytes) -> bool:
    return data[:100].removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


def _text(data: bytes) -> str:
    if len(data) > LARGEST_TEXT:
        raise NotACard(Kind.LARGE)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NotACard(Kind.ENCODING)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotACard(Kind.BROKEN if b"\0" in data else Kind.ENCODING) from error


def _check_structure(data: bytes) -> None:
    structure = _STRING.sub(b"", data).translate(None, _NOT_STRUCTURE)
    if len(structure) > MOST_SIGNS:
        raise NotACard(Kind.LARGE)
    brackets = structure.translate(_ONE_BRACKET, b",")
    # Each round takes the innermost level away.
    for _ in range(DEEPEST):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"")
    if b"[]" in brackets:
        raise NotACard(Kind.DEEP)


def _kind_of_broken(text: str) -> Kind:
    """Lines of JSON are a chat or a data set; the rest is judged as text."""
    first, _, rest = text.strip().partition("\n")
    if rest.lstrip().startswith("{") and first.rstrip().endswith("}"):
        return Kind.JSON
    return kind_of_text(text)


def _number(literal: str) -> float | None:
    number = float(literal)
    return number if math.isfinite(number) else None
