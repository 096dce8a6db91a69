"""Pictures of figures: matplotlib without a screen, with letters for English, Japanese and Chinese."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

import noto_cjk_sans_otc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS_PER_INCH: Final = 120
# The first has the prettier Latin letters and digits; what it lacks, matplotlib takes from the second.
_LATIN: Final = "DejaVu Sans"
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Told apart by the colour-blind too (https://jfly.uni-koeln.de/color/)."""


def figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, laid out so that nothing overlaps; add axes with ``subplots``.

    matplotlib is loaded by the first call, about half a second: call it, and :func:`png`, in a thread where others wait. One
    figure belongs to one thread.
    """
    families = _families()
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams["font.family"] = families
    return Figure(figsize=(width, height), dpi=_DOTS_PER_INCH, layout="constrained")


def png(drawn: Figure) -> bytes:
    """The picture as a PNG file."""
    file = BytesIO()
    drawn.savefig(file, format="png", metadata={"Software": "Kataribe"})
    return file.getvalue()


@cache
def _families() -> list[str]:
    from matplotlib.font_manager import FontProperties, fontManager

    path = str(Path(str(noto_cjk_sans_otc.FONT_PATH)))
    fontManager.addfont(path)
    return [_LATIN, FontProperties(fname=path).get_name()]
