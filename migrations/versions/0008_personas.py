"""Players speak as personas: who they are, which is active where, and which one each turn was said as."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Towards the newer schema."""
    op.add_column("turns", sa.Column("persona_id", sa.Integer()))
    op.create_table(
        "personas",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("brackets", sa.Text(), nullable=False),
        sa.Column("avatar_url", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_personas"),
        sa.UniqueConstraint("player_id", "name_key", name="uq_personas_player_id_name_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "active_personas",
        sa.Column("player_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("persona_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("player_id", "guild_id", name="pk_active_personas"),
        sa.ForeignKeyConstraint(["persona_id"], ["personas.id"], name="fk_active_personas_persona_id_personas"),
    )
    op.create_table(
        "persona_labels",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("persona_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "persona_id", "name", name="pk_persona_labels"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_persona_labels_session_id_sessions"),
    )


def downgrade() -> None:
    """Back to the older schema."""
    op.drop_table("persona_labels")
    op.drop_table("active_personas")
    op.drop_table("personas")
    op.drop_column("turns", "persona_id")
