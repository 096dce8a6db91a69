"""A whole story with its memory as a document: Markdown to be read, or JSON that loses nothing.

Words that somebody took back are in neither: a memory that is being redone, or was replaced when its chapter was folded
again, may repeat an edited or deleted message, so its number stays and its text does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final, Literal

from bot.memory.branches import Branch
from bot.memory.memories import Chapter, Content, Memory, MemoryKind, MemoryStatus, Version
from bot.memory.story import Archive
from bot.memory.turns import Beat, BeatKind, Turn
from bot.store import Store
from bot.store.health import require_current

Format = Literal["markdown", "json"]

FORMAT_NAME: Final = "kataribe-export"
FORMAT_VERSION: Final = 1

_WITHHELD: Final = (MemoryStatus.STALE, MemoryStatus.REPLACED, MemoryStatus.FORGOTTEN)
_KINDS: Final = {kind: kind.value.replace("_", " ") for kind in MemoryKind}
# What CommonMark and Discord give a meaning to within a line, and at the start of one.
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>|~&#])")
_LINE_START: Final = re.compile(r"^(\s*|\s*\d+(?=[.)]))([-+=.)])")


async def export_session(database_url: str, session_id: int, form: Format) -> str | None:
    """The story of a session in a format; None when there is no such session. The database is only read.

    Raises DatabaseUnusable and DatabaseTooNew.
    """
    await require_current(database_url)
    store = await Store.open(database_url, migrate=False)
    try:
        archive = await store.archive(session_id)
    finally:
        await store.close()
    return None if archive is None else FORMATS[form](archive)


def as_json(archive: Archive) -> str:
    """The archive as JSON. Discord's ids are strings, as in its own API: they do not fit a JavaScript number."""
    session = archive.session
    place, character = session.place, session.character
    document = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "session": {
            "id": session.id,
            "guild_id": _snowflake(place.guild_id),
            "channel_id": _snowflake(place.channel_id),
            "parent_id": _snowflake(place.parent_id),
            "language": session.language,
            "running": session.running,
            "started_at": _iso(session.started_at),
            "stopped_at": _iso(session.stopped_at),
            "folded_to": session.folded_to,
            "memory_tokens": session.memory_tokens,
            "raw_from": session.raw_from,
            "forced_cuts": session.forced_cuts,
            "manners": {
                "mode": session.manners.mode.value,
                "pause_seconds": session.manners.pause_seconds,
                "marks": session.manners.marks.value,
            },
        },
        "character": {
            "id": character.id,
            "guild_id": _snowflake(character.scope.guild_id),
            "owner_id": _snowflake(character.scope.owner_id),
            "name": character.card.name,
            "description": character.card.description,
            "first_message": character.card.first_message,
            "avatar_url": character.avatar_url,
            "created_at": _iso(character.created_at),
            "adult": character.adult,
            "removed": character.removed,
            "card": asdict(character.card),
        },
        "turns": [_turn_fields(turn, archive) for turn in archive.turns],
        "set_aside": [_turn_fields(turn, archive) for turn in archive.aside],
        "branches": [_branch_fields(branch) for branch in archive.branches],
        "chapters": [
            {"ordinal": c.ordinal, "first": c.first, "last": c.last, "absorbed": c.absorbed}
            for c in archive.memory.chapters
        ],
        "memories": [
            _memory_fields(memory, archive.histories.get(memory.number, ())) for memory in archive.memory.memories
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def as_markdown(archive: Archive) -> str:
    """The archive as a document: cast, memory with its sources, the story turn by turn, and every correction."""
    memory = archive.memory
    ends = [m for m in memory.memories if m.kind is MemoryKind.LOOSE_END]
    sections = [
        _Section(f"# {_escaped(archive.session.character.card.name)}", _about(archive)),
        _Section("## Cast", _cast(archive)),
        _Section("## Synopsis", map(_memory_line, memory.of_synopsis())),
        *(_chapter(chapter, memory.of_chapter(chapter)) for chapter in memory.chapters if not chapter.absorbed),
        _Section("## Open ends", map(_memory_line, memory.open_ends())),
        _Section("## Resolved ends", (_memory_line(m) for m in ends if m.status is MemoryStatus.RESOLVED)),
        _Section("## Quotes", map(_memory_line, memory.quotes())),
        _Section("## Condensed into the synopsis", _with_status(memory.memories, MemoryStatus.CONDENSED)),
        _Section("## Retracted", _with_status(memory.memories, MemoryStatus.RETRACTED)),
        _Section("## Being redone", _redone(memory.memories)),
        _Section("## Set aside", map(_left, archive.branches)),
        _Section("## The story", (line for turn in archive.turns for line in _story(turn, archive.session.language))),
        _Section("## Corrections", _audit(archive)),
    ]
    return "\n\n".join(text for section in sections if (text := section.text())) + "\n"


FORMATS: Final[dict[Format, Callable[[Archive], str]]] = {"markdown": as_markdown, "json": as_json}


def is_withheld(version: Version, memory: Memory, history: Sequence[Version]) -> bool:
    """Whether a version may repeat words that were taken back.

    So may all up to the last one that went out of sight, unless the memory says the same again now, in a moderator's words.
    """
    out_of_sight = max((v.version for v in history if v.status in _WITHHELD), default=0)
    if memory.status in _WITHHELD:
        return True
    return version.version <= out_of_sight and version.content != memory.content


# JSON ---------------------------------------------------------------------------------------------------------------


def _turn_fields(turn: Turn, archive: Archive) -> dict[str, Any]:
    author = turn.author
    fields: dict[str, Any] = {
        "id": turn.id,
        "seq": turn.seq,
        "author": {
            "kind": author.kind.value,
            "id": _snowflake(author.id),
            "name": author.name,
            "persona_id": author.persona_id,
        },
        "raw": turn.raw,
        "beats": [asdict(beat) for beat in turn.beats],
        "tokens": turn.tokens,
        "state": turn.state.value,
        "at": _iso(turn.at),
        "revision": turn.revision,
    }
    if turn.id in archive.tellings:
        number, known = archive.tellings[turn.id]
        fields |= {"telling": number, "tellings": [asdict(telling) for telling in known]}
    return fields


def _branch_fields(branch: Branch) -> dict[str, Any]:
    return {
        "id": branch.id,
        "at_seq": branch.at_seq,
        "by": _snowflake(branch.by),
        "at": _iso(branch.at),
        "turns": [turn.seq for turn in branch.turns],
    }


def _memory_fields(memory: Memory, history: Sequence[Version]) -> dict[str, Any]:
    withheld = memory.status in _WITHHELD
    return {
        "number": memory.number,
        "status": memory.status.value,
        "content": None if withheld else _content_fields(memory.content),
        "cites": [str(citation) for citation in memory.cites],
        "condenses": list(memory.condenses),
        "chapter": memory.chapter,
        "version": memory.version,
        "corrected": memory.corrected,
        "restates": memory.restates,
        "resolved_by": memory.resolved_by,
        "history": [
            {
                "version": version.version,
                "status": version.status.value,
                "content": None if is_withheld(version, memory, history) else _content_fields(version.content),
                "by": version.by,
                "reason": version.reason,
                "at": _iso(version.at),
            }
            for version in history
        ],
    }


def _content_fields(content: Content) -> dict[str, Any]:
    return {
        "kind": content.kind.value,
        "text": content.text,
        "speaker": content.speaker,
        "addressee": content.addressee,
        "actual": content.actual,
        "player_id": _snowflake(content.player_id),
        "private": content.private,
    }


def _snowflake(value: int | None) -> str | None:
    return None if value is None else str(value)


def _iso(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat()


# Markdown -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading with its lines; nothing when there are none."""

    heading: str
    lines: Iterable[str]

    def text(self) -> str:
        lines = list(self.lines)
        return "\n".join([self.heading, "", *lines]) if lines else ""


def _about(archive: Archive) -> Iterator[str]:
    session, kept = archive.session, len(archive.turns)
    until = f"until {_when(session.stopped_at)}" if session.stopped_at else "and still running"
    yield f"Session {session.id}, begun {_when(session.started_at)} {until}: {kept} turns."
    raw = sum(turn.seq > session.folded_to for turn in archive.turns)
    yield f"The memory covers the story up to turn {session.folded_to}; {raw} turns are not folded yet."


def _cast(archive: Archive) -> Iterator[str]:
    session = archive.session
    cards = [session.character.card, *(member.character.card for member in session.others)]
    for card in cards:
        yield f"- **{_escaped(card.name)}**, played by the bot"
        yield from (f"  > {line}" for line in _lines(card.description))
    names: dict[tuple[int, int | None], dict[str, None]] = {}
    for turn in archive.turns:
        if turn.author.is_player:
            names.setdefault(turn.author.voice, {})[turn.author.name] = None
    for (player_id, persona_id), known_as in names.items():
        who = "a player" if persona_id is None else "played by a player"
        yield f"- **{', also '.join(map(_escaped, known_as))}**, {who} ({player_id})"
    known = {name for known_as in names.values() for name in known_as}.union(card.name for card in cards)
    spoken = (beat.speaker for turn in archive.turns if not turn.author.is_player for beat in turn.beats)
    for speaker in dict.fromkeys(spoken):
        if speaker not in known:
            yield f"- **{_escaped(speaker)}**, in the story"


def _chapter(chapter: Chapter, memories: Sequence[Memory]) -> _Section:
    heading = f"## Chapter {chapter.ordinal} (turns {chapter.first} to {chapter.last})"
    return _Section(heading, map(_memory_line, memories))


def _with_status(memories: Iterable[Memory], status: MemoryStatus) -> Iterator[str]:
    return (_memory_line(m) for m in memories if m.status is status)


def _redone(memories: Iterable[Memory]) -> Iterator[str]:
    numbers = [f"#{m.number}" for m in memories if m.status is MemoryStatus.STALE]
    if numbers:
        yield f"{', '.join(numbers)}: left out, because a message that they came from was edited or deleted."


def _memory_line(memory: Memory) -> str:
    notes = []
    if memory.cites:
        notes.append("from turn " + ", ".join(map(str, memory.cites)))
    if memory.condenses:
        notes.append("stands for " + ", ".join(f"#{number}" for number in memory.condenses))
    if memory.restates is not None:
        notes.append(f"repeats #{memory.restates}, which was corrected")
    if memory.resolved_by is not None:
        notes.append(f"resolved in turn {memory.resolved_by}")
    if memory.content.player_id is not None:
        notes.append(f"about the player {memory.content.player_id}")
    mark = " ✎ corrected" if memory.corrected else ""
    source = f" ({'; '.join(notes)})" if notes else ""
    return f"- **#{memory.number}** {_KINDS[memory.kind]}{mark}: {_said(memory.content)}{source}"


def _said(content: Content) -> str:
    text, speaker = flat(content.text), flat(content.speaker)
    match content.kind:
        case MemoryKind.CLAIM:
            to = f" to {flat(content.addressee)}" if content.addressee else ""
            return f"{speaker} said{to}: {text}"
        case MemoryKind.SECRET:
            return f"{speaker} lets others believe: {text} Actually: {flat(content.actual)}"
        case MemoryKind.QUOTE:
            return f"{speaker}: “{text}”"
        case _:
            return text


def _left(branch: Branch) -> str:
    seqs = [turn.seq for turn in branch.turns]
    told = f"turns {seqs[0]} to {seqs[-1]}" if len(seqs) > 1 else f"turn {seqs[0]}"
    return f"- {told}, left on {_when(branch.at)}: the story went on after turn {branch.at_seq}"


def _story(turn: Turn, language: str) -> Iterator[str]:
    who = "player" if turn.author.is_player else "character"
    yield f"### {turn.seq} · {_escaped(turn.author.name)} ({who}) · {_when(turn.at)}"
    yield ""
    for index, beat in enumerate(turn.beats):
        if index:
            yield ">"
        for number, line in enumerate(_beat(beat, turn.author.name, language).split("\n")):
            yield f"> {line}" if line or not number else ">"
    yield ""


def _beat(beat: Beat, author: str, language: str) -> str:
    text = "  \n".join(_lines(beat.text))
    who = "" if beat.speaker == author else f"**{_escaped(beat.speaker)}** "
    match beat.kind:
        case BeatKind.SPEECH:
            return f"{who}「{text}」" if language == "ja" else f"{who}“{text}”"
        case BeatKind.THOUGHT:
            return f"{who}(thought, not spoken) {text}"
        case BeatKind.OOC:
            return f"(out of character) {text}"
        case _:
            return text


def _audit(archive: Archive) -> Iterator[str]:
    """Every change that a moderator made, oldest first."""
    changes = [
        (after.at, memory, before, after)
        for memory in archive.memory.memories
        for before, after in pairwise(archive.histories.get(memory.number, ()))
        if after.by.isdigit()
    ]
    for at, memory, before, after in sorted(changes, key=lambda change: (change[0], change[1].number)):
        history = archive.histories[memory.number]
        reason = f", because: {flat(after.reason)}" if after.reason else ""
        yield f"- {_when(at)}: #{memory.number} by {after.by}{reason}"
        for label, version in (("before", before), ("after", after)):
            withheld = is_withheld(version, memory, history)
            words = "(left out: it may repeat a message that was taken back)" if withheld else _said(version.content)
            yield f"  - {label}: {version.status.value} {_KINDS[version.content.kind]}: {words}"


def _when(at: datetime | None) -> str:
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def flat(text: str) -> str:
    """A text in one line of Markdown that means nothing but its words."""
    return " ".join(_escaped(text).split())


def _lines(text: str) -> list[str]:
    """The escaped lines of a text, none of which can start a heading, list or quote of its own."""
    return [_LINE_START.sub(r"\1\\\2", _escaped(line)).strip() for line in text.strip().splitlines()]


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)
