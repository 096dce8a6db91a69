"""Several characters may be in a story: who they are, and what each of them has of its memory."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Towards the newer schema."""
    op.create_table(
        "cast",
        *_of("cast", "session", "character"),
        sa.Column("since", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("session_id", "character_id", name="pk_cast"),
    )
    op.create_index("ix_cast_character_id", "cast", ["character_id"])
    op.create_table(
        "heads",
        *_of("heads", "session", "character"),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "character_id", name="pk_heads"),
    )
    op.create_index("ix_heads_character_id", "heads", ["character_id"])
    op.create_table(
        "tails",
        *_of("tails", "turn", "character", "session"),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", "character_id", name="pk_tails"),
    )
    op.create_index("ix_tails_session_id", "tails", ["session_id"])
    op.create_table(
        "addressed",
        *_of("addressed", "turn", "character"),
        sa.PrimaryKeyConstraint("turn_id", name="pk_addressed"),
    )


def downgrade() -> None:
    """Back to the older schema."""
    for table in ("addressed", "tails", "heads", "cast"):
        op.drop_table(table)


def _of(table: str, *owners: str) -> list[sa.schema.SchemaItem]:
    """The columns that say what a row belongs to."""
    columns = [sa.Column(f"{owner}_id", sa.Integer(), nullable=False) for owner in owners]
    keys = [
        sa.ForeignKeyConstraint([f"{owner}_id"], [f"{owner}s.id"], name=f"fk_{table}_{owner}_id_{owner}s")
        for owner in owners
    ]
    return [*columns, *keys]
