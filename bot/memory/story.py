"""Characters, sessions and the snapshot of a story that the use cases work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.memory.memories import Memory, SessionMemory, Version
from bot.memory.prompt import Card
from bot.memory.turns import Turn
from bot.memory.wording import Language


@dataclass(frozen=True, slots=True)
class Scope:
    """Who may use a character: a guild, or for a direct message the person alone."""

    guild_id: int | None
    owner_id: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session is told: a channel, a thread (with the channel it hangs on) or a direct message (no guild)."""

    guild_id: int | None
    channel_id: int
    parent_id: int | None = None


@dataclass(frozen=True, slots=True)
class Character:
    """A stored card. ``avatar_url`` is an address that does not expire, or empty."""

    id: int
    scope: Scope
    card: Card
    avatar_url: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Session:
    """One story in one channel. ``memory_tokens`` is the size of the rendered memory, in tokens.

    ``raw_from`` is the seq from which raw turns are shown after a forced cut (0: none); ``forced_cuts`` counts those.
    ``epoch`` grows whenever prompts stop repeating what they put before earlier turns.
    """

    id: int
    place: Place
    character: Character
    language: Language
    running: bool
    started_at: datetime
    stopped_at: datetime | None
    folded_to: int
    memory_tokens: int
    raw_from: int
    forced_cuts: int
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """The rendered memory, kept beside the rows so that its bytes change with a fold or correction and never else."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a reply's prompt is made of. ``turns`` are the kept turns that no chapter covers, in order."""

    session: Session
    memory_text: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Tail:
    """What a prompt puts before its newest turn, by the turn's id, with its size in tokens.

    ``epoch`` is the session's when it was laid out: what came of rows that changed since is not kept. ``revived`` are the ids
    of the dormant traits that it brings back.
    """

    turn_id: int
    text: str
    tokens: int
    epoch: int
    revived: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LastMessage:
    """The newest message (None before the first) that a running session knows of, and since when it has been running."""

    session_id: int
    channel_id: int
    since: datetime
    message_id: int | None


class FoldKind(StrEnum):
    """The background work on a session's memory."""

    FOLD = "fold"
    MAJOR = "major"
    REFOLD = "refold"
    AUDIT = "audit"


class FoldState(StrEnum):
    """Where a fold stands. A ``failed`` one has used up its tries."""

    DUE = "due"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Fold:
    """A row of background work. ``chapter`` is the ordinal of what a refold redoes or an audit looks at.

    ``error`` is a short code, no player's text.
    """

    id: int
    session_id: int
    kind: FoldKind
    state: FoldState
    due_at: datetime
    attempts: int
    error: str = ""
    chapter: int | None = None


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """Counts for ``/session info``: turns in all, turns and tokens not folded yet, memories in use, chapters, folds."""

    turns: int
    raw_turns: int
    raw_tokens: int
    memories: int
    chapters: int
    folds: tuple[Fold, ...] = ()


@dataclass(frozen=True, slots=True)
class Archive:
    """A whole story for export: every turn that was not taken back, and every memory with its history."""

    session: Session
    turns: tuple[Turn, ...]
    memory: SessionMemory
    histories: dict[int, tuple[Version, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """A memory with its history and the turns it cites, with the Discord messages that carry them."""

    memory: Memory
    history: tuple[Version, ...]
    turns: tuple[tuple[Turn, tuple[int, ...]], ...]
