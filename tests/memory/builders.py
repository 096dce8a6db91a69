"""Small stories for the tests of the domain: turns and memories in one line each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.memory.evidence import FoldAnswer, Judge, Proposal, Verdict
from bot.memory.markup import parse_player
from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus, NewMemory, SessionMemory
from bot.memory.turns import Author, AuthorKind, Beat, BeatKind, Citation, Turn, TurnState

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
IDS = {"Mio": 11, "Ken Abe": 12, "小川ハル": 13, "林雨": 14}


def said(seq: int, name: str, text: str, *, player_id: int | None = None, state: TurnState = TurnState.KEPT) -> Turn:
    """A player's turn, parsed from what they typed."""
    author = Author(AuthorKind.PLAYER, IDS.get(name, 99) if player_id is None else player_id, name)
    return Turn(seq, seq, author, text, parse_player(text, name), 10, state, NOON + timedelta(minutes=seq))


def reply(
    seq: int, name: str, *beats: tuple[str, str] | tuple[str, str, str], state: TurnState = TurnState.KEPT
) -> Turn:
    """A character's turn of beats: kind, text, and the speaker when it is somebody else."""
    made = tuple(Beat(BeatKind(b[0]), b[1], b[2] if len(b) == 3 else name) for b in beats)
    raw = "\n".join(beat.text for beat in made)
    return Turn(seq, seq, Author(AuthorKind.CHARACTER, 1, name), raw, made, 10, state, NOON + timedelta(minutes=seq))


def cites(*texts: str) -> tuple[Citation, ...]:
    """Citations from their short form."""
    return tuple(citation for text in texts if (citation := Citation.parse(text)))


def judged(
    turns: list[Turn], *proposals: Proposal, opened: tuple[Proposal, ...] = (), memory: SessionMemory | None = None
) -> Verdict:
    """What code accepts of some proposals."""
    return Judge(turns, memory or SessionMemory(), {}).judge(FoldAnswer(proposals, opened))


def only(
    turns: list[Turn], kind: str, text: str, *where: str, actual: str = "", who: str = "", to: str = ""
) -> NewMemory | None:
    """What becomes of a single proposal; None when it is dropped."""
    verdict = judged(turns, Proposal(kind, text, actual, who, to, cites(*where)))
    return verdict.memories[0] if verdict.memories else None


def memory(
    number: int,
    text: str,
    kind: MemoryKind = MemoryKind.EVENT,
    *,
    status: MemoryStatus = MemoryStatus.ACTIVE,
    cited: tuple[str, ...] = (),
    condenses: tuple[int, ...] = (),
    chapter: int | None = 1,
    corrected: bool = False,
    speaker: str = "",
) -> Memory:
    """A stored memory."""
    return Memory(
        number, Content(kind, text, speaker), status, cites(*cited), condenses, chapter=chapter, corrected=corrected
    )
