"""Looking at a database without changing it: is it usable, is it ours, which stories does it hold."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, func, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidRequestError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import DatabaseTooNew, KataribeError
from bot.memory.turns import TurnState
from bot.store.database import Database
from bot.store.migrate import MIGRATIONS
from bot.store.tables import calls, characters, sessions, turns

# What SQLite says, and what it means to whoever set DATABASE_URL. https://www.sqlite.org/rescode.html
_SQLITE_WORDS: Final = (
    ("locked", "another program holds {file} locked; stop it, or wait until it is done"),
    ("readonly", "{file} cannot be written; give this user the right to write it and its folder"),
    ("full", "the disk of {file} is full; make room"),
    ("disk i/o error", "the disk of {file} fails; look after the disk, and keep a copy of the file"),
    ("not a database", "{file} is no SQLite database, or an encrypted one; name another file, or move that one away"),
    ("malformed", "{file} is damaged; go back to a backup, or rescue it with: sqlite3 FILE .recover"),
    ("unable to open", "{file} cannot be opened; give this user the right to read and write it and its folder"),
)
_SPENT: Final = (
    select(
        calls.c.session_id,
        calls.c.purpose,
        func.sum(
            func.coalesce(calls.c.prompt_tokens, 0)
            - func.coalesce(calls.c.cached_tokens, 0)
            + func.coalesce(calls.c.completion_tokens, 0)
        ).label("tokens"),
    )
    .where(calls.c.session_id.is_not(None))
    .group_by(calls.c.session_id, calls.c.purpose)
    .order_by(calls.c.session_id, calls.c.purpose)
)
_LONGEST_REASON: Final = 200
# https://www.sqlite.org/fileformat.html#magic_header_string
_MAGIC: Final = b"SQLite format 3\x00"


class DatabaseUnusable(KataribeError):
    """The database cannot be opened, read or written; the text is one sentence for the operator."""


class SchemaState(StrEnum):
    """How a database's tables stand to this version's."""

    NEW = "new"
    BEHIND = "behind"
    CURRENT = "current"


@dataclass(frozen=True, slots=True)
class Health:
    """What was found. ``write_ahead`` is None where there is no such log; ``damage`` is empty when nothing is broken."""

    address: str
    state: SchemaState
    write_ahead: bool | None = None
    damage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """A session as an operator looks for it; ``turns`` are the kept ones.

    ``costs`` are the tokens that the model computed and wrote for it, by purpose: replies, folds, audits.
    """

    id: int
    guild_id: int | None
    channel_id: int
    character: str
    running: bool
    turns: int
    costs: Mapping[str, int]


async def examine(url: str) -> Health:
    """Look whether a database can be read and written, and how it stands. A missing SQLite file is not created.

    Raises DatabaseUnusable, and DatabaseTooNew.
    """
    async with _opened(url) as (address, database):
        if database is None:
            return Health(address, SchemaState.NEW)
        async with database.write() as connection:  # which asks SQLite for the right to write
            state = await _state(connection, address)
        async with database.read() as connection:
            if connection.dialect.name != "sqlite":
                return Health(address, state)
            journal = (await connection.exec_driver_sql("PRAGMA journal_mode")).scalar_one()
            found = (await connection.exec_driver_sql("PRAGMA quick_check(5)")).scalars().all()
        return Health(address, state, journal == "wal", tuple(line for line in found if line != "ok"))


async def require_current(url: str) -> None:
    """Raise DatabaseUnusable unless the database exists with this version's tables, and DatabaseTooNew."""
    async with _opened(url) as (address, database):
        state = SchemaState.NEW
        if database is not None:
            async with database.read() as connection:
                state = await _state(connection, address)
    if state is SchemaState.NEW:
        raise DatabaseUnusable(f"DATABASE_URL: there is no story in {address} yet; is this the right database?")
    if state is SchemaState.BEHIND:
        raise DatabaseUnusable(f"{address} is of an older version; bring it up to date first: kataribe migrate")


