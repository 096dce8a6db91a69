"""Forgetting a person: what of a story gives them away, and what becomes of its replies and memories."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from bot.memory.memories import Content, Memory, MemoryStatus, SessionMemory, Version, above, after_change
from bot.memory.turns import Beat, Citation

# From so many characters on, the same words are a repetition and no chance.
REPEATED: Final = 20
# Each stretch of 20 characters holds a whole one of the blocks of 10 that a text is cut into.
_BLOCK: Final = REPEATED // 2
_WIDE: Final = "぀-ヿ㐀-鿿豈-﫿가-힣"
_KANA: Final = re.compile("[぀-ヿ]")
# A name of two letters is also a word, but for its capitals.
_SHORT: Final = 2
_HONORIFICS: Final = "さん|ちゃん|くん|君|様|さま|殿|先輩|氏"


class Traces:
    """What gives a person away: their labels as words, and longer pieces of what they wrote, to the letter.

    ``others`` are the labels of everybody else: where one of them holds a label of the person's, it is not meant.
    """

    def __init__(self, labels: Iterable[str], texts: Iterable[str], others: Iterable[str] = ()) -> None:
        own = {label for name in labels if (label := _spaced(name)) and _is_name(label)}
        named = sorted({_spaced(name) for name in others} - own, key=len, reverse=True)
        self._names = [_name(label) for label in own]
        self._others = [
            re.compile(re.escape(o), re.IGNORECASE) for o in named if any(_within(label, o) for label in own)
        ]
        self._written = "\n".join({folded for text in texts if len(folded := _folded(text)) >= REPEATED})
        self._places: dict[str, list[int]] = defaultdict(list)
        for line in re.finditer(".+", self._written):
            for at in range(line.start(), line.end() - _BLOCK + 1, _BLOCK):
                self._places[self._written[at : at + _BLOCK]].append(at)
        self._around: dict[str, frozenset[str]] = {}

    def show_in(self, text: str) -> bool:
        """Whether a text names the person, or repeats what they wrote."""
        return self.name_in(text) or self._repeated_in(_folded(text))

    def name_in(self, text: str) -> bool:
        """Whether a text names the person."""
        spaced = _spaced(text)
        for other in self._others:
            spaced = other.sub(" ", spaced)
        return any(name.search(spaced) for name in self._names)

    def in_content(self, content: Content) -> bool:
        """Whether a memory says something of the person."""
        return any(self.show_in(words) for words in (content.text, content.speaker, content.addressee, content.actual))

    def _repeated_in(self, text: str) -> bool:
        for at in range(len(text) - _BLOCK + 1):
            block = text[at : at + _BLOCK]
            if block in self._places:
                first, last = max(0, at - _BLOCK), min(at, len(text) - REPEATED)
                if any(text[start : start + REPEATED] in self._stretches(block) for start in range(first, last + 1)):
                    return True
        return False

    def _stretches(self, block: str) -> frozenset[str]:
        """All stretches of 20 characters that hold a block where it was cut, made when the first text has it too."""
        if block not in self._around:
            starts = (start for at in self._places[block] for start in range(max(0, at - _BLOCK), at + 1))
            self._around[block] = frozenset(self._written[start : start + REPEATED] for start in starts)
        return self._around[block]


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of a turn's beats, and their new places by the former ones, counted from 1."""

    beats: tuple[Beat, ...]
    places: dict[int, int]


def without(beats: Sequence[Beat], traces: Traces, *, raw: str = "") -> Cut | None:
    """The beats of a reply that do not give a person away; None when none of them does, nor what was written (``raw``)."""
    kept = [
        place for place, beat in enumerate(beats, 1) if not (traces.show_in(beat.text) or traces.name_in(beat.speaker))
    ]
    if len(kept) == len(beats) and not traces.show_in(raw):
        return None
    return Cut(tuple(beats[place - 1] for place in kept), {former: now for now, former in enumerate(kept, 1)})


def of_person(
    memory: SessionMemory,
    histories: Mapping[int, Sequence[Version]],
    player_id: int,
    seqs: Set[int],
    cut: Collection[Citation],
    traces: Traces,
) -> frozenset[int]:
    """The numbers of all memories that tell of a person, in any generation.

    They rest on the person's turns (``seqs``) or on the beats of replies that are ``cut``, are about the person, or say
    their name or words in any version.
    """

    def tells(content: Content) -> bool:
        return content.player_id == player_id or traces.in_content(content)

    gone = set(cut)
    roots = {
        m.number
        for m in memory.memories
        if any(cite.seq in seqs or cite in gone for cite in m.cites)
        or tells(m.content)
        or any(tells(version.content) for version in histories.get(m.number, ()))
    }
    return above(memory.memories, roots)


def after_forgetting(
    memory: SessionMemory, numbers: Set[int], seqs: frozenset[int], cut_seqs: frozenset[int]
) -> tuple[Memory, ...]:
    """The memories that change when a person is forgotten, as they are afterwards: of ``numbers`` nothing is left.

    What one of these stood for besides comes back into use. ``seqs`` are the person's turns and ``cut_seqs`` the replies that
    were cut; what else is derived from those is changed as by an edit.
    """
    between = memory
    freed: set[int] = set()
    for line in memory.memories:
        if line.number in numbers:
            if line.status in (MemoryStatus.ACTIVE, MemoryStatus.CONDENSED):
                freed.update(line.condenses)
            between = between.with_memory(_forgotten(line))
    for line in memory.memories:
        if line.number in freed - numbers and line.status is MemoryStatus.CONDENSED:
            between = between.with_memory(replace(line, status=MemoryStatus.ACTIVE))
    for line in after_change(between, seqs | cut_seqs):
        between = between.with_memory(line)
    return tuple(
        replace(now, version=before.version + 1)
        for before, now in zip(memory.memories, between.memories, strict=True)
        if now != before
    )


def _forgotten(memory: Memory) -> Memory:
    content = Content(memory.kind, "")
    return replace(memory, content=content, status=MemoryStatus.FORGOTTEN, corrected=False, resolved_by=None)


def _name(label: str) -> re.Pattern[str]:
    """A name as a word: next to letters of its own kind it is part of another, but a suffix in kana is none."""
    flags = re.NOFLAG if len(label) <= _SHORT else re.IGNORECASE
    if len(label) == 1 and _KANA.match(label):
        # One kana stands in nearly every word.
        return re.compile(f"(?<![{_WIDE}]){label}(?={_HONORIFICS}|[^{_WIDE}]|$)")
    narrow = rf"[^\W{_WIDE}]"
    before = f"(?<!{narrow})" if re.match(narrow, label[0]) else ""
    after = f"(?!{narrow})" if re.match(narrow, label[-1]) else ""
    return re.compile(before + re.escape(label) + after, flags)


def _is_name(label: str) -> bool:
    """Whether a label can be told from punctuation."""
    return any(c.isalnum() or unicodedata.category(c) == "So" for c in label)


def _within(label: str, other: str) -> bool:
    return label.casefold() in other.casefold()


def _spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _folded(text: str) -> str:
    return _spaced(text).casefold()
