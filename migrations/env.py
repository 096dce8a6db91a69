"""What Alembic runs: the migrations, on the connection and in the transaction that ``bot.store.migrate`` opened."""

from __future__ import annotations

from alembic import context

from bot.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
