"""What the judge of people is asked, and how its answer is read. What holds of the answer is decided in ``observing``.

A judge is a third party: it speaks in nobody's voice. It is shown a talk of which only one person's own lines may be cited,
and proposes notes; later it is shown notes, and proposes traits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, tzinfo
from typing import Any, Final

from bot.memory.forms import array_form, is_number, number_form, object_form, objects_of, text_form, text_of
from bot.memory.judge_wording import JUDGE_WORDINGS, JudgeWording
from bot.memory.markup import plain_name
from bot.memory.messages import Message
from bot.memory.passages import Cited
from bot.memory.people import Exchange, Note, Source, Trait, TraitStatus
from bot.memory.turns import BeatKind, Citation, TurnState
from bot.memory.wording import Language

LONGEST_NOTE: Final = 160
LONGEST_TRAIT: Final = 120
MOST_NOTES: Final = 6
MOST_TRAITS: Final = 4
_MOST_CITES: Final = 6
_MOST_SEEN: Final = 12
_MOST_SHOWN: Final = 60
# What others say is only there to understand the person by.
_LONGEST_ASIDE: Final = 300
# More than any window has room to answer; of so many each one is still counted.
_MOST_READ: Final = 1_000
_FORGED_NUMBER: Final = re.compile(r"[\[［](?=\s*\d)")


@dataclass(frozen=True, slots=True)
class Line:
    """A beat that the judge is shown: where it stands, and what it can show."""

    source: Source
    cited: Cited

    def is_of(self, player_id: int) -> bool:
        """Whether this very player wrote it."""
        return self.cited.turn.author.is_player and self.cited.turn.author.id == player_id


@dataclass(frozen=True, slots=True)
class ProposedNote:
    """One note as the model worded it, with the numbers of the lines it cites; nothing of it trusted yet."""

    text: str
    cites: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProposedTrait:
    """A new trait as the model worded it; ``notes`` are numbers, ``until`` is the date ahead as it stands in the answer."""

    text: str
    notes: tuple[int, ...] = ()
    until: str = ""


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A known trait, by number, that notes show again; with a text, what it shall say from now on, ``until`` as above."""

    trait: int
    notes: tuple[int, ...] = ()
    text: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class ProposedTraits:
    """All that a model proposed on traits."""

    new: tuple[ProposedTrait, ...] = ()
    seen: tuple[ProposedChange, ...] = ()
    updates: tuple[ProposedChange, ...] = ()


def numbered(exchanges: Iterable[Exchange]) -> dict[int, Line]:
    """The beats of exchanges as the judge sees them, counted from 1 through all of them.

    Talk out of character and the thoughts of characters are left out: they show nothing of a person, and nobody is to read
    a thought.
    """
    lines: dict[Source, Line] = {}
    for exchange in exchanges:
        for turn in exchange.turns:
            for place, beat in enumerate(turn.beats, start=1) if turn.state is TurnState.KEPT else ():
                hidden = beat.kind is BeatKind.THOUGHT and not turn.author.is_player
                if beat.kind is not BeatKind.OOC and not hidden:
                    source = Source(exchange.session_id, turn.seq, place)
                    lines[source] = Line(source, Cited(Citation(turn.seq, place), turn, beat))
    return dict(enumerate(lines.values(), start=1))


def note_messages(
    name: str,
    character: str,
    exchanges: Sequence[Exchange],
    known: Sequence[str],
    language: Language,
    *,
    player_id: int,
    zone: tzinfo = UTC,
) -> tuple[Message, ...]:
    """The request for notes about a person: instructions, what was noted before, the numbered lines under their dates.

    ``known`` are the texts of earlier notes, of which the last 60 are shown. Dates are those of ``zone``.
    """
    words = JUDGE_WORDINGS[language]
    person = plain_name(name)
    parts = []
    if known:
        parts.append("\n".join([words.known, *(f"- {_flat(text)}" for text in known[-_MOST_SHOWN:])]))
    parts.append("\n".join([words.lines, *_source_lines(person, numbered(exchanges), player_id, words, zone)]))
    system = words.note.format(name=person, character=plain_name(character), most=MOST_NOTES)
    return Message("system", system), Message("user", "\n\n".join(parts))


def _source_lines(
    person: str, lines: Mapping[int, Line], player_id: int, words: JudgeWording, zone: tzinfo
) -> list[str]:
    shown: list[str] = []
    day: date | None = None
    for number, line in lines.items():
        author, beat = line.cited.turn.author, line.cited.beat
        written = line.cited.turn.at.astimezone(zone).date()
        if written != day:
            day = written
            shown.append(words.on(day))
        text = _FORGED_NUMBER.sub("(", _flat(beat.text))
        if line.is_of(player_id):
            shown.append(f"[{number} player {person}] {text}")
            continue
        kind = "other" if author.is_player else beat.kind.value
        aside = text if len(text) <= _LONGEST_ASIDE else text[: _LONGEST_ASIDE - 1] + "…"
        shown.append(f"[{number} {kind} {plain_name(beat.speaker)}] {aside}")
    return shown


def note_schema(exchanges: Sequence[Exchange], player_id: int) -> dict[str, Any]:
    """The answer's schema for notes: bounded counts and lengths, and only the person's own lines can be cited."""
    own = [number for number, line in numbered(exchanges).items() if line.is_of(player_id)]
    note = object_form(text=text_form(LONGEST_NOTE), cites=_numbers_form(own))
    return object_form(notes=array_form(note, MOST_NOTES))


