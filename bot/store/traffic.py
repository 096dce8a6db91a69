"""What is asked of databases, and how much they give back, counted where SQLAlchemy talks to the driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, event


@dataclass(slots=True)
class Traffic:
    """Statements (``BEGIN`` is one), rows, and bytes of the values in the rows: of a text its characters, of a number 8."""

    queries: int = 0
    rows: int = 0
    bytes: int = 0


@contextmanager
def counted() -> Iterator[Traffic]:
    """Counts all traffic of this process with its databases within the block."""
    traffic = Traffic()

    def note(_: Any, cursor: Any, *rest: Any) -> None:
        traffic.queries += 1
        # All that was found: the adapter of an asynchronous driver fetches it at once.
        for row in cursor._rows if cursor.description else ():
            traffic.rows += 1
            traffic.bytes += sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in row)

    event.listen(Engine, "after_cursor_execute", note)
    try:
        yield traffic
    finally:
        event.remove(Engine, "after_cursor_execute", note)
