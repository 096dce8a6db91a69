"""A story may be rewound: what it leaves is set aside, and remembered as a way that can be taken up again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Towards the newer schema."""
    op.add_column("chapters", sa.Column("aside", sa.Boolean()))
    op.create_table(
        "branches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("at_seq", sa.Integer(), nullable=False),
        sa.Column("by", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_branches"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_branches_session_id_sessions"),
    )
    op.create_index("ix_branches_session_id", "branches", ["session_id"])


def downgrade() -> None:
    """Back to the older schema."""
    op.drop_table("branches")
    op.drop_column("chapters", "aside")
