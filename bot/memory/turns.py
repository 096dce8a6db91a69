"""Turns and beats: what was written, in order, and the pieces it is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class BeatKind(StrEnum):
    """What a piece of a turn is."""

    NARRATION = "narration"
    SPEECH = "speech"
    THOUGHT = "thought"
    OOC = "ooc"


class AuthorKind(StrEnum):
    """Who wrote a turn."""

    PLAYER = "player"
    CHARACTER = "character"


class TurnState(StrEnum):
    """Where a turn stands.

    ``writing``: a reply whose place is taken while the model works. ``kept``: committed and part of the story.
    ``failed``: a reply that never reached the players; it never happened. ``deleted``: taken back by its author.
    ``aside``: the story was rewound to before it; it comes back only if the story does.
    """

    WRITING = "writing"
    KEPT = "kept"
    FAILED = "failed"
    DELETED = "deleted"
    ASIDE = "aside"


@dataclass(frozen=True, slots=True)
class Beat:
    """A piece of a turn; ``speaker`` is the name of who speaks or thinks, or of the narrating author."""

    kind: BeatKind
    text: str
    speaker: str


@dataclass(frozen=True, slots=True)
class Author:
    """A player (``id`` is their Discord id) or a character (``id`` is its row).

    ``persona_id`` is who a player spoke as, or None for themselves.
    """

    kind: AuthorKind
    id: int
    name: str
    persona_id: int | None = None

    @property
    def is_player(self) -> bool:
        """Whether a person wrote it."""
        return self.kind is AuthorKind.PLAYER

    @property
    def voice(self) -> tuple[int, int | None]:
        """What stays the same under every name: the id, and the persona of a player."""
        return self.id, self.persona_id


@dataclass(frozen=True, slots=True, order=True)
class Citation:
    """A beat of a turn, both numbered as people count: beats start at 1."""

    seq: int
    beat: int

    def __str__(self) -> str:
        return f"{self.seq}.{self.beat}"

    @classmethod
    def parse(cls, text: str) -> Citation | None:
        """Read ``"12.3"`` or ``"12"`` (its first beat), with or without brackets; None when it is neither."""
        head, _, tail = text.strip().strip("[]").partition(".")
        digits = (head, tail or "1")
        if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in digits):
            return None
        return cls(int(digits[0]), int(digits[1]))


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a player or one reply of a character.

    ``raw`` is what was written, byte for byte. ``tokens`` is what it takes in a prompt, counted once when stored.
    ``revision`` grows with each edit, so that a fold can tell whether its source changed meanwhile. ``tail`` is what was put
    before it when it was answered, of ``tail_tokens`` tokens; later prompts repeat it.
    """

    id: int
    seq: int
    author: Author
    raw: str
    beats: tuple[Beat, ...]
    tokens: int
    state: TurnState
    at: datetime
    revision: int = 1
    tail: str = ""
    tail_tokens: int = 0

    @property
    def is_out_of_character(self) -> bool:
        """Whether nothing of it belongs to the story."""
        return all(beat.kind is BeatKind.OOC for beat in self.beats)

    def beat(self, citation: Citation) -> Beat | None:
        """The cited beat, or None when this turn has no such beat."""
        if citation.seq != self.seq or not 1 <= citation.beat <= len(self.beats):
            return None
        return self.beats[citation.beat - 1]


@dataclass(frozen=True, slots=True)
class Telling:
    """One version of a reply: ``raw`` as the model wrote it, byte for byte, its beats, and what the server counted.

    ``tokens`` is what it takes in a prompt; the other counts are None where the server gave none.
    """

    raw: str
    beats: tuple[Beat, ...]
    tokens: int
    finish_reason: str | None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None

    @property
    def was_cut(self) -> bool:
        """Whether it was cut by the limit of a reply's length."""
        return self.finish_reason == "length"


@dataclass(frozen=True, slots=True)
class PlayerMessage:
    """A message as the gateway brought it: plain data, no Discord object.

    ``channel_id`` is the channel or thread it was written in; ``message_id`` makes a replayed event harmless. Once it was
    heard, ``persona_id`` is who its author speaks as, ``author_name`` that persona's name and ``text`` what they say, with a
    note for each of the ``pictures``, which are what its author says that they show, or the names of their files.
    ``reply_to`` is the message it replies to, and ``mentions_bot`` whether it calls the bot itself.
    """

    message_id: int
    channel_id: int
    author_id: int
    author_name: str
    text: str
    at: datetime
    persona_id: int | None = None
    pictures: tuple[str, ...] = ()
    reply_to: int | None = None
    mentions_bot: bool = False


@dataclass(frozen=True, slots=True)
class Understood:
    """What a player's message means: what who it speaks as says, in beats, and its size in tokens.

    ``waits`` says whether it asks for an answer, and ``addressed`` to which character's words it replies.
    """

    message: PlayerMessage
    beats: tuple[Beat, ...]
    tokens: int
    waits: bool = True
    addressed: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A turn of a story that was told before: who wrote it, what, its size in tokens, and the message that carries it."""

    author: Author
    raw: str
    beats: tuple[Beat, ...]
    tokens: int
    at: datetime
    message_id: int


def unanswered(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The players' turns in character after the last reply that is kept or being written."""
    waiting: list[Turn] = []
    for turn in turns:
        if turn.author.is_player:
            if turn.state is TurnState.KEPT and not turn.is_out_of_character:
                waiting.append(turn)
        elif turn.state in (TurnState.KEPT, TurnState.WRITING):
            waiting.clear()
    return tuple(waiting)
