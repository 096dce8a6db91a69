"""What is asked of databases, and how much they give back, counted where SQLAlchemy talks to the driver."""

from __future__ import annotations

import sqlite3
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

    def add(row: tuple[Any, ...]) -> None:
        traffic.rows += 1
        traffic.bytes += sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in row)

    def asks(_: Any, cursor: Any, *rest: Any) -> None:
        if isinstance(cursor, sqlite3.Cursor):
            cursor.row_factory = fetched

    def asked(_: Any, cursor: Any, *rest: Any) -> None:
        traffic.queries += 1
        # All that was found: the adapter of an asynchronous driver fetches it at once, sqlite3 as it is read.
        for row in getattr(cursor, "_rows", ()) if cursor.description else ():
            add(row)

    def fetched(_: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        add(row)
        return row

    listening = ((Engine, "before_cursor_execute", asks), (Engine, "after_cursor_execute", asked))
    for listener in listening:
        event.listen(*listener)
    try:
        yield traffic
    finally:
        for listener in listening:
            event.remove(*listener)
