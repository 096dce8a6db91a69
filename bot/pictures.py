"""Pictures that people upload: small square ones for characters and personas, and what a model is shown of the others."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Final

from PIL import Image, ImageOps

from bot.errors import Refused

LARGEST_UPLOAD: Final = 8 * 2**20
"""Bytes of a picture that are read at all."""
MOST_PIXELS: Final = 25_000_000
"""Pixels that are decoded: what a 24-megapixel camera makes, 100 MB of memory, and as much again while they are scaled."""
EDGE: Final = 128
"""Pixels of an edge; Discord scales emoji to this and refuses files above 256 KiB, which so few pixels cannot fill."""
LONGEST_EDGE: Final = 1_024
"""Pixels of what a model is shown: above that, models cut a picture into tiles or scale it down themselves."""
_QUALITY: Final = 85
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
# What Pillow scales smoothly as it is.
_SMOOTH: Final = ("RGB", "RGBA", "L", "CMYK")
# Lines that were drawn for a dark page and those for a bright one can both be told from it.
_BEHIND: Final = (128, 128, 128)


def portrait(data: bytes) -> bytes:
    """The picture as a square PNG of at most 128×128 pixels, cut around its middle; the first frame when it moves.

    Blocks while it computes: call it in a thread. Raises Refused when it is too large, or is no picture that we can read.
    """
    # Twice as many pixels as are needed keep the lines smooth.
    return _read(data, _square, lambda size: 2 * EDGE * max(size) // max(1, min(size)))


def for_model(data: bytes) -> bytes:
    """The picture as a JPEG of at most 1,024 pixels an edge and nothing else: no place, no date; the first frame when it moves.

    Blocks while it computes: call it in a thread. Raises Refused when it is too large, or is no picture that we can read.
    """
    return _read(data, _on_page, lambda size: LONGEST_EDGE)


def _read(data: bytes, made: Callable[[Image.Image], bytes], longest: Callable[[tuple[int, int]], int]) -> bytes:
    """What is made of the picture, upright, in RGBA and with no edge longer than ``longest`` says for its size."""
    if len(data) > LARGEST_UPLOAD:
        raise Refused("picture-too-large")
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise Refused("picture-too-large")
            # Small first: each further step takes the memory of the whole picture once more.
            small = image if image.mode in _SMOOTH and "transparency" not in image.info else image.convert("RGBA")
            small.thumbnail((longest(image.size),) * 2, Image.Resampling.LANCZOS)
            ImageOps.exif_transpose(small, in_place=True)
            return made(small.convert("RGBA"))
    except Refused:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Refused("picture-too-large") from error
    except Exception as error:
        # Pillow's decoders and its reader of EXIF raise whatever they come upon in broken files.
        raise Refused("picture-unreadable") from error


def _square(image: Image.Image) -> bytes:
    edge = min(EDGE, image.width, image.height)
    square = ImageOps.fit(image, (edge, edge), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    square.save(out, "PNG", optimize=True)
    return out.getvalue()


def _on_page(image: Image.Image) -> bytes:
    page = Image.new("RGB", image.size, _BEHIND)
    page.paste(image, mask=image.getchannel("A"))
    out = io.BytesIO()
    page.save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()
