"""What characters keep about persons: exchanges, notes, traits; whom they may not remember; whom and what to delete."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_ENUM = sa.String(16)


def _source(table: str, owner: str, *more: sa.Column[bool]) -> None:
    op.create_table(
        table,
        sa.Column(f"{owner}_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("beat", sa.Integer(), nullable=False),
        *more,
        sa.PrimaryKeyConstraint(f"{owner}_id", "position", name=f"pk_{table}"),
        sa.ForeignKeyConstraint([f"{owner}_id"], [f"{owner}s.id"], name=f"fk_{table}_{owner}_id_{owner}s"),
        sa.ForeignKeyConstraint(
            ["session_id", "seq"], ["turns.session_id", "turns.seq"], name=f"fk_{table}_session_id_seq_turns"
        ),
    )
    op.create_index(f"ix_{table}_session_id_seq", table, ["session_id", "seq"])


def _of_acquaintance(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["acquaintance_id"], ["acquaintances.id"], name=f"fk_{table}_acquaintance_id_acquaintances"
    )


def upgrade() -> None:
    """Towards the newer schema."""
    op.add_column("guild_settings", sa.Column("time_zone", sa.Text()))
    op.create_table(
        "acquaintances",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("character_id", sa.Integer(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("remembered", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_acquaintances"),
        sa.ForeignKeyConstraint(["character_id"], ["characters.id"], name="fk_acquaintances_character_id_characters"),
        sa.UniqueConstraint("character_id", "player_id", name="uq_acquaintances_character_id_player_id"),
    )
    op.create_index("ix_acquaintances_player_id", "acquaintances", ["player_id"])
    op.create_table(
        "strangers",
        sa.Column("player_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("player_id", name="pk_strangers"),
    )
    op.create_table(
        "exchanges",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("acquaintance_id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("reply", sa.Integer(), nullable=False),
        sa.Column("state", _ENUM, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_exchanges"),
        _of_acquaintance("exchanges"),
        sa.ForeignKeyConstraint(
            ["session_id", "reply"], ["turns.session_id", "turns.seq"], name="fk_exchanges_session_id_reply_turns"
        ),
        sa.UniqueConstraint(
            "acquaintance_id", "session_id", "reply", name="uq_exchanges_acquaintance_id_session_id_reply"
        ),
    )
    op.create_index("ix_exchanges_acquaintance_id_state", "exchanges", ["acquaintance_id", "state"])
    op.create_index("ix_exchanges_session_id_reply", "exchanges", ["session_id", "reply"])
    op.create_table(
        "notes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("acquaintance_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("judged", sa.Boolean(), nullable=False),
        sa.Column("absorbed", sa.Boolean(), nullable=False),
        sa.Column("removed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notes"),
        _of_acquaintance("notes"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notes_acquaintance_id", "notes", ["acquaintance_id"])
    _source("note_sources", "note")
    op.create_table(
        "traits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("acquaintance_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("importance", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("first_at", _TIME, nullable=False),
        sa.Column("confirmed_at", _TIME, nullable=False),
        sa.Column("faded_at", _TIME, nullable=False),
        sa.Column("until", sa.Date()),
        sa.Column("hazy", sa.Boolean(), nullable=False),
        sa.Column("dormant_at", _TIME),
        sa.Column("forgotten_at", _TIME),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.Column("imported", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_traits"),
        _of_acquaintance("traits"),
        sa.UniqueConstraint("acquaintance_id", "imported", name="uq_traits_acquaintance_id_imported"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_traits_acquaintance_id", "traits", ["acquaintance_id"])
    _source("trait_sources", "trait", sa.Column("former", sa.Boolean(), nullable=False))
    op.create_table(
        "former_texts",
        sa.Column("trait_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("until", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("trait_id", "position", name="pk_former_texts"),
        sa.ForeignKeyConstraint(["trait_id"], ["traits.id"], name="fk_former_texts_trait_id_traits"),
    )
    op.create_table(
        "judgements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("acquaintance_id", sa.Integer(), nullable=False),
        sa.Column("kind", _ENUM, nullable=False),
        sa.Column("everything", sa.Boolean(), nullable=False),
        sa.Column("state", _ENUM, nullable=False),
        sa.Column("due_at", _TIME, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("claimed_at", _TIME),
        sa.Column("finished_at", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_judgements"),
        _of_acquaintance("judgements"),
    )
    op.create_index("ix_judgements_state_due_at", "judgements", ["state", "due_at"])
    op.create_index("ix_judgements_acquaintance_id_state", "judgements", ["acquaintance_id", "state"])
    op.create_table(
        "mornings",
        sa.Column("guild_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.PrimaryKeyConstraint("guild_id", name="pk_mornings"),
    )
    op.create_table(
        "forgettings",
        sa.Column("player_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("asked_at", _TIME, nullable=False),
        sa.Column("emptied_at", _TIME),
        sa.PrimaryKeyConstraint("player_id", name="pk_forgettings"),
    )
    op.create_table(
        "departures",
        sa.Column("guild_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("guild_id", name="pk_departures"),
    )


def downgrade() -> None:
    """Back to the older schema."""
    for table in ("departures", "forgettings", "mornings", "judgements", "former_texts", "trait_sources", "traits"):
        op.drop_table(table)
    for table in ("note_sources", "notes", "exchanges", "strangers", "acquaintances"):
        op.drop_table(table)
    op.drop_column("guild_settings", "time_zone")
