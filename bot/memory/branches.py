"""Ways that a story took and left: what each consisted of, and how the memory stands once one is taken up again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from bot.memory.memories import Chapter, Memory, MemoryStatus, SessionMemory, derived_from
from bot.memory.turns import Turn

_HAS_BEEN_CHANGED: Final = (
    MemoryStatus.STALE,
    MemoryStatus.REPLACED,
    MemoryStatus.RETRACTED,
    MemoryStatus.FORGOTTEN,
)
_STANDING: Final = (MemoryStatus.ACTIVE, MemoryStatus.CONDENSED)


@dataclass(frozen=True, slots=True)
class Line:
    """What a way consisted of when it was left.

    ``turns`` are the seqs of its kept turns; ``chapters`` says of the ordinal of each of its chapters whether a major fold had
    absorbed it; ``statuses`` and ``resolved`` (the seq of the turn that tied a loose end) are of its memories by number;
    ``decided`` is the version that a moderator made last of those on which one had a word. ``raw_from`` is the session's.
    """

    turns: frozenset[int]
    chapters: Mapping[int, bool]
    statuses: Mapping[int, MemoryStatus]
    resolved: Mapping[int, int]
    decided: Mapping[int, int]
    raw_from: int = 0


@dataclass(frozen=True, slots=True)
class Branch:
    """A way that was left after the turn ``at_seq`` and can be taken up again.

    ``turns`` are those of its turns that are out of sight now, in order; ``by`` is the Discord id of who left it.
    """

    id: int
    session_id: int
    at_seq: int
    by: int
    at: datetime
    turns: tuple[Turn, ...]


def cut_at(chapters: tuple[Chapter, ...], seq: int) -> int:
    """From which seq on nothing is folded any more when a story is rewound to a turn.

    The chapter that the turn stands in is set aside as a whole, so that the newest turn is raw: it may be told anew.
    """
    return min([seq + 1, *(chapter.first for chapter in chapters if chapter.last >= seq)])


def taken_up(
    memory: SessionMemory, line: Line, turns: frozenset[int], decided: Mapping[int, int]
) -> tuple[Memory, ...]:
    """The memories that change when a way is taken up again, as they are afterwards: as it had them when it was left.

    Edits and deletions since then, chapters that were folded again, persons who were forgotten, and moderators keep the last
    word: ``turns`` are those of the way that are still there, and ``decided`` is as in a line, as of now. A condensed line that
    stands for what a moderator has put right since does not come back; what else it stood for does.
    """
    status = {m.number: _status(m, line, turns) for m in memory.memories}
    overruled = frozenset(number for number, version in decided.items() if version > line.decided.get(number, 0))
    outdated = derived_from(memory.memories, frozenset(), overruled) - overruled
    for m in memory.memories:
        if m.number in outdated and m.status is MemoryStatus.ASIDE and status[m.number] in _STANDING:
            status[m.number] = MemoryStatus.STALE
    standing = (*_STANDING, MemoryStatus.RETRACTED)
    stood_for = {n for m in memory.memories if status[m.number] in standing for n in m.condenses}
    for number in status:
        if status[number] is MemoryStatus.CONDENSED and number not in stood_for:
            status[number] = MemoryStatus.ACTIVE
    after = [
        replace(m, status=status[m.number], resolved_by=_tied_by(m, status[m.number], line)) for m in memory.memories
    ]
    return tuple(
        replace(new, version=old.version + 1) for old, new in zip(memory.memories, after, strict=True) if new != old
    )


def _status(memory: Memory, line: Line, turns: frozenset[int]) -> MemoryStatus:
    """What becomes of one memory; that a line condenses it which does not come back is not known here."""
    then = line.statuses.get(memory.number)
    if memory.status in _HAS_BEEN_CHANGED:
        return memory.status
    if then is None or then in _HAS_BEEN_CHANGED:
        # Written since, or put right since: it belongs to the way if its chapter does.
        is_of_line = memory.chapter in line.chapters or (then is not None and memory.chapter is None)
        return MemoryStatus.ACTIVE if is_of_line else MemoryStatus.ASIDE
    if then is MemoryStatus.RESOLVED and line.resolved.get(memory.number) not in turns:
        return MemoryStatus.ACTIVE
    return then


def _tied_by(memory: Memory, status: MemoryStatus, line: Line) -> int | None:
    if status is MemoryStatus.ACTIVE:
        return None
    return line.resolved.get(memory.number, memory.resolved_by)
