"""Stories with their memory, as evaluations read them: from our own export, or from the rows of a session.

What an export has that cannot be so is left out and counted: a turn told twice, a citation of nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from bot.errors import KataribeError
from bot.evals.stories import Story, StoryCard, StoryPlayer, StoryTurn, Truth
from bot.export import FORMAT_NAME, FORMAT_VERSION, export_session
from bot.memory.language import detect_language
from bot.memory.memories import Chapter, Content, Memory, MemoryKind, MemoryStatus, SessionMemory
from bot.memory.prompt import Card
from bot.memory.turns import Author, AuthorKind, Beat, BeatKind, Citation, Turn, TurnState
from bot.memory.wording import Language
from bot.settings import load_settings
from bot.store.health import explained


class ExportUnreadable(KataribeError):
    """A file that is no export of a story; says in a line what is wrong with it."""


class _Author(BaseModel):
    kind: AuthorKind
    id: int
    name: str
    persona_id: int | None = None


class _Beat(BaseModel):
    kind: BeatKind
    text: str
    speaker: str


class _Turn(BaseModel):
    id: int
    seq: int
    author: _Author
    raw: str
    beats: tuple[_Beat, ...]
    tokens: int
    at: datetime
    revision: int = 1


class _Content(BaseModel):
    kind: MemoryKind
    text: str
    speaker: str = ""
    addressee: str = ""
    actual: str = ""
    player_id: int | None = None
    private: bool = False


class _Memory(BaseModel):
    number: int
    status: MemoryStatus
    content: _Content | None
    cites: tuple[Any, ...] = ()
    condenses: tuple[int, ...] = ()
    chapter: int | None = None
    version: int = 1
    corrected: bool = False
    restates: int | None = None
    resolved_by: int | None = None


class _Chapter(BaseModel):
    ordinal: int
    first: int
    last: int
    absorbed: bool = False


class _Session(BaseModel):
    id: int


class _Character(BaseModel):
    card: dict[str, Any]


class _Export(BaseModel):
    format: Literal["kataribe-export"]
    version: Literal[1]
    session: _Session
    character: _Character
    turns: tuple[_Turn, ...]
    chapters: tuple[_Chapter, ...]
    memories: tuple[_Memory, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A story with what is remembered of it. ``oddities`` counts what could not be so, by what it was."""

    name: str
    card: Card
    turns: tuple[Turn, ...]
    memory: SessionMemory
    oddities: Mapping[str, int] = field(default_factory=dict)

    @property
    def language(self) -> Language:
        """The language that it is written in."""
        return detect_language("\n".join(turn.raw for turn in self.turns))


_FORMAT: Final = f'"{FORMAT_NAME}"'.encode()
_FIRST_BYTES: Final = 200


def is_export(path: Path) -> bool:
    """Whether a file says of itself that it is an export; False for one that cannot be read."""
    try:
        with path.open("rb") as file:
            return _FORMAT in file.read(_FIRST_BYTES)
    except OSError:
        return False


def load_export(path: Path) -> Told:
    """Read an export. Raises ExportUnreadable."""
    try:
        return told_of(path.read_bytes(), path.stem)
    except OSError as error:
        raise ExportUnreadable(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ExportUnreadable(f"{path} is no export of version {FORMAT_VERSION}: {where}: {first['msg']}.") from error


async def load_session(session_id: int) -> Told:
    """A session of the database that the settings name, which is only read. Raises SettingsError and KataribeError."""
    address = load_settings().database_url
    with explained(address):
        text = await export_session(address, session_id, "json")
    if text is None:
        raise KataribeError(f"There is no session {session_id}; kataribe sessions lists all of them.")
    return told_of(text.encode(), f"session {session_id}")


def told_of(document: bytes, name: str) -> Told:
    """The story of an export's JSON. Raises ValidationError."""
    read = _Export.model_validate_json(document)
    card = TypeAdapter(Card).validate_python(read.character.card)
    oddities: Counter[str] = Counter()
    turns: dict[int, Turn] = {}
    for turn in read.turns:
        if turn.seq in turns:
            oddities["turns told twice"] += 1
        else:
            turns[turn.seq] = _turn(turn)
    memories: dict[int, Memory] = {}
    for memory in read.memories:
        if memory.content is None:  # an export keeps the number of what was taken back, and not its words
            continue
        if memory.number in memories:
            oddities["memories told twice"] += 1
        else:
            memories[memory.number] = _memory(memory, memory.content, tuple(_cites(memory.cites, turns, oddities)))
    chapters = tuple(Chapter(c.ordinal, c.first, c.last, c.absorbed) for c in read.chapters)
    ordinals = {chapter.ordinal for chapter in chapters}
    lost = sum(m.chapter is not None and m.chapter not in ordinals for m in memories.values())
    oddities.update({"memories of a chapter that is not there": lost} if lost else {})
    in_order = tuple(turns[seq] for seq in sorted(turns))
    return Told(name, card, in_order, SessionMemory(chapters, tuple(memories.values())), oddities)


def story_of(told: Told) -> Story:
    """The same as a story to be played again: its turns, and no truth about it.

    Raises ExportUnreadable where there is nothing to play.
    """
    by_players = [turn.author for turn in told.turns if turn.author.is_player]
    players = {str(author.id): StoryPlayer(id=str(author.id), name=author.name) for author in by_players}
    turns = tuple(map(_story_turn, told.turns))
    if not players or not turns:
        raise ExportUnreadable(f"{told.name} has nothing to play: no player wrote in it.")
    cards = (StoryCard(name=told.card.name, description=told.card.description),)
    return Story(
        id=told.name, language=told.language, cards=cards, players=tuple(players.values()), turns=turns, truth=Truth()
    )


def _story_turn(turn: Turn) -> StoryTurn:
    name = turn.author.name
    if turn.author.is_player:
        beats = [{"kind": "player", "speaker": name, "text": turn.raw}]
        return StoryTurn.model_validate({"seq": turn.seq, "author": f"player:{turn.author.id}", "beats": beats})
    beats = [{"kind": beat.kind.value, "speaker": beat.speaker, "text": beat.text} for beat in turn.beats]
    return StoryTurn.model_validate({"seq": turn.seq, "author": f"character:{name}", "beats": beats})


def _turn(read: _Turn) -> Turn:
    author = Author(read.author.kind, read.author.id, read.author.name, read.author.persona_id)
    beats = tuple(Beat(beat.kind, beat.text, beat.speaker) for beat in read.beats)
    return Turn(read.id, read.seq, author, read.raw, beats, read.tokens, TurnState.KEPT, read.at, read.revision)


def _memory(read: _Memory, content: _Content, cites: tuple[Citation, ...]) -> Memory:
    return Memory(
        read.number, Content(**content.model_dump()), read.status, cites, read.condenses, read.chapter, read.version,
        read.corrected, read.restates, read.resolved_by,
    )  # fmt: skip


def _cites(read: Iterable[object], turns: Mapping[int, Turn], oddities: Counter[str]) -> Iterable[Citation]:
    for value in read:
        citation = Citation.parse(value) if isinstance(value, str) else None
        if citation is None:
            oddities["citations that are none"] += 1
        elif citation.seq not in turns or turns[citation.seq].beat(citation) is None:
            oddities["citations of what is not there"] += 1
        else:
            yield citation
