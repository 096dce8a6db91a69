"""Column types: how values of the domain are written down, the same on every database."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from sqlalchemy import DateTime, Dialect, String, Text
from sqlalchemy.types import TypeDecorator

from bot.memory.turns import Beat, BeatKind

E = TypeVar("E", bound=StrEnum)


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

    def process_result_value(self, value: Any, dialect: Dialect) -> E | None:
        """The member."""
        return None if value is None else self.members(value)


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
        return tuple(Beat(BeatKind(row["kind"]), row["text"], row["speaker"]) for row in json.loads(value))
