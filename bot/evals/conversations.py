"""A conversation as the evaluation of recall plays it, whatever file it comes from, and what was wrong with that file.

Nothing of a bad file is passed over in silence: what could not be used, or had to be mended, is counted by kind in ``holes``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from bot.errors import KataribeError
from bot.memory.forms import text_of

_START: Final = datetime(2020, 1, 1, tzinfo=UTC)
_STEP: Final = timedelta(minutes=1)
_MILLISECONDS_FROM: Final = 10**11
_NUMBER: Final = re.compile(r"\d{9,14}")
# Of SillyTavern's files: 2024-7-12 @01h 31m 37s 123ms, with or without blanks and milliseconds.
_TAVERN: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s(?:\s*(\d{1,3})ms)?"
)
_FORMATS: Final = ("%B %d, %Y %I:%M%p", "%B %d, %Y %I:%M %p", "%I:%M %p on %d %B, %Y", "%Y-%m-%d %H:%M:%S")


class ConversationUnreadable(KataribeError):
    """A file that holds no conversation; says in a line what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What somebody wrote. ``author`` tells speakers of the same name apart, ``pictures`` says what they showed with it."""

    id: str
    speaker: str
    text: str
    at: datetime
    by_character: bool
    author: str = ""
    pictures: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """It as one line of a log."""
        shown = "".join(f" [shows a picture: {label}]" for label in self.pictures)
        return f"{self.speaker}: {' '.join(self.text.split())}{shown}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation. ``answer`` is None where the conversation has none; ``evidence`` are ids of turns."""

    id: str
    text: str
    answer: str | None
    evidence: tuple[str, ...] = ()
    category: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything said, in order, and the questions that came with it. ``player`` writes to ``character``, whom the bot plays."""

    id: str
    player: str
    character: str
    turns: tuple[Spoken, ...]
    questions: tuple[Question, ...] = ()
    description: str = ""
    holes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConversationFile:
    """What was read from a file of a ``kind``; ``holes`` are those of no conversation in particular."""

    kind: str
    conversations: tuple[Conversation, ...]
    holes: Mapping[str, int] = field(default_factory=dict)


class Log:
    """Takes what was said in the order of a file, and counts what is wrong with it."""

    def __init__(self) -> None:
        self.holes: Counter[str] = Counter()
        self.turns: list[Spoken] = []
        self._known: dict[str, tuple[str, str]] = {}

    def add(
        self,
        identity: object,
        speaker: object,
        text: object,
        written: object,
        *,
        by_character: bool,
        author: str = "",
        pictures: tuple[str, ...] = (),
    ) -> None:
        """Take a message, unless it is a double or says nothing. A missing time, or one before that of the last, is made up."""
        key = str(identity)
        words, name = text_of(text).strip(), text_of(speaker).strip()
        if not words and not pictures:
            self.holes["empty messages" if isinstance(text, str) else "messages without a text"] += 1
            return
        if self._known.get(key) == (name, words):
            self.holes["messages twice"] += 1
            return
        if key in self._known:
            self.holes["ids used twice"] += 1
            key = f"{key} ({len(self.turns) + 1})"
        self._known[key] = (name, words)
        if not name:
            self.holes["messages without a speaker"] += 1
            name = "?"
        at = self._time(written)
        self.turns.append(Spoken(key, name, words, at, by_character, author or name, pictures))

    def _time(self, written: object) -> datetime:
        at = written if isinstance(written, datetime) else written_time(written)
        last = self.turns[-1].at if self.turns else None
        if at is None:
            self.holes["times missing" if written in (None, "") else "times unreadable"] += 1
            return last + _STEP if last else _START
        if last and at < last:
            self.holes["times before the last"] += 1
            return last
        return at


def written_time(value: object) -> datetime | None:
    """The time in any of the forms that logs have, in UTC where no zone is named; None when it is no time."""
    try:
        if isinstance(value, str):
            return _from_text(value.strip())
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _from_text(text: str) -> datetime:
    if _NUMBER.fullmatch(text):
        number = int(text)
        return datetime.fromtimestamp(number / 1000 if number >= _MILLISECONDS_FROM else number, UTC)
    tavern = _TAVERN.fullmatch(text)
    if tavern:
        *whole, thousandths = (int(part or 0) for part in tavern.groups())
        year, month, day, hour, minute, second = whole
        return datetime(year, month, day, hour, minute, second, thousandths * 1000, tzinfo=UTC)
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def text_in(record: Mapping[str, Any], name: str) -> str:
    """A text of a record, empty where there is none."""
    return text_of(record.get(name)).strip()
