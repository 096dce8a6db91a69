"""Stories with their ground truth, as the evaluation reads them.

A story says who is in it, what was written turn by turn in beats, and what of it is true. A beat is cited as ``"12.2"``: the
second beat of turn 12.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import KataribeError

_MARKED = re.compile(r"^\[(?P<mark>[a-z ]+)\]\s*")


class StoryUnreadable(KataribeError):
    """A file that is no story; says in a line what is wrong with it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class StoryCard(_Part):
    """A character of the story."""

    name: str
    description: str = ""
    personality: str = ""


class StoryPlayer(_Part):
    """A player; ``id`` is what turns and truth call them."""

    id: str
    name: str


class StoryBeat(_Part):
    """A piece of a turn."""

    kind: Literal["narration", "speech", "thought", "ooc", "player"]
    speaker: str
    text: str


class StoryTurn(_Part):
    """What one author wrote; ``author`` is ``player:ID`` or ``character:NAME``."""

    seq: int
    author: str
    beats: tuple[StoryBeat, ...]

    @property
    def by_player(self) -> str | None:
        """The id of the player who wrote it; None for a character."""
        kind, _, who = self.author.partition(":")
        return who if kind == "player" else None

    @property
    def is_out_of_character(self) -> bool:
        """Whether nothing of it belongs to the story."""
        return all(beat.kind == "ooc" for beat in self.beats)


class TrueFact(_Part):
    """What narration or a thought tells."""

    id: str
    text: str
    evidence: tuple[str, ...]


class TrueClaim(_Part):
    """What a character says, and whether it is so."""

    id: str
    speaker: str
    to: str = ""
    text: str
    evidence: tuple[str, ...]
    actually: Literal["true", "false", "unknown"]


class TrueSecret(_Part):
    """What a character shows, and what is so."""

    id: str
    character: str
    outward: str
    actual: str
    evidence_outward: tuple[str, ...]
    evidence_actual: tuple[str, ...]


class PlayerFact(_Part):
    """What a player tells of themselves."""

    id: str
    player: str
    text: str
    evidence: tuple[str, ...]


class TrueEnd(_Part):
    """A question, promise or plan: the beat that opened it, and the one that settled it."""

    id: str
    text: str
    opened: str
    resolved: str | None = None


class TrueQuote(_Part):
    """Words worth keeping, to the letter."""

    id: str
    speaker: str
    text: str
    evidence: tuple[str, ...]


class Hypothetical(_Part):
    """What must not be remembered: imagined, out of character, or planted by a player."""

    id: str
    text: str
    evidence: tuple[str, ...]

    @property
    def is_planted(self) -> bool:
        """Whether a player tried to put it on record: a planted memory, an injection, a forged line."""
        return bool(_MARKED.match(self.text))

    @property
    def what(self) -> str:
        """The text less the mark that says what sort it is."""
        return _MARKED.sub("", self.text)


class Truth(_Part):
    """What is so in a story."""

    facts: tuple[TrueFact, ...] = ()
    claims: tuple[TrueClaim, ...] = ()
    secrets: tuple[TrueSecret, ...] = ()
    player_facts: tuple[PlayerFact, ...] = ()
    loose_ends: tuple[TrueEnd, ...] = ()
    quotes: tuple[TrueQuote, ...] = ()
    hypotheticals: tuple[Hypothetical, ...] = ()


class Story(_Part):
    """A whole story."""

    id: str
    language: Literal["en", "ja", "zh"]
    cards: tuple[StoryCard, ...]
    players: tuple[StoryPlayer, ...]
    turns: tuple[StoryTurn, ...]
    truth: Truth

    def beat(self, cite: str) -> StoryBeat:
        """The beat that ``"12.2"`` cites. Raises KeyError."""
        seq, _, place = cite.partition(".")
        for turn in self.turns:
            if turn.seq == int(seq) and 0 < int(place or 1) <= len(turn.beats):
                return turn.beats[int(place or 1) - 1]
        raise KeyError(cite)


def seq_of(cite: str) -> int:
    """The turn that ``"12.2"`` cites."""
    return int(cite.partition(".")[0])


def load_story(path: Path) -> Story:
    """Read a story. Raises StoryUnreadable."""
    try:
        story = Story.model_validate_json(path.read_bytes())
    except OSError as error:
        raise StoryUnreadable(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise StoryUnreadable(f"{path} is no story: {where or 'the file'}: {first['msg']}.") from error
    if not (story.cards and story.players and story.turns):
        raise StoryUnreadable(f"{path} is no story: it needs a card, a player and turns.")
    _check_cites(path, story)
    return story


def _check_cites(path: Path, story: Story) -> None:
    truth = story.truth
    shown = [part.evidence for part in truth.facts] + [part.evidence for part in truth.claims]
    shown += [part.evidence for part in truth.player_facts] + [part.evidence for part in truth.quotes]
    shown += [part.evidence for part in truth.hypotheticals]
    shown += [(*secret.evidence_outward, *secret.evidence_actual) for secret in truth.secrets]
    shown += [(end.opened, *([end.resolved] if end.resolved else [])) for end in truth.loose_ends]
    cites = [cite for evidence in shown for cite in evidence]
    for cite in cites:
        try:
            story.beat(cite)
        except (KeyError, ValueError):
            raise StoryUnreadable(f"{path} is no story: its truth cites {cite}, which does not exist.") from None
