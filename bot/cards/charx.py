"""The .charx files of V3: a zip with ``card.json`` and assets, alone or behind a picture."""

from __future__ import annotations

import base64
import binascii
import io
import struct
import zipfile
import zlib
from dataclasses import replace
from typing import Any, Final

from bot.cards.card import EMBEDDED, CardFile, card_of
from bot.cards.documents import LARGEST_TEXT, read_document
from bot.cards.kinds import Kind, NotACard, is_picture
from bot.cards.values import text

MOST_ENTRIES: Final = 2_000
LARGEST_ARCHIVE: Final = 128 * 2**20
"""Bytes of all files of an archive together, as it claims; only two of them are read."""
_ENTRY_MARK: Final = b"PK\x01\x02"
_ZIP_ERRORS: Final = (
    # All of these come out of zipfile for broken or unusual archives.
    *(zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError),
    *(EOFError, OSError, ValueError, KeyError, IndexError, OverflowError),
)


def has_archive(data: bytes) -> bool:
    """Whether a zip ends the file."""
    return zipfile.is_zipfile(io.BytesIO(data))


def read_charx(data: bytes, name: str) -> CardFile:
    """The card of an archive, with its main icon, or the picture in front of it, as its picture.

    Raises NotACard. An archive that claims to be small and is not is read up to the limit.
    """
    # zipfile makes an object of every entry before it can be asked how many there are.
    if data.count(_ENTRY_MARK) > MOST_ENTRIES:
        raise NotACard(Kind.LARGE)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
            if sum(entry.file_size for entry in entries.values()) > LARGEST_ARCHIVE:
                raise NotACard(Kind.LARGE)
            card = next((entry for path, entry in entries.items() if path.lower() == "card.json"), None)
            if card is None:
                raise NotACard(Kind.ARCHIVE)
            document = read_document(_read(archive, card))
            icon = _embedded_icon(archive, entries, document)
    except _ZIP_ERRORS as error:
        raise NotACard(Kind.BROKEN) from error
    in_front = data[: min(entry.header_offset for entry in entries.values())]
    picture = icon or data_icon(document) or (in_front if is_picture(in_front) else None)
    left_out = sum(path.startswith("assets/") for path in entries) - (icon is not None)
    return replace(card_of(document, name=name, picture=picture), assets_left_out=max(0, left_out))


def data_icon(document: dict[str, Any]) -> bytes | None:
    """The main icon that stands in the card itself, as a ``data:`` address."""
    uri = _main_icon(document)
    head, comma, body = uri.partition(",")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        return None
    try:
        icon = base64.b64decode(body)
    except (binascii.Error, ValueError):
        return None
    return icon if is_picture(icon) else None


def _embedded_icon(
    archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], document: dict[str, Any]
) -> bytes | None:
    """The main icon that lies in the archive; one that cannot be read is none."""
    uri = _main_icon(document)
    entry = entries.get(uri.partition("://")[2]) if uri.startswith(EMBEDDED) else None
    try:
        icon = _read(archive, entry) if entry else b""
    except (NotACard, *_ZIP_ERRORS):
        return None
    return icon if is_picture(icon) else None


def _main_icon(document: dict[str, Any]) -> str:
    """The address of the main icon: the one so named, else the first icon; empty when there is none."""
    data = document.get("data")
    assets = data.get("assets") if isinstance(data, dict) else None
    icons = [
        asset
        for asset in (assets if isinstance(assets, list) else ())
        if isinstance(asset, dict) and asset.get("type") == "icon"
    ]
    icons.sort(key=lambda asset: asset.get("name") != "main")
    return text(icons[0].get("uri")) if icons else ""


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    # zipfile bounds what it inflates, but not what the other methods give.
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotACard(Kind.BROKEN)
    with archive.open(entry) as file:
        data = file.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise NotACard(Kind.LARGE)
    return data
