"""Characters, sessions and the snapshot of a story that the use cases work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.memory.branches import Branch
from bot.memory.manners import USUAL, SessionManners
from bot.memory.memories import Memory, SessionMemory, Version
from bot.memory.prompt import Card
from bot.memory.turns import Telling, Turn
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
    """A stored card. ``avatar_url`` is an address that does not expire, or empty.

    One marked ``adult`` may only be played in places for adults. One that was ``removed`` stays with its stories.
    """

    id: int
    scope: Scope
    card: Card
    avatar_url: str
    created_at: datetime
    adult: bool = False
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A character of a story's cast. ``since`` is the first seq that it was there for; 0 for the lead, whom the story began with.

    One that is not ``present`` left; its replies stay.
    """

    character: Character
    since: int = 0
    present: bool = True


@dataclass(frozen=True, slots=True)
class Session:
    """One story in one channel. ``character`` is the lead, ``others`` are those who joined later, also those who left again.

    ``memory_tokens`` is the size of the rendered memory in tokens, of the largest where each character has its own.
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
    manners: SessionManners = USUAL
    others: tuple[Member, ...] = ()

    @property
    def cast(self) -> tuple[Member, ...]:
        """Who is there: the lead, then the others in the order in which they joined."""
        return (Member(self.character), *(member for member in self.others if member.present))

    def member(self, character_id: int) -> Member | None:
        """The present member that is a character."""
        return next((member for member in self.cast if member.character.id == character_id), None)

    def author(self, turn: Turn) -> Character:
        """The character who gave a reply, whether they are still there or not; the lead for what is no other's."""
        gave = (member.character for member in self.others if member.character.id == turn.author.id)
        return self.character if turn.author.is_player else next(gave, self.character)


@dataclass(frozen=True, slots=True)
class Head:
    """The rendered memory, kept beside the rows so that its bytes change with a fold or correction and never else.

    ``others`` are the heads of the present members other than the lead, by the character's id. ``is_full``: lines were left out
    for want of room, so that with more lines that leave before these it would be the same.
    """

    text: str
    tokens: int
    others: tuple[tuple[int, Head], ...] = ()
    is_full: bool = False

    @property
    def largest(self) -> int:
        """The size of the largest of them, in tokens."""
        return max([self.tokens, *(head.tokens for _, head in self.others)])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a reply's prompt is made of. ``turns`` are the kept turns that no chapter covers, in order.

    Memory, turns and their tails are as ``speaker``, who is to reply, has them: nothing from before they joined, and no
    other's thoughts. None is the lead.
    """

    session: Session
    memory_text: str
    turns: tuple[Turn, ...]
    speaker: Member | None = None

    @property
    def character(self) -> Character:
        """Who is to reply."""
        return self.speaker.character if self.speaker else self.session.character

    @property
    def viewer_id(self) -> int | None:
        """Who is to reply, by id; None while nobody but the lead was ever in the story."""
        return self.character.id if self.session.others else None


@dataclass(frozen=True, slots=True)
class Begun:
    """A reply that is being written, and what its prompt is made of."""

    turn: Turn
    snapshot: Snapshot


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
    """Counts for ``/session info``: turns in all, turns and tokens not folded yet, memories in use, chapters, folds.

    The tokens are those that count towards the trigger: the turns' tails are among them.
    """

    turns: int
    raw_turns: int
    raw_tokens: int
    memories: int
    chapters: int
    folds: tuple[Fold, ...] = ()


@dataclass(frozen=True, slots=True)
class Archive:
    """A whole story for export: every turn that was not taken back, and every memory with its history.

    ``tellings`` are those of the replies that were told more than once, by the turn's id, with the number of the one that
    stands in the story. ``aside`` are the turns of the ways that it left, its ``branches``.
    """

    session: Session
    turns: tuple[Turn, ...]
    memory: SessionMemory
    histories: dict[int, tuple[Version, ...]] = field(default_factory=dict)
    tellings: dict[int, tuple[int, tuple[Telling, ...]]] = field(default_factory=dict)
    aside: tuple[Turn, ...] = ()
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """A memory with its history and the turns it cites, with the Discord messages that carry them."""

    memory: Memory
    history: tuple[Version, ...]
    turns: tuple[tuple[Turn, tuple[int, ...]], ...]
