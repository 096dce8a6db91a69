"""The engine and its transactions. Whatever SQLite and PostgreSQL do not have in common begins here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from sqlalchemy import URL, func, make_url, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.store import sqlite

# Any number will do that no other program on the same PostgreSQL database uses.
_MIGRATION_LOCK: Final = 5_284_137


class Database:
    """Read and write transactions, each on a connection of its own.

    Those on a message's way are short. What may take longer, as the more there is, reads and writes *aside*: it keeps nobody
    waiting but for a write that needs its turn.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        # Several statements of one read see one state.
        self._reader = engine.execution_options(isolation_level="REPEATABLE READ")
        self._writer = engine

    @staticmethod
    def at(url: str) -> Database:
        """The database at an address; nothing is opened before the first transaction."""
        address = make_url(url)
        if address.get_backend_name() == "sqlite":
            return SQLite(address)
        # The parameters of a statement are what players wrote; without hiding, an error repeats them, and the log the error.
        return Database(create_async_engine(address, pool_pre_ping=True, hide_parameters=True))

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A transaction that sees one state of the database and changes nothing."""
        return self._reader.connect()

    def write(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A transaction that may write: committed at the end, rolled back by an exception or a cancellation."""
        return self._writer.begin()

    def read_aside(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """The same as :meth:`read` for what may take long."""
        return self.read()

    def write_aside(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """The same as :meth:`write` for what may take long."""
        return self.write()

    def migration(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A write transaction that changes the schema; another process's migration waits for its end."""
        return self._migration()

    async def checkpoint(self) -> bool:
        """Bring all of SQLite's write-ahead log into the database and empty it: it holds what pages were before. What was read of
        them is forgotten too.

        False when a reader was in the way for as long as one waits.
        """
        return True

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
        """Close all connections; those in use, as soon as they are given back."""
        await self._writer.dispose()

    @asynccontextmanager
    async def _migration(self) -> AsyncIterator[AsyncConnection]:
        async with self.write() as connection:
            await connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
            yield connection


class SQLite(Database):
    """A database in a file: asked within this thread through ``engine``, and aside through aiosqlite's threads."""

    def __init__(self, address: URL) -> None:
        self.engine = sqlite.engine_at(address)
        self._aside = sqlite.engine_aside(address)
        self._inline = sqlite.Connections(self.engine)

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return self._inline.reading()

    def write(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return self._inline.writing()

    def read_aside(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return self._aside.connect()

    def write_aside(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return sqlite.writing_aside(self._aside, self._inline.turnstile)

    def migration(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return self.write_aside()

    async def checkpoint(self) -> bool:
        self._inline.forget_rows()
        async with self._inline.turnstile:
            return await sqlite.empty_log(self._aside)

    async def close(self) -> None:
        self._inline.close()
        sqlite.keep_none(self._aside.sync_engine)
        await self._aside.dispose()
