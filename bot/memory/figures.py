"""The figures of a story, and of all stories together: what was folded, how long it took, what it cost. Never anybody's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from statistics import median
from typing import Final

from bot.memory.memories import MemoryKind
from bot.memory.moderation import FlagState
from bot.memory.people import JudgementKind
from bot.memory.story import FoldKind, FoldState

NEWEST: Final = 100
"""So many of the newest are looked at where a median is told."""
POINTS: Final = 400
"""So many of the newest replies are in a picture: beyond, its teeth would run together."""


class Mark(StrEnum):
    """Why a reply's prompt parts from the one before: a fold, a major fold, raw turns cut by force, or another change, such as a
    correction.
    """

    FOLD = "fold"
    MAJOR_FOLD = "major_fold"
    FORCED_CUT = "forced_cut"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Point:
    """A reply's prompt in tokens; ``cached`` of them the server had computed before, None where it does not tell."""

    prompt: int
    cached: int | None
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply's request as its row has it; ``epoch`` and ``forced_cuts`` are the session's when its prompt was laid out."""

    prompt: int
    cached: int | None
    epoch: int
    forced_cuts: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Spread:
    """The median and the largest of ``count`` figures: seconds, turns or tokens."""

    median: float
    largest: float
    count: int

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread | None:
        """None where there is no figure."""
        return cls(float(median(figures)), float(max(figures)), len(figures)) if figures else None


@dataclass(frozen=True, slots=True)
class Reuse:
    """Prompt tokens of replies, and how many of them the model server had computed before."""

    prompt: int = 0
    cached: int = 0

    @property
    def share(self) -> float | None:
        """From 0 to 1; None before the first reply, and where the server does not tell."""
        return self.cached / self.prompt if self.prompt else None


@dataclass(frozen=True, slots=True)
class Cost:
    """What was asked of one model for one purpose.

    Prompt tokens are ``computed`` or ``cached``; ``written`` are those of the answers. ``seconds`` were spent with the server,
    ``waited`` in the queue. ``interruptions`` is how often a reply took the place of a request.
    """

    purpose: str
    model: str
    calls: int
    computed: int
    cached: int
    written: int
    seconds: float
    waited: float
    interruptions: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What is counted of one story, or of all of them.

    ``turns`` are those that are part of a story, its ``replies`` among them. ``folds`` are counted by kind and state.
    ``fold_seconds`` are from the start of a fold's last try to its end, of the newest hundred of each kind that are done.
    ``tries_in_vain`` are those after which a fold was due again or given up; ``fold_errors`` says why, of the folds that are due
    again or given up now. ``rejected`` counts the answers that were of no use, by purpose and code, and ``unanswered`` in the
    same way the requests that got none. ``answer_seconds`` and ``wait_seconds`` are by purpose, of the newest hundred requests.
    ``reuse`` is of all replies, ``ordinary`` of those before which neither fold nor correction nor cut changed the prompt.
    ``chapter_turns`` is the length of the newest hundred chapters, ``lines`` the memories in use. ``corrections`` are the
    moderators' changes of memories, ``undone`` those among them that brought back what stood before.
    """

    turns: int
    replies: int
    folds: Mapping[FoldKind, Mapping[FoldState, int]]
    fold_seconds: Mapping[FoldKind, Spread]
    fold_errors: Mapping[str, int]
    tries_in_vain: int
    rejected: Mapping[str, Mapping[str, int]]
    unanswered: Mapping[str, Mapping[str, int]]
    answer_seconds: Mapping[str, Spread]
    wait_seconds: Mapping[str, Spread]
    costs: tuple[Cost, ...]
    reuse: Reuse
    ordinary: Reuse
    chapters: int
    chapter_turns: Spread | None
    lines: Mapping[MemoryKind, int]
    forced_cuts: int
    corrections: int
    undone: int
    reports: Mapping[FlagState, int]

    def folds_in(self, *states: FoldState) -> int:
        """How many folds of all kinds are in one of the states."""
        return sum(by_state.get(state, 0) for by_state in self.folds.values() for state in states)


@dataclass(frozen=True, slots=True)
class StoryFigures:
    """One story's figures. ``head_tokens`` and ``head_characters`` are the size of its memory as prompts show it.

    ``points`` are its newest replies, oldest first; ``first`` is the number of the first of them.
    """

    figures: Figures
    head_tokens: int
    head_characters: int
    points: tuple[Point, ...] = ()
    first: int = 1


@dataclass(frozen=True, slots=True)
class BotFigures:
    """All stories' figures. ``head_tokens`` is the size of the memory of the newest hundred stories that have one.

    ``judgements`` are those of persons, by kind and state. ``database_bytes`` is the size of the database; None where it does
    not tell.
    """

    figures: Figures
    running: int
    stopped: int
    players: int
    head_tokens: Spread | None
    judgements: Mapping[JudgementKind, Mapping[FoldState, int]] = field(default_factory=dict)
    database_bytes: int | None = None


def points_of(asked: Sequence[Asked], folds: Iterable[tuple[datetime, bool]]) -> tuple[Point, ...]:
    """A story's replies with what changed the prompt of each, oldest first.

    ``folds`` are the times at which folds changed the memory, each with whether it was a major one. A fold belongs to the first
    prompt after it that parts from its predecessor.
    """
    times = sorted(folds)
    points = []
    for before, now in zip([None, *asked], asked, strict=False):
        mark = None
        if before is not None and now.epoch != before.epoch:
            done = [is_major for at, is_major in times if at <= now.at]
            mark = _mark(done, is_cut=now.forced_cuts != before.forced_cuts)
            times = times[len(done) :]
        elif before is None:
            times = [(at, is_major) for at, is_major in times if at > now.at]
        points.append(Point(now.prompt, now.cached, mark))
    return tuple(points)


def _mark(done: Sequence[bool], *, is_cut: bool) -> Mark:
    if is_cut:
        return Mark.FORCED_CUT
    if any(done):
        return Mark.MAJOR_FOLD
    return Mark.FOLD if done else Mark.CHANGE
