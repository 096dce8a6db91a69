"""Folds and pages read as much of a memory as they need: by kind, by chapter, and loose ends by their words."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from bot.memory.likeness import features

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_SIGN = ":"
_LONGEST_FEATURE = 40
_TIME = sa.DateTime(timezone=True)
_FINDABLE = sa.table(
    "findable", *map(sa.column, ("id", "session_id", "seq", "number", "words")), sa.column("at", _TIME)
)


def upgrade() -> None:
    """Towards the newer schema."""
    op.create_index("ix_memories_session_id_status_kind_number", "memories", ["session_id", "status", "kind", "number"])
    op.create_index("ix_memories_session_id_chapter", "memories", ["session_id", "chapter"])
    # As each database's own conditions say it: SQLite takes an index with a condition for the very same words only.
    op.create_index(
        "ix_memories_corrected",
        "memories",
        ["session_id"],
        sqlite_where=sa.text("corrected = 1"),
        postgresql_where=sa.text("corrected"),
    )
    op.create_index(
        "ix_chapters_young",
        "chapters",
        ["session_id"],
        sqlite_where=sa.text("absorbed IS 0"),
        postgresql_where=sa.text("absorbed IS false"),
    )
    _index_ends(op.get_bind())


def downgrade() -> None:
    """Back to the older schema."""
    signed = _FINDABLE.c.number.is_not(None) & _FINDABLE.c.words.like(f"% {_SIGN}%")
    connection = op.get_bind()
    for row in connection.execute(sa.select(_FINDABLE.c.id, _FINDABLE.c.words).where(signed)).all():
        plain = [word for word in row.words.split() if not word.startswith(_SIGN)]
        mine = _FINDABLE.c.id == row.id
        change = (
            sa.update(_FINDABLE).where(mine).values(words=_line(plain)) if plain else sa.delete(_FINDABLE).where(mine)
        )
        connection.execute(change)
    op.drop_index("ix_chapters_young", "chapters")
    op.drop_index("ix_memories_corrected", "memories")
    op.drop_index("ix_memories_session_id_chapter", "memories")
    op.drop_index("ix_memories_session_id_status_kind_number", "memories")


def _index_ends(connection: sa.Connection) -> None:
    """The words of each loose end that is open or tied, with the time at which it was written where it has no row yet."""
    memories = sa.table("memories", *map(sa.column, ("session_id", "number", "kind", "text", "status")))
    versions = sa.table("versions", sa.column("session_id"), sa.column("number"), sa.column("at", _TIME))
    same = (versions.c.session_id == memories.c.session_id) & (versions.c.number == memories.c.number)
    written = sa.select(sa.func.min(versions.c.at, type_=_TIME)).where(same).scalar_subquery()
    ends = sa.select(memories.c.session_id, memories.c.number, memories.c.text, written.label("at")).where(
        memories.c.kind == "loose_end", memories.c.status.in_(("active", "resolved"))
    )
    for row in connection.execute(ends).all():
        signed = {f"{_SIGN}{word[:_LONGEST_FEATURE]}" for word in features(row.text)}
        mine = (_FINDABLE.c.session_id == row.session_id) & (_FINDABLE.c.number == row.number)
        words = connection.execute(sa.select(_FINDABLE.c.words).where(mine)).scalar()
        if words is not None:
            change: Any = sa.update(_FINDABLE).where(mine).values(words=_line({*words.split(), *signed}))
        elif signed:
            values = {"session_id": row.session_id, "number": row.number, "at": row.at, "words": _line(signed)}
            change = sa.insert(_FINDABLE).values(values)
        else:
            continue
        connection.execute(change)


def _line(words: Any) -> str:
    return f" {' '.join(sorted(words))} "
