"""What a moderator may do to a memory, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from bot.memory.likeness import closeness, is_same
from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus, Version

LONGEST_TEXT: Final = 500


class CorrectionError(ValueError):
    """A correction that makes no sense for a memory; ``code`` says why."""

    def __init__(self, code: str, *, number: int) -> None:
        super().__init__(f"{code}: memory {number}")
        self.code = code
        self.number = number


class CorrectionKind(StrEnum):
    """The four corrections."""

    SAID_NOT_TRUE = "said_not_true"
    EDIT = "edit"
    RETRACT = "retract"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class Correction:
    """A moderator's word on one memory.

    ``text`` is the new wording of an edit, and ``actual`` the new true side of a secret (empty: as it is).
    """

    kind: CorrectionKind
    moderator_id: int
    reason: str
    text: str = ""
    actual: str = ""


def corrected(memory: Memory, correction: Correction, *, speaker: str, history: Sequence[Version]) -> Memory:
    """The memory's next version.

    ``speaker`` is who said it according to the cited turns; a claim is theirs. ``history`` are its versions, oldest first.
    Raises CorrectionError when the correction makes no sense for this memory: nothing would change, there is no text, or
    somebody it told of asked to be forgotten.
    """
    if memory.status is MemoryStatus.FORGOTTEN:
        raise CorrectionError("correction-forgotten", number=memory.number)
    change = _CHANGES[correction.kind](memory, correction, speaker, history)
    if (change.content, change.status) == (memory.content, memory.status):
        raise CorrectionError("correction-changes-nothing", number=memory.number)
    return replace(change, version=memory.version + 1)


def restated(text: str, settled: Sequence[tuple[Memory, Sequence[Version]]]) -> Memory | None:
    """The corrected memory whose former, wrong wording a new text repeats; None when it repeats none.

    Each former version counts, but a text that is nearer to what the memory says now only repeats the correction.
    """
    best: tuple[float, Memory] | None = None
    for memory, history in settled:
        now = memory.content
        stands = memory.status is not MemoryStatus.RETRACTED and now.kind is not MemoryKind.CLAIM
        right = closeness(text, now.text) if stands else 0.0
        for said in {v.content.text for v in history if v.content.text != now.text or not stands}:
            wrong = closeness(text, said)
            if is_same(text, said) and wrong > max(right, best[0] if best else 0):
                best = (wrong, memory)
    return best[1] if best else None


def is_told_as_true(memory: Memory) -> bool:
    """Whether a memory is told as a fact, so that it can become something that was only said."""
    return memory.kind in (MemoryKind.FACT, MemoryKind.EVENT)


def _said_not_true(memory: Memory, _: Correction, speaker: str, __: Sequence[Version]) -> Memory:
    if not is_told_as_true(memory):
        raise CorrectionError("correction-not-a-fact", number=memory.number)
    content = replace(memory.content, kind=MemoryKind.CLAIM, speaker=speaker, player_id=None)
    return replace(memory, content=content, status=_usable(memory), corrected=True)


def _edit(memory: Memory, correction: Correction, _: str, __: Sequence[Version]) -> Memory:
    text = " ".join(correction.text.split())
    if not text:
        raise CorrectionError("correction-needs-text", number=memory.number)
    if memory.kind is MemoryKind.QUOTE:
        raise CorrectionError("correction-quote-is-verbatim", number=memory.number)
    actual = " ".join(correction.actual.split()) if memory.kind is MemoryKind.SECRET else ""
    content = replace(memory.content, text=text[:LONGEST_TEXT], actual=actual[:LONGEST_TEXT] or memory.content.actual)
    return replace(memory, content=content, status=_usable(memory), corrected=True)


def _retract(memory: Memory, _: Correction, __: str, ___: Sequence[Version]) -> Memory:
    return replace(memory, status=MemoryStatus.RETRACTED, corrected=True)


def _restore(memory: Memory, _: Correction, __: str, history: Sequence[Version]) -> Memory:
    """What stood before the last moderator's change, so that restoring twice brings that change back.

    Only a retraction changes back the status: what a fold or an edited turn did to it since is not undone.
    """
    by_moderator = [v.version for v in history if v.by.isdigit()]
    before = [v for v in history if by_moderator and v.version < by_moderator[-1]]
    if not before:
        raise CorrectionError("correction-nothing-to-restore", number=memory.number)
    former = before[-1]
    retracting = MemoryStatus.RETRACTED in (memory.status, former.status)
    as_folded = any((v.content, v.status) == (former.content, former.status) for v in history if not v.by.isdigit())
    return replace(
        memory,
        content=former.content,
        status=former.status if retracting else memory.status,
        corrected=not as_folded,
    )


def _usable(memory: Memory) -> MemoryStatus:
    return MemoryStatus.ACTIVE if memory.status is MemoryStatus.RETRACTED else memory.status


_CHANGES: Final = {
    CorrectionKind.SAID_NOT_TRUE: _said_not_true,
    CorrectionKind.EDIT: _edit,
    CorrectionKind.RETRACT: _retract,
    CorrectionKind.RESTORE: _restore,
}


def claim_of(content: Content, speaker: str, addressee: str = "") -> Content:
    """The same words as something ``speaker`` said."""
    return replace(
        content,
        kind=MemoryKind.CLAIM,
        speaker=speaker,
        addressee=addressee or content.addressee,
        actual="",
        player_id=None,
    )
