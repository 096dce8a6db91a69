"""What an auditor of a finished story is asked, and what of the answer holds.

The audit of the living bot (``bot/memory/audit.py``) changes memories, so it believes little. This one only counts: a verdict
stands unless code knows better, and lies beside the lines that it cites for a person to check.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from bot.evals.archives import Told
from bot.evals.audit_wording import AUDIT_WORDINGS
from bot.memory.folding import source_lines
from bot.memory.forms import array_form, cites_form, is_number, number_form, object_form, text_form, text_of
from bot.memory.likeness import features
from bot.memory.memories import Memory, MemoryKind, MemoryStatus
from bot.memory.messages import Message
from bot.memory.passages import Cited
from bot.memory.prompt import memory_line
from bot.memory.tokens import estimate
from bot.memory.turns import BeatKind, Citation, Turn
from bot.memory.wording import WORDINGS, Language

T = TypeVar("T")

_AT_ONCE: Final = 12
_ENDS_AT_ONCE: Final = 6
_LATER_TURNS: Final = 4
_LONGEST_REASON: Final = 120
# Under this a memory may stand in a beat by chance.
_SHORTEST_LETTERS: Final = 6
_CHECKED: Final = (MemoryStatus.ACTIVE, MemoryStatus.CONDENSED)


class Fault(StrEnum):
    """What is wrong with a memory."""

    CLAIM_AS_FACT = "claim_as_fact"
    STILL_OPEN = "still_open"
    GUESSED_FEELING = "guessed_feeling"
    NOT_IN_SOURCE = "not_in_source"


@dataclass(frozen=True, slots=True)
class Work:
    """One request: memories, and the turns to hold them against.

    ``chapter`` is None for lines of the synopsis. ``origins`` are the beats that each memory rests on, by its number: those
    that it cites, or that what it condenses does. ``later`` says that the turns are from after the chapter of these loose
    ends, the likeliest to settle them; ``shortened`` that not all turns fitted.
    """

    chapter: int | None
    memories: tuple[Memory, ...]
    turns: tuple[Turn, ...]
    origins: Mapping[int, tuple[Citation, ...]]
    later: bool = False
    shortened: bool = False

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What may be found."""
        return (Fault.STILL_OPEN,) if self.later else tuple(Fault)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A fault that the auditor finds, as far as code could check it."""

    chapter: int | None
    memory: Memory
    fault: Fault
    reason: str
    cites: tuple[Citation, ...]
    origins: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What holds of an answer; ``dropped`` counts verdicts by why they fell, ``uncited`` citations of nothing."""

    verdicts: tuple[Verdict, ...]
    dropped: Counter[str]
    uncited: int


def checked_memories(told: Told) -> tuple[Memory, ...]:
    """What is looked at: all in use and what a line of the synopsis stands for, less what a moderator settled."""
    return tuple(m for m in told.memory.memories if m.status in _CHECKED and not m.corrected)


def works_of(told: Told, limit: int | None = None) -> list[Work]:
    """All there is to ask, chapter by chapter, then the synopsis, then the ends that are open after their chapter.

    With ``limit`` only the first so many chapters exist.
    """
    chapters = told.memory.chapters[:limit]
    last = max((chapter.last for chapter in chapters), default=0)
    turns = {turn.seq: turn for turn in told.turns if turn.seq <= last}
    origins = {m.number: _origins(told, m) for m in told.memory.memories}
    memories = [m for m in checked_memories(told) if all(cite.seq <= last for cite in origins[m.number])]
    works = []
    for chapter in chapters:
        own = [m for m in memories if m.chapter == chapter.ordinal]
        told_in = range(chapter.first, chapter.last + 1)
        works += [
            Work(chapter.ordinal, some, _turns(turns, [*told_in, *_seqs(some, origins)]), origins)
            for some in _batches(own, _AT_ONCE)
        ]
    works += [
        Work(None, some, _turns(turns, _seqs(some, origins)), origins)
        for some in _batches([m for m in memories if m.chapter is None], _AT_ONCE)
    ]
    return [*works, *_later(told, chapters_end={c.ordinal: c.last for c in chapters}, memories=memories, turns=turns)]