async def stories(url: str) -> tuple[Story, ...]:
    """All sessions, oldest first. Raises what `require_current` raises."""
    await require_current(url)
    kept = func.count().filter(turns.c.state == TurnState.KEPT)
    statement = (
        select(sessions, characters.c.name, kept.label("kept"))
        .join_from(sessions, characters)
        .outerjoin(turns, turns.c.session_id == sessions.c.id)
        .group_by(sessions.c.id, characters.c.id)
        .order_by(sessions.c.id)
    )
    async with _opened(url) as (_, database):
        if database is None:
            return ()
        async with database.read() as connection:
            rows = (await connection.execute(statement)).all()
            spent = (await connection.execute(_SPENT)).all()
    costs: dict[int, dict[str, int]] = defaultdict(dict)
    for row in spent:
        costs[row.session_id][row.purpose] = row.tokens
    return tuple(Story(r.id, r.guild_id, r.channel_id, r.name, r.stopped_at is None, r.kept, costs[r.id]) for r in rows)


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Within it, what goes wrong with the database is raised as DatabaseUnusable, in a sentence without any secret."""
    try:
        file = _file(make_url(url))
        if file is not None:
            _require_usable(file)
        yield
    except (SQLAlchemyError, ModuleNotFoundError, OSError) as error:
        raise DatabaseUnusable(f"DATABASE_URL: {_meaning(error, url)}.") from error


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[tuple[str, Database | None]]:
    """The address without its password, and the database; None when it is a file that does not exist yet."""
    with explained(url):
        parsed = make_url(url)
        address = parsed.render_as_string(hide_password=True)
        file = _file(parsed)
        if file is not None and not file.exists():
            yield address, None
            return
        database = Database.at(url)
        try:
            yield address, database
        finally:
            await database.close()


async def _state(connection: AsyncConnection, address: str) -> SchemaState:
    scripts = ScriptDirectory(str(MIGRATIONS))
    present = set(await connection.run_sync(lambda c: MigrationContext.configure(c).get_current_heads()))
    if present - {script.revision for script in scripts.walk_revisions()}:
        raise DatabaseTooNew(
            f"The database {address} was written by a newer version of Kataribe. Install that version, or go back to a "
            "backup from before its installation."
        )
    if not present:
        return SchemaState.NEW
    return SchemaState.CURRENT if present == set(scripts.get_heads()) else SchemaState.BEHIND


def _file(url: URL) -> Path | None:
    """The file of an SQLite database; None for one in memory, and for other databases."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        return None
    return None if url.database.startswith("file:") else Path(url.database)


def _require_usable(file: Path) -> None:
    """Raise DatabaseUnusable for a file that SQLite could not use, without opening it as a database.

    A connection that fails to open leaves its thread behind, which may speak up after the event loop is gone.
    """
    folder = file.absolute().parent
    if not folder.is_dir():
        raise DatabaseUnusable(f"DATABASE_URL: there is no folder {folder}; make it, or write another path.")
    if file.is_dir():
        raise DatabaseUnusable(f"DATABASE_URL: {file} is a folder; write the path of a file in it.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DatabaseUnusable(f"DATABASE_URL: this user may not write into {folder}; change its rights.")
    if not file.exists():
        return
    if not os.access(file, os.R_OK | os.W_OK):
        raise DatabaseUnusable(f"DATABASE_URL: this user may not read and write {file}; change its rights.")
    with file.open("rb") as opened:
        start = opened.read(len(_MAGIC))
    if start not in (b"", _MAGIC):
        raise DatabaseUnusable(f"DATABASE_URL: {file} is no SQLite database; name another file, or move that one away.")


def _meaning(error: Exception, url: str) -> str:
    match error:
        case ModuleNotFoundError():
            return f"the database driver {error.name} is not installed; install it with: pip install {error.name}"
        case NoSuchModuleError() | ArgumentError():
            return "it names a database or driver that SQLAlchemy does not know, or is no address at all"
        case InvalidRequestError():
            return "its driver is not asynchronous; use postgresql+asyncpg, or sqlite"
        case DBAPIError() if make_url(url).get_backend_name() == "sqlite":
            return _sqlite_meaning(str(error.orig), _file(make_url(url)))
        case DBAPIError():
            return f"the database refuses: {' '.join(str(error.orig).split())[:_LONGEST_REASON]}"
        case OSError():
            return f"the database cannot be reached: {error.strerror or type(error).__name__}"
        case _:
            return f"the database cannot be used ({type(error).__name__})"


def _sqlite_meaning(said: str, file: Path | None) -> str:
    for word, meaning in _SQLITE_WORDS:
        if word in said.lower():
            return meaning.format(file=file or "the database")
    return f"SQLite refuses: {said[:_LONGEST_REASON]}"
