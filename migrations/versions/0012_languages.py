"""A guild may choose the language of what a whole channel reads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Towards the newer schema."""
    op.add_column("guild_settings", sa.Column("language", sa.String(8)))


def downgrade() -> None:
    """Back to the older schema."""
    op.drop_column("guild_settings", "language")