def fitted(work: Work, room: int) -> Work:
    """The same with the turns that the memories cite and the likeliest others, so that they take ``room`` tokens at most."""
    sizes = {turn.seq: _size(turn) for turn in work.turns}
    if sum(sizes.values()) <= room:
        return work
    cited = {cite.seq for m in work.memories for cite in work.origins[m.number]}
    wanted = features("\n".join(_words(m) for m in work.memories))
    kept: list[Turn] = []
    left = room
    for turn in sorted(work.turns, key=lambda t: (t.seq not in cited, -len(wanted & _features(t)), t.seq)):
        if sizes[turn.seq] <= left:
            left -= sizes[turn.seq]
            kept.append(turn)
    return replace(work, turns=tuple(sorted(kept, key=lambda turn: turn.seq)), shortened=True)


def messages_of(work: Work, language: Language) -> tuple[Message, ...]:
    """The request: instructions, the numbered beats, the numbered memories with their kinds."""
    words, own = WORDINGS[language], AUDIT_WORDINGS[language]
    records = [f"#{m.number} {m.kind.value}: {_flat(memory_line(m, language))}" for m in work.memories]
    heading = words.fold_open if work.later else words.audit_lines
    parts = ["\n".join([words.fold_source, *source_lines(work.turns)]), "\n".join([heading, *records])]
    return Message("system", own.ends if work.later else own.records), Message("user", "\n\n".join(parts))


def schema_of(work: Work) -> dict[str, Any]:
    """The answer's schema: at most a verdict for each memory, with numbers and beats that exist."""
    verdict = object_form(
        memory=number_form([m.number for m in work.memories]),
        reason=text_form(_LONGEST_REASON),
        cites=cites_form(work.turns),
        fault={"enum": [fault.value for fault in work.faults]},
    )
    return object_form(verdicts=array_form(verdict, len(work.memories)))


def is_answer(value: object) -> bool:
    """Whether a parsed answer has the form of verdicts at all; an empty list is an answer."""
    return isinstance(value, Mapping) and isinstance(value.get("verdicts"), list)


def judged(work: Work, value: object) -> Judged:
    """The verdicts of a parsed answer that name what exists and do not contradict what code knows."""
    found = value.get("verdicts") if isinstance(value, Mapping) else None
    judge = _Judge(work)
    dropped: Counter[str] = Counter()
    verdicts: dict[tuple[int, Fault], Verdict] = {}
    for item in found if isinstance(found, list) else ():
        verdict = judge.verdict(item)
        if isinstance(verdict, str):
            dropped[verdict] += 1
        elif (key := (verdict.memory.number, verdict.fault)) in verdicts:
            dropped["said twice"] += 1
        else:
            verdicts[key] = verdict
    return Judged(tuple(verdicts.values()), dropped, judge.uncited)


