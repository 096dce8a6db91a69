"""The premise: what a character quietly knows of the persons present, as the tail of a prompt tells it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import chain, zip_longest
from typing import Final

from bot.memory.fading import NOTE_DAYS, START, aged, is_past
from bot.memory.likeness import alike, subject
from bot.memory.markup import plain_name
from bot.memory.passages import sentences
from bot.memory.people import Portrait, Trait, TraitStatus
from bot.memory.recall import VISIBLE
from bot.memory.turns import Turn
from bot.memory.wording import WORDINGS, Language

# A sentence touches a trait when it has a third of what the trait is about: "My violin!" touches "plays the violin in a
# quartet", and "What a long night" does not touch "works night shifts as a nurse". The figures are in docs/people.md.
_TOUCHED_SHARE: Final = 3
# Bounds of the look, so that it costs the same after a flood of messages.
_SENTENCES: Final = 24


@dataclass(frozen=True, slots=True)
class Premise:
    """The lines for the tail, a heading first, and the ids of the dormant traits that the talk touched."""

    lines: tuple[str, ...] = ()
    revived: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """One thing known of a person. ``until`` is the date that it is about, ``revived`` the id of the dormant trait that it
    is, if any.
    """

    player_id: int
    name: str
    text: str
    until: date | None
    hazy: bool
    revived: int | None


def told(
    portraits: Sequence[Portrait],
    touched_by: Sequence[Turn],
    *,
    already: str,
    language: Language,
    tokens: int,
    size: Callable[[str], int],
    now: datetime,
) -> Premise:
    """What the tail tells of the persons present, within ``tokens`` as ``size`` counts them.

    ``touched_by`` are the turns that wait for the reply. Of each person the most telling stands first: the dormant that they
    touch, then traits by importance, then the notes of these days, last and as hazy what was for a date that is past. The persons
    take turns, who wrote last first. What
    ``already`` has, the text of earlier tails, is not told again, nor what is like something told of the same person.
    """
    words = WORDINGS[language]
    stands = frozenset(already.splitlines())
    room = tokens - size(words.premise)
    lines: list[str] = []
    revived: list[int] = []
    said: defaultdict[int, list[str]] = defaultdict(list)
    queues = [_known(portrait, touched_by, now) for portrait in _last_writer_first(portraits, touched_by)]
    for known in filter(None, chain.from_iterable(zip_longest(*queues))):
        day = known.until.isoformat() if known.until else ""
        text = known.text if day in known.text else words.known_for.format(text=known.text, date=day)
        firm = words.known.format(name=known.name, text=text)
        hazy = words.known_hazily.format(name=known.name, text=text)
        line = hazy if known.hazy else firm
        is_new = stands.isdisjoint((firm, hazy))
        if is_new and (size(line) > room or any(alike(known.text, text) for text in said[known.player_id])):
            continue
        if is_new:
            room -= size(line)
            lines.append(line)
        said[known.player_id].append(known.text)
        if known.revived is not None:
            revived.append(known.revived)
    return Premise((words.premise, *lines) if lines else (), tuple(revived))


def _last_writer_first(portraits: Sequence[Portrait], turns: Sequence[Turn]) -> list[Portrait]:
    wrote = {turn.author.id: turn.seq for turn in turns if turn.author.is_player}
    present = [portrait for portrait in portraits if portrait.acquaintance.remembered]
    return sorted(present, key=lambda portrait: wrote.get(portrait.acquaintance.player_id, 0), reverse=True)


def _known(portrait: Portrait, turns: Sequence[Turn], now: datetime) -> list[_Known]:
    """What may be told of one person, the most telling first."""
    who = portrait.acquaintance
    own = [turn for turn in turns if turn.author.is_player and turn.author.id == who.player_id]
    name = plain_name(own[-1].author.name if own else who.name)
    traits = sorted(
        (trait for row in portrait.traits if (trait := aged(row, now))),
        key=lambda trait: (trait.importance, trait.confirmed_at),
        reverse=True,
    )
    dormant = _touched([trait for trait in traits if trait.status is TraitStatus.DORMANT], own)
    active = [trait for trait in traits if trait.status is TraitStatus.ACTIVE]
    past = [trait for trait in active if is_past(trait, now)]
    ahead = [trait for trait in active if trait not in past]
    since = now - timedelta(days=NOTE_DAYS)
    recent = [note for note in portrait.notes if not note.absorbed and note.at > since]
    known = [
        *((trait.text, trait.until, True, trait.id) for trait in dormant),
        *((trait.text, trait.until, trait.hazy or trait.importance < START, None) for trait in ahead),
        *((note.text, None, False, None) for note in sorted(recent, key=lambda note: note.at, reverse=True)),
        *((trait.text, trait.until, True, None) for trait in past),
    ]
    found = [
        _Known(who.player_id, name, " ".join(text.split()), until, hazy, revived)
        for text, until, hazy, revived in known
    ]
    return [one for one in found if one.text]


def _touched(traits: Sequence[Trait], turns: Sequence[Turn]) -> list[Trait]:
    """The traits that one of the newest visible sentences of some turns is about."""
    if not traits:
        return []
    texts = [beat.text for turn in turns for beat in turn.beats if beat.kind in VISIBLE]
    said = [subject(piece) for piece in [piece for text in texts for piece in sentences(text)][-_SENTENCES:]]
    return [trait for trait in traits if _is_touched(subject(trait.text), said)]


def _is_touched(about: frozenset[str], said: Sequence[frozenset[str]]) -> bool:
    return any(about & words and len(about & words) * _TOUCHED_SHARE >= len(about) for words in said)
