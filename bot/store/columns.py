"""Column types: how values of the domain are written down, the same on every database."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from pydantic_core import from_json
from sqlalchemy import Column, DateTime, Dialect, String, Text
from sqlalchemy.types import TypeDecorator

from bot.memory.branches import Line
from bot.memory.memories import MemoryStatus
from bot.memory.personas import Brackets
from bot.memory.turns import Beat, BeatKind

E = TypeVar("E", bound=StrEnum)

_KINDS = {kind.value: kind for kind in BeatKind}


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time, in UTC. SQLite keeps no zone, so what it gives back is read as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Raises ValueError for a time without a zone: it could mean anything."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone cannot be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The stored time, aware."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None] | None:
        """SQLite's text is read at once: a prompt reads a hundred turns, and in steps a time takes four times as long."""
        return _time_of if dialect.name == "sqlite" else super().result_processor(dialect, coltype)


def _time_of(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(f"{text}Z")


class EnumText(TypeDecorator[E], Generic[E]):
    """A member of a string enumeration, as text."""

    impl = String(16)
    cache_ok = True

    def __init__(self, members: type[E]) -> None:
        super().__init__()
        self.members = members

    def process_bind_param(self, value: E | None, dialect: Dialect) -> str | None:
        """The member's value."""
        return None if value is None else self.members(value).value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], E | None]:
        """The member. All known members are looked up, which is ten times as fast as asking their class."""
        return _Members(self.members).__getitem__


class _Members(dict[Any, Any]):
    def __init__(self, members: type[StrEnum]) -> None:
        super().__init__((member.value, member) for member in members)
        self[None] = None
        self._members = members

    def __missing__(self, value: Any) -> Any:
        """Raises ValueError, as the class does."""
        return self._members(value)


class BeatsText(TypeDecorator[tuple[Beat, ...]]):
    """The beats of a turn, as JSON text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[Beat, ...] | None, dialect: Dialect) -> str | None:
        """An array of objects."""
        if value is None:
            return None
        rows = [{"kind": beat.kind.value, "text": beat.text, "speaker": beat.speaker} for beat in value]
        return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: Any, dialect: Dialect) -> tuple[Beat, ...] | None:
        """The beats in order."""
        if value is None:
            return None
        return tuple([Beat(_KINDS[row["kind"]], row["text"], row["speaker"]) for row in from_json(value)])


class BracketsText(TypeDecorator[tuple[Brackets, ...]]):
    """The brackets of a persona, as JSON text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[Brackets, ...] | None, dialect: Dialect) -> str | None:
        """An array of pairs."""
        if value is None:
            return None
        rows = [[pair.prefix, pair.suffix] for pair in value]
        return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: Any, dialect: Dialect) -> tuple[Brackets, ...] | None:
        """The pairs in order."""
        return None if value is None else tuple(Brackets(prefix, suffix) for prefix, suffix in json.loads(value))


class LineText(TypeDecorator[Line]):
    """What a way of a story consisted of, as JSON text. Numbers stand in runs: months of play stay a few kilobytes."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Line | None, dialect: Dialect) -> str | None:
        """An object."""
        if value is None:
            return None
        of_status: dict[MemoryStatus, list[int]] = defaultdict(list)
        for number, status in value.statuses.items():
            of_status[status].append(number)
        line = {
            "turns": runs_of(value.turns),
            "chapters": {str(ordinal): absorbed for ordinal, absorbed in value.chapters.items()},
            "statuses": {status.value: runs_of(numbers) for status, numbers in of_status.items()},
            "resolved": {str(number): seq for number, seq in value.resolved.items()},
            "decided": {str(number): version for number, version in value.decided.items()},
            "raw_from": value.raw_from,
        }
        return json.dumps(line, separators=(",", ":"))

    def process_result_value(self, value: Any, dialect: Dialect) -> Line | None:
        """The line."""
        if value is None:
            return None
        line = json.loads(value)
        return Line(
            turns=frozenset(_in_runs(line["turns"])),
            chapters={int(ordinal): absorbed for ordinal, absorbed in line["chapters"].items()},
            statuses={n: MemoryStatus(status) for status, runs in line["statuses"].items() for n in _in_runs(runs)},
            resolved={int(number): seq for number, seq in line["resolved"].items()},
            decided={int(number): version for number, version in line["decided"].items()},
            raw_from=line["raw_from"],
        )


def runs_of(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as runs of consecutive ones, each by its first and last."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


def _in_runs(runs: Iterable[list[int]]) -> Iterable[int]:
    return (number for first, last in runs for number in range(first, last + 1))


def required(name: str, kind: Any, *more: Any) -> Column[Any]:
    """A column that is never NULL."""
    return Column(name, kind, *more, nullable=False)
