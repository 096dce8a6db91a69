"""Characters come from cards: all that a prompt needs of one, the whole document to give back, and whether it is for adults."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Towards the newer schema."""
    op.add_column("characters", sa.Column("card", sa.Text()))
    op.add_column("characters", sa.Column("document", sa.Text()))
    op.add_column("characters", sa.Column("adult", sa.Boolean()))


def downgrade() -> None:
    """Back to the older schema."""
    op.drop_column("characters", "adult")
    op.drop_column("characters", "document")
    op.drop_column("characters", "card")
