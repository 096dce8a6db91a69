"""Pictures that people upload: small and square, or small enough for a model, or refused in words."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

from bot.cards.png import as_png
from bot.errors import Refused
from bot.pictures import LARGEST_UPLOAD, for_model, portrait


def encoded(width: int, height: int, form: str, mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), 120).save(out, form)
    return out.getvalue()


def decoded(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def bomb(edge: int) -> bytes:
    """A PNG of a hundred bytes that claims to be so many pixels wide and high."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


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


@pytest.mark.parametrize("edge", [5_001, 12_000, 60_000])
def test_a_decompression_bomb_is_refused_by_its_header(edge: int) -> None:
    with pytest.raises(Refused, match="picture-too-large"):
        portrait(bomb(edge))


# --- what a model is shown ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "mode"), [("PNG", "RGBA"), ("PNG", "P"), ("PNG", "I;16"), ("JPEG", "CMYK"), ("GIF", "L"), ("WEBP", "RGB")]
)
def test_a_model_is_shown_a_jpeg_of_bounded_size(form: str, mode: str) -> None:
    image = decoded(for_model(encoded(3_000, 1_500, form, mode)))
    assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (1_024, 512))


def test_a_small_picture_keeps_its_size_for_a_model() -> None:
    assert decoded(for_model(encoded(40, 60, "PNG"))).size == (40, 60)


def test_of_what_moves_the_first_frame_is_shown() -> None:
    out = io.BytesIO()
    red, blue = (Image.new("RGB", (20, 20), colour) for colour in ("red", "blue"))
    red.save(out, "GIF", save_all=True, append_images=[blue], duration=100)

    pixel = decoded(for_model(out.getvalue())).getpixel((10, 10))
    assert isinstance(pixel, tuple)
    assert pixel[0] > 200 > 60 > pixel[2]


def test_where_and_when_a_picture_was_taken_is_left_out_and_it_stands_upright() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x9286] = 6, "Shinjuku, 3 March"
    out = io.BytesIO()
    Image.new("RGB", (200, 100), "red").save(out, "JPEG", exif=exif, comment=b"by Mio", icc_profile=b"profile")
    assert b"Shinjuku" in out.getvalue()

    data = for_model(out.getvalue())

    assert decoded(data).size == (100, 200)
    assert not decoded(data).getexif()
    assert not any(secret in data for secret in (b"Shinjuku", b"Exif", b"by Mio", b"profile"))


@pytest.mark.parametrize("colour", ["black", "white"])
def test_lines_on_a_transparent_page_can_be_seen(colour: str) -> None:
    page = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    page.paste(colour, (40, 40, 60, 60))
    out = io.BytesIO()
    page.save(out, "PNG")

    pixels = decoded(for_model(out.getvalue())).convert("L").tobytes()
    assert abs(pixels[50 * 100 + 50] - pixels[5 * 100 + 5]) > 100


@pytest.mark.parametrize("data", [b"", b"no picture at all", encoded(64, 64, "PNG")[:70], encoded(64, 64, "BMP")])
def test_a_model_is_not_shown_what_is_no_picture(data: bytes) -> None:
    with pytest.raises(Refused, match="picture-unreadable"):
        for_model(data)


@pytest.mark.parametrize("edge", [7_000, 60_000])
def test_a_model_is_not_shown_a_decompression_bomb(edge: int) -> None:
    with pytest.raises(Refused, match="picture-too-large"):
        for_model(bomb(edge))


# --- what is broken, or large -------------------------------------------------------------------------------------


def with_broken_exif() -> bytes:
    """A picture to be turned, whose EXIF has a text where a number belongs: Pillow cannot write that anew."""
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "x" * 50
    out = io.BytesIO()
    Image.new("RGB", (40, 30)).save(out, "JPEG", exif=exif)
    return out.getvalue().replace(b"\x01\x0e\x00\x02", b"\x01\x00\x00\x02").replace(b"xxxx", b"\xffxxx", 1)


def test_a_picture_that_pillow_stumbles_over_is_refused_in_words() -> None:
    for read in (portrait, for_model):
        with pytest.raises(Refused, match="picture-unreadable"):
            read(with_broken_exif())
    assert as_png(with_broken_exif()) is None


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from Linux")
@pytest.mark.parametrize("name", ["for_model", "portrait"])
def test_the_largest_picture_takes_no_more_memory_than_twice_its_pixels(tmp_path: Path, name: str) -> None:
    path = tmp_path / "large.png"
    Image.new("RGBA", (5_000, 5_000), (3, 4, 5, 6)).save(path, compress_level=1)
    code = f"""
import sys
from bot.pictures import {name}
{name}(open(sys.argv[1], "rb").read())
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)

    assert int(done.stdout) / 1_024 < 290
