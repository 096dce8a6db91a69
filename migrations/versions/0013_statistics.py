"""A request to a model tells more: its time in the queue, what it made room for, why its answer was of no use, and how the story's
prompt stood.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Towards the newer schema."""
    op.add_column("calls", sa.Column("waited_milliseconds", sa.Integer()))
    op.add_column("calls", sa.Column("interruptions", sa.Integer()))
    op.add_column("calls", sa.Column("rejection", sa.String(32)))
    op.add_column("calls", sa.Column("epoch", sa.Integer()))
    op.add_column("calls", sa.Column("forced_cuts", sa.Integer()))


def downgrade() -> None:
    """Back to the older schema."""
    op.drop_column("calls", "forced_cuts")
    op.drop_column("calls", "epoch")
    op.drop_column("calls", "rejection")
    op.drop_column("calls", "interruptions")
    op.drop_column("calls", "waited_milliseconds")