def is_notes(value: object) -> bool:
    """Whether a parsed answer has the form of notes at all; an empty list is an answer."""
    return isinstance(value, Mapping) and isinstance(value.get("notes"), list)


def read_notes(value: object) -> tuple[ProposedNote, ...]:
    """The notes in a parsed answer; anything of another shape is passed over."""
    return tuple(
        ProposedNote(text_of(item.get("text")), _numbers_of(item.get("cites"))) for item in _items(value, "notes")
    )


def note_texts(value: object) -> tuple[str, ...]:
    """Every text of an answer, for the checks of the output."""
    return tuple(note.text for note in read_notes(value) if note.text)


def trait_messages(
    name: str,
    notes: Sequence[Note],
    traits: Sequence[Trait],
    language: Language,
    today: date,
    *,
    zone: tzinfo = UTC,
) -> tuple[Message, ...]:
    """The request for traits: instructions, the known traits, the notes of these days, both numbered by their place.

    What the person took away is not shown. ``today`` is the date where the person's guild is, and ``zone`` its time zone.
    """
    words = JUDGE_WORDINGS[language]
    person = plain_name(name)
    parts = []
    shown = _shown(traits)
    if shown:
        parts.append("\n".join([words.traits, *(_trait_line(n, traits[n - 1]) for n in shown)]))
    days = [note.at.astimezone(zone).date().isoformat() for note in notes]
    lines = [f"#{n} {day} {_flat(note.text)}" for n, (day, note) in enumerate(zip(days, notes, strict=True), start=1)]
    parts.append("\n".join([words.notes, *lines]))
    system = words.trait.format(name=person, today=words.on(today), most=MOST_TRAITS)
    return Message("system", system), Message("user", "\n\n".join(parts))


def trait_schema(notes: Sequence[Note], traits: Sequence[Trait]) -> dict[str, Any]:
    """The answer's schema for traits: numbers that exist, bounded counts and lengths."""
    cites = _numbers_form(range(1, len(notes) + 1))
    shown = _shown(traits)
    in_use = [n for n in shown if traits[n - 1].status is not TraitStatus.FORGOTTEN]
    text, until = text_form(LONGEST_TRAIT), text_form(10)
    return object_form(
        new=array_form(object_form(text=text, notes=cites, until=until), MOST_TRAITS),
        seen=array_form(object_form(trait=number_form(shown), notes=cites), _MOST_SEEN),
        updates=array_form(object_form(trait=number_form(in_use), text=text, notes=cites, until=until), MOST_TRAITS),
    )


def is_traits(value: object) -> bool:
    """Whether a parsed answer has the form of traits at all; empty lists are an answer."""
    return isinstance(value, Mapping) and all(isinstance(value.get(key), list) for key in ("new", "seen", "updates"))


def read_traits(value: object) -> ProposedTraits:
    """The proposals in a parsed answer; anything of another shape is passed over."""
    return ProposedTraits(
        new=tuple(
            ProposedTrait(text_of(item.get("text")), _numbers_of(item.get("notes")), text_of(item.get("until")))
            for item in _items(value, "new")
        ),
        seen=_changes(value, "seen"),
        updates=_changes(value, "updates"),
    )


def trait_texts(value: object) -> tuple[str, ...]:
    """Every text of an answer, for the checks of the output."""
    answer = read_traits(value)
    return tuple(text for text in (*(t.text for t in answer.new), *(c.text for c in answer.updates)) if text)


def _changes(value: object, key: str) -> tuple[ProposedChange, ...]:
    return tuple(
        ProposedChange(
            item["trait"], _numbers_of(item.get("notes")), text_of(item.get("text")), text_of(item.get("until"))
        )
        for item in _items(value, key)
        if is_number(item.get("trait"))
    )


def _shown(traits: Sequence[Trait]) -> list[int]:
    """The places, from 1, of the traits that the judge is shown: the 60 most present, less those that were taken away."""
    ranked = sorted(
        (n for n, trait in enumerate(traits, start=1) if not trait.deleted),
        key=lambda n: (traits[n - 1].status is not TraitStatus.FORGOTTEN, traits[n - 1].importance),
        reverse=True,
    )
    return sorted(ranked[:_MOST_SHOWN])


def _trait_line(number: int, trait: Trait) -> str:
    until = f" ({trait.until.isoformat()})" if trait.until else ""
    return f"#{number} {_flat(trait.text)}{until}"


def _numbers_form(numbers: Sequence[int]) -> dict[str, Any]:
    return {**array_form(number_form(numbers), _MOST_CITES), "minItems": 1}


def _numbers_of(value: object) -> tuple[int, ...]:
    """The numbers in a list, also when they came as text; what is none is passed over."""
    found = []
    for item in value[: _MOST_CITES * 2] if isinstance(value, list) else ():
        text = str(item).strip().strip("[]#") if is_number(item) or isinstance(item, str) else ""
        if text.isascii() and text.isdigit() and len(text) < 10:
            found.append(int(text))
    return tuple(dict.fromkeys(found))


def _items(value: object, key: str) -> list[Mapping[str, Any]]:
    return objects_of(value.get(key), _MOST_READ) if isinstance(value, Mapping) else []


def _flat(text: str) -> str:
    return " ".join(text.split())
