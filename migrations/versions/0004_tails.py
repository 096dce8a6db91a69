"""What was put before a turn when it was answered stays with it, so that later prompts repeat it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Towards the newer schema."""
    op.add_column("turns", sa.Column("tail", sa.Text()))
    op.add_column("turns", sa.Column("tail_tokens", sa.Integer()))
    op.add_column("sessions", sa.Column("epoch", sa.Integer()))
    kept = sa.text("tail IS NOT NULL")
    op.create_index("ix_turns_tails", "turns", ["session_id"], sqlite_where=kept, postgresql_where=kept)


def downgrade() -> None:
    """Back to the older schema."""
    op.drop_index("ix_turns_tails", "turns")
    op.drop_column("sessions", "epoch")
    op.drop_column("turns", "tail_tokens")
    op.drop_column("turns", "tail")
