"""Forgetting a person: what of a story gives them away, and what becomes of its replies and memories."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from bot.memory.likeness import features
from bot.memory.markup import written
from bot.memory.memories import Content, Memory, MemoryStatus, SessionMemory, Version, above, after_change
from bot.memory.turns import Beat, Citation, Telling

# From so much on, the same words are a repetition and no chance: 20 letters, 12 hiragana or 7 other wide characters. The set
# phrases of politeness are in hiragana, and shorter: ありがとうございました.
REPEATED: Final = 60
_LETTER, _HIRAGANA_LETTER, _WIDE_LETTER = 3, 5, 9
# A whole message says more than a stretch of one.
_WHOLE: Final = 6
_HAN: Final = "々㐀-鿿豈-﫿"
_HIRAGANA: Final = "぀-ゟ"
_WIDE: Final = f"{_HAN}぀-ヿ가-힣"
_IS_WIDE: Final = re.compile(f"[{_WIDE}]")
_NARROW: Final = rf"[^\W{_WIDE}]"
_IN_A_WORD: Final = re.compile(_NARROW * 2)
_KANA: Final = re.compile("[぀-ヿ]")
_NUMBER: Final = re.compile(r"\d(?:[-‐-―−. ()/]{0,2}\d){5,}")
# A name of two letters is also a word, but for its capitals.
_SHORT: Final = 2
_HONORIFICS: Final = "さん|ちゃん|くん|君|様|さま|殿|先輩|氏"
# Parts of names, and titles, that are nobody's.
_PARTICLES: Final = frozenset("al da de del der di du el la le van von dr mr mrs ms sir lady lord".split())
# Longer runs are phrases rather than names, and their halves words.
_LONGEST_NAME: Final = 5


class Traces:
    """What gives a person away: their labels and parts of these as words, and longer pieces of what they wrote.

    ``others`` are the names of everybody else: where one of them holds a label of the person's, it is not meant, and parts
    that both have are nobody's. ``called`` are names that the person has elsewhere, which count like parts.
    """

    def __init__(
        self, labels: Iterable[str], texts: Iterable[str], others: Iterable[str] = (), *, called: Iterable[str] = ()
    ) -> None:
        own = {label for name in labels if (label := _spaced(name)) and _is_name(label)}
        named = sorted({_spaced(name) for name in others} - own, key=len, reverse=True)
        theirs = {part.casefold() for other in named for part in (other, _bare(other), *_parts(other))}
        known = {*own, *map(_spaced, called)}
        whole = own | {
            name for name in (*known, *map(_bare, known)) if _is_name(name) and name.casefold() not in theirs
        }
        parts = {part for name in known for part in _parts(name) if part.casefold() not in theirs} - whole
        self._names = [*map(_name, whole), *map(_part, parts)]
        self._others = [
            re.compile(re.escape(o), re.IGNORECASE) for o in named if any(_within(name, o) for name in whole | parts)
        ]
        written = {_folded(text) for text in texts}
        self._stretches = {stretch for text in written for stretch in _stretches(text)}
        self._messages: dict[str, set[str]] = defaultdict(set)
        for message in filter(_is_telling, map(_trimmed, written)):
            self._messages[message[:_WHOLE]].add(message)
        self._numbers = {number for text in written for number in _numbers(text)}

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
        return (
            any(stretch in self._stretches for stretch in _stretches(text))
            or any(own in said or said in own for said in _numbers(text) for own in self._numbers)
            or any(
                text.startswith(message, at) and _is_apart(text, at, at + len(message))
                for at in range(len(text) - _WHOLE + 1)
                for message in self._messages.get(text[at : at + _WHOLE], ())
            )
        )


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


def written_anew(raw: str, tokens: int, beats: tuple[Beat, ...], name: str) -> tuple[str, int]:
    """What a character of a ``name`` would have written for the beats that are left of ``raw``, and its share of the tokens."""
    left = written(beats, name) if beats else ""
    return left, tokens * len(left) // len(raw) if raw and left else 0


def tellings_without(
    tellings: Sequence[Telling], number: int, traces: Traces, name: str
) -> tuple[int | None, tuple[Telling, ...]] | None:
    """The tellings of a reply by a character of a ``name``, each without what gives a person away; None when none does.

    Of a telling of which nothing is left there is none any more, and the others are numbered anew. With them comes the number
    of the one that stands in the story, which was ``number``; None when that is gone.
    """
    cuts = [without(telling.beats, traces, raw=telling.raw) for telling in tellings]
    if all(cut is None for cut in cuts):
        return None
    left: list[Telling] = []
    standing = None
    for place, (telling, cut) in enumerate(zip(tellings, cuts, strict=True), start=1):
        if cut is not None and not cut.beats:
            continue
        if cut is not None:
            raw, tokens = written_anew(telling.raw, telling.tokens, cut.beats, name)
            telling = replace(telling, raw=raw, beats=cut.beats, tokens=tokens)
        left.append(telling)
        if place == number:
            standing = len(left)
    return standing, tuple(left)


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
    return _word(re.escape(label), label, flags)


def _part(part: str) -> re.Pattern[str]:
    """A part of a name as it is written for one: small letters are a word like others."""
    forms = {part} - {part.lower()} | {part.capitalize()}
    return _word("(?:" + "|".join(map(re.escape, sorted(forms))) + ")", part, re.NOFLAG)


def _word(pattern: str, label: str, flags: re.RegexFlag) -> re.Pattern[str]:
    before = f"(?<!{_NARROW})" if re.match(_NARROW, label[0]) else ""
    after = f"(?!{_NARROW})" if re.match(_NARROW, label[-1]) else ""
    return re.compile(before + pattern + after, flags)


def _is_name(label: str) -> bool:
    """Whether a label can be told from punctuation."""
    return any(c.isalnum() or unicodedata.category(c) == "So" for c in label)


def _bare(name: str) -> str:
    """A name without what stands in brackets and the signs around it; empty when no more than a letter is left."""
    bare = _trimmed(re.sub(r"[(\[<{「【〈《].*?[)\]>}」】〉》]", " ", name))
    return bare if len(bare) > 1 else ""


def _parts(name: str) -> set[str]:
    """What somebody may be called by for short: words of several letters, and the family and given names of Han and Hangul.

    Hiragana is a part from three on: two stand in many words.
    """
    found: set[str] = set()
    for run in re.findall(rf"[{_HAN}]+|[{_HIRAGANA}]+|[ァ-ヺー-ヿ]+|[가-힣]+|[^\W\d_{_WIDE}]+", _bare(name)):
        if re.fullmatch(_HONORIFICS, run) or run.casefold() in _PARTICLES or not features(run):
            continue
        if len(run) >= (3 if re.match(f"[{_HIRAGANA}]", run) else 2):
            found.add(run)
        if len(run) <= _LONGEST_NAME and re.match(f"[{_HAN}가-힣]", run):
            found.update(half for size in (2, 3) if size < len(run) for half in (run[:size], run[-size:]))
    return found


def _within(label: str, other: str) -> bool:
    return label.casefold() in other.casefold()


def _stretches(text: str) -> Iterator[str]:
    """From each character on the shortest stretch that is no chance."""
    end = weight = 0
    for start, character in enumerate(text):
        while weight < REPEATED:
            if end == len(text):
                return
            weight += _weight(text[end])
            end += 1
        yield text[start:end]
        weight -= _weight(character)


@cache
def _weight(character: str) -> int:
    if "぀" <= character <= "ゟ":
        return _HIRAGANA_LETTER
    return _WIDE_LETTER if _IS_WIDE.match(character) else _LETTER


def _is_telling(message: str) -> bool:
    """Whether a whole message is no chance where it is repeated: a single word may be, but for wide characters."""
    return len(message) >= _WHOLE and (" " in message or _IS_WIDE.search(message) is not None)


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether a stretch of a text is not part of longer words."""
    return not any(at and _IN_A_WORD.match(text, at - 1) for at in (start, end))


def _numbers(text: str) -> Iterator[str]:
    """Runs of six or more digits, however they are grouped."""
    return (re.sub(r"\D", "", found[0]) for found in _NUMBER.finditer(text))


def _trimmed(text: str) -> str:
    """A text without the signs around it."""
    return _spaced(re.sub(r"^[\W_]+|[\W_]+$", "", text))


def _spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _folded(text: str) -> str:
    return _spaced(text).casefold()
