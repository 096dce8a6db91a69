"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_ENUM = sa.String(16)


def upgrade() -> None:
    """Towards the newer schema."""
    _create_characters()
    _create_sessions()
    _create_turns()
    _create_folds()
    _create_memories()
    _create_figures()


def downgrade() -> None:
    """Back to an empty database."""
    for table in (
        "webhooks",
        "ratios",
        "calls",
        "condensations",
        "evidence",
        "versions",
        "memories",
        "chapters",
        "folds",
        "messages",
        "turns",
        "players",
        "sessions",
        "characters",
    ):
        op.drop_table(table)


def _create_characters() -> None:
    op.create_table(
        "characters",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("guild_id", sa.BigInteger()),
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("first_message", sa.Text(), nullable=False),
        sa.Column("avatar_url", sa.Text(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("removed_at", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_characters"),
    )
    for name, column, where in (
        ("uq_characters_guild_name", "guild_id", "removed_at IS NULL AND guild_id IS NOT NULL"),
        ("uq_characters_owner_name", "owner_id", "removed_at IS NULL AND guild_id IS NULL"),
    ):
        op.create_index(
            name,
            "characters",
            [column, "name_key"],
            unique=True,
            sqlite_where=sa.text(where),
            postgresql_where=sa.text(where),
        )


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("guild_id", sa.BigInteger()),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("parent_id", sa.BigInteger()),
        sa.Column("character_id", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("running_since", _TIME, nullable=False),
        sa.Column("stopped_at", _TIME),
        sa.Column("next_seq", sa.Integer(), nullable=False),
        sa.Column("next_number", sa.Integer(), nullable=False),
        sa.Column("folded_to", sa.Integer(), nullable=False),
        sa.Column("memory_text", sa.Text(), nullable=False),
        sa.Column("memory_tokens", sa.Integer(), nullable=False),
        sa.Column("raw_from", sa.Integer(), nullable=False),
        sa.Column("forced_cuts", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.ForeignKeyConstraint(["character_id"], ["characters.id"], name="fk_sessions_character_id_characters"),
    )
    op.create_index("ix_sessions_channel_id", "sessions", ["channel_id"])
    op.create_index("ix_sessions_character_id", "sessions", ["character_id"])
    op.create_index(
        "uq_sessions_running",
        "sessions",
        ["channel_id"],
        unique=True,
        sqlite_where=sa.text("stopped_at IS NULL"),
        postgresql_where=sa.text("stopped_at IS NULL"),
    )
    op.create_table(
        "players",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "player_id", "name", name="pk_players"),
        _of_session("players"),
    )


def _create_turns() -> None:
    op.create_table(
        "turns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("author_kind", _ENUM, nullable=False),
        sa.Column("author_id", sa.BigInteger(), nullable=False),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("beats", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("state", _ENUM, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("in_character", sa.Boolean(), nullable=False),
        sa.Column("delivered", sa.Boolean(), nullable=False),
        sa.Column("finish_reason", sa.String(32)),
        sa.Column("prompt_tokens", sa.Integer()),
        sa.Column("cached_tokens", sa.Integer()),
        sa.Column("completion_tokens", sa.Integer()),
        sa.Column("model", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_turns"),
        sa.UniqueConstraint("session_id", "seq", name="uq_turns_session_id_seq"),
        _of_session("turns"),
    )
    op.create_index("ix_turns_state_delivered", "turns", ["state", "delivered"])
    op.create_table(
        "messages",
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_messages"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"], name="fk_messages_turn_id_turns"),
    )
    op.create_index("ix_messages_turn_id", "messages", ["turn_id"])


def _create_folds() -> None:
    op.create_table(
        "folds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("kind", _ENUM, nullable=False),
        sa.Column("state", _ENUM, nullable=False),
        sa.Column("due_at", _TIME, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("chapter", sa.Integer()),
        sa.Column("failed_at_seq", sa.Integer()),
        sa.Column("claimed_at", _TIME),
        sa.Column("finished_at", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_folds"),
        _of_session("folds"),
    )
    op.create_index("ix_folds_state_due_at", "folds", ["state", "due_at"])
    op.create_index("ix_folds_session_id_state", "folds", ["session_id", "state"])


def _create_memories() -> None:
    op.create_table(
        "chapters",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("absorbed", sa.Boolean(), nullable=False),
        sa.Column("fold_id", sa.Integer()),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("session_id", "ordinal", name="pk_chapters"),
        sa.ForeignKeyConstraint(["fold_id"], ["folds.id"], name="fk_chapters_fold_id_folds"),
        _of_session("chapters"),
    )
    op.create_table(
        "memories",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        *_content(),
        sa.Column("chapter", sa.Integer()),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("corrected", sa.Boolean(), nullable=False),
        sa.Column("restates", sa.Integer()),
        sa.Column("resolved_by", sa.Integer()),
        sa.PrimaryKeyConstraint("session_id", "number", name="pk_memories"),
        sa.ForeignKeyConstraint(
            ["session_id", "chapter"],
            ["chapters.session_id", "chapters.ordinal"],
            name="fk_memories_session_id_chapter_chapters",
        ),
        _of_memory("memories", "restates"),
        _of_session("memories"),
    )
    op.create_table(
        "versions",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        *_content(),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("session_id", "number", "version", name="pk_versions"),
        _of_memory("versions", "number"),
    )
    op.create_table(
        "evidence",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("beat", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "number", "position", name="pk_evidence"),
        _of_memory("evidence", "number"),
        sa.ForeignKeyConstraint(
            ["session_id", "seq"], ["turns.session_id", "turns.seq"], name="fk_evidence_session_id_seq_turns"
        ),
    )
    op.create_index("ix_evidence_session_id_seq", "evidence", ["session_id", "seq"])
    op.create_table(
        "condensations",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("condensed", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "number", "position", name="pk_condensations"),
        _of_memory("condensations", "number"),
        _of_memory("condensations", "condensed"),
    )


def _create_figures() -> None:
    op.create_table(
        "calls",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.String(32), nullable=False),
        sa.Column("session_id", sa.Integer()),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer()),
        sa.Column("cached_tokens", sa.Integer()),
        sa.Column("completion_tokens", sa.Integer()),
        sa.Column("outcome", sa.String(64), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_calls"),
        _of_session("calls"),
    )
    op.create_index("ix_calls_session_id", "calls", ["session_id"])
    op.create_table(
        "ratios",
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("script", _ENUM, nullable=False),
        sa.Column("estimated", sa.Float(), nullable=False),
        sa.Column("counted", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("model", "script", name="pk_ratios"),
    )
    op.create_table(
        "webhooks",
        sa.Column("webhook_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("webhook_id", name="pk_webhooks"),
    )


def _content() -> tuple[sa.Column[str] | sa.Column[int] | sa.Column[bool], ...]:
    return (
        sa.Column("kind", _ENUM, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("addressee", sa.Text(), nullable=False),
        sa.Column("actual", sa.Text(), nullable=False),
        sa.Column("player_id", sa.BigInteger()),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("status", _ENUM, nullable=False),
    )


def _of_session(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name=f"fk_{table}_session_id_sessions")


def _of_memory(table: str, column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["session_id", column],
        ["memories.session_id", "memories.number"],
        name=f"fk_{table}_session_id_{column}_memories",
    )
