"""What a session remembers: memories with their evidence, chapters, and the snapshot of both that a prompt is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from bot.memory.turns import Citation

# No Discord id is 0. Still an id to all that asks whether a person made a change.
BY_FORGOTTEN: Final = "0"


class MemoryKind(StrEnum):
    """What sort of thing a memory says."""

    EVENT = "event"
    FACT = "fact"
    CLAIM = "claim"
    SECRET = "secret"
    LOOSE_END = "loose_end"
    QUOTE = "quote"


class MemoryStatus(StrEnum):
    """Whether a memory is in use.

    ``condensed``: a newer memory stands for it. ``resolved``: a loose end that was tied. ``retracted``: taken out by a
    moderator. ``stale``: a turn it cites was edited or deleted; it is out of sight until its chapter is folded again.
    ``replaced``: its chapter was folded again. ``forgotten``: somebody that it told of asked to be forgotten; nothing of its
    words is left, and nothing brings it back. ``aside``: the story was rewound to before what it tells.
    """

    ACTIVE = "active"
    CONDENSED = "condensed"
    RESOLVED = "resolved"
    RETRACTED = "retracted"
    STALE = "stale"
    REPLACED = "replaced"
    FORGOTTEN = "forgotten"
    ASIDE = "aside"


@dataclass(frozen=True, slots=True)
class Content:
    """What a memory says; the part that a new version may change.

    ``speaker`` is who said a claim or quote, or whose secret it is; ``addressee`` whom it was said to; ``actual`` the true
    side of a secret; ``player_id`` the player that a fact is about; ``private`` whether only a thought shows it, which
    players do not get to read.
    """

    kind: MemoryKind
    text: str
    speaker: str = ""
    addressee: str = ""
    actual: str = ""
    player_id: int | None = None
    private: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """One numbered line of a session's memory, as its newest version has it.

    ``condenses`` are the numbers of the memories it stands for; ``restates`` is the number of the corrected memory that it
    repeats; ``corrected`` whether a moderator had the last word on it; ``resolved_by`` the seq of the turn that tied a
    loose end. ``chapter`` is the ordinal of the chapter it was written with, None for a line of the synopsis.
    """

    number: int
    content: Content
    status: MemoryStatus = MemoryStatus.ACTIVE
    cites: tuple[Citation, ...] = ()
    condenses: tuple[int, ...] = ()
    chapter: int | None = None
    version: int = 1
    corrected: bool = False
    restates: int | None = None
    resolved_by: int | None = None

    @property
    def kind(self) -> MemoryKind:
        """The kind of its newest version."""
        return self.content.kind

    @property
    def is_active(self) -> bool:
        """Whether prompts may show it."""
        return self.status is MemoryStatus.ACTIVE


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that a fold found and code accepted; it gets its number when it is stored."""

    content: Content
    cites: tuple[Citation, ...] = ()
    condenses: tuple[int, ...] = ()
    restates: int | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One entry of a memory's history.

    ``by`` is ``fold``, ``major fold``, ``audit``, ``edit``, ``deletion``, ``rewinding``, ``forgetting``, or a moderator's
    Discord id, which is :data:`BY_FORGOTTEN` after the moderator asked to be forgotten.
    """

    version: int
    content: Content
    status: MemoryStatus
    by: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Chapter:
    """The memories of one folded stretch. ``absorbed``: a major fold moved it into the synopsis."""

    ordinal: int
    first: int
    last: int
    absorbed: bool = False


@dataclass(frozen=True, slots=True)
class Viewer:
    """A character who has a memory of the story; ``since`` is the first seq that it was there for, 0 for the lead."""

    character_id: int
    since: int


@dataclass(frozen=True, slots=True)
class Voices:
    """Who said what memories cite. ``viewers`` are the characters present, the lead first.

    ``authors`` are the characters who gave the cited replies, by seq, and ``thoughts`` those of the cited beats that nobody else
    heard.
    """

    viewers: tuple[Viewer, ...]
    authors: Mapping[int, int]
    thoughts: frozenset[Citation] = frozenset()


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """Everything a session remembers, in the order of the numbers. ``voices`` is None while nobody but the lead ever spoke."""

    chapters: tuple[Chapter, ...] = ()
    memories: tuple[Memory, ...] = ()
    voices: Voices | None = None

    @property
    def folded_to(self) -> int:
        """The seq of the last turn that a chapter covers; 0 before the first fold."""
        return max((chapter.last for chapter in self.chapters), default=0)

    def of_chapter(self, chapter: Chapter) -> tuple[Memory, ...]:
        """The active memories written with a chapter, loose ends and quotes apart: they have a place of their own."""
        return tuple(m for m in self.memories if m.is_active and m.chapter == chapter.ordinal and _in_story(m))

    def of_synopsis(self) -> tuple[Memory, ...]:
        """The active memories of the old generation: condensed events, and the ledger of the absorbed chapters."""
        young = {chapter.ordinal for chapter in self.chapters if not chapter.absorbed}
        return tuple(m for m in self.memories if m.is_active and m.chapter not in young and _in_story(m))

    def open_ends(self) -> tuple[Memory, ...]:
        """The loose ends nobody has tied yet, oldest first."""
        return self._active(MemoryKind.LOOSE_END)

    def quotes(self) -> tuple[Memory, ...]:
        """The kept quotes, oldest first."""
        return self._active(MemoryKind.QUOTE)

    def settled(self) -> tuple[Memory, ...]:
        """The memories on which a moderator had the last word, in use or not."""
        return tuple(m for m in self.memories if m.corrected)

    def get(self, number: int) -> Memory | None:
        """The memory with a number, whatever its status."""
        return next((m for m in self.memories if m.number == number), None)

    def with_found(self, found: Iterable[Memory]) -> SessionMemory:
        """The same with more memories, of which some may be known already."""
        known = {m.number: m for m in (*found, *self.memories)}
        return replace(self, memories=tuple(known[number] for number in sorted(known)))

    def with_memory(self, changed: Memory) -> SessionMemory:
        """The same with one memory replaced by its newer version."""
        return replace(self, memories=tuple(changed if m.number == changed.number else m for m in self.memories))

    def _active(self, kind: MemoryKind) -> tuple[Memory, ...]:
        return tuple(m for m in self.memories if m.is_active and m.kind is kind)


def derived_from(
    memories: Iterable[Memory], seqs: frozenset[int], numbers: frozenset[int] = frozenset()
) -> frozenset[int]:
    """The numbers of all memories that cite one of the turns, and of all that condense one of those, in any generation.

    With ``numbers`` those memories count as citing one.
    """
    known = tuple(memories)
    return above(known, {m.number for m in known if m.number in numbers or any(cite.seq in seqs for cite in m.cites)})


def above(memories: Iterable[Memory], numbers: Iterable[int]) -> frozenset[int]:
    """The numbers of some memories, and of all that condense one of them, in any generation."""
    known, reached = tuple(memories), set(numbers)
    while True:
        more = {m.number for m in known if reached.intersection(m.condenses)} - reached
        if not more:
            return frozenset(reached)
        reached |= more


def after_change(memory: SessionMemory, seqs: frozenset[int]) -> tuple[Memory, ...]:
    """The memories that change when turns were edited or deleted, as they are afterwards.

    Everything derived from the turns, in any generation, goes out of sight; what a condensed line stood for besides comes
    back into use, so that nothing else is forgotten with it. A loose end that one of the turns tied is open again. What a
    moderator retracted stays retracted.
    """
    untouched = (MemoryStatus.REPLACED, MemoryStatus.RETRACTED, MemoryStatus.FORGOTTEN)
    return _without(memory, seqs, derived_from(memory.memories, seqs), MemoryStatus.STALE, untouched)


def after_rewinding(memory: SessionMemory, cut: int, end: int) -> tuple[Memory, ...]:
    """The memories that change when the turns from ``cut`` to before ``end`` are set aside, with the chapters that cover them.

    As by a change of those turns, but what goes out of sight is set aside.
    """
    seqs = frozenset(range(cut, end))
    untouched = (MemoryStatus.REPLACED, MemoryStatus.RETRACTED, MemoryStatus.STALE, MemoryStatus.FORGOTTEN)
    return _without(memory, seqs, derived_from(memory.memories, seqs), MemoryStatus.ASIDE, untouched)


def _without(
    memory: SessionMemory,
    seqs: frozenset[int],
    reached: frozenset[int],
    out_of_sight: MemoryStatus,
    untouched: Collection[MemoryStatus],
) -> tuple[Memory, ...]:
    hidden = [m for m in memory.memories if m.number in reached and m.status not in untouched]
    standing = (MemoryStatus.ACTIVE, MemoryStatus.CONDENSED)
    freed = {number for m in hidden if m.status in standing for number in m.condenses} - reached
    revived = [m for m in memory.memories if m.number in freed and m.status is MemoryStatus.CONDENSED]
    untied = {m.number for m in memory.memories if m.resolved_by in seqs}
    stale = [m for m in memory.memories if m.status is MemoryStatus.STALE and m.number in untied]
    return tuple(
        [replace(m, resolved_by=None, version=m.version + 1) for m in stale]
        + [
            replace(
                m,
                status=out_of_sight,
                resolved_by=None if m.number in untied else m.resolved_by,
                version=m.version + 1,
            )
            for m in hidden
            if m.status not in (out_of_sight, MemoryStatus.STALE)
        ]
        + [replace(m, status=MemoryStatus.ACTIVE, version=m.version + 1) for m in revived]
        + [
            replace(m, status=MemoryStatus.ACTIVE, resolved_by=None, version=m.version + 1)
            for m in memory.memories
            if m.status is MemoryStatus.RESOLVED and m.number in untied - reached
        ]
    )


def _in_story(memory: Memory) -> bool:
    return memory.kind not in (MemoryKind.LOOSE_END, MemoryKind.QUOTE)
