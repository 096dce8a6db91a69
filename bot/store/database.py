"""The engine and its transactions. Whatever SQLite and PostgreSQL do not have in common stands here."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, Final, Self

from sqlalchemy import Connection, event, func, make_url, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

# How long a connection waits for another process's write, in milliseconds: far longer than any transaction of ours.
_BUSY_TIMEOUT: Final = 10_000
_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {_BUSY_TIMEOUT}",
    "PRAGMA foreign_keys = ON",
    # With WAL a crash of the process loses nothing; only a power cut may take the last transactions.
    "PRAGMA synchronous = NORMAL",
    # What people take back is overwritten, not only released.
    "PRAGMA secure_delete = ON",
)
_WRITES: Final = "kataribe_writes"
# Any number will do that no other program on the same PostgreSQL database uses.
_MIGRATION_LOCK: Final = 5_284_137


class Database:
    """Read and write transactions, each on a connection of its own."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._reader = engine
        self._writer = engine
        self._turnstile: asyncio.Lock | None = None
        if engine.dialect.name == "sqlite":
            _prepare_sqlite(engine)
            self._writer = engine.execution_options(**{_WRITES: True})
            # SQLite's waiting for a lock is by polling, and unfair: within the process, writers stand in line instead.
            self._turnstile = asyncio.Lock()
        else:
            # Several statements of one read see one state.
            self._reader = engine.execution_options(isolation_level="REPEATABLE READ")

    @classmethod
    def at(cls, url: str) -> Self:
        """The database at an address; nothing is opened before the first transaction."""
        is_sqlite = make_url(url).get_backend_name() == "sqlite"
        # The parameters of a statement are what players wrote; without hiding, an error repeats them, and the log the error.
        return cls(create_async_engine(url, pool_pre_ping=not is_sqlite, hide_parameters=True))

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that sees one state of the database and changes nothing."""
        async with self._reader.connect() as connection:
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that may write: committed at the end, rolled back by an exception or a cancellation."""
        line: AbstractAsyncContextManager[Any] = self._turnstile or nullcontext()
        async with line, self._writer.begin() as connection:
            yield connection

    @asynccontextmanager
    async def migration(self) -> AsyncIterator[AsyncConnection]:
        """A write transaction that changes the schema; another process's migration waits for its end."""
        async with self.write() as connection:
            if connection.dialect.name == "postgresql":
                await connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
            yield connection

    async def checkpoint(self) -> bool:
        """Bring all of SQLite's write-ahead log into the database and empty it: it holds what pages were before.

        False when a reader was in the way for as long as one waits.
        """
        if self._turnstile is None:
            return True
        async with self._turnstile, self._writer.connect() as connection:
            # Not within a transaction, which the driver's own connection is spared.
            driver = (await connection.get_raw_connection()).driver_connection
            rows = await driver.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)") if driver else []
            return not any(row[0] for row in rows)

    async def size(self, connection: AsyncConnection) -> int | None:
        """What the database takes, in bytes, without SQLite's write-ahead log; None where nobody tells."""
        match connection.dialect.name:
            case "sqlite":
                pages = (await connection.exec_driver_sql("PRAGMA page_count")).scalar_one()
                return int(pages * (await connection.exec_driver_sql("PRAGMA page_size")).scalar_one())
            case "postgresql":
                return int(await connection.scalar(select(func.pg_database_size(func.current_database()))) or 0)
            case _:
                return None

    async def close(self) -> None:
        """Close all connections."""
        await self._reader.dispose()


def _prepare_sqlite(engine: AsyncEngine) -> None:
    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        # Python's driver opens transactions late and by its own rules; off, so that ours below are the only ones.
        # https://docs.sqlalchemy.org/en/20/dialects/sqlite.html#enabling-non-legacy-sqlite-transactional-modes
        connection.isolation_level = None
        cursor = connection.cursor()
        try:
            for pragma in _PRAGMAS:
                cursor.execute(pragma)
            # The mode stays with the file. Whoever changes it needs the file alone, and SQLite does not wait for that: if
            # another process is at it, it will be done.
            with contextlib.suppress(sqlite3.OperationalError):
                cursor.execute("PRAGMA journal_mode = WAL")
        except Exception:
            connection.close()
            raise
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        # A deferred transaction that reads first and writes later fails at once when another wrote in between.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
