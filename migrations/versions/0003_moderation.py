"""What a guild sets for its moderators, and what players report to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_ENUM = sa.String(16)


def upgrade() -> None:
    """Towards the newer schema."""
    op.create_table(
        "guild_settings",
        sa.Column("guild_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("moderator_role_id", sa.BigInteger()),
        sa.Column("log_channel_id", sa.BigInteger()),
        sa.PrimaryKeyConstraint("guild_id", name="pk_guild_settings"),
    )
    op.create_table(
        "flags",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("by", sa.BigInteger(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("state", _ENUM, nullable=False),
        sa.Column("correction", _ENUM),
        sa.Column("decided_by", sa.BigInteger()),
        sa.Column("decided_at", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_flags"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_flags_session_id_sessions"),
        sa.ForeignKeyConstraint(
            ["session_id", "number"],
            ["memories.session_id", "memories.number"],
            name="fk_flags_session_id_number_memories",
        ),
    )
    op.create_index("ix_flags_by_at", "flags", ["by", "at"])
    op.create_index("ix_flags_session_id_state", "flags", ["session_id", "state"])


def downgrade() -> None:
    """Back to the older schema."""
    op.drop_table("flags")
    op.drop_table("guild_settings")
