"""Pictures of characters: whatever people upload becomes a small square PNG."""

from __future__ import annotations

import io
from typing import Final

from PIL import Image, ImageOps

from bot.errors import Refused

LARGEST_UPLOAD: Final = 8 * 2**20
"""Bytes of a picture that are read at all."""
MOST_PIXELS: Final = 40_000_000
"""Pixels that are decoded: more than a 36-megapixel camera makes, 160 MB of memory."""
EDGE: Final = 128
"""Pixels of an edge; Discord scales emoji to this and refuses files above 256 KiB, which so few pixels cannot fill."""
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")


def portrait(data: bytes) -> bytes:
    """The picture as a square PNG of at most 128×128 pixels, cut around its middle; the first frame when it moves.

    Blocks while it computes: call it in a thread. Raises Refused when it is too large, or is no picture that we can read.
    """
    if len(data) > LARGEST_UPLOAD:
        raise Refused("picture-too-large")
    try:
        return _scaled(data)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Refused("picture-too-large") from error
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError, MemoryError) as error:
        # Pillow's decoders raise all of these for broken files.
        raise Refused("picture-unreadable") from error


def _scaled(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        if image.width * image.height > MOST_PIXELS:
            raise Refused("picture-too-large")
        image.draft("RGB", (2 * EDGE, 2 * EDGE))
        upright = ImageOps.exif_transpose(image).convert("RGBA")
    edge = min(EDGE, upright.width, upright.height)
    square = ImageOps.fit(upright, (edge, edge), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    square.save(out, "PNG", optimize=True)
    return out.getvalue()
