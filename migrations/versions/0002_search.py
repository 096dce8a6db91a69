"""What leaves the prompt stays findable: the words of all turns and memories, and SQLite's full-text index of them."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from bot.memory.recall import indexed_words

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# https://www.sqlite.org/fts5.html#the_secure_delete_configuration_option
_SECURE_DELETE = (3, 42, 0)
_PAGE = 500
_TIME = sa.DateTime(timezone=True)
# Each word begins with its session's id, so that its list of lines holds that session's alone.
_FULL_TEXT = (
    """
    CREATE VIEW findable_words AS
      SELECT id, replace(words, ' ', ' ' || session_id || ':') AS words FROM findable
    """,
    """
    CREATE VIRTUAL TABLE findable_index USING fts5(
      words, content='findable_words', content_rowid='id', detail='none', columnsize=0, tokenize="ascii tokenchars ':'"
    )
    """,
    """
    CREATE VIRTUAL TABLE findable_terms USING fts5vocab('findable_index', 'row')
    """,
    """
    CREATE TRIGGER findable_added AFTER INSERT ON findable BEGIN
      INSERT INTO findable_index(rowid, words) VALUES (new.id, replace(new.words, ' ', ' ' || new.session_id || ':'));
    END
    """,
    """
    CREATE TRIGGER findable_removed AFTER DELETE ON findable BEGIN
      INSERT INTO findable_index(findable_index, rowid, words)
        VALUES ('delete', old.id, replace(old.words, ' ', ' ' || old.session_id || ':'));
    END
    """,
    """
    CREATE TRIGGER findable_changed AFTER UPDATE ON findable BEGIN
      INSERT INTO findable_index(findable_index, rowid, words)
        VALUES ('delete', old.id, replace(old.words, ' ', ' ' || old.session_id || ':'));
      INSERT INTO findable_index(rowid, words) VALUES (new.id, replace(new.words, ' ', ' ' || new.session_id || ':'));
    END
    """,
)


def upgrade() -> None:
    """Towards the newer schema."""
    op.create_table(
        "findable",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer()),
        sa.Column("number", sa.Integer()),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_findable"),
        sa.UniqueConstraint("session_id", "seq", name="uq_findable_session_id_seq"),
        sa.UniqueConstraint("session_id", "number", name="uq_findable_session_id_number"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_findable_session_id_sessions"),
        sa.ForeignKeyConstraint(
            ["session_id", "seq"], ["turns.session_id", "turns.seq"], name="fk_findable_session_id_seq_turns"
        ),
        sa.ForeignKeyConstraint(
            ["session_id", "number"],
            ["memories.session_id", "memories.number"],
            name="fk_findable_session_id_number_memories",
        ),
    )
    op.create_index("ix_condensations_session_id_condensed", "condensations", ["session_id", "condensed"])
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for statement in _FULL_TEXT:
            op.execute(statement)
        if sqlite3.sqlite_version_info >= _SECURE_DELETE:
            op.execute("INSERT INTO findable_index(findable_index, rank) VALUES ('secure-delete', 1)")
    _fill(connection)


def downgrade() -> None:
    """Back to the older schema."""
    if op.get_bind().dialect.name == "sqlite":
        for trigger in ("findable_added", "findable_removed", "findable_changed"):
            op.execute(f"DROP TRIGGER {trigger}")
        op.execute("DROP TABLE findable_terms")
        op.execute("DROP TABLE findable_index")
        op.execute("DROP VIEW findable_words")
    op.drop_index("ix_condensations_session_id_condensed", "condensations")
    op.drop_table("findable")


def _fill(connection: sa.Connection) -> None:
    """The words of every kept turn and every memory in use or condensed, some hundreds of rows at a time."""
    findable = sa.table("findable", *map(sa.column, ("session_id", "seq", "number", "words")), sa.column("at", _TIME))
    for rows in (_turns(connection), _memories(connection)):
        while page := [row for _, row in zip(range(_PAGE), rows, strict=False)]:
            connection.execute(sa.insert(findable), page)


def _turns(connection: sa.Connection) -> Iterator[dict[str, Any]]:
    names = ("id", "session_id", "seq", "beats", "state")
    turns = sa.table("turns", *map(sa.column, names), sa.column("at", _TIME))
    last = 0
    kept = sa.select(*turns.c).where(turns.c.state == "kept").order_by(turns.c.id).limit(_PAGE)
    while page := connection.execute(kept.where(turns.c.id > last)).all():
        last = page[-1].id
        for row in page:
            shown = [beat for beat in json.loads(row.beats) if beat["kind"] in ("narration", "speech")]
            words = indexed_words("\n".join(f"{beat['speaker']}\n{beat['text']}" for beat in shown))
            if words:
                yield {
                    "session_id": row.session_id,
                    "seq": row.seq,
                    "number": None,
                    "words": _line(words),
                    "at": row.at,
                }


def _memories(connection: sa.Connection) -> Iterator[dict[str, Any]]:
    """With the time of the newest turn that a memory cites, else of the newest line that it condenses."""
    names = ("session_id", "number", "text", "speaker", "addressee", "status")
    memories = sa.table("memories", *map(sa.column, names))
    evidence = sa.table("evidence", *map(sa.column, ("session_id", "number", "seq")))
    turns = sa.table("turns", sa.column("session_id"), sa.column("seq"), sa.column("at", _TIME))
    versions = sa.table("versions", sa.column("session_id"), sa.column("number"), sa.column("at", _TIME))
    condensations = sa.table("condensations", *map(sa.column, ("session_id", "number", "condensed")))
    of_turn = (turns.c.session_id == evidence.c.session_id) & (turns.c.seq == evidence.c.seq)
    cited = sa.select(evidence.c.session_id, evidence.c.number, sa.func.max(turns.c.at, type_=_TIME).label("at"))
    cited = cited.join_from(evidence, turns, of_turn).group_by(evidence.c.session_id, evidence.c.number)
    written = sa.select(versions.c.session_id, versions.c.number, sa.func.min(versions.c.at, type_=_TIME).label("at"))
    written = written.group_by(versions.c.session_id, versions.c.number)
    dates = {(row.session_id, row.number): row.at for row in connection.execute(cited)}
    first = {(row.session_id, row.number): row.at for row in connection.execute(written)}
    below: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row in connection.execute(sa.select(*condensations.c)):
        below[row.session_id, row.number].append(row.condensed)
    # A memory condenses older ones only, so their dates are known before its own.
    for row in connection.execute(sa.select(*memories.c).order_by(memories.c.session_id, memories.c.number)).all():
        key = (row.session_id, row.number)
        if key not in dates:
            condensed = [dates[row.session_id, number] for number in below[key] if (row.session_id, number) in dates]
            dates[key] = max(condensed, default=first[key])
        words = indexed_words(f"{row.speaker}\n{row.addressee}\n{row.text}")
        if words and row.status in ("active", "condensed"):
            yield {
                "session_id": row.session_id,
                "seq": None,
                "number": row.number,
                "words": _line(words),
                "at": dates[key],
            }


def _line(words: frozenset[str]) -> str:
    return f" {' '.join(sorted(words))} "
