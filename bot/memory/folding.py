"""What the folder asks a model, and how its answer is read. Judging the answer is in ``evidence``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.memory.evidence import LONGEST_TEXT, FoldAnswer, Proposal, Resolution, cleaned
from bot.memory.forms import array_form, cites_form, cites_of, is_number, object_form, objects_of, text_form, text_of
from bot.memory.markup import plain_name
from bot.memory.memories import (
    Chapter,
    Content,
    Memory,
    MemoryKind,
    MemoryStatus,
    NewMemory,
    SessionMemory,
)
from bot.memory.messages import Message
from bot.memory.prompt import memory_line
from bot.memory.turns import AuthorKind, BeatKind, Turn, TurnState
from bot.memory.wording import WORDINGS, Language

_MOST_MEMORIES: Final = 24
_MOST_ENDS: Final = 8
_MOST_SETTLED: Final = 40
MOST_OPEN: Final = 40
"""Loose ends, the newest, that a fold is asked about; of more a model loses track, and in time they would fill its window."""
_EVENT_LENGTH: Final = 240
# Seventeen thousand characters become about eleven hundred in the seed's figures.
CHAPTER_SHARE: Final = 0.065
_FORGED_NUMBER: Final = re.compile(r"\[(?=\s*\d+\.\d)")


def reply_schema(most_tokens: int) -> dict[str, Any]:
    """The schema of a reply of at most so many tokens: no beat may fill it alone, so that a model that loops gets to its end.

    Two characters a token are under what English has and over what Japanese and Chinese have.
    """
    kinds = [BeatKind.NARRATION.value, BeatKind.SPEECH.value, BeatKind.THOUGHT.value]
    beat = object_form(kind={"enum": kinds}, speaker=text_form(40), text=text_form(min(2_000, 2 * most_tokens)))
    return object_form(beats={**array_form(beat, 12), "minItems": 1})


def fold_schema(turns: Sequence[Turn], most_tokens: int = 4_096) -> dict[str, Any]:
    """The answer's schema for a stretch: numbers that exist, bounded counts and lengths.

    With fewer than 4,096 tokens for the answer it may hold fewer and shorter memories, so that a model which fills what it
    is given gets to the end before it is cut.
    """
    share = min(1.0, most_tokens / 4_096)
    most, longest = max(4, round(_MOST_MEMORIES * share)), max(120, round(LONGEST_TEXT * share))
    cites = cites_form(turns)
    kinds = [kind.value for kind in MemoryKind if kind is not MemoryKind.LOOSE_END]
    return object_form(
        memories=array_form(
            object_form(
                kind={"enum": kinds},
                text=text_form(longest),
                actual=text_form(longest),
                who=text_form(40),
                to=text_form(40),
                cites=cites,
            ),
            most,
        ),
        opened=array_form(object_form(text=text_form(longest), cites=cites), _MOST_ENDS),
        resolved=array_form(object_form(number={"type": "integer"}, cites=cites), _MOST_ENDS),
    )


def fold_messages(turns: Sequence[Turn], memory: SessionMemory, language: Language) -> tuple[Message, ...]:
    """The request that turns a stretch into a chapter: instructions, what is settled, what is open, the numbered beats."""
    words = WORDINGS[language]
    parts = []
    settled = [m for m in memory.settled() if m.is_active][-_MOST_SETTLED:]
    if settled:
        parts.append("\n".join([words.fold_settled, *(f"- {memory_line(m, language)}" for m in settled)]))
    ends = memory.open_ends()[-MOST_OPEN:]
    if ends:
        parts.append("\n".join([words.fold_open, *(f"#{m.number} {m.content.text}" for m in ends)]))
    parts.append("\n".join([words.fold_source, *source_lines(turns)]))
    return Message("system", words.fold), Message("user", "\n\n".join(parts))


def source_lines(turns: Iterable[Turn]) -> list[str]:
    """The beats of a stretch, numbered for citing; what never happened is left out.

    A number in brackets inside a beat loses its bracket, so that no text can pose as another line.
    """
    lines = []
    for turn in turns:
        if turn.state is not TurnState.KEPT:
            continue
        for number, beat in enumerate(turn.beats, start=1):
            player = turn.author.kind is AuthorKind.PLAYER and beat.kind is not BeatKind.OOC
            kind = "player" if player else beat.kind.value
            text = _FORGED_NUMBER.sub("(", " ".join(beat.text.split()))
            lines.append(f"[{turn.seq}.{number} {kind} {plain_name(beat.speaker)}] {text}")
    return lines


def read_fold(value: object) -> FoldAnswer:
    """The proposals in a parsed answer; anything of another shape is passed over."""
    if not isinstance(value, Mapping):
        return FoldAnswer()
    return FoldAnswer(
        memories=tuple(_proposal(item) for item in objects_of(value.get("memories"), _MOST_MEMORIES)),
        opened=tuple(_proposal(item) for item in objects_of(value.get("opened"), _MOST_ENDS)),
        resolved=tuple(
            Resolution(item["number"], cites_of(item.get("cites")))
            for item in objects_of(value.get("resolved"), _MOST_ENDS)
            if is_number(item.get("number"))
        ),
    )


def end_texts(answer: FoldAnswer) -> tuple[str, ...]:
    """The texts of an answer that would be loose ends, as the judge has them."""
    ends = (*(m for m in answer.memories if m.kind == MemoryKind.LOOSE_END.value), *answer.opened)
    return tuple(cleaned(p.text) for p in ends)


def texts_of(answer: FoldAnswer) -> tuple[str, ...]:
    """Every text of an answer, for the checks of the output."""
    return tuple(text for p in (*answer.memories, *answer.opened) for text in (p.text, p.actual) if text)


@dataclass(frozen=True, slots=True)
class Condensation:
    """What a major fold works on: the events to condense, oldest first, and the chapters that leave the young generation."""

    events: tuple[Memory, ...]
    chapters: tuple[int, ...]

    @property
    def most(self) -> int:
        """How many events may stand for them: half, so that a synopsis shrinks each time."""
        return max(1, len(self.events) // 2)


def condensation(memory: SessionMemory, half: int) -> Condensation:
    """What the next major fold takes: the synopsis's events and those of the ``half`` oldest chapters.

    An event that a moderator settled is carried over as it is.
    """
    young = [chapter.ordinal for chapter in memory.chapters if not chapter.absorbed]
    taken = set(young[:half])
    kept = set(young[half:])
    events = [
        m
        for m in memory.memories
        if m.is_active and m.kind is MemoryKind.EVENT and not m.corrected and m.chapter not in kept
    ]
    return Condensation(tuple(events), tuple(sorted(taken)))


def major_schema(work: Condensation) -> dict[str, Any]:
    """The answer's schema; items and lengths bound the synopsis in every language."""
    numbers = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": max(2, len(work.events))}
    return object_form(events=array_form(object_form(text=text_form(_EVENT_LENGTH), condenses=numbers), work.most))


