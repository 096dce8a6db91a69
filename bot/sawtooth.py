"""The sawtooth of a story: how its prompts grow, and fall back with each fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from bot.charts import COLOURS, figure, png
from bot.memory.figures import Mark, Point

if TYPE_CHECKING:
    from matplotlib.artist import Artist

# Inches; an embed shows a picture 400 points wide at most, where the letters of a wider one are too small to read.
_SIZE: Final = (6.0, 3.9)
_BLUE, _ORANGE, _GREEN, _PINK, _YELLOW, *_ = COLOURS
_STYLES: Final[Mapping[Mark, tuple[str, Literal["-", "--", ":"]]]] = {
    Mark.FOLD: (_GREEN, "-"),
    Mark.MAJOR_FOLD: (_PINK, "-"),
    Mark.FORCED_CUT: ("#000000", "--"),
    Mark.CHANGE: ("#888888", ":"),
}


@dataclass(frozen=True, slots=True)
class Words:
    """What stands on the picture. ``replies`` and ``tokens`` name the axes; ``prompt`` is the whole of a prompt, ``computed`` what
    the server had to compute of it; ``marks`` name the lines, and marks without a name are not drawn.
    """

    title: str
    replies: str
    tokens: str
    prompt: str
    computed: str
    marks: Mapping[Mark, str]


def sawtooth(points: Sequence[Point], words: Words, *, first: int = 1) -> bytes:
    """The prompts of replies, oldest first, as a PNG file; ``first`` is the number of the first reply.

    Takes about a second: call it in a thread where others wait.
    """
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    drawn = figure(*_SIZE)
    axes = drawn.subplots()
    numbers = range(first, first + len(points))
    prompts = [point.prompt for point in points]
    dot = "o" if len(points) == 1 else ""
    (line,) = axes.plot(numbers, prompts, color=_BLUE, linewidth=1.2, marker=dot, label=words.prompt, zorder=3)
    shown: list[Artist | tuple[Artist, ...]] = [line]
    if any(point.cached is not None for point in points):
        computed = [0 if point.cached is None else max(0, point.prompt - point.cached) for point in points]
        shown.append(axes.bar(numbers, computed, width=1.0, color=_ORANGE, label=words.computed, zorder=2))
    for mark, (colour, style) in _STYLES.items():
        # Between the reply and the one before it.
        at = [number - 0.5 for number, point in zip(numbers, points, strict=True) if point.mark is mark]
        if at and mark in words.marks:
            lines = axes.vlines(
                at, 0, 1, transform=axes.get_xaxis_transform(), colors=colour, linestyles=style, linewidth=0.9, alpha=0.8,
                label=words.marks[mark], zorder=1,
            )  # fmt: skip
            shown.append(lines)
    axes.set_title(words.title, parse_math=False)
    axes.set_xlabel(words.replies)
    axes.set_ylabel(words.tokens)
    axes.set_ylim(bottom=0)
    axes.set_xlim(first - 0.5, first + len(points) - 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.spines[["top", "right"]].set_visible(False)
    drawn.legend(handles=shown, loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return png(drawn)
