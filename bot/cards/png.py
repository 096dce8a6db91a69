"""PNG and APNG files: the texts in them, a card put into them, a picture made where there is none."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from collections.abc import Iterator
from typing import Final

from PIL import Image, ImageOps

from bot.cards.documents import LARGEST_TEXT
from bot.cards.kinds import Kind, NotACard

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
MOST_CHUNKS: Final = 100_000
CARD_KEYWORDS: Final = ("ccv3", "chara")
"""The keywords of cards, the better one first."""
_TEXT_CHUNKS: Final = (b"tEXt", b"zTXt", b"iTXt")
_LONGEST_KEYWORD: Final = 79
_MOST_PIXELS: Final = 25_000_000
_LARGEST_EDGE: Final = 2_048
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
_PLACEHOLDER: Final = (256, 384)


def card_texts(data: bytes) -> list[bytes]:
    """The texts under a card's keywords, ``ccv3`` before ``chara``, in the order of the file.

    The chunks' checksums are not asked for, and the file may break off. Raises NotACard when the texts are over the limit
    together, and when one that is compressed is broken.
    """
    found: dict[str, list[bytes]] = {keyword: [] for keyword in CARD_KEYWORDS}
    left = LARGEST_TEXT
    for kind, body in _chunks(data):
        keyword = _keyword(kind, body)
        if keyword in found:
            value = _value(kind, body[len(keyword) + 1 :], left)
            if value is not None:
                left -= len(value)
                found[keyword].append(value)
    return [value for keyword in CARD_KEYWORDS for value in found[keyword]]


def without_cards(data: bytes) -> bytes:
    """The picture without its cards, and without what stands behind its end."""
    chunks = [(kind, body) for kind, body in _chunks(data) if _keyword(kind, body) not in CARD_KEYWORDS]
    return SIGNATURE + b"".join(_chunk(kind, body) for kind, body in chunks)


def with_cards(picture: bytes, cards: dict[str, bytes]) -> bytes:
    """A PNG with documents under these keywords, right behind its header, where every program looks."""
    (kind, header), *others = [
        (kind, body) for kind, body in _chunks(picture) if _keyword(kind, body) not in CARD_KEYWORDS
    ]
    texts = [(b"tEXt", keyword.encode() + b"\0" + base64.b64encode(card)) for keyword, card in cards.items()]
    return SIGNATURE + b"".join(_chunk(*chunk) for chunk in [(kind, header), *texts, *others])


def is_whole(data: bytes) -> bool:
    """Whether this is a PNG from its header to its end."""
    kinds = [kind for kind, _ in _chunks(data)]
    return data.startswith(SIGNATURE) and kinds[:1] == [b"IHDR"] and kinds[-1:] == [b"IEND"] and b"IDAT" in kinds


def as_png(picture: bytes) -> bytes | None:
    """The picture as a PNG: itself when it is one, else converted, at most 2,048 pixels wide and high; None when unreadable.

    Blocks while it computes.
    """
    if is_whole(picture):
        return picture
    try:
        with Image.open(io.BytesIO(picture), formats=_FORMATS) as image:
            if image.width * image.height > _MOST_PIXELS:
                return None
            small = image.convert("RGBA")
        small.thumbnail((_LARGEST_EDGE, _LARGEST_EDGE))
        ImageOps.exif_transpose(small, in_place=True)
        out = io.BytesIO()
        small.save(out, "PNG")
    except Exception:  # noqa: BLE001 - Pillow's decoders raise whatever they come upon in broken files
        return None
    return out.getvalue()


def placeholder(name: str) -> bytes:
    """A plain picture of 256×384 pixels, of a quiet colour that the name decides."""
    width, height = _PLACEHOLDER
    colour = bytes(96 + value % 96 for value in zlib.crc32(name.encode("utf-8", "replace")).to_bytes(4, "big")[:3])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + colour * width) * height
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunks(data: bytes) -> Iterator[tuple[bytes, memoryview | bytes]]:
    """The chunks up to the end of the picture, or as far as the file goes."""
    at = len(SIGNATURE)
    for _ in range(MOST_CHUNKS):
        if at + 8 > len(data):
            return
        length, kind = struct.unpack_from(">I4s", data, at)
        if at + 8 + length > len(data):
            return
        yield kind, memoryview(data)[at + 8 : at + 8 + length]
        if kind == b"IEND":
            return
        at += 12 + length


def _chunk(kind: bytes, body: memoryview | bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(body, zlib.crc32(kind)))


def _keyword(kind: bytes, body: memoryview | bytes) -> str:
    """The keyword of a text chunk in small letters; nothing for other chunks."""
    if kind not in _TEXT_CHUNKS:
        return ""
    start, ended, _ = bytes(body[: _LONGEST_KEYWORD + 1]).partition(b"\0")
    return start.decode("latin-1").lower() if ended else ""


def _value(kind: bytes, rest: memoryview | bytes, left: int) -> bytes | None:
    """The text of a chunk, of which the keyword is off; None when it cannot be read."""
    packed = kind == b"zTXt"
    if kind == b"iTXt":
        packed = len(rest) > 0 and rest[0] == 1
        # Behind the two bytes about compression: the language, and the keyword in it.
        parts = bytes(rest[2:]).split(b"\0", 2)
        if len(parts) < 3:
            return None
        rest = parts[2]
    elif packed:
        rest = rest[1:]
    if packed:
        return _inflated(rest, left)
    if len(rest) > left:
        raise NotACard(Kind.LARGE)
    return bytes(rest)


def _inflated(packed: memoryview | bytes, most: int) -> bytes:
    decompressor = zlib.decompressobj()
    try:
        value = decompressor.decompress(packed, most + 1)
    except zlib.error as error:
        # What was unpacked up to there is lost, and with it what it cost.
        raise NotACard(Kind.BROKEN) from error
    if len(value) > most:
        raise NotACard(Kind.LARGE)
    return value
