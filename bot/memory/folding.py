"""What the folder asks a model, and how its answer is read. Judging the answer is in ``evidence``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.memory.evidence import LONGEST_TEXT, FoldAnswer, Proposal, Resolution
from bot.memory.markup import plain_name
from bot.memory.memories import Content, Memory, MemoryKind, NewMemory, SessionMemory
from bot.memory.messages import Message
from bot.memory.prompt import memory_line
from bot.memory.turns import AuthorKind, BeatKind, Citation, Turn, TurnState
from bot.memory.wording import WORDINGS, Language

_MOST_MEMORIES: Final = 24
_MOST_ENDS: Final = 8
_MOST_CITES: Final = 6
_MOST_SETTLED: Final = 40
_EVENT_LENGTH: Final = 240
# Seventeen thousand characters become about eleven hundred in the seed's figures.
CHAPTER_SHARE: Final = 0.065

# Hosted APIs allow some hundreds of enum values in a schema; a longer stretch only has the form of its numbers checked.
_MOST_NAMED_CITES: Final = 200
_FORGED_NUMBER: Final = re.compile(r"\[(?=\s*\d+\.\d)")


def _text(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


def reply_schema(most_tokens: int) -> dict[str, Any]:
    """The schema of a reply of at most so many tokens: no beat may fill it alone, so that a model that loops gets to its end.

    Two characters a token are under what English has and over what Japanese and Chinese have.
    """
    kinds = [BeatKind.NARRATION.value, BeatKind.SPEECH.value, BeatKind.THOUGHT.value]
    beat = _object(kind={"enum": kinds}, speaker=_text(40), text=_text(min(2_000, 2 * most_tokens)))
    return _object(beats={**_array(beat, 12), "minItems": 1})


def fold_schema(turns: Sequence[Turn], most_tokens: int = 4_096) -> dict[str, Any]:
    """The answer's schema for a stretch: numbers that exist, bounded counts and lengths.

    With fewer than 4,096 tokens for the answer it may hold fewer and shorter memories, so that a model which fills what it
    is given gets to the end before it is cut.
    """
    share = min(1.0, most_tokens / 4_096)
    most, longest = max(4, round(_MOST_MEMORIES * share)), max(120, round(LONGEST_TEXT * share))
    numbers = [
        f"{turn.seq}.{place}"
        for turn in turns
        if turn.state is TurnState.KEPT
        for place, beat in enumerate(turn.beats, start=1)
        if beat.kind is not BeatKind.OOC
    ]
    cite: dict[str, Any] = {"type": "string", "pattern": r"^[0-9]{1,7}\.[0-9]{1,2}$"}
    if 0 < len(numbers) <= _MOST_NAMED_CITES:
        cite = {"enum": numbers}
    cites = {"type": "array", "items": cite, "minItems": 1, "maxItems": _MOST_CITES}
    kinds = [kind.value for kind in MemoryKind if kind is not MemoryKind.LOOSE_END]
    return _object(
        memories=_array(
            _object(
                kind={"enum": kinds},
                text=_text(longest),
                actual=_text(longest),
                who=_text(40),
                to=_text(40),
                cites=cites,
            ),
            most,
        ),
        opened=_array(_object(text=_text(longest), cites=cites), _MOST_ENDS),
        resolved=_array(_object(number={"type": "integer"}, cites=cites), _MOST_ENDS),
    )


def fold_messages(turns: Sequence[Turn], memory: SessionMemory, language: Language) -> tuple[Message, ...]:
    """The request that turns a stretch into a chapter: instructions, what is settled, what is open, the numbered beats."""
    words = WORDINGS[language]
    parts = []
    settled = [m for m in memory.settled() if m.is_active][-_MOST_SETTLED:]
    if settled:
        parts.append("\n".join([words.fold_settled, *(f"- {memory_line(m, language)}" for m in settled)]))
    if memory.open_ends():
        parts.append("\n".join([words.fold_open, *(f"#{m.number} {m.content.text}" for m in memory.open_ends())]))
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
        memories=tuple(_proposal(item) for item in _objects(value.get("memories"), _MOST_MEMORIES)),
        opened=tuple(_proposal(item) for item in _objects(value.get("opened"), _MOST_ENDS)),
        resolved=tuple(
            Resolution(item["number"], _cites(item.get("cites")))
            for item in _objects(value.get("resolved"), _MOST_ENDS)
            if _is_number(item.get("number"))
        ),
    )


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
    return _object(events=_array(_object(text=_text(_EVENT_LENGTH), condenses=numbers), work.most))


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
    items = _objects(value.get("events"), work.most) if isinstance(value, Mapping) else []
    for item in items:
        text = " ".join(str(item.get("text") or "").split())[:_EVENT_LENGTH]
        named = item.get("condenses")
        numbers = [n for n in named if _is_number(n) and n in free] if isinstance(named, list) else []
        numbers = list(dict.fromkeys(numbers))
        if text and numbers:
            free.difference_update(numbers)
            content = Content(MemoryKind.EVENT, text, private=not private.isdisjoint(numbers))
            found.append(NewMemory(content, condenses=tuple(numbers)))
    return tuple(found)


def shrinks(found: Sequence[NewMemory], work: Condensation) -> bool:
    """Whether the condensed events are shorter than the ones they replace."""
    replaced = {number for new in found for number in new.condenses}
    before = sum(len(m.content.text) for m in work.events if m.number in replaced)
    return bool(found) and sum(len(new.content.text) for new in found) < before


def _proposal(item: Mapping[str, Any]) -> Proposal:
    def words(key: str) -> str:
        value = item.get(key)
        return value if isinstance(value, str) else ""

    return Proposal(words("kind"), words("text"), words("actual"), words("who"), words("to"), _cites(item.get("cites")))


def _is_number(value: object) -> bool:
    """Whether JSON had a whole number there: Python counts true and false among them."""
    return isinstance(value, int) and not isinstance(value, bool)


def _cites(value: object) -> tuple[Citation, ...]:
    texts = [str(v) for v in value[: _MOST_CITES * 2]] if isinstance(value, list) else []
    return tuple(citation for text in texts if (citation := Citation.parse(text)))


def _objects(value: object, most: int) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)][:most] if isinstance(value, list) else []