def major_messages(work: Condensation, language: Language) -> tuple[Message, ...]:
    """The request that condenses events into fewer."""
    words = WORDINGS[language]
    lines = [f"#{m.number} {m.content.text}" for m in work.events]
    return (
        Message("system", words.major_fold.format(count=work.most)),
        Message("user", "\n".join([words.major_source, *lines])),
    )


def read_major(value: object, work: Condensation) -> tuple[NewMemory, ...]:
    """The condensed events, each citing the memories it condenses; invented numbers fall, and an event left with none too.

    An event may stand in one condensed line only: the first that names it. A line that stands for a private event is private.
    """
    free = {m.number for m in work.events}
    private = {m.number for m in work.events if m.content.private}
    found: list[NewMemory] = []
    items = objects_of(value.get("events"), work.most) if isinstance(value, Mapping) else []
    for item in items:
        text = " ".join(text_of(item.get("text")).split())[:_EVENT_LENGTH]
        named = item.get("condenses")
        numbers = [n for n in named if is_number(n) and n in free] if isinstance(named, list) else []
        numbers = list(dict.fromkeys(numbers))
        if text and numbers:
            free.difference_update(numbers)
            content = Content(MemoryKind.EVENT, text, private=not private.isdisjoint(numbers))
            found.append(NewMemory(content, condenses=tuple(numbers)))
    return tuple(found)


def shrinks(found: Sequence[NewMemory], work: Condensation) -> bool:
    """Whether the condensed events are shorter than the ones they replace, and three quarters of all are left at most.

    Those that no line stands for are left too. So a synopsis never has more than three times the events that come to it with
    a major fold, however little a model condenses.
    """
    replaced = {number for new in found for number in new.condenses}
    before = sum(len(m.content.text) for m in work.events if m.number in replaced)
    left = len(work.events) - len(replaced) + len(found)
    return left <= len(work.events) * 3 // 4 and sum(len(new.content.text) for new in found) < before


def without_chapter(memory: SessionMemory, chapter: Chapter) -> SessionMemory:
    """The memory less what a chapter will lose when it is folded again; a loose end that was tied is never among it."""
    gone = (MemoryStatus.ACTIVE, MemoryStatus.STALE)
    kept = [
        m
        for m in memory.memories
        if m.corrected or m.resolved_by is not None or m.chapter != chapter.ordinal or m.status not in gone
    ]
    return replace(memory, memories=tuple(kept))


def _proposal(item: Mapping[str, Any]) -> Proposal:
    kind, text, actual, who, to = (text_of(item.get(key)) for key in ("kind", "text", "actual", "who", "to"))
    return Proposal(kind, text, actual, who, to, cites_of(item.get("cites")))
