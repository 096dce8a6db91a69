"""The audit of a chapter: a second look by the model, of which code applies only what the evidence allows.

The model names lines that are only claims, and loose ends that are closed, each with the beats that show it. The rules:

1. What a moderator settled is never touched, nor what the model was not asked about.
2. A finding without a citation that can show it falls: for a claim, spoken words that share something with the line; for a
   loose end, a beat of the stretch that is neither out of character nor only imagined.
3. A fact or event becomes a claim of whoever says it when none of its own evidence is a player's word, and what narration and
   thoughts of its own evidence share with it, names apart, is nothing, or at most half of what the spoken words share: sentences
   in Japanese and Chinese always have some bigrams in common.
4. A loose end is closed by a beat after all those it was opened with.
5. What has its citations but not these is flagged, for a person to decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from bot.memory.corrections import claim_of
from bot.memory.folding import MOST_OPEN, source_lines
from bot.memory.forms import array_form, cites_form, cites_of, is_number, number_form, object_form, objects_of
from bot.memory.likeness import features
from bot.memory.memories import Chapter, Memory, MemoryKind, SessionMemory
from bot.memory.messages import Message
from bot.memory.passages import Cited
from bot.memory.turns import Citation, Turn, TurnState
from bot.memory.wording import WORDINGS, Language

_MOST_CLAIMS: Final = 24
_MOST_CLOSED: Final = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """What the model says of one memory: its number, and the beats that show it."""

    number: int
    cites: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditAnswer:
    """All that a model found in one chapter, nothing of it trusted yet."""

    claims: tuple[Finding, ...] = ()
    closed: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditWork:
    """What an audit looks at: the turns of a chapter, its facts and events in use, and the loose ends that are open.

    What a moderator settled is left out. Of the loose ends the newest 40 are named.
    """

    turns: tuple[Turn, ...]
    lines: tuple[Memory, ...]
    ends: tuple[Memory, ...]

    def __bool__(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self.turns and (self.lines or self.ends))


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """What code accepted.

    ``claims`` are facts and events as their next versions have them, ``resolved`` maps loose ends to the seq that closed them,
    ``flagged`` are the numbers that a person has to decide, and ``dropped`` counts why the rest fell.
    """

    claims: tuple[Memory, ...] = ()
    resolved: Mapping[int, int] = field(default_factory=dict)
    flagged: tuple[int, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)


def audit_work(memory: SessionMemory, chapter: Chapter, turns: Iterable[Turn]) -> AuditWork:
    """What there is to look at in a chapter with these turns."""
    kinds = (MemoryKind.FACT, MemoryKind.EVENT)
    lines = [m for m in memory.memories if m.is_active and m.chapter == chapter.ordinal and m.kind in kinds]
    return AuditWork(
        tuple(turn for turn in turns if turn.state is TurnState.KEPT),
        tuple(m for m in lines if not m.corrected),
        tuple(m for m in memory.open_ends() if not m.corrected)[-MOST_OPEN:],
    )


def audit_messages(work: AuditWork, language: Language) -> tuple[Message, ...]:
    """The request: instructions, the numbered beats, the chapter's numbered lines, the open loose ends."""
    words = WORDINGS[language]
    parts = ["\n".join([words.fold_source, *source_lines(work.turns)])]
    parts += [
        "\n".join([title, *(f"#{m.number} {m.content.text}" for m in memories)])
        for title, memories in ((words.audit_lines, work.lines), (words.fold_open, work.ends))
        if memories
    ]
    return Message("system", words.audit), Message("user", "\n\n".join(parts))


def audit_schema(work: AuditWork) -> dict[str, Any]:
    """The answer's schema: numbers that were asked about, and beats that exist."""
    cites = cites_form(work.turns)

    def findings(memories: Sequence[Memory], most: int) -> dict[str, Any]:
        return array_form(object_form(number=number_form([m.number for m in memories]), cites=cites), most)

    return object_form(claims=findings(work.lines, _MOST_CLAIMS), closed=findings(work.ends, _MOST_CLOSED))


