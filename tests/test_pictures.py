"""Pictures that people upload: small and square, or refused in words."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from bot.errors import Refused
from bot.pictures import LARGEST_UPLOAD, portrait


def encoded(width: int, height: int, form: str, mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), 120).save(out, form)
    return out.getvalue()


def decoded(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize(
    ("form", "mode"), [("PNG", "RGBA"), ("PNG", "P"), ("JPEG", "CMYK"), ("GIF", "L"), ("WEBP", "RGB")]
)
def test_a_picture_becomes_a_small_square_png(form: str, mode: str) -> None:
    data = portrait(encoded(640, 400, form, mode))

    image = decoded(data)
    assert (image.format, image.size) == ("PNG", (128, 128))
    assert len(data) <= 256 * 1024


def test_noise_fits_into_what_discord_takes_too() -> None:
    noise = Image.effect_noise((512, 512), 200).convert("RGB")
    out = io.BytesIO()
    noise.save(out, "PNG")

    assert len(portrait(out.getvalue())) <= 256 * 1024


def test_a_small_picture_is_not_blown_up() -> None:
    assert decoded(portrait(encoded(40, 60, "PNG"))).size == (40, 40)


def test_the_middle_is_kept() -> None:
    wide = Image.new("RGB", (300, 100), "red")
    wide.paste("blue", (100, 0, 200, 100))
    out = io.BytesIO()
    wide.save(out, "PNG")

    image = decoded(portrait(out.getvalue())).convert("RGB")
    assert {image.getpixel((5, 50)), image.getpixel((95, 50))} == {(0, 0, 255)}


@pytest.mark.parametrize("data", [b"", b"no picture at all", encoded(64, 64, "PNG")[:70], encoded(64, 64, "BMP")])
def test_what_is_no_picture_of_a_known_kind_is_refused(data: bytes) -> None:
    with pytest.raises(Refused, match="picture-unreadable"):
        portrait(data)


def test_too_many_bytes_are_refused_unread() -> None:
    with pytest.raises(Refused, match="picture-too-large"):
        portrait(b"\x89PNG" + b"\0" * LARGEST_UPLOAD)


@pytest.mark.parametrize("edge", [7_000, 12_000, 60_000])
def test_a_decompression_bomb_is_refused_by_its_header(edge: int) -> None:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")

    with pytest.raises(Refused, match="picture-too-large"):
        portrait(bomb)
