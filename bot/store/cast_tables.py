"""The tables of stories with several characters; a story that only its lead was ever in has no rows here."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text

from bot.store.columns import UtcDateTime
from bot.store.tables import metadata


def _session(*, primary_key: bool) -> Column[int]:
    return Column("session_id", Integer, ForeignKey("sessions.id"), primary_key=primary_key, nullable=False)


def _turn() -> Column[int]:
    return Column("turn_id", Integer, ForeignKey("turns.id"), primary_key=True)


def _character(*, primary_key: bool) -> Column[int]:
    return Column("character_id", Integer, ForeignKey("characters.id"), primary_key=primary_key, nullable=False)


# Who joined a story besides its lead, and left it again. ``since`` is the first seq that one was there for.
cast = Table(
    "cast",
    metadata,
    _session(primary_key=True),
    _character(primary_key=True),
    Column("since", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("left_at", UtcDateTime),
    Index(None, "character_id"),
)

# The memory as each of them has it; the lead's stands in ``sessions``.
heads = Table(
    "heads",
    metadata,
    _session(primary_key=True),
    _character(primary_key=True),
    Column("text", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Index(None, "character_id"),
)

# What was put before a turn when one of them answered it; the lead's stands in ``turns``.
tails = Table(
    "tails",
    metadata,
    _turn(),
    _character(primary_key=True),
    _session(primary_key=False),
    Column("text", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Index(None, "session_id"),
)

# To which character's words a player's turn replies.
addressed = Table("addressed", metadata, _turn(), _character(primary_key=False))
