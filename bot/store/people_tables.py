"""The tables about persons: who they play, what characters keep about them, and what they wish. Begun in ``tables``."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from bot.memory.people import ExchangeState, JudgementKind
from bot.memory.story import FoldState
from bot.store.columns import BracketsText, EnumText, UtcDateTime, required
from bot.store.tables import metadata


def _acquaintance() -> Column[Any]:
    return required("acquaintance_id", Integer, ForeignKey("acquaintances.id"))


def _sources(owner: str, *more: Column[Any]) -> Table:
    """The beats that a note or a trait comes from, in order."""
    return Table(
        f"{owner}_sources",
        metadata,
        Column(f"{owner}_id", Integer, ForeignKey(f"{owner}s.id"), primary_key=True),
        Column("position", Integer, primary_key=True),
        required("session_id", Integer),
        required("seq", Integer),
        required("beat", Integer),
        *more,
        ForeignKeyConstraint(["session_id", "seq"], ["turns.session_id", "turns.seq"]),
        Index(None, "session_id", "seq"),
    )


# Who players play. An id is never given twice: it stays with the turns after the persona is gone.
personas = Table(
    "personas",
    metadata,
    Column("id", Integer, primary_key=True),
    required("player_id", BigInteger),
    required("name", Text),
    required("name_key", Text),
    required("description", Text),
    required("brackets", BracketsText),
    required("avatar_url", Text),
    UniqueConstraint("player_id", "name_key"),
    sqlite_autoincrement=True,
)

# Which persona is active in a guild, or under 0 in direct messages.
active_personas = Table(
    "active_personas",
    metadata,
    Column("player_id", BigInteger, primary_key=True, autoincrement=False),
    Column("guild_id", BigInteger, primary_key=True, autoincrement=False),
    required("persona_id", Integer, ForeignKey("personas.id")),
)

# Each name that a persona had in a session, and the label that stands before its turns under that name.
persona_labels = Table(
    "persona_labels",
    metadata,
    Column("session_id", Integer, ForeignKey("sessions.id"), primary_key=True),
    Column("persona_id", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),
    required("player_id", BigInteger),
    required("label", Text),
)

# A person as a character knows them. Not ``remembered``: nothing may be kept.
acquaintances = Table(
    "acquaintances",
    metadata,
    Column("id", Integer, primary_key=True),
    required("character_id", Integer, ForeignKey("characters.id")),
    required("player_id", BigInteger),
    required("name", Text),
    required("remembered", Boolean),
    UniqueConstraint("character_id", "player_id"),
    Index(None, "player_id"),
)

# Who does not want any character to keep anything.
strangers = Table(
    "strangers",
    metadata,
    Column("player_id", BigInteger, primary_key=True, autoincrement=False),
    required("at", UtcDateTime),
)

exchanges = Table(
    "exchanges",
    metadata,
    Column("id", Integer, primary_key=True),
    _acquaintance(),
    required("session_id", Integer),
    required("first", Integer),
    required("reply", Integer),
    required("state", EnumText(ExchangeState)),
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
    required("text", Text),
    required("at", UtcDateTime),
    required("judged", Boolean),
    required("absorbed", Boolean),
    required("removed", Boolean),
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
    required("text", Text),
    required("importance", Integer),
    required("matches", Integer),
    required("first_at", UtcDateTime),
    required("confirmed_at", UtcDateTime),
    required("faded_at", UtcDateTime),
    Column("until", Date),
    required("hazy", Boolean),
    Column("dormant_at", UtcDateTime),
    Column("forgotten_at", UtcDateTime),
    required("deleted", Boolean),
    Column("imported", Text),
    UniqueConstraint("acquaintance_id", "imported"),
    Index(None, "acquaintance_id"),
    sqlite_autoincrement=True,
)
# ``former``: it shows what the trait said before, not what it says now.
trait_sources = _sources("trait", required("former", Boolean))

# What a trait said before, oldest first.
former_texts = Table(
    "former_texts",
    metadata,
    Column("trait_id", Integer, ForeignKey("traits.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    required("text", Text),
    required("by", Text),
    required("until", UtcDateTime),
)

# ``attempts`` are all tries, ``failures`` those in which the judge was heard and answered nothing usable.
judgements = Table(
    "judgements",
    metadata,
    Column("id", Integer, primary_key=True),
    _acquaintance(),
    required("kind", EnumText(JudgementKind)),
    required("everything", Boolean),
    required("state", EnumText(FoldState)),
    required("due_at", UtcDateTime),
    required("attempts", Integer),
    required("failures", Integer),
    required("error", Text),
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
    required("day", Date),
)

# Persons who asked to be forgotten, until that is done; and guilds that removed the bot.
forgettings = Table(
    "forgettings",
    metadata,
    Column("player_id", BigInteger, primary_key=True, autoincrement=False),
    required("asked_at", UtcDateTime),
    Column("emptied_at", UtcDateTime),
)
departures = Table(
    "departures",
    metadata,
    Column("guild_id", BigInteger, primary_key=True, autoincrement=False),
    required("at", UtcDateTime),
)
