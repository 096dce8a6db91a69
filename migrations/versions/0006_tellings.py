"""A reply may be told more than once: every telling is kept, and one of them stands in the story."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Towards the newer schema."""
    op.add_column("turns", sa.Column("telling", sa.Integer()))
    op.create_table(
        "tellings",
        sa.Column("turn_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("beats", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("finish_reason", sa.String(32)),
        sa.Column("prompt_tokens", sa.Integer()),
        sa.Column("cached_tokens", sa.Integer()),
        sa.Column("completion_tokens", sa.Integer()),
        sa.Column("model", sa.Text()),
        sa.PrimaryKeyConstraint("turn_id", "number", name="pk_tellings"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"], name="fk_tellings_turn_id_turns"),
    )


def downgrade() -> None:
    """Back to the older schema."""
    op.drop_table("tellings")
    op.drop_column("turns", "telling")
