"""SQLite in this process: short transactions are asked where the asking code runs, long ones in a thread of aiosqlite's.

A statement of ours takes SQLite some millionths of a second. To hand it to a thread and its rows back takes twenty times as
long, and the interpreter runs one thread at a time anyway. So a transaction on a message's way runs through without giving others
a turn; another process's write is waited for between tries. What takes long by its nature goes to the thread, and others go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, TypeVar, cast

from sqlalchemy import URL, Connection, CursorResult, Engine, Executable, ScalarResult, create_engine, event
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from bot.store.compiled import Forms, Found, Values

Result = TypeVar("Result")

# How long a statement blocks this process for another process's lock, in milliseconds.
_BUSY_TIMEOUT: Final = 200
# How long a transaction that writes waits for another process's, in seconds: far longer than any of ours.
_PATIENCE: Final = 10.0
_PAUSE: Final = 0.02
_WRITES: Final = "kataribe_writes"
_PRAGMAS: Final = (
    "PRAGMA foreign_keys = ON",
    # With WAL a crash of the process loses nothing; only a power cut may take the last transactions.
    "PRAGMA synchronous = NORMAL",
    # What people take back is overwritten, not only released.
    "PRAGMA secure_delete = ON",
)


class Inline:
    """A connection that is used for one transaction after another: what the store uses of SQLAlchemy's asynchronous one.

    Statements are executed at once, within the caller's turn.
    """

    def __init__(self, connection: Connection, forms: Forms, *, writes: bool) -> None:
        self._connection = connection
        self._forms = forms
        self._driver = cast(sqlite3.Connection, connection.connection.driver_connection)
        if writes:  # nobody is in the way of a transaction that has begun; before, it waits between tries
            self._driver.execute("PRAGMA busy_timeout = 0")
        self._events = connection.engine.dispatch
        self.dialect = connection.dialect

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[Any] | Found:
        """The result of a statement."""
        return self._found(statement, parameters)

    async def scalar(self, statement: Executable, parameters: Any = None) -> Any:
        """The first value of the first row; None when there is none."""
        return self._found(statement, parameters).scalar()

    async def scalars(self, statement: Executable, parameters: Any = None) -> ScalarResult[Any] | Values:
        """The first value of each row."""
        return self._found(statement, parameters).scalars()

    async def exec_driver_sql(self, statement: str, parameters: Any = None) -> CursorResult[Any]:
        """The result of a statement in SQLite's own words."""
        return self._connection.exec_driver_sql(statement, parameters)

    async def run_sync(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """What a function makes of the connection."""
        if not self._connection.in_transaction():
            # What finds none would begin one of its own, and end it.
            self._connection.begin()
        return work(self._connection, *arguments)

    def tell(self, words: str) -> None:
        """Begin or end a transaction. Raises OperationalError."""
        self._ask(words, ())

    async def insist(self, words: str) -> None:
        """The same, where another process, or without a write-ahead log a reader, may be in the way."""
        clock = asyncio.get_running_loop().time
        until = clock() + _PATIENCE
        while True:
            try:
                return self.tell(words)
            except OperationalError as error:
                # The lowest byte: of what kind the busyness is does not matter (https://www.sqlite.org/rescode.html).
                busy = (getattr(error.orig, "sqlite_errorcode", 0) & 0xFF) == sqlite3.SQLITE_BUSY
                if not busy or clock() > until:
                    raise
                await asyncio.sleep(_PAUSE)

    def end(self) -> None:
        """Roll back what was not committed, and be ready for the next transaction."""
        self._driver.rollback()
        if self._connection.in_transaction():
            self._connection.rollback()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _found(self, statement: Executable, parameters: Any) -> CursorResult[Any] | Found:
        given = {} if parameters is None else parameters
        bound = self._forms.bound(statement, given) if isinstance(given, dict) else None
        if bound is None:
            return self._connection.execute(statement, parameters)
        form, values = bound
        return form.found(self._ask(form.words, values))

    def _ask(self, words: str, values: Sequence[Any]) -> sqlite3.Cursor:
        """Let the driver execute a statement, and tell those who listen to the engine, as SQLAlchemy does."""
        cursor, events = self._driver.cursor(), self._events
        if events.before_cursor_execute:
            events.before_cursor_execute(self._connection, cursor, words, values, None, False)
        try:
            cursor.execute(words, values)
        except sqlite3.Error as error:
            raise DBAPIError.instance(
                words, None, error, sqlite3.Error, hide_parameters=True, dialect=self.dialect
            ) from error
        if events.after_cursor_execute:
            events.after_cursor_execute(self._connection, cursor, words, values, None, False)
        return cursor


class Connections:
    """The connections of an engine, as many as are in use at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._forms = Forms(engine.dialect)
        self._readers: list[Inline] = []
        self._writers: list[Inline] = []
        self._closed = False
        # SQLite's waiting for a lock is by polling, and unfair: within the process, writers stand in line instead.
        self.turnstile = asyncio.Lock()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that sees one state."""
        with self._lent(self._readers) as connection:
            connection.tell("BEGIN")
            yield cast(AsyncConnection, connection)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that may write, once no other process does: one that reads first and writes later would fail at once
        when another wrote in between. Within this process the turnstile lets one in after the other.
        """
        async with self.turnstile:
            with self._lent(self._writers) as connection:
                await connection.insist("BEGIN IMMEDIATE")
                yield cast(AsyncConnection, connection)
                await connection.insist("COMMIT")

    def forget_rows(self) -> None:
        """Keep nothing of what was read."""
        self._forms.forget_rows()

    def close(self) -> None:
        """Close all; those in use, as soon as they are given back."""
        self._closed = True
        keep_none(self._engine)
        for free in (self._readers, self._writers):
            while free:
                free.pop().close()
        self._engine.dispose()

    @contextmanager
    def _lent(self, free: list[Inline]) -> Iterator[Inline]:
        writes = free is self._writers
        connection = free.pop() if free else Inline(self._engine.connect(), self._forms, writes=writes)
        try:
            yield connection
        finally:
            try:
                connection.end()
            except Exception:
                connection.close()
                raise
            if self._closed:
                connection.close()
            else:
                free.append(connection)


def engine_at(address: URL) -> Engine:
    """An engine for an address of any of SQLite's drivers, that blocks whoever asks."""
    engine = create_engine(
        address.set(drivername="sqlite+pysqlite"),
        # The parameters of a statement are what players wrote; without hiding, an error repeats them, and the log the error.
        hide_parameters=True,
        # Whoever waited for a connection would let nobody give one back.
        max_overflow=-1,
    )
    _prepare(engine, _BUSY_TIMEOUT)
    return engine


def engine_aside(address: URL) -> AsyncEngine:
    """An engine for the same whose connections have a thread each."""
    engine = create_async_engine(address.set(drivername="sqlite+aiosqlite"), hide_parameters=True)
    _prepare(engine.sync_engine, round(_PATIENCE * 1000))
    event.listen(engine.sync_engine, "begin", _begin_aside)
    return engine


def _prepare(engine: Engine, busy_timeout: int) -> None:
    """Set each connection up as it is opened; it waits so many milliseconds for another process's lock."""

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        # Python's driver opens transactions late and by its own rules; off, so that ours below are the only ones.
        # https://docs.sqlalchemy.org/en/20/dialects/sqlite.html#enabling-non-legacy-sqlite-transactional-modes
        connection.isolation_level = None
        cursor = connection.cursor()
        try:
            for pragma in (f"PRAGMA busy_timeout = {busy_timeout}", *_PRAGMAS):
                cursor.execute(pragma)
            # The mode stays with the file. Whoever changes it needs the file alone, and SQLite does not wait for that: if
            # another process is at it, it will be done.
            with contextlib.suppress(sqlite3.OperationalError):
                cursor.execute("PRAGMA journal_mode = WAL")
        except Exception:
            connection.close()
            raise
        cursor.close()


def keep_none(engine: Engine) -> None:
    """Have each connection closed that is given back from now on: a pool that is disposed of while some are in use forgets them."""

    @event.listens_for(engine, "checkin")
    def close(_: Any, entry: ConnectionPoolEntry) -> None:
        entry.invalidate()


def _begin_aside(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@asynccontextmanager
async def writing_aside(engine: AsyncEngine, turnstile: asyncio.Lock) -> AsyncIterator[AsyncConnection]:
    """The same in a thread."""
    async with turnstile, engine.execution_options(**{_WRITES: True}).begin() as connection:
        yield connection


async def empty_log(engine: AsyncEngine) -> bool:
    """Bring all of the write-ahead log into the database and empty it; False when a reader was in the way for as long as one
    waits.
    """
    async with engine.connect() as connection:
        # Not within a transaction, which the driver's own connection is spared.
        driver = (await connection.get_raw_connection()).driver_connection
        rows = await driver.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)") if driver else []
        return not any(row[0] for row in rows)
