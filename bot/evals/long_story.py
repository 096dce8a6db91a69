"""A story of any length, from a seed: what players write, what the character answers, and what is remembered of it.

A turn depends on its number alone, so that a story that was stopped goes on as it would have. The words are made up, some of
them common and most of them rare, as in a language.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate, product
from typing import Any, ClassVar, Final

from bot.evals.folders import Asked, numbered
from bot.memory.prompt import Card

CARD: Final = Card(
    "Isla",
    "Keeper of a harbour inn. Curious, patient, fond of maps. She asks what the sea was like and answers in a sentence or two.",
    '*The lamp over the bar is lit.* "Come in, the door sticks. Where did the sea bring you from?"',
)
_PLAYERS: Final = {1_001: "Mio", 1_002: "Kai", 1_003: "Sora"}
_WORDS: Final = 6_000
_KEEPSAKES: Final = 24
# The commonest word is about forty times as frequent as one in the middle, as common nouns are in talk.
_FLATNESS: Final = 20
_STARTS: Final = ("b", "br", "d", "f", "g", "gl", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "w")
_ENDS: Final = (
    "al",
    "an",
    "ar",
    "el",
    "en",
    "et",
    "il",
    "in",
    "ir",
    "ol",
    "on",
    "or",
    "un",
    "ur",
    "ash",
    "eck",
    "imp",
    "old",
)
_SAID: Final = (
    "I carried the {0} past the {1} before the {2} closed.",
    "We found a {0} behind the {1}, and nobody claimed it.",
    "My brother traded his {0} for a {1} near the {2}.",
    "Tell me what the {0} of the {1} is for.",
    "The road to the {0} is under water since the {1} broke.",
    "Somebody painted the {0} like a {1}, it made me laugh.",
    "If the {0} is late again we take the {1} to the {2}.",
    "There was {0} soup and a song about the {1}.",
)
_ACTED: Final = (
    "*{name} lays the {0} beside the {1}.*",
    "*{name} hides a {0} under the {1} and waits.*",
    "*{name} trades a glance with the {0} by the {1}.*",
)
_OF_SELF: Final = (
    "I like the {0} more than any {1}.",
    "I always mend the {0} of my {1}.",
    "I collect {0} and old {1}.",
)
_LIKING: Final = re.compile(r"\bI like (the [^.?]+\.)")
_ASKED: Final = (
    "Who took the {0} from the {1}?",
    "Where did the {0} of the {1} go?",
    "Why is the {0} locked in the {1}?",
)
_NARRATED: Final = (
    "Isla turns the {0} over and looks at the {1} on its back.",
    "A {0} falls from the {1}, and the whole room turns to the {2}.",
    "She draws the {0} on the map, close to the {1}.",
    "The {0} outside the {1} goes out, and somebody laughs in the {2}.",
    "Isla pours the {0} and wipes the {1} with her sleeve.",
    "Rain drums on the {0} while the {1} is carried to the {2}.",
)
_SPOKEN: Final = (
    "The {0} was mine once, and the {1} knows it.",
    "You should see the {0} when the {1} blooms.",
    "I was the captain of the {0}, long before the {1}.",
    "Take the {0} with you, but leave the {1} where it is.",
    "They say that the {0} sank with a {1} and a {2} on board.",
    "Nobody sells a {0} in the {1} before noon.",
)
_THOUGHT: Final = (
    "Nobody must learn that the {0} is under the {1}.",
    "The {0} reminds me of the {1} that I sold.",
    "I would rather lose the {0} than see the {1} again.",
)
_QUESTION: Final = re.compile(r"\b(?:Who|Where|Why) [^.?]+\?")
# What a judge is shown: the person's own numbered lines, notes with their day, and the traits that are known.
_OWN_LINE: Final = re.compile(r"^\[(\d+) player [^\]]*\] (.*)$", re.MULTILINE)
_NOTE: Final = re.compile(r"^#(\d+) \d{4}-\d\d-\d\d (.*)$", re.MULTILINE)
_TRAIT: Final = re.compile(r"^#(\d+) (?!\d{4}-\d\d-\d\d )", re.MULTILINE)
_MOST_TRAITS: Final = 8


class LongStory:
    """Writes the story, and answers for the model what is asked about it. ``at`` is the exchange whose reply is asked for."""

    players: ClassVar[Mapping[int, str]] = _PLAYERS

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.at = 0
        made = random.Random(seed)  # noqa: S311 - a repeatable story, not a secret
        syllables = [start + end for start, end in product(_STARTS, _ENDS)]
        words = dict.fromkeys("".join(made.choices(syllables, k=made.choice((1, 2, 2)))) for _ in range(2 * _WORDS))
        self._words = list(words)[:_WORDS]
        rare = list(words)[_WORDS : _WORDS + 3 * _KEEPSAKES]
        self._kept = list(zip(rare[::3], rare[1::3], rare[2::3], strict=True))
        self._weights = list(accumulate(1 / (rank + _FLATNESS) for rank in range(len(self._words))))

    def messages(self, number: int) -> Iterator[tuple[int, str, str]]:
        """The messages of an exchange, by its number: who writes (id and name), and what. One to three of them."""
        lot = self._lot("messages", number)
        for player_id in lot.sample(sorted(_PLAYERS), lot.choice((1, 1, 2, 3))):
            patterns = [*lot.sample(_SAID, 1), *lot.choice(((), _ACTED, _OF_SELF, _ASKED, _ASKED))[:3]]
            chosen = [patterns[0], *lot.sample(patterns[1:], min(1, len(patterns) - 1))]
            text = " ".join(self._filled(lot, pattern, _PLAYERS[player_id]) for pattern in chosen)
            yield player_id, _PLAYERS[player_id], text

    def reply(self, number: int) -> str:
        """What the character answers in an exchange, as a model writes it."""
        lot = self._lot("reply", number)
        beats = [("narration", lot.choice(_NARRATED)), ("speech", lot.choice(_SPOKEN))]
        beats += [("thought", lot.choice(_THOUGHT))] if lot.random() < 0.5 else []
        lines = [{"kind": kind, "speaker": CARD.name, "text": self._filled(lot, text)} for kind, text in beats]
        return json.dumps({"beats": lines})

    def keepsakes(self) -> list[str]:
        """What is told once, at the beginning, in words that nobody uses again."""
        return [f"My {a} {b} hangs over the {c}." for a, b, c in self._kept]

    def question(self, number: int) -> str:
        """Somebody asks for the keepsake of a number."""
        a, b, c = self._kept[number % len(self._kept)]
        return f"Do you remember what hangs over the {c}? A {a} {b}?"

    def words(self, number: int) -> str:
        """What somebody looks for: who said it, and a word."""
        return f"{CARD.name} {self._words[3 + number]}"

    def answer(self, purpose: str, message: str) -> str:
        """What a model says to a request of the folder or of the judge."""
        if purpose == "reply":
            return self.reply(self.at)
        if purpose == "fold":
            return json.dumps(_folded(Asked.read(message)))
        if purpose == "major_fold":
            return json.dumps(_condensed(numbered(message)))
        return json.dumps(_kept(message) if purpose == "judge_traits" else _noted(message))

    def _lot(self, what: str, number: int) -> random.Random:
        return random.Random(f"{self._seed} {what} {number}")  # noqa: S311

    def _filled(self, lot: random.Random, pattern: str, name: str = "") -> str:
        return pattern.format(*lot.choices(self._words, cum_weights=self._weights, k=3), name=name)


def _folded(asked: Asked) -> dict[str, Any]:
    """Some of each kind of memory, truly cited; as many loose ends are tied as opened, but for one."""
    of: dict[str, list[tuple[str, str, str]]] = {}
    for cite, (kind, speaker, text) in asked.beats.items():
        of.setdefault(kind, []).append((str(cite), speaker, text))
    told, said, thought = (of.get(kind, []) for kind in ("narration", "speech", "thought"))
    players = of.get("player", ())
    own = [(cite, who, what[1]) for cite, who, text in players if (what := _LIKING.search(text))]
    found = [_memory("event", text, cite) for cite, _, text in told[::6][:5]]
    found += [_memory("fact", text, cite) for cite, _, text in thought[::5][:2]]
    found += [_memory("fact", f"{who} likes {text}", cite, who=who) for cite, who, text in own[:2]]
    found += [_memory("claim", text, cite, who=who) for cite, who, text in said[1::8][:3]]
    found += [_memory("quote", text, cite, who=who) for cite, who, text in said[2:3]]
    if said and thought:
        (outward, who, shown), (inward, _, actual) = said[-1], thought[-1]
        found.append({**_memory("secret", shown, outward, who=who), "actual": actual, "cites": [outward, inward]})
    opened = [{"text": what[0], "cites": [cite]} for cite, _, text in players if (what := _QUESTION.search(text))][:3]
    # One of three nobody ever comes back to.
    ends = sorted(asked.ends, reverse=True)[: max(0, len(opened) - 1)]
    last = str(max(asked.beats))
    return {"memories": found, "opened": opened, "resolved": [{"number": n, "cites": [last]} for n in ends]}


def _condensed(events: dict[int, str]) -> dict[str, Any]:
    """Each three events become the first of them."""
    numbers = list(events)
    threes = [numbers[place : place + 3] for place in range(0, max(1, len(numbers) - 2), 3)]
    return {"events": [{"text": events[three[0]], "condenses": three} for three in threes]}


def _memory(kind: str, text: str, *cites: str, who: str = "") -> dict[str, Any]:
    return {"kind": kind, "text": text, "actual": "", "who": who, "to": "", "cites": list(cites)}


def _noted(message: str) -> dict[str, Any]:
    """A note of each thing that a person likes."""
    liked = ((number, what[1]) for number, text in _OWN_LINE.findall(message) if (what := _LIKING.search(text)))
    return {"notes": [{"text": f"Likes {what}", "cites": [int(number)]} for number, what in liked]}


def _kept(message: str) -> dict[str, Any]:
    """The first note becomes a trait, until there are some; the others count for the oldest."""
    known, notes = [int(number) for number in _TRAIT.findall(message)], _NOTE.findall(message)
    new = notes[:1] if len(known) < _MOST_TRAITS else []
    seen = [{"trait": known[0], "notes": [int(number)]} for number, _ in notes[len(new) :] if known]
    return {"new": [{"text": text, "notes": [int(n)], "until": ""} for n, text in new], "seen": seen, "updates": []}