class _Judge:
    """Judges the verdicts of one answer."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._memories = {m.number: m for m in work.memories}
        self._turns = {turn.seq: turn for turn in work.turns}
        self.uncited = 0

    def verdict(self, item: object) -> Verdict | str:
        """One verdict, or why it fell."""
        if not isinstance(item, Mapping) or not is_number(item.get("memory")):
            return "malformed"
        memory = self._memories.get(item["memory"])
        if memory is None:
            return "no such memory"
        if item.get("fault") not in self._work.faults:
            return "no such fault"
        fault = Fault(item["fault"])
        cited = list(self._cited(item.get("cites")))
        if not cited:
            return "cites no line"
        origins = self._work.origins[memory.number]
        against = self._against(memory, fault, cited, [c for cite in origins if (c := self._looked_up(cite))])
        if against:
            return against
        reason = _flat(text_of(item.get("reason")))[:_LONGEST_REASON]
        return Verdict(self._work.chapter, memory, fault, reason, tuple(c.citation for c in cited), origins)

    def _cited(self, value: object) -> Iterator[Cited]:
        """The cited beats that exist and are of the story; the others are counted."""
        texts = [str(v) for v in value] if isinstance(value, list) else []
        for text in dict.fromkeys(texts):
            citation = Citation.parse(text)
            found = self._looked_up(citation) if citation else None
            if found is None or found.beat.kind is BeatKind.OOC:
                self.uncited += 1
            else:
                yield found

    def _looked_up(self, citation: Citation) -> Cited | None:
        turn = self._turns.get(citation.seq)
        beat = turn.beat(citation) if turn else None
        return Cited(citation, turn, beat) if turn and beat else None

    def _against(self, memory: Memory, fault: Fault, cited: Sequence[Cited], own: Sequence[Cited]) -> str:
        """What code knows that contradicts a verdict; empty if nothing."""
        match fault:
            case Fault.CLAIM_AS_FACT if memory.kind not in (MemoryKind.FACT, MemoryKind.EVENT):
                return "states no fact"
            case Fault.CLAIM_AS_FACT if memory.content.player_id is not None:
                return "a player's own fact"
            case Fault.CLAIM_AS_FACT if not any(c.is_spoken or c.quoted or c.turn.author.is_player for c in cited):
                return "nobody says it there"
            case Fault.CLAIM_AS_FACT if _stands_in(memory, [c for c in own if c.is_solid]):
                return "to the letter in its source"
            case Fault.STILL_OPEN if memory.kind is not MemoryKind.LOOSE_END or not memory.is_active:
                return "not an open end"
            case Fault.STILL_OPEN if max(c.citation for c in cited) <= max(
                self._work.origins[memory.number], default=Citation(0, 0)
            ):
                return "not after it was opened"
            case Fault.GUESSED_FEELING if memory.kind is MemoryKind.CLAIM:
                return "states no fact"
            case Fault.GUESSED_FEELING | Fault.NOT_IN_SOURCE if _stands_in(memory, own):
                return "to the letter in its source"
        return ""


def _stands_in(memory: Memory, beats: Iterable[Cited]) -> bool:
    text = _letters(memory.content.actual or memory.content.text)
    return len(text) >= _SHORTEST_LETTERS and any(text in _letters(c.beat.text) for c in beats)


def _later(
    told: Told, *, chapters_end: Mapping[int, int], memories: Sequence[Memory], turns: Mapping[int, Turn]
) -> Iterator[Work]:
    """The open ends with the later turns that are likeliest to settle them, by the words that they share."""
    words = {seq: _features(turn) for seq, turn in turns.items()}
    known = Counter(word for found in words.values() for word in found)
    origins = {m.number: _origins(told, m) for m in memories}
    ends = []
    for end in (m for m in memories if m.kind is MemoryKind.LOOSE_END and m.is_active and m.chapter in chapters_end):
        wanted = features(_words(end))
        after = [seq for seq in turns if seq > chapters_end[end.chapter or 0]]
        # A word that many turns have says little.
        weights = {seq: sum(math.log(1 + len(turns) / known[w]) for w in wanted & words[seq]) for seq in after}
        likeliest = sorted((seq for seq in after if weights[seq]), key=lambda seq: -weights[seq])[:_LATER_TURNS]
        if likeliest:
            ends.append((end, likeliest))
    for some in _batches(ends, _ENDS_AT_ONCE):
        # What follows a turn often says how it came out.
        seqs = [seq + more for _, likeliest in some for seq in likeliest for more in (0, 1)]
        yield Work(some[0][0].chapter, tuple(end for end, _ in some), _turns(turns, seqs), origins, later=True)


def _origins(told: Told, memory: Memory) -> tuple[Citation, ...]:
    """The beats that a memory rests on, in any generation."""
    found, waiting, seen = set(memory.cites), list(memory.condenses), {memory.number}
    while waiting:
        below = told.memory.get(waiting.pop())
        if below is not None and below.number not in seen:
            seen.add(below.number)
            found.update(below.cites)
            waiting += below.condenses
    return tuple(sorted(found))


def _seqs(memories: Iterable[Memory], origins: Mapping[int, tuple[Citation, ...]]) -> list[int]:
    return [cite.seq for m in memories for cite in origins[m.number]]


def _turns(known: Mapping[int, Turn], seqs: Iterable[int]) -> tuple[Turn, ...]:
    return tuple(known[seq] for seq in sorted(set(seqs)) if seq in known)


def _features(turn: Turn) -> frozenset[str]:
    return features("\n".join(beat.text for beat in turn.beats if beat.kind is not BeatKind.OOC))


def _size(turn: Turn) -> int:
    return sum(estimate(line) for line in source_lines([turn]))


def _words(memory: Memory) -> str:
    return f"{memory.content.text}\n{memory.content.actual}"


def _batches(items: Sequence[T], most: int) -> Iterator[tuple[T, ...]]:
    return (tuple(items[start : start + most]) for start in range(0, len(items), most))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
