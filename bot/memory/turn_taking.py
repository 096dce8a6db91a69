"""Who of a cast answers: whom the players call by name or by a reply to one of their messages, else each in turn.

Characters may answer each other too, but never for long: what they say to each other costs the players' patience.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from bot.memory.manners import in_character, names_of, places_named
from bot.memory.story import Member
from bot.memory.turns import BeatKind, Turn, TurnState, unanswered

MOST_IN_A_ROW: Final = 2
"""Replies after players' words, unless more of the cast were called by a message each."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A story at one moment: its cast, its newest kept turns in order, and by the ids of players' turns to which character's
    words they reply.
    """

    cast: Sequence[Member]
    turns: Sequence[Turn] = ()
    addressed: Mapping[int, int] = field(default_factory=dict)

    @property
    def present(self) -> Sequence[Member]:
        """Those who were there for the newest words."""
        newest = max((turn.seq for turn in self.turns if not turn.is_out_of_character), default=0)
        return [member for member in self.cast if member.since <= newest]

    def next_speaker(self) -> Member:
        """Who writes the next reply."""
        if len(self.cast) == 1:
            return self.cast[0]
        return next_speaker(self.present, self.turns, addressed=self.addressed)

    def goes_on(self) -> bool:
        """Whether after a reply another of the cast answers too, with nobody waiting."""
        return len(self.cast) > 1 and goes_on(self.present, self.turns, addressed=self.addressed)


def next_speaker(cast: Sequence[Member], turns: Sequence[Turn], *, addressed: Mapping[int, int]) -> Member:
    """Who writes the next reply: whom the players who wait call first, or who was called and did not speak yet.

    When nobody is called it is the next of the cast after the one who spoke last; without players who wait, that one goes on.
    ``turns`` are the story's newest in order, and ``addressed`` says by the ids of players' turns to which character's words
    they reply. The ``cast`` has at least one member.
    """
    called = _called(cast, turns, addressed)
    if called:
        return called[0]
    spoken = [turn.author.id for turn in turns if _is_reply(turn)]
    ids = [member.character.id for member in cast]
    if not spoken or spoken[-1] not in ids:
        return cast[0]
    last = ids.index(spoken[-1])
    return cast[(last + 1) % len(cast)] if unanswered(turns) else cast[last]


def goes_on(cast: Sequence[Member], turns: Sequence[Turn], *, addressed: Mapping[int, int]) -> bool:
    """Whether after a reply another of the cast answers too, with nobody waiting: one who was called and did not speak yet."""
    return not unanswered(turns) and bool(_called(cast, turns, addressed))


def named_in(text: str, cast: Iterable[Member]) -> tuple[Member, ...]:
    """Those of the cast whose names stand in a text, in its order.

    A part of a name that several share calls none of them, unless it is somebody's whole name.
    """
    places = [
        (start, -end, member)
        for member, names in _names(cast)
        for start, end in places_named(text, names)
    ]  # fmt: skip
    called: dict[int, Member] = {}
    reached = 0
    for start, minus_end, member in sorted(places, key=lambda place: place[:2]):
        if start >= reached:  # else it is a part of somebody's longer name
            called.setdefault(member.character.id, member)
            reached = -minus_end
    return tuple(called.values())


def _called(cast: Sequence[Member], turns: Sequence[Turn], addressed: Mapping[int, int]) -> tuple[Member, ...]:
    """Those who were called and did not speak since.

    First whom each message calls first: it is owed their answer, until as many replies were given as the cast has members.
    Then, within the bound, whom else the words call that the newest replies answer, and whom the newest reply calls.
    """
    story = [turn for turn in turns if _is_reply(turn) or _is_asking(turn)]
    replies = [turn for turn in story if _is_reply(turn)]
    row = list(takewhile(_is_reply, reversed(story)))
    owed_from, asked_from = _seq_of_reply(replies, len(cast)), _seq_of_reply(replies, len(row) + 1)
    spoke = {turn.author.id: turn.seq for turn in replies}
    owed: list[Member] = []
    others: list[Member] = []
    for turn in story:
        if not turn.author.is_player or turn.seq <= min(owed_from, asked_from):
            continue
        called = _whom(turn, cast, addressed)
        owed += [m for m in called[:1] if turn.seq > owed_from and spoke.get(m.character.id, 0) < turn.seq]
        others += called[1:] if turn.seq > asked_from else ()
    if row:
        others += named_in(_spoken(row[0]), cast)
    in_row = {turn.author.id for turn in row}
    return (*owed, *(m for m in others if len(row) < MOST_IN_A_ROW and m.character.id not in in_row))


def _seq_of_reply(replies: Sequence[Turn], number: int) -> int:
    """The seq of a reply counted from the last one, which is 1; 0 when there is none."""
    return replies[-number].seq if number <= len(replies) else 0


def _whom(turn: Turn, cast: Sequence[Member], addressed: Mapping[int, int]) -> tuple[Member, ...]:
    """Whom a player's turn calls of those who were there: by name, else by what it replies to."""
    there = [member for member in cast if member.since <= turn.seq]
    named = named_in(in_character(turn.beats), there)
    return named or tuple(member for member in there if member.character.id == addressed.get(turn.id))


def _spoken(turn: Turn) -> str:
    """What a character says aloud: nobody hears their thoughts, and who is only told of is not called."""
    return "\n".join(beat.text for beat in turn.beats if beat.kind is BeatKind.SPEECH)


def _is_reply(turn: Turn) -> bool:
    return not turn.author.is_player and turn.state in (TurnState.KEPT, TurnState.WRITING)


def _is_asking(turn: Turn) -> bool:
    return turn.author.is_player and turn.state is TurnState.KEPT and not turn.is_out_of_character


def _names(cast: Iterable[Member]) -> Iterator[tuple[Member, tuple[str, ...]]]:
    """What calls each of the cast and nobody else of it."""
    called = [(member, names_of(member.character.card.name, member.character.card.nickname)) for member in cast]
    bearers: defaultdict[str, set[int]] = defaultdict(set)
    owners: defaultdict[str, set[int]] = defaultdict(set)
    for member, names in called:
        owners[_key(member.character.card.name)].add(member.character.id)
        for name in names:
            bearers[_key(name)].add(member.character.id)
    for member, names in called:
        mine = {member.character.id}
        yield member, tuple(name for name in names if (owners.get(_key(name)) or bearers[_key(name)]) == mine)


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()
