"""The tables. ``migrations/`` builds the same; a test compares the two."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    and_,
)

from bot.memory.corrections import CorrectionKind
from bot.memory.manners import Marks, Mode
from bot.memory.memories import MemoryKind, MemoryStatus
from bot.memory.moderation import FlagState
from bot.memory.story import FoldKind, FoldState
from bot.memory.tokens import Script
from bot.memory.turns import AuthorKind, TurnState
from bot.store.cards import CardText
from bot.store.columns import BeatsText, EnumText, LineText, UtcDateTime, required

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _session() -> Column[Any]:
    return required("session_id", Integer, ForeignKey("sessions.id"))


def _content() -> tuple[Column[Any], ...]:
    """What a memory says; the newest version stands in ``memories``, all of them in ``versions``."""
    return (
        required("kind", EnumText(MemoryKind)),
        required("text", Text),
        required("speaker", Text),
        required("addressee", Text),
        required("actual", Text),
        Column("player_id", BigInteger),
        required("private", Boolean),
        required("status", EnumText(MemoryStatus)),
    )


def _costs() -> tuple[Column[Any], ...]:
    """How a reply ended, and what its server counted."""
    return (
        Column("finish_reason", String(32)),
        Column("prompt_tokens", Integer),
        Column("cached_tokens", Integer),
        Column("completion_tokens", Integer),
        Column("model", Text),
    )


def _of_memory() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["session_id", "number"], ["memories.session_id", "memories.number"])


# ``name_key`` is the name with its case folded: the databases' own LOWER knows ASCII only, or depends on a locale.
# ``card`` holds what else a prompt needs, ``document`` the whole card as its author's program wrote it; a character from before
# cards could be brought has neither.
characters = Table(
    "characters",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("guild_id", BigInteger),
    required("owner_id", BigInteger),
    required("name", Text),
    required("name_key", Text),
    required("description", Text),
    required("first_message", Text),
    required("avatar_url", Text),
    required("created_at", UtcDateTime),
    Column("removed_at", UtcDateTime),
    Column("card", CardText),
    Column("document", Text),
    Column("adult", Boolean),
)
_named_in_guild = and_(characters.c.removed_at.is_(None), characters.c.guild_id.is_not(None))
_named_by_owner = and_(characters.c.removed_at.is_(None), characters.c.guild_id.is_(None))
Index(
    "uq_characters_guild_name",
    characters.c.guild_id,
    characters.c.name_key,
    unique=True,
    sqlite_where=_named_in_guild,
    postgresql_where=_named_in_guild,
)
Index(
    "uq_characters_owner_name",
    characters.c.owner_id,
    characters.c.name_key,
    unique=True,
    sqlite_where=_named_by_owner,
    postgresql_where=_named_by_owner,
)

# A session runs while it has no ``stopped_at``.
sessions = Table(
    "sessions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("guild_id", BigInteger),
    required("channel_id", BigInteger),
    Column("parent_id", BigInteger),
    required("character_id", Integer, ForeignKey("characters.id")),
    required("language", String(8)),
    required("started_at", UtcDateTime),
    required("running_since", UtcDateTime),
    Column("stopped_at", UtcDateTime),
    required("next_seq", Integer),
    required("next_number", Integer),
    required("folded_to", Integer),
    required("memory_text", Text),
    required("memory_tokens", Integer),
    required("raw_from", Integer),
    required("forced_cuts", Integer),
    Column("epoch", Integer),
    Column("mode", EnumText(Mode)),
    Column("pause_seconds", Integer),
    Column("marks", EnumText(Marks)),
    Index(None, "channel_id"),
    Index(None, "character_id"),
)
Index(
    "uq_sessions_running",
    sessions.c.channel_id,
    unique=True,
    sqlite_where=sessions.c.stopped_at.is_(None),
    postgresql_where=sessions.c.stopped_at.is_(None),
)

# Each name that a player had in a session, and the label that stands before their turns under that name.
players = Table(
    "players",
    metadata,
    Column("session_id", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("player_id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),
    required("label", Text),
)

turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    required("seq", Integer),
    required("author_kind", EnumText(AuthorKind)),
    required("author_id", BigInteger),
    required("author_name", Text),
    required("raw", Text),
    required("beats", BeatsText),
    required("tokens", Integer),
    required("state", EnumText(TurnState)),
    required("at", UtcDateTime),
    required("revision", Integer),
    required("in_character", Boolean),
    required("delivered", Boolean),
    *_costs(),
    Column("tail", Text),
    Column("tail_tokens", Integer),
    Column("telling", Integer),
    Column("persona_id", Integer),
    Column("waits", Boolean),
    UniqueConstraint("session_id", "seq"),
    # At start-up: what was being written, and what was not delivered.
    Index(None, "state", "delivered"),
)

# Every version of a reply that was told more than once; ``turns.telling`` is the number of the one that stands in the story.
tellings = Table(
    "tellings",
    metadata,
    Column("turn_id", Integer, ForeignKey("turns.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    required("raw", Text),
    required("beats", BeatsText),
    required("tokens", Integer),
    *_costs(),
)

_has_tail = turns.c.tail.is_not(None)
Index("ix_turns_tails", turns.c.session_id, sqlite_where=_has_tail, postgresql_where=_has_tail)

# The Discord messages that carry a turn: one of a player, one or more of a reply.
messages = Table(
    "messages",
    metadata,
    Column("message_id", BigInteger, primary_key=True, autoincrement=False),
    required("channel_id", BigInteger),
    required("turn_id", Integer, ForeignKey("turns.id")),
    Index(None, "turn_id"),
)

folds = Table(
    "folds",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    required("kind", EnumText(FoldKind)),
    required("state", EnumText(FoldState)),
    required("due_at", UtcDateTime),
    required("attempts", Integer),
    required("error", Text),
    Column("chapter", Integer),
    Column("failed_at_seq", Integer),
    Column("claimed_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Index(None, "state", "due_at"),
    Index(None, "session_id", "state"),
)

chapters = Table(
    "chapters",
    metadata,
    Column("session_id", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    required("first", Integer),
    required("last", Integer),
    required("absorbed", Boolean),
    Column("fold_id", Integer, ForeignKey("folds.id")),
    required("at", UtcDateTime),
    # True while the story is rewound to before its end.
    Column("aside", Boolean),
)

_young = chapters.c.absorbed.is_(False)
Index("ix_chapters_young", chapters.c.session_id, sqlite_where=_young, postgresql_where=_young)

# The ways that a story took and left.
branches = Table(
    "branches",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    required("at_seq", Integer),
    required("by", BigInteger),
    required("at", UtcDateTime),
    required("line", LineText),
    Index(None, "session_id"),
)

memories = Table(
    "memories",
    metadata,
    Column("session_id", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    *_content(),
    Column("chapter", Integer),
    required("version", Integer),
    required("corrected", Boolean),
    Column("restates", Integer),
    Column("resolved_by", Integer),
    ForeignKeyConstraint(["session_id", "chapter"], ["chapters.session_id", "chapters.ordinal"]),
    ForeignKeyConstraint(["session_id", "restates"], ["memories.session_id", "memories.number"]),
    Index(None, "session_id", "status", "kind", "number"),
    Index(None, "session_id", "chapter"),
)
_corrected = memories.c.corrected
Index("ix_memories_corrected", memories.c.session_id, sqlite_where=_corrected, postgresql_where=_corrected)

versions = Table(
    "versions",
    metadata,
    Column("session_id", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("version", Integer, primary_key=True),
    *_content(),
    required("by", Text),
    required("reason", Text),
    required("at", UtcDateTime),
    _of_memory(),
)

# The beats that a memory cites, in order.
evidence = Table(
    "evidence",
    metadata,
    Column("session_id", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    required("seq", Integer),
    required("beat", Integer),
    _of_memory(),
    ForeignKeyConstraint(["session_id", "seq"], ["turns.session_id", "turns.seq"]),
    Index(None, "session_id", "seq"),
)

# The memories that a memory stands for, in order.
condensations = Table(
    "condensations",
    metadata,
    Column("session_id", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    required("condensed", Integer),
    _of_memory(),
    ForeignKeyConstraint(["session_id", "condensed"], ["memories.session_id", "memories.number"]),
    Index(None, "session_id", "condensed"),
)

# What a turn or a memory is found by: its words, each between spaces. SQLite's full-text index follows it by triggers.
findable = Table(
    "findable",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    Column("seq", Integer),
    Column("number", Integer),
    required("at", UtcDateTime),
    required("words", Text),
    UniqueConstraint("session_id", "seq"),
    UniqueConstraint("session_id", "number"),
    ForeignKeyConstraint(["session_id", "seq"], ["turns.session_id", "turns.seq"]),
    _of_memory(),
)

# ``rejection`` is why an answer could not be used. ``epoch`` and ``forced_cuts`` are the session's when a reply's prompt was laid
# out.
calls = Table(
    "calls",
    metadata,
    Column("id", Integer, primary_key=True),
    required("purpose", String(32)),
    Column("session_id", Integer, ForeignKey("sessions.id")),
    required("model", Text),
    Column("prompt_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("completion_tokens", Integer),
    required("outcome", String(64)),
    required("attempts", Integer),
    required("milliseconds", Integer),
    required("at", UtcDateTime),
    Column("waited_milliseconds", Integer),
    Column("interruptions", Integer),
    Column("rejection", String(32)),
    Column("epoch", Integer),
    Column("forced_cuts", Integer),
    Index(None, "session_id"),
)

ratios = Table(
    "ratios",
    metadata,
    Column("model", Text, primary_key=True),
    Column("script", EnumText(Script), primary_key=True),
    required("estimated", Float),
    required("counted", Float),
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("webhook_id", BigInteger, primary_key=True, autoincrement=False),
    required("channel_id", BigInteger),
)

guild_settings = Table(
    "guild_settings",
    metadata,
    Column("guild_id", BigInteger, primary_key=True, autoincrement=False),
    Column("moderator_role_id", BigInteger),
    Column("log_channel_id", BigInteger),
    Column("time_zone", Text),
    Column("language", String(8)),
)

# What players reported as wrong.
flags = Table(
    "flags",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    required("number", Integer),
    required("by", BigInteger),
    required("why", Text),
    required("at", UtcDateTime),
    required("state", EnumText(FlagState)),
    Column("correction", EnumText(CorrectionKind)),
    Column("decided_by", BigInteger),
    Column("decided_at", UtcDateTime),
    _of_memory(),
    Index(None, "by", "at"),
    Index(None, "session_id", "state"),
)
