"""The picture of a story's prompts, as far as its pixels can be told."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image, ImageColor

from bot.memory.figures import Mark, Point
from bot.sawtooth import Words, sawtooth

WORDS = Words(
    "Prompts of $mara_1 and $rin_2", "reply", "tokens", "prompt", "computed",
    {mark: f"because of a {mark}" for mark in Mark},
)  # fmt: skip
GROWING = [Point(1_000 + 100 * number, 1_000 + 100 * (number - 1)) for number in range(20)]
PROMPT, COMPUTED = "#0072b2", "#d55e00"


def share(picture: bytes, colour: str) -> float:
    """How much of a picture has exactly a colour."""
    with Image.open(BytesIO(picture)) as image:
        pixels = image.width * image.height
        found = {of: number for number, of in image.convert("RGB").getcolors(pixels) or ()}
    return found.get(ImageColor.getrgb(colour), 0) / pixels


def size(picture: bytes) -> tuple[int, int]:
    with Image.open(BytesIO(picture)) as image:
        assert image.format == "PNG"
        return image.size


def test_what_was_computed_fills_more_when_more_was_computed() -> None:
    warm, cold = sawtooth(GROWING, WORDS), sawtooth([replace(point, cached=0) for point in GROWING], WORDS)

    assert size(warm) == size(cold) == (720, 468)
    assert 0 < share(warm, COMPUTED) < 0.1 < share(cold, COMPUTED)
    assert share(warm, PROMPT) > 0


def test_a_server_that_does_not_tell_leaves_the_line_alone() -> None:
    assert share(sawtooth([replace(point, cached=None) for point in GROWING], WORDS), COMPUTED) == 0


@pytest.mark.parametrize("mark", list(Mark))
def test_each_mark_shows_unless_it_has_no_name(mark: Mark) -> None:
    points = [*GROWING, Point(900, 900, mark), *GROWING]
    plain = [replace(point, mark=None) for point in points]

    assert sawtooth(points, WORDS) != sawtooth(plain, WORDS)
    assert sawtooth(points, replace(WORDS, marks={})) == sawtooth(plain, WORDS)


@pytest.mark.parametrize("number", [1, 2, 400])
def test_few_and_many_replies_fit(number: int) -> None:
    assert size(sawtooth([Point(500, 100)] * number, WORDS, first=2_000)) == (720, 468)
