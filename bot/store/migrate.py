"""Bringing a database to the newest schema: Alembic, run by the program itself."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from bot.errors import DatabaseTooNew
from bot.store.database import Database

# Beside the package, in a checkout as in an installation; the working directory does not matter.
MIGRATIONS: Final = Path(__file__).resolve().parents[2] / "migrations"


async def upgrade(url: str) -> None:
    """Migrate the database at an address; an empty one is built up. Raises DatabaseTooNew."""
    database = Database.at(url)
    try:
        await migrate(database)
    finally:
        await database.close()


async def migrate(database: Database) -> None:
    """Migrate in one write transaction: all of it or nothing, and no two processes at once. Raises DatabaseTooNew."""
    async with database.migration() as connection:
        await connection.run_sync(_migrate)


def _migrate(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    ours = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    unknown = set(MigrationContext.configure(connection).get_current_heads()) - ours
    if unknown:
        address = connection.engine.url.render_as_string(hide_password=True)
        raise DatabaseTooNew(
            f"The database {address} was written by a newer version of Kataribe (its schema is {', '.join(sorted(unknown))}). "
            "Install that version, or go back to a backup from before its installation."
        )
    command.upgrade(config, "head")
