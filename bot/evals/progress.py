"""Bars of progress, with the time left, for whoever waits at a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[int], object]]:
    """Within it a bar stands on the terminal; call what it yields with how many more are done.

    Nothing is shown where the error output is no terminal.
    """
    with tqdm(total=total, desc=what, disable=None, dynamic_ncols=True) as bar:
        yield bar.update
