"""When a character answers is the players' to set: the mode, the pause, the marks of talk out of character, and who waits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Towards the newer schema."""
    op.add_column("sessions", sa.Column("mode", sa.String(16)))
    op.add_column("sessions", sa.Column("pause_seconds", sa.Integer()))
    op.add_column("sessions", sa.Column("marks", sa.String(16)))
    op.add_column("turns", sa.Column("waits", sa.Boolean()))


def downgrade() -> None:
    """Back to the older schema."""
    op.drop_column("turns", "waits")
    op.drop_column("sessions", "marks")
    op.drop_column("sessions", "pause_seconds")
    op.drop_column("sessions", "mode")
