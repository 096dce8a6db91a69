"""What holds of what a judge of people proposed. Code has the last word, and what it drops it counts, by reason.

A note holds when its person shows it. The rules, in the order they are applied:

1. It has words (``no-text``), not too many (``too-long``), asks nothing (``question``), and neither imagines nor orders the
   record about (``order``). It states no role or right of authority as a fact, at most that its person says so (``authority``).
2. It cites a line that its very person wrote, by id (``no-evidence``), and is not about somebody else (``of-another``).
   Of those lines, sentences count that are real and about the person: not out of character, imagined or an order, and without
   "I" no question, nothing told to "you" and nothing told of another.
3. It guesses at no feelings and praises nobody, unless in the person's own words (``guess``).
4. No line of anybody else is nearer to it than those sentences, by what it is about and by all its words
   (``said-by-others``). A name that the person is to be called by must come from a sentence in which they give or ask for it.
5. At least a third of the words that say what it is about stand in those sentences (``not-shown``).
6. It says of all times only what the person says of all times (``sweeping``).
7. One that says the same as another joins it (``merged``), and what comes after six is left out (``too-many``).

A trait holds when notes show it, by rules 1, 3, 5 and 6 with notes in the place of lines, where three notes are as good as one
that says always. It is about no single day, unless that lies ahead (``of-the-day``): then it has that date. One alike a known
trait is that trait seen again; one alike what its person took away falls (``taken-away``). A known trait is overwritten only
by a text that shares something with it; another one is a new trait.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

from bot.memory.judgement import (
    LONGEST_NOTE,
    LONGEST_TRAIT,
    MOST_NOTES,
    MOST_TRAITS,
    ProposedChange,
    ProposedNote,
    ProposedTrait,
    ProposedTraits,
    numbered,
)
from bot.memory.likeness import alike, closeness, features
from bot.memory.passages import is_sweeping, is_unreal
from bot.memory.people import Exchange, NewNote, NewTrait, Note, Trait, TraitStatus
from bot.memory.phrases import asks_for_a_name, guesses, is_of_the_day, is_on_a_name, states_authority
from bot.memory.telling import Names, is_related, is_shown, own_sentences, substance

_AHEAD: Final = timedelta(days=2 * 365)
# Each is compared with every trait on record; no answer of the schema has as many.
_MOST_JUDGED: Final = 48
_DATE: Final = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)", re.ASCII)
# So often seen, something may be said to be so always.
_A_HABIT: Final = 3


@dataclass(frozen=True, slots=True)
class NotesVerdict:
    """What code accepted: notes in order, and why the rest fell."""

    notes: tuple[NewNote, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class TraitsVerdict:
    """What code accepted.

    ``seen`` maps traits, by row, to the notes that show them again; ``updates`` to their new text and the notes that show it: a
    trait stands in one of the two at most. ``dates`` has the date ahead of those that are about one, where notes name it.
    ``absorbed`` are the notes of which a trait says the same now. ``dropped`` counts why the rest fell.
    """

    new: tuple[NewTrait, ...] = ()
    seen: dict[int, tuple[int, ...]] = field(default_factory=dict)
    updates: dict[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    dates: dict[int, date] = field(default_factory=dict)
    absorbed: tuple[int, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)


def judge_notes(
    proposed: Sequence[ProposedNote], player_id: int, exchanges: Sequence[Exchange], *, character: str
) -> NotesVerdict:
    """The notes about a player that hold, at most six."""
    talk = _Talk(exchanges, player_id, character)
    kept: list[NewNote] = []
    dropped: Counter[str] = Counter()
    for proposal in proposed:
        if len(kept) == MOST_NOTES:
            dropped["too-many"] += 1
            continue
        text = talk.names.without(_flat(proposal.text))
        shown = talk.shown(text, proposal.cites)
        fault = _fault(text, LONGEST_NOTE) or talk.fault(text, shown)
        if fault:
            dropped[fault] += 1
            continue
        lines = [talk.lines[n] for n in shown]
        note = NewNote(text, tuple(sorted(line.source for line in lines)), max(line.cited.turn.at for line in lines))
        place = _place_of(text, [other.text for other in kept])
        if place is None:
            kept.append(note)
        else:
            kept[place] = _joined(kept[place], note)
            dropped["merged"] += 1
    return NotesVerdict(tuple(kept), dropped)


class _Talk:
    """The lines that a judge was shown, and who is who in them."""

    def __init__(self, exchanges: Sequence[Exchange], player_id: int, character: str) -> None:
        self.lines = numbered(exchanges)
        self._own = {n for n, line in self.lines.items() if line.is_of(player_id)}
        own: set[str] = set()
        others = {character}
        for number, line in self.lines.items():
            (own if number in self._own else others).update({line.cited.turn.author.name, line.cited.beat.speaker})
        self.names = Names(frozenset(own), frozenset(others))
        said = [line.cited.beat.text for n, line in self.lines.items() if n not in self._own]
        self._said = [(features(words), substance(words)) for words in said]

    def shown(self, text: str, cites: Sequence[int]) -> dict[int, str]:
        """The person's own lines among the cited ones, by number, each with what of it can show a text."""
        own = {n: own_sentences(self.lines[n].cited, text, self.names) for n in cites if n in self._own}
        return {n: "\n".join(pieces) for n, pieces in own.items() if pieces}

    def fault(self, text: str, shown: Mapping[int, str]) -> str:
        """Why a note falls, by rules 2 to 5; empty when it holds."""
        told = "\n".join(shown.values())
        if not shown:
            return "no-evidence"
        if self.names.another(text):
            return "of-another"
        if guesses(text, told):
            return "guess"
        if self._is_said_by_others(text, told):
            return "said-by-others"
        if not is_shown(text, told, self.names.substance):
            return "not-shown"
        return "sweeping" if is_sweeping(text, [told]) else ""

    def _is_said_by_others(self, text: str, told: str) -> bool:
        words, about = features(text), substance(text)
        if is_on_a_name(text):
            asked = substance("\n".join(piece for piece in told.splitlines() if asks_for_a_name(piece, text)))
            return about.isdisjoint(asked) or any(about & others - asked for _, others in self._said)
        shown, least = len(words & features(told)), min(len(about), max(1, len(about & substance(told))))
        return any(len(words & said) > shown and len(about & others) >= least for said, others in self._said)


