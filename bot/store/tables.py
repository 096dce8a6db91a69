"""The tables. ``migrations/`` builds the same; a test compares the two."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
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
from bot.memory.memories import MemoryKind, MemoryStatus
from bot.memory.moderation import FlagState
from bot.memory.people import ExchangeState, JudgementKind
from bot.memory.story import FoldKind, FoldState
from bot.memory.tokens import Script
from bot.memory.turns import AuthorKind, TurnState
from bot.store.columns import BeatsText, EnumText, UtcDateTime

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _required(name: str, kind: Any, *more: Any) -> Column[Any]:
    return Column(name, kind, *more, nullable=False)


def _session() -> Column[Any]:
    return _required("session_id", Integer, ForeignKey("sessions.id"))


def _content() -> tuple[Column[Any], ...]:
    """What a memory says; the newest version stands in ``memories``, all of them in ``versions``."""
    return (
        _required("kind", EnumText(MemoryKind)),
        _required("text", Text),
        _required("speaker", Text),
        _required("addressee", Text),
        _required("actual", Text),
        Column("player_id", BigInteger),
        _required("private", Boolean),
        _required("status", EnumText(MemoryStatus)),
    )


def _of_memory() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["session_id", "number"], ["memories.session_id", "memories.number"])


def _acquaintance() -> Column[Any]:
    return _required("acquaintance_id", Integer, ForeignKey("acquaintances.id"))


def _sources(owner: str, *more: Column[Any]) -> Table:
    """The beats that a note or a trait comes from, in order."""
    return Table(
        f"{owner}_sources",
        metadata,
        Column(f"{owner}_id", Integer, ForeignKey(f"{owner}s.id"), primary_key=True),
        Column("position", Integer, primary_key=True),
        _required("session_id", Integer),
        _required("seq", Integer),
        _required("beat", Integer),
        *more,
        ForeignKeyConstraint(["session_id", "seq"], ["turns.session_id", "turns.seq"]),
        Index(None, "session_id", "seq"),
    )


# ``name_key`` is the name with its case folded: the databases' own LOWER knows ASCII only, or depends on a locale.
characters = Table(
    "characters",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("guild_id", BigInteger),
    _required("owner_id", BigInteger),
    _required("name", Text),
    _required("name_key", Text),
    _required("description", Text),
    _required("first_message", Text),
    _required("avatar_url", Text),
    _required("created_at", UtcDateTime),
    Column("removed_at", UtcDateTime),
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
    _required("channel_id", BigInteger),
    Column("parent_id", BigInteger),
    _required("character_id", Integer, ForeignKey("characters.id")),
    _required("language", String(8)),
    _required("started_at", UtcDateTime),
    _required("running_since", UtcDateTime),
    Column("stopped_at", UtcDateTime),
    _required("next_seq", Integer),
    _required("next_number", Integer),
    _required("folded_to", Integer),
    _required("memory_text", Text),
    _required("memory_tokens", Integer),
    _required("raw_from", Integer),
    _required("forced_cuts", Integer),
    Column("epoch", Integer),
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
    _required("label", Text),
)

turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    _required("seq", Integer),
    _required("author_kind", EnumText(AuthorKind)),
    _required("author_id", BigInteger),
    _required("author_name", Text),
    _required("raw", Text),
    _required("beats", BeatsText),
    _required("tokens", Integer),
    _required("state", EnumText(TurnState)),
    _required("at", UtcDateTime),
    _required("revision", Integer),
    _required("in_character", Boolean),
    _required("delivered", Boolean),
    Column("finish_reason", String(32)),
    Column("prompt_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("model", Text),
    Column("tail", Text),
    Column("tail_tokens", Integer),
    UniqueConstraint("session_id", "seq"),
    # At start-up: what was being written, and what was not delivered.
    Index(None, "state", "delivered"),
)

_has_tail = turns.c.tail.is_not(None)
Index("ix_turns_tails", turns.c.session_id, sqlite_where=_has_tail, postgresql_where=_has_tail)

# The Discord messages that carry a turn: one of a player, one or more of a reply.
messages = Table(
    "messages",
    metadata,
    Column("message_id", BigInteger, primary_key=True, autoincrement=False),
    _required("channel_id", BigInteger),
    _required("turn_id", Integer, ForeignKey("turns.id")),
    Index(None, "turn_id"),
)

folds = Table(
    "folds",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    _required("kind", EnumText(FoldKind)),
    _required("state", EnumText(FoldState)),
    _required("due_at", UtcDateTime),
    _required("attempts", Integer),
    _required("error", Text),
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
    _required("first", Integer),
    _required("last", Integer),
    _required("absorbed", Boolean),
    Column("fold_id", Integer, ForeignKey("folds.id")),
    _required("at", UtcDateTime),
)

memories = Table(
    "memories",
    metadata,
    Column("session_id", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    *_content(),
    Column("chapter", Integer),
    _required("version", Integer),
    _required("corrected", Boolean),
    Column("restates", Integer),
    Column("resolved_by", Integer),
    ForeignKeyConstraint(["session_id", "chapter"], ["chapters.session_id", "chapters.ordinal"]),
    ForeignKeyConstraint(["session_id", "restates"], ["memories.session_id", "memories.number"]),
)

versions = Table(
    "versions",
    metadata,
    Column("session_id", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("version", Integer, primary_key=True),
    *_content(),
    _required("by", Text),
    _required("reason", Text),
    _required("at", UtcDateTime),
    _of_memory(),
)

# The beats that a memory cites, in order.
evidence = Table(
    "evidence",
    metadata,
    Column("session_id", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    _required("seq", Integer),
    _required("beat", Integer),
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
    _required("condensed", Integer),
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
    _required("at", UtcDateTime),
    _required("words", Text),
    UniqueConstraint("session_id", "seq"),
    UniqueConstraint("session_id", "number"),
    ForeignKeyConstraint(["session_id", "seq"], ["turns.session_id", "turns.seq"]),
    _of_memory(),
)

calls = Table(
    "calls",
    metadata,
    Column("id", Integer, primary_key=True),
    _required("purpose", String(32)),
    Column("session_id", Integer, ForeignKey("sessions.id")),
    _required("model", Text),
    Column("prompt_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("completion_tokens", Integer),
    _required("outcome", String(64)),
    _required("attempts", Integer),
    _required("milliseconds", Integer),
    _required("at", UtcDateTime),
    Index(None, "session_id"),
)

ratios = Table(
    "ratios",
    metadata,
    Column("model", Text, primary_key=True),
    Column("script", EnumText(Script), primary_key=True),
    _required("estimated", Float),
    _required("counted", Float),
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("webhook_id", BigInteger, primary_key=True, autoincrement=False),
    _required("channel_id", BigInteger),
)

guild_settings = Table(
    "guild_settings",
    metadata,
    Column("guild_id", BigInteger, primary_key=True, autoincrement=False),
    Column("moderator_role_id", BigInteger),
    Column("log_channel_id", BigInteger),
    Column("time_zone", Text),
)

# What players reported as wrong.
flags = Table(
    "flags",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    _required("number", Integer),
    _required("by", BigInteger),
    _required("why", Text),
    _required("at", UtcDateTime),
    _required("state", EnumText(FlagState)),
    Column("correction", EnumText(CorrectionKind)),
    Column("decided_by", BigInteger),
    Column("decided_at", UtcDateTime),
    _of_memory(),
    Index(None, "by", "at"),
    Index(None, "session_id", "state"),
)

# A person as a character knows them. Not ``remembered``: nothing may be kept.
acquaintances = Table(
    "acquaintances",
    metadata,
    Column("id", Integer, primary_key=True),
    _required("character_id", Integer, ForeignKey("characters.id")),
    _required("player_id", BigInteger),
    _required("name", Text),
    _required("remembered", Boolean),
    UniqueConstraint("character_id", "player_id"),
    Index(None, "player_id"),
)

# Who does not want any character to keep anything.
strangers = Table(
    "strangers",
    metadata,
    Column("player_id", BigInteger, primary_key=True, autoincrement=False),
    _required("at", UtcDateTime),
)

exchanges = Table(
    "exchanges",
    metadata,
    Column("id", Integer, primary_key=True),
    _acquaintance(),
    _required("session_id", Integer),
    _required("first", Integer),
    _required("reply", Integer),
    _required("state", EnumText(ExchangeState)),
    ForeignKeyConstraint(["session_id", "reply"], ["turns.session_id", "turns.seq"]),
    UniqueConstraint("acquaintance_id", "session_id", "reply"),
    Index(None, "acquaintance_id", "state"),
    Index(None, "session_id", "reply"),
)

# Ids are not used again: a button that a person left open names one. ``removed``: its person deleted it, and its text is gone;
# what it came from is not noted again.
notes = Table(
    "notes",
    metadata,
    Column("id", Integer, primary_key=True),
    _acquaintance(),
    _required("text", Text),
    _required("at", UtcDateTime),
    _required("judged", Boolean),
    _required("absorbed", Boolean),
    _required("removed", Boolean),
    Index(None, "acquaintance_id"),
    sqlite_autoincrement=True,
)
note_sources = _sources("note")

# ``imported`` tells a line of an import from all others, so that it is imported once.
traits = Table(
    "traits",
    metadata,
    Column("id", Integer, primary_key=True),
    _acquaintance(),
    _required("text", Text),
    _required("importance", Integer),
    _required("matches", Integer),
    _required("first_at", UtcDateTime),
    _required("confirmed_at", UtcDateTime),
    _required("faded_at", UtcDateTime),
    Column("until", Date),
    _required("hazy", Boolean),
    Column("dormant_at", UtcDateTime),
    Column("forgotten_at", UtcDateTime),
    _required("deleted", Boolean),
    Column("imported", Text),
    UniqueConstraint("acquaintance_id", "imported"),
    Index(None, "acquaintance_id"),
    sqlite_autoincrement=True,
)
# ``former``: it shows what the trait said before, not what it says now.
trait_sources = _sources("trait", _required("former", Boolean))

# What a trait said before, oldest first.
former_texts = Table(
    "former_texts",
    metadata,
    Column("trait_id", Integer, ForeignKey("traits.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    _required("text", Text),
    _required("by", Text),
    _required("until", UtcDateTime),
)

# ``attempts`` are all tries, ``failures`` those in which the judge was heard and answered nothing usable.
judgements = Table(
    "judgements",
    metadata,
    Column("id", Integer, primary_key=True),
    _acquaintance(),
    _required("kind", EnumText(JudgementKind)),
    _required("everything", Boolean),
    _required("state", EnumText(FoldState)),
    _required("due_at", UtcDateTime),
    _required("attempts", Integer),
    _required("failures", Integer),
    _required("error", Text),
    Column("claimed_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Index(None, "state", "due_at"),
    Index(None, "acquaintance_id", "state"),
)

# The last day, by a guild's own calendar, whose morning was held; guild 0 stands for direct messages.
mornings = Table(
    "mornings",
    metadata,
    Column("guild_id", BigInteger, primary_key=True, autoincrement=False),
    _required("day", Date),
)

# Persons who asked to be forgotten, until that is done; and guilds that removed the bot.
forgettings = Table(
    "forgettings",
    metadata,
    Column("player_id", BigInteger, primary_key=True, autoincrement=False),
    _required("asked_at", UtcDateTime),
    Column("emptied_at", UtcDateTime),
)
departures = Table(
    "departures",
    metadata,
    Column("guild_id", BigInteger, primary_key=True, autoincrement=False),
    _required("at", UtcDateTime),
)
