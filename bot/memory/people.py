"""What a character keeps about a person: exchanges of these days, notes of what was observed, and traits that have held.

A person is known to one character of one guild; what another character, or another guild, keeps about them is its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from bot.memory.story import FoldState
from bot.memory.turns import Turn


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """A person as one character knows them.

    ``guild_id`` is None where the two talk in direct messages. ``name`` is what the person was called last. ``remembered`` is
    false when the person does not want this character to keep anything.
    """

    id: int
    character_id: int
    character_name: str
    guild_id: int | None
    player_id: int
    name: str
    remembered: bool = True


class ExchangeState(StrEnum):
    """Where an exchange stands. ``dropped``: the judge failed on it for good."""

    FRESH = "fresh"
    JUDGED = "judged"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a person wrote, and the reply to it: the kept turns of a session from ``first`` to ``reply``, both included.

    Others may have written among them.
    """

    id: int
    session_id: int
    first: int
    reply: int
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """A beat of a story that shows something about a person; beats are counted from 1."""

    session_id: int
    seq: int
    beat: int


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note that the judge proposed and code accepted. ``at`` is when the newest thing it cites was written."""

    text: str
    sources: tuple[Source, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Note:
    """What was observed about a person: a handover to whoever is on duty next.

    ``judged`` says whether it was looked at for traits, ``absorbed`` whether a trait says the same now.
    """

    id: int
    text: str
    at: datetime
    sources: tuple[Source, ...] = ()
    judged: bool = False
    absorbed: bool = False


class TraitStatus(StrEnum):
    """How present a trait is.

    ``dormant``: not volunteered, but it revives when the talk touches it. ``forgotten``: out of use, and restorable by its
    person for a while.
    """

    ACTIVE = "active"
    DORMANT = "dormant"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Trait:
    """What has held for long about a person.

    ``importance`` is 1 to 5, 0 while it is dormant. ``matches`` counts how often it was seen, ``confirmed_at`` is the last
    time, and ``faded_at`` the time up to which its decay was counted. ``until`` is the date ahead that it is about, if any.
    A ``hazy`` one came back after it was dormant. ``dormant_at`` and ``forgotten_at`` say since when; ``deleted`` that its
    person took it away, which no judge brings back.
    """

    id: int
    text: str
    importance: int
    matches: int
    first_at: datetime
    confirmed_at: datetime
    faded_at: datetime
    until: date | None = None
    hazy: bool = False
    dormant_at: datetime | None = None
    forgotten_at: datetime | None = None
    deleted: bool = False
    sources: tuple[Source, ...] = ()

    @property
    def status(self) -> TraitStatus:
        """How present it is."""
        if self.forgotten_at is not None:
            return TraitStatus.FORGOTTEN
        return TraitStatus.ACTIVE if self.dormant_at is None else TraitStatus.DORMANT


@dataclass(frozen=True, slots=True)
class FormerText:
    """What a trait said before; ``by`` is ``judge`` or the Discord id of its person, ``until`` when it was overwritten."""

    text: str
    by: str
    until: datetime


@dataclass(frozen=True, slots=True)
class NewTrait:
    """A trait that the judge proposed and code accepted; ``note_ids`` are the notes that show it."""

    text: str
    sources: tuple[Source, ...]
    note_ids: tuple[int, ...] = ()
    until: date | None = None


class JudgementKind(StrEnum):
    """What is judged: exchanges for notes, or notes for traits."""

    NOTES = "notes"
    TRAITS = "traits"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A row of background work about one acquaintance.

    ``everything`` says whether all fresh exchanges are judged, instead of the oldest once enough of them wait. ``attempts``
    are all tries, ``failures`` those in which the judge was heard. ``error`` is a short code, no player's text.
    """

    id: int
    acquaintance_id: int
    kind: JudgementKind
    state: FoldState
    due_at: datetime
    attempts: int
    failures: int = 0
    everything: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Portrait:
    """All that a character keeps about a person, in use or not; ``former`` are the older texts by trait id."""

    acquaintance: Acquaintance
    notes: tuple[Note, ...] = ()
    traits: tuple[Trait, ...] = ()
    former: dict[int, tuple[FormerText, ...]] | None = None
    waiting: int = 0