def judge_traits(
    proposed: ProposedTraits, notes: Sequence[Note], traits: Sequence[Trait], today: date, *, name: str = ""
) -> TraitsVerdict:
    """The traits that hold: at most four new ones, what was seen again, and what changed.

    ``notes`` and ``traits`` are those that the model was shown, ``today`` is the date where the person's guild is, and
    ``name`` what the person is called.
    """
    return _Record(notes, traits, today, name).judge(proposed)


class _Record:
    """Judges what was proposed on the traits of one person."""

    def __init__(self, notes: Sequence[Note], traits: Sequence[Trait], today: date, name: str) -> None:
        self._notes = dict(enumerate(notes, start=1))
        self._traits = dict(enumerate(traits, start=1))
        self._today = today
        self._names = Names(frozenset({name} if name else ()), frozenset())
        self._new: list[NewTrait] = []
        self._seen: dict[int, tuple[int, ...]] = {}
        self._updates: dict[int, tuple[str, tuple[int, ...]]] = {}
        self._dates: dict[int, date] = {}
        self._dropped: Counter[str] = Counter()

    def judge(self, proposed: ProposedTraits) -> TraitsVerdict:
        """What holds. Changes come first, so that a new trait which says the same joins them."""
        for change in proposed.updates[:_MOST_JUDGED]:
            self._update(change)
        for change in proposed.seen[:_MOST_JUDGED]:
            self._see(change)
        for new in proposed.new[:_MOST_JUDGED]:
            self._add(new)
        for rest in (proposed.updates[_MOST_JUDGED:], proposed.seen[_MOST_JUDGED:], proposed.new[_MOST_JUDGED:]):
            if rest:
                self._dropped["too-many"] += len(rest)
        absorbed = self._absorbed()
        return TraitsVerdict(tuple(self._new), self._seen, self._updates, self._dates, absorbed, self._dropped)

    def _update(self, change: ProposedChange) -> None:
        trait = self._traits.get(change.trait)
        text, notes = self._read(change.text, change.notes)
        until = _date_ahead(change.until, text, self._today)
        fault = self._unusable(trait) or self._fault(text, notes, until)
        if trait is None or fault:
            self._dropped[fault] += 1
        elif trait.status is TraitStatus.FORGOTTEN:
            self._dropped["not-in-use"] += 1
        elif trait.id in self._updates:
            self._dropped["merged"] += 1
        elif text == trait.text:
            self._confirm(trait, notes, until)
        elif not is_related(text, trait.text):
            self._add(ProposedTrait(change.text, change.notes, change.until))
        elif (known := self._known(text)) is not None and known.id != trait.id:
            self._dropped["taken-away" if known.deleted else "already-there"] += 1
        elif len(self._updates) == MOST_TRAITS:
            self._dropped["too-many"] += 1
        else:
            self._updates[trait.id] = (text, tuple(note.id for note in notes))
            self._date(trait, until)

    def _see(self, change: ProposedChange) -> None:
        trait = self._traits.get(change.trait)
        notes = self._cited(change.notes)
        fault = self._unusable(trait)
        if trait is None or fault:
            self._dropped[fault] += 1
        elif not notes:
            self._dropped["no-evidence"] += 1
        elif not is_related(trait.text, _told(notes)):
            self._dropped["not-shown"] += 1
        else:
            self._confirm(trait, notes)

    def _add(self, new: ProposedTrait) -> None:
        text, notes = self._read(new.text, new.notes)
        until = _date_ahead(new.until, text, self._today)
        fault = self._fault(text, notes, until)
        known = None if fault else self._known(text)
        if fault:
            self._dropped[fault] += 1
        elif known is not None and known.deleted:
            self._dropped["taken-away"] += 1
        elif known is not None:
            self._confirm(known, notes, until)
        elif (place := _place_of(text, [other.text for other in self._new])) is not None:
            self._new[place] = _grown(self._new[place], notes, until)
            self._dropped["merged"] += 1
        elif len(self._new) == MOST_TRAITS:
            self._dropped["too-many"] += 1
        else:
            self._new.append(_grown(NewTrait(text, ()), notes, until))

    def _read(self, text: str, numbers: Sequence[int]) -> tuple[str, list[Note]]:
        return self._names.without(_flat(text)), self._cited(numbers)

    def _cited(self, numbers: Sequence[int]) -> list[Note]:
        return [self._notes[n] for n in dict.fromkeys(numbers) if n in self._notes]

    def _unusable(self, trait: Trait | None) -> str:
        if trait is None:
            return "not-on-record"
        return "taken-away" if trait.deleted else ""

    def _fault(self, text: str, notes: Sequence[Note], until: date | None) -> str:
        """Why a text is no trait, by rules 1, 3 and 5; empty when it is one."""
        told = _told(notes)
        fault = _fault(text, LONGEST_TRAIT)
        if fault or not notes:
            return fault or "no-evidence"
        if guesses(text, told):
            return "guess"
        if not is_shown(text, told):
            return "not-shown"
        if len(notes) < _A_HABIT and is_sweeping(text, [told]):
            return "sweeping"
        return "of-the-day" if until is None and is_of_the_day(text) else ""

    def _known(self, text: str) -> Trait | None:
        """The trait on record that a text is alike, the nearest of several; one that was updated counts with its new text."""
        texts = {n: self._updates[t.id][0] if t.id in self._updates else t.text for n, t in self._traits.items()}
        found = [n for n, known in texts.items() if alike(text, known)]
        best = max(found, key=lambda n: closeness(text, texts[n]), default=None)
        return None if best is None else self._traits[best]

    def _confirm(self, trait: Trait, notes: Sequence[Note], until: date | None = None) -> None:
        self._date(trait, until)
        if trait.id in self._updates:
            text, before = self._updates[trait.id]
            self._updates[trait.id] = (text, _with(before, notes))
        else:
            self._seen[trait.id] = _with(self._seen.pop(trait.id, ()), notes)

    def _date(self, trait: Trait, until: date | None) -> None:
        if until is not None:
            self._dates[trait.id] = until

    def _absorbed(self) -> tuple[int, ...]:
        said = [(new.text, new.note_ids) for new in self._new] + list(self._updates.values())
        said += [(t.text, self._seen[t.id]) for t in self._traits.values() if t.id in self._seen]
        texts = {note.id: note.text for note in self._notes.values()}
        return tuple(sorted({n for text, note_ids in said for n in note_ids if alike(text, texts[n])}))


