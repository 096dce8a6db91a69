"""One person's dialogues, as the evaluation of people reads them.

The form is that of RealPersonaChat (https://github.com/nu-dialogue/real-persona-chat), a dialogue a line, one speaker being in
all of them. What the speakers had said of themselves before may lie beside it in ``personas.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from pydantic import BaseModel, TypeAdapter, ValidationError

from bot.errors import KataribeError

ZONE: Final = "Asia/Tokyo"
"""Where the dialogues were written; their times do not say it."""

_PERSONAS: Final = "personas.json"
_NO_TIME: Final = "NaT"
_SECOND: Final = timedelta(seconds=1)


class DialoguesUnreadable(KataribeError):
    """A file that holds no dialogues of one person; says in a line what is wrong with it."""


class _Utterance(BaseModel):
    interlocutor_id: str
    text: str
    timestamp: str


class _Record(BaseModel):
    dialogue_id: int | str
    utterances: tuple[_Utterance, ...]


class _Persona(BaseModel):
    persona: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """What one of the two wrote, and when."""

    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The lines of a talk, in order; none was written before the one above it."""

    id: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Talks:
    """All dialogues of a person, oldest first, and what each speaker had said of themselves before."""

    person: str
    dialogues: tuple[Dialogue, ...]
    personas: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def load_talks(path: Path, limit: int | None = None) -> Talks:
    """The first ``limit`` dialogues of the person who is in all of them. Raises DialoguesUnreadable."""
    if limit is not None and limit < 1:
        raise DialoguesUnreadable(f"With a limit of {limit} there is nothing to play.")
    records = _read(path)
    shared = set.intersection(*({u.interlocutor_id for u in record.utterances} for record in records))
    if len(shared) != 1:
        raise DialoguesUnreadable(
            f"{path} holds no dialogues of one person: {len(shared)} speakers are in all of them."
        )
    dialogues = sorted((_dialogue(path, record) for record in records), key=lambda d: (d.lines[0].at, d.id))
    return Talks(shared.pop(), tuple(dialogues[:limit]), _personas(path.with_name(_PERSONAS)))


def _read(path: Path) -> list[_Record]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is not in UTF-8"
        raise DialoguesUnreadable(f"{path} cannot be read: {what}.") from error
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            record = _Record.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the line"
            raise DialoguesUnreadable(f"{path} line {number} is no dialogue: {where}: {first['msg']}.") from error
        records += [record] if record.utterances else []
    if not records:
        raise DialoguesUnreadable(f"{path} holds no dialogue.")
    return records


def _dialogue(path: Path, record: _Record) -> Dialogue:
    """The lines under the times they have, or under that of the line above where they have none or an earlier one."""
    lines: list[Line] = []
    for utterance in record.utterances:
        at = lines[-1].at + _SECOND if lines else None
        if utterance.timestamp != _NO_TIME:
            try:
                written = datetime.fromisoformat(utterance.timestamp)
            except ValueError as error:
                raise DialoguesUnreadable(f"{path} is no dialogue: {utterance.timestamp} is no time.") from error
            written = written if written.tzinfo else written.replace(tzinfo=ZoneInfo(ZONE))
            at = max(at, written) if at else written
        if at is None:
            raise DialoguesUnreadable(f"{path}: dialogue {record.dialogue_id} does not say when it began.")
        lines.append(Line(utterance.interlocutor_id, utterance.text, at))
    return Dialogue(str(record.dialogue_id), tuple(lines))


def _personas(path: Path) -> dict[str, tuple[str, ...]]:
    """What the speakers had said of themselves; nothing where that is not known."""
    if not path.is_file():
        return {}
    try:
        found = TypeAdapter(dict[str, _Persona]).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise DialoguesUnreadable(f"{path} holds no personas: {type(error).__name__}.") from error
    return {speaker: persona.persona for speaker, persona in found.items()}
