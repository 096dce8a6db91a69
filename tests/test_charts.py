"""Pictures can be drawn with words of all three languages."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image

from bot.charts import figure, png


@pytest.mark.parametrize("words", ["prompt tokens", "プロンプトのトークン数", "提示词的词元数，记忆、轮次"])
def test_words_of_each_language_have_letters(words: str) -> None:
    drawn = figure(4, 3)
    axes = drawn.subplots()
    axes.plot([1, 2, 3], [3, 1, 2])
    axes.set_title(words)  # a letter without a glyph would be a warning, and so an error
    with Image.open(BytesIO(png(drawn))) as picture:
        assert (picture.format, picture.size) == ("PNG", (480, 360))