def _fault(text: str, longest: int) -> str:
    """Why a text falls by itself, by rule 1; empty when it does not."""
    if not any(map(str.isalpha, text)):
        return "no-text"
    if text.endswith(("?", "？")):
        return "question"
    if len(text) > longest:
        return "too-long"
    if is_unreal(text):
        return "order"
    return "authority" if states_authority(text) else ""


def _place_of(text: str, texts: Iterable[str]) -> int | None:
    """Which of some texts says the same as another."""
    return next((place for place, other in enumerate(texts) if alike(text, other)), None)


def _joined(note: NewNote, other: NewNote) -> NewNote:
    sources = tuple(sorted({*note.sources, *other.sources}))
    return replace(note, sources=sources, at=max(note.at, other.at))


def _grown(trait: NewTrait, notes: Sequence[Note], until: date | None) -> NewTrait:
    """A new trait that these notes show as well, and its date if they name one."""
    sources = tuple(sorted({*trait.sources, *(source for note in notes for source in note.sources)}))
    return replace(trait, sources=sources, note_ids=_with(trait.note_ids, notes), until=until or trait.until)


def _with(note_ids: Sequence[int], notes: Iterable[Note]) -> tuple[int, ...]:
    return tuple(dict.fromkeys([*note_ids, *(note.id for note in notes)]))


def _told(notes: Iterable[Note]) -> str:
    return "\n".join(note.text for note in notes)


def _date_ahead(given: str, text: str, today: date) -> date | None:
    """The date that a model gave, or else the first that a text has, if it lies ahead, two years at most."""
    for written in (given.strip(), *_DATE.findall(text)):
        try:
            day = date.fromisoformat(written)
        except ValueError:
            continue
        if today <= day <= today + _AHEAD:
            return day
    return None


def _flat(text: str) -> str:
    return " ".join(text.split())
