"""Cards of every kind, made by encoders of our own."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
import zlib
from typing import Any

from PIL import Image

V1: dict[str, Any] = {
    "name": "Mio",
    "description": "{{char}} keeps the lighthouse.",
    "personality": "calm",
    "scenario": "a storm",
    "first_mes": "The lamp is lit, {{user}}.",
    "mes_example": "<START>\n{{user}}: hi\n{{char}}: hello",
}
ENTRY: dict[str, Any] = {
    "keys": ["lamp", "light"],
    "content": "The lamp burns whale oil.",
    "extensions": {"position": 4, "depth": 2, "role": 1, "probability": 80, "own": [1, {"two": None}]},
    "enabled": True,
    "insertion_order": 10,
    "unknown": "kept",
}
V2: dict[str, Any] = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        **V1,
        "creator_notes": "Best at night.",
        "system_prompt": "Stay in character. {{original}}",
        "post_history_instructions": "Be brief.",
        "alternate_greetings": ["Second", "Third 灯台"],
        "character_book": {"name": "Coast", "extensions": {"deep": {"er": True}}, "entries": [ENTRY], "scan_depth": 3},
        "tags": ["sea", "night"],
        "creator": "someone",
        "character_version": "1.2",
        "extensions": {"depth_prompt": {"prompt": "hush", "depth": 4, "role": "system"}, "ours/unknown": [0.5, "x"]},
        "a field of tomorrow": {"kept": [1, 2, 3]},
    },
    "beside": "kept too",
}
V3: dict[str, Any] = {
    "spec": "chara_card_v3",
    "spec_version": "3.0",
    "data": {
        **V2["data"],
        "nickname": "Mi",
        "group_only_greetings": ["All of you?"],
        "creator_notes_multilingual": {"ja": "夜に。"},
        "source": ["https://example.org/mio"],
        "creation_date": 1_700_000_000,
        "character_book": {"extensions": {}, "entries": [{**ENTRY, "use_regex": True, "keys": ["/lamps?/i"]}]},
    },
}


def picture(form: str = "PNG", *, colour: str = "navy", size: tuple[int, int] = (8, 12)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, form)
    return out.getvalue()


def animated() -> bytes:
    out = io.BytesIO()
    frames = [Image.new("RGB", (6, 6), colour) for colour in ("red", "green", "blue")]
    frames[0].save(out, "PNG", save_all=True, append_images=frames[1:], duration=100)
    return out.getvalue()


def encoded(document: object) -> bytes:
    return base64.b64encode(json.dumps(document, ensure_ascii=False).encode())


def chunk(kind: bytes, body: bytes, *, crc: int | None = None) -> bytes:
    checked = zlib.crc32(kind + body) if crc is None else crc
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checked)


def text_chunk(keyword: str, value: bytes) -> bytes:
    return chunk(b"tEXt", keyword.encode() + b"\0" + value)


def packed_chunk(keyword: str, value: bytes) -> bytes:
    return chunk(b"zTXt", keyword.encode() + b"\0\0" + zlib.compress(value))


def international_chunk(keyword: str, value: bytes, *, packed: bool = False) -> bytes:
    body = zlib.compress(value) if packed else value
    return chunk(b"iTXt", keyword.encode() + bytes([0, packed, 0]) + b"en\0" + "札".encode() + b"\0" + body)


def png_with(*chunks: bytes, base: bytes | None = None) -> bytes:
    """A PNG with these chunks before its end."""
    whole = base or picture()
    return whole[:-12] + b"".join(chunks) + whole[-12:]


def archive(files: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for path, data in files.items():
            made.writestr(path, data)
    return out.getvalue()


def charx(document: dict[str, Any] = V3, **assets: bytes) -> bytes:
    """An archive with a card whose icon is ``main``, and assets by name."""
    listed = [
        {
            "type": "icon" if name == "main" else "emotion",
            "name": name,
            "ext": "png",
            "uri": f"embeded://assets/{name}.png",
        }
        for name in assets
    ]
    card = {**document, "data": {**document["data"], "assets": listed}}
    return archive(
        {"card.json": json.dumps(card).encode(), **{f"assets/{name}.png": data for name, data in assets.items()}}
    )