def is_audit(value: object) -> bool:
    """Whether a parsed answer has the form of an audit at all; lists that are empty are an answer."""
    return isinstance(value, Mapping) and all(isinstance(value.get(key), list) for key in ("claims", "closed"))


def read_audit(value: object) -> AuditAnswer:
    """The findings in a parsed answer; anything of another shape is passed over."""
    if not isinstance(value, Mapping):
        return AuditAnswer()
    return AuditAnswer(_findings(value.get("claims"), _MOST_CLAIMS), _findings(value.get("closed"), _MOST_CLOSED))


def judge_audit(work: AuditWork, answer: AuditAnswer) -> AuditVerdict:
    """What of the findings holds, by the rules above."""
    judge = _AuditJudge(work)
    dropped: Counter[str] = Counter()
    claims: list[Memory] = []
    resolved: dict[int, int] = {}
    flagged: list[int] = []
    for finding, m in _asked(answer.claims, work.lines, dropped):
        voice = judge.voice(m, finding.cites)
        if voice is None:
            dropped["no-evidence"] += 1
        elif judge.is_only_said(m, voice):
            said = replace(claim_of(m.content, voice.beat.speaker), private=False)
            claims.append(replace(m, content=said, version=m.version + 1))
        else:
            flagged.append(m.number)
    for finding, m in _asked(answer.closed, work.ends, dropped):
        shown = [c.citation for c in judge.cited(finding.cites) if c.real]
        after = [cite.seq for cite in shown if cite > max(m.cites, default=Citation(0, 0))]
        if after:
            resolved[m.number] = max(after)
        elif shown:
            flagged.append(m.number)
        else:
            dropped["no-evidence"] += 1
    return AuditVerdict(tuple(claims), resolved, tuple(flagged), dropped)


class _AuditJudge:
    """Looks the citations of one stretch up, and what they share with a line."""

    def __init__(self, work: AuditWork) -> None:
        self._turns = {turn.seq: turn for turn in work.turns}
        names = {turn.author.name for turn in work.turns} | {b.speaker for turn in work.turns for b in turn.beats}
        self._names = features("\n".join(names))

    def cited(self, cites: Iterable[Citation]) -> list[Cited]:
        """The citations that exist."""
        found = []
        for citation in dict.fromkeys(cites):
            turn = self._turns.get(citation.seq)
            beat = turn.beat(citation) if turn else None
            if turn is not None and beat is not None:
                found.append(Cited(citation, turn, beat))
        return found

    def voice(self, memory: Memory, cites: Iterable[Citation]) -> Cited | None:
        """Whoever says a line, of the cited; None when nobody does."""
        words = self._said(memory.content.text)
        voices = [c for c in self.cited(cites) if words(c)]
        return max(voices, key=words, default=None)

    def is_only_said(self, memory: Memory, voice: Cited) -> bool:
        """Whether a line's own evidence leaves nothing but words."""
        own = self.cited(memory.cites)
        if any(c.turn.author.is_player and c.real for c in own):
            return False
        told = "\n".join(c.real for c in own if c.is_solid)
        shown = self._shared(memory.content.text, told)
        return 2 * shown <= self._said(memory.content.text)(voice)

    def _said(self, text: str) -> Callable[[Cited], int]:
        """Counts what a beat's spoken words share with a text."""
        return lambda c: self._shared(text, c.real if c.is_spoken else c.quoted)

    def _shared(self, text: str, other: str) -> int:
        return len((features(text) & features(other)) - self._names)


def _asked(
    findings: Iterable[Finding], memories: Iterable[Memory], dropped: Counter[str]
) -> list[tuple[Finding, Memory]]:
    """The findings on memories that were asked about, one for each."""
    known = {m.number: m for m in memories}
    asked = []
    for finding in findings:
        memory = known.pop(finding.number, None)
        if memory is None:
            dropped["not-asked"] += 1
        else:
            asked.append((finding, memory))
    return asked


def _findings(value: object, most: int) -> tuple[Finding, ...]:
    return tuple(
        Finding(item["number"], cites_of(item.get("cites")))
        for item in objects_of(value, most)
        if is_number(item.get("number"))
    )
