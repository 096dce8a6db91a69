"""Who folds in the evaluation of lies: one that tells the truth of the story, and one that folds as badly as possible.

Both answer what the real folder asks, by what stands in the request: the numbered beats, and the open loose ends.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from bot.evals.stories import Hypothetical, Story, TrueClaim
from bot.memory.corrections import CorrectionKind
from bot.memory.likeness import features, likeness
from bot.memory.passages import sentences
from bot.memory.turns import Citation

_LINE: Final = re.compile(r"^\[(\d+\.\d+) (\w+) ([^\]]*)\] (.*)$", re.MULTILINE)
_NUMBERED: Final = re.compile(r"^#(\d+) (.*)$", re.MULTILINE)
_COLON: Final = re.compile(r"[:：]\s*")
# What an answer of the schema may hold; a longer one is cut before it is judged.
_MOST_MEMORIES: Final = 24
_MOST_ENDS: Final = 8
_MOST_CITES: Final = 6
# An answer whose texts are longer than its source, or repeat each other, is rejected as a whole: no harm to be done there.
_MOST_OF_SOURCE: Final = 0.9
_MOST_ALIKE: Final = 0.55
_INVENTED: Final = ("999999.1", "0.0", "nowhere")

WITHIN: Final = "within"
BEYOND: Final = "beyond"


@dataclass(slots=True)
class Lie:
    """A false claim that narration told once by mistake; a moderator corrects it, and its character tells it again.

    ``numbers`` are those of the corrected memories, ``newest`` that of the newest memory at the time; ``retell_from`` are
    the turns of the story from which on it is told again.
    """

    claim: TrueClaim
    how: CorrectionKind
    new_text: str
    planted: Citation | None = None
    numbers: list[int] = field(default_factory=list)
    newest: int = 0
    retell_from: list[int] = field(default_factory=list)
    retold: list[Citation] = field(default_factory=list)

    @property
    def is_corrected(self) -> bool:
        """Whether a moderator had their word."""
        return bool(self.numbers)


@dataclass(slots=True)
class Book:
    """Where the beats of a story stand in the session that plays it, and the lies that are to be corrected."""

    story: Story
    lies: tuple[Lie, ...]
    places: dict[str, tuple[Citation, ...]] = field(default_factory=dict)

    def cites(self, evidence: Iterable[str]) -> tuple[Citation, ...]:
        """The beats of the session that carry those of the story, as far as they were played."""
        return tuple(citation for cite in evidence for citation in self.places.get(cite, ()))

    def name_of(self, player: str) -> str:
        """A player's name by their id in the story."""
        return next(p.name for p in self.story.players if p.id == player)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a fold was asked: the beats by citation as (kind, speaker, text), and the numbered open ends."""

    beats: dict[Citation, tuple[str, str, str]]
    ends: dict[int, str]

    @classmethod
    def read(cls, message: str) -> Asked:
        """Read a request; a numbered line inside a beat has lost its bracket."""
        beats = {
            citation: (kind, speaker, text)
            for cite, kind, speaker, text in _LINE.findall(message)
            if (citation := Citation.parse(cite))
        }
        return cls(beats, {int(n): text for n, text in _NUMBERED.findall(message)})

    @property
    def length(self) -> int:
        """The characters of the beats."""
        return sum(len(text) for _, __, text in self.beats.values())

    def within(self, cites: Iterable[Citation]) -> list[str]:
        """Those of the citations that stand in this stretch, as an answer names them."""
        return [str(c) for c in cites if c in self.beats][:_MOST_CITES]

    def of_kinds(self, *kinds: str) -> list[str]:
        """The citations of all beats of some kinds."""
        return [str(c) for c, (kind, _, __) in self.beats.items() if kind in kinds]


class ScriptedFolder(Protocol):
    """Answers folds and major folds."""

    def fold(self, asked: Asked) -> dict[str, Any]:
        """The answer to a fold, by its schema."""

    def major(self, events: dict[int, str]) -> dict[str, Any]:
        """The answer to a major fold, by its schema."""


class TruthFolder:
    """Folds what is so: each fact, claim, secret, quote and loose end with the beats that show it."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self.told: set[str] = set()

    def fold(self, asked: Asked) -> dict[str, Any]:
        """The truth of the stretch, players' facts and quotes first, because an answer has an end."""
        found = [*self.planted(asked), *self._players(asked), *self._secrets(asked), *self._claims(asked)]
        found += self._facts(asked)
        if not found:
            found += [_happened(asked, cite) for cite in asked.of_kinds("narration", "speech", "player")[:1]]
        return {"memories": found[:_MOST_MEMORIES], "opened": self.opened(asked), "resolved": self.resolved(asked)}

    def major(self, events: dict[int, str]) -> dict[str, Any]:
        """Every two events become the first of them."""
        numbers = list(events)
        pairs = [numbers[i : i + 2] for i in range(0, len(numbers) - 1, 2)]
        return {"events": [{"text": events[pair[0]], "condenses": pair} for pair in pairs]}

    def planted(self, asked: Asked) -> Iterator[dict[str, Any]]:
        for lie in self._book.lies:
            if lie.planted in asked.beats and lie.planted is not None:
                yield _memory("event", lie.claim.text, [str(lie.planted)])
            told_again = asked.within(lie.retold)
            if told_again:
                yield _memory("claim", lie.claim.text, told_again, who=lie.claim.speaker)

    def _players(self, asked: Asked) -> Iterator[dict[str, Any]]:
        truth = self._book.story.truth
        for quote in truth.quotes:
            if cites := self._first(quote.id, quote.evidence, asked):
                yield _memory("quote", quote.text, cites, who=quote.speaker)
        for fact in truth.player_facts:
            if cites := self._first(fact.id, fact.evidence, asked):
                yield _memory("fact", fact.text, cites, who=self._book.name_of(fact.player))

    def _secrets(self, asked: Asked) -> Iterator[dict[str, Any]]:
        for secret in self._book.story.truth.secrets:
            outward = asked.within(self._book.cites(secret.evidence_outward))[:2]
            actual = asked.within(self._book.cites(secret.evidence_actual))[:2]
            if outward and actual and secret.id not in self.told:
                self.told.add(secret.id)
                yield _memory("secret", secret.outward, outward + actual, actual=secret.actual, who=secret.character)

    def _claims(self, asked: Asked) -> Iterator[dict[str, Any]]:
        for claim in self._book.story.truth.claims:
            if cites := self._first(claim.id, claim.evidence, asked):
                yield _memory("claim", claim.text, cites, who=claim.speaker, to=claim.to)

    def _facts(self, asked: Asked) -> Iterator[dict[str, Any]]:
        for fact in self._book.story.truth.facts:
            if cites := self._first(fact.id, fact.evidence, asked):
                happened = all(asked.beats[c][0] == "narration" for c in map(Citation.parse, cites) if c)
                yield _memory("event" if happened else "fact", fact.text, cites)

    def opened(self, asked: Asked) -> list[dict[str, Any]]:
        opened = []
        for end in self._book.story.truth.loose_ends:
            tied = end.resolved is not None and asked.within(self._book.cites([end.resolved]))
            if not tied and (cites := self._first(end.id, [end.opened], asked)):
                opened.append({"text": end.text, "cites": cites})
        return opened[:_MOST_ENDS]

    def resolved(self, asked: Asked) -> list[dict[str, Any]]:
        numbers = {text: number for number, text in asked.ends.items()}
        return [
            {"number": numbers[end.text], "cites": cites}
            for end in self._book.story.truth.loose_ends
            if end.resolved and end.text in numbers and (cites := asked.within(self._book.cites([end.resolved])))
        ][:_MOST_ENDS]

    def _first(self, name: str, evidence: Sequence[str], asked: Asked) -> list[str]:
        """The citations in this stretch; none when it was told before."""
        cites = asked.within(self._book.cites(evidence))
        if not cites or name in self.told:
            return []
        self.told.add(name)
        return cites


class AdversaryFolder:
    """Folds as badly as the checks of an answer's form let it.

    Each lie, imagining, planted memory and secret is put on record as a fact in every way that needs no true evidence:
    uncited, with the speech that says it, with invented citations, under another's name, as a secret with its sides
    exchanged. Citations of narration that has nothing to do with it are labelled ``beyond``: no rule about citations can
    know what a sentence means. Loose ends are opened and tied truly, and then opened again in every fold.
    """

    def __init__(self, book: Book, seed: int) -> None:
        self._book = book
        self._truth = TruthFolder(book)
        self._random = random.Random(seed)  # noqa: S311 - a repeatable choice, not a secret
        self._labels: dict[str, list[tuple[frozenset[str], str]]] = {}
        self._majors = 0

    def fold(self, asked: Asked) -> dict[str, Any]:
        """As many lies as an answer holds."""
        opened = self._truth.opened(asked)
        anywhere = asked.of_kinds("narration", "speech", "player")
        for end in self._book.story.truth.loose_ends:
            if end.id in self._truth.told:
                opened.append({"text": end.text, "cites": self._some(anywhere, 2)})
        opened = opened[:_MOST_ENDS]
        # Two things that did happen, so that there is something for a major fold to condense into lies.
        happened = [_happened(asked, cite) for cite in self._some(asked.of_kinds("narration"), 2)]
        first = [*self._truth.planted(asked), *happened]
        wanted = [*self._restated(asked), *self._hypotheticals(asked), *self._quotes(asked), *self._players(asked)]
        wanted += [*self._claims(asked), *self._secrets(asked)]
        self._random.shuffle(wanted)
        found = self._fitting(first, wanted, asked.length - sum(len(end["text"]) for end in opened))
        resolved = self._truth.resolved(asked)
        resolved.append({"number": 999_999, "cites": list(_INVENTED)})
        return {"memories": found, "opened": opened, "resolved": resolved[:_MOST_ENDS]}

    def major(self, events: dict[int, str]) -> dict[str, Any]:
        """First invented numbers, then more than there was, then lies in place of what happened."""
        self._majors += 1
        numbers = list(events)
        if self._majors % 3 == 1:
            return {"events": [{"text": text, "condenses": [0, -1, 999_999]} for text in self._lies()[:2]]}
        if self._majors % 3 == 2:
            return {"events": [{"text": f"{events[n]} {events[n]}"[:240], "condenses": [n]} for n in numbers[:1]]}
        half = max(1, len(numbers) // 2)
        lies = self._lies()
        if self._majors % 2 or half == 1:
            return {"events": [{"text": lie, "condenses": part} for lie, part in zip(lies, (numbers,), strict=False)]}
        honest = {"text": min((events[n] for n in numbers[:half]), key=len), "condenses": numbers[:half]}
        return {"events": [honest, *({"text": lie, "condenses": numbers[half:]} for lie in lies[:1])]}

    def label(self, text: str, cites: Iterable[Citation]) -> str:
        """Whether a stored memory could only come from a proposal that is beyond the rules."""
        kept = {str(c) for c in cites}
        known = [label for cited, label in self._labels.get(text, ()) if kept <= cited]
        return BEYOND if known and WITHIN not in known else WITHIN

    def _lies(self) -> list[str]:
        """What a major fold may put in place of what happened: corrected lies and others in turn, the shortest first."""
        claims = self._book.story.truth.claims
        corrected = [lie.claim.text for lie in self._book.lies if lie.is_corrected]
        others = [c.text for c in claims if c.actually == "false" and self._book.cites(c.evidence)]
        first, then = (corrected, others) if self._majors % 4 < 2 else (others, corrected)
        return list(dict.fromkeys([*sorted(first, key=len), *sorted(then, key=len)]))

    def _restated(self, asked: Asked) -> Iterator[dict[str, Any]]:
        """What a moderator corrected, as if nothing had happened, whatever can be cited."""
        told = asked.of_kinds("narration", "thought")
        for lie in self._book.lies:
            if not lie.is_corrected:
                continue
            text = lie.claim.text
            for cites in (
                asked.within(lie.retold),
                self._some(told, 1),
                [*asked.within(lie.retold), *self._some(told, 2)],
            ):
                yield self._bad(self._random.choice(("fact", "event")), text, cites, WITHIN)
            speech = self._some(asked.of_kinds("speech"), 1)
            yield self._bad("secret", text, [*speech, *self._some(told, 1)], WITHIN, actual=text)

    def _claims(self, asked: Asked) -> Iterator[dict[str, Any]]:
        for claim in self._book.story.truth.claims:
            cites = asked.within(self._book.cites(claim.evidence))
            if cites and claim.actually != "true":
                yield from self._as_fact(claim.text, cites, asked)

    def _as_fact(self, text: str, cites: list[str], asked: Asked) -> Iterator[dict[str, Any]]:
        kinds = ("fact", "event")
        seqs = {c.partition(".")[0] for c in cites}
        told = asked.of_kinds("narration", "thought")
        beside = [c for c in told if c.partition(".")[0] in seqs]
        players = self._some(asked.of_kinds("player"), 1)
        other = self._random.choice(sorted({speaker for _, speaker, __ in asked.beats.values()}))
        for kind in kinds:
            yield self._bad(kind, text, [], WITHIN)
            yield self._bad(kind, text, cites, WITHIN)
            yield self._bad(kind, text, list(_INVENTED), WITHIN)
            yield self._bad(kind, text, cites, WITHIN, who=other)
            yield self._bad(kind, text, [*cites, *_INVENTED], WITHIN, who=other)
            yield self._bad(kind, text, [*cites, *players], WITHIN, who=other)
            yield self._bad(kind, text, players, WITHIN, who=other)
            yield self._bad(kind, text, self._some(beside, 1), BEYOND)
            yield self._bad(kind, text, self._some(told, 2), BEYOND)
            yield self._bad(kind, text, [*cites, *self._some(beside, 1)], BEYOND)
        yield self._bad("secret", text, cites, WITHIN, actual=text)
        yield self._bad("secret", text, [*cites, *self._some(beside, 1)], BEYOND, actual=text)

    def _secrets(self, asked: Asked) -> Iterator[dict[str, Any]]:
        for secret in self._book.story.truth.secrets:
            outward = asked.within(self._book.cites(secret.evidence_outward))
            actual = asked.within(self._book.cites(secret.evidence_actual))
            if outward:
                yield self._bad("fact", secret.outward, outward, WITHIN)
            if outward and actual:
                cites = [*outward[:2], *actual[:2]]
                yield self._bad("secret", secret.actual, cites, WITHIN, actual=secret.outward, who=secret.character)
                yield self._bad("quote", secret.actual, cites, WITHIN, who=secret.character)
        for cite, (kind, speaker, text) in asked.beats.items():
            if kind == "thought":
                yield self._bad("quote", text, [str(cite)], WITHIN, who=speaker)

    def _hypotheticals(self, asked: Asked) -> Iterator[dict[str, Any]]:
        for imagined in self._book.story.truth.hypotheticals:
            cites = asked.within(self._book.cites(imagined.evidence)) or self._unseen(imagined)
            if not cites:
                continue
            author = self._book.story.beat(imagined.evidence[0]).speaker
            for text in imagined_texts(self._book.story, imagined):
                for kind in ("fact", "event", "secret"):
                    yield self._bad(kind, text, cites, WITHIN, who=author, actual=text)
                    beside = self._some(asked.of_kinds("speech", "player"), 1)
                    yield self._bad(kind, text, [*cites, *beside], WITHIN, who=author, actual=text)

    def _unseen(self, imagined: Hypothetical) -> list[str]:
        """Talk out of character is not shown to who folds; cite it all the same."""
        if self._random.random() < 0.7:
            return []
        return [str(c) for c in self._book.cites(imagined.evidence)]

    def _quotes(self, asked: Asked) -> Iterator[dict[str, Any]]:
        for quote in self._book.story.truth.quotes:
            cites = asked.within(self._book.cites(quote.evidence))
            if cites:
                middle = len(quote.text) // 2
                yield self._bad("quote", quote.text[:middle] + "x" + quote.text[middle + 1 :], cites, WITHIN)

    def _players(self, asked: Asked) -> Iterator[dict[str, Any]]:
        names = [p.name for p in self._book.story.players] + [c.name for c in self._book.story.cards]
        for fact in self._book.story.truth.player_facts:
            cites = asked.within(self._book.cites(fact.evidence))
            if cites:
                others = [name for name in names if name != self._book.name_of(fact.player)]
                yield self._bad("fact", fact.text, cites, WITHIN, who=self._random.choice(others))

    def _bad(self, kind: str, text: str, cites: Sequence[str], label: str, **rest: str) -> dict[str, Any]:
        cited = list(dict.fromkeys(cites))[:_MOST_CITES]
        return {**_memory(kind, text, cited, **rest), "label": label}

    def _fitting(
        self, first: list[dict[str, Any]], wanted: Iterable[dict[str, Any]], room: int
    ) -> list[dict[str, Any]]:
        """As many as pass the checks of an answer's form together; what is proposed is noted with its label."""
        left = _MOST_OF_SOURCE * room
        found = list(first)
        lines = [m["text"] for m in first]
        for memory in wanted:
            more = [text for text in (memory["text"], memory["actual"]) if text]
            different = len({*lines, *more}) / (len(lines) + len(more))
            if len(found) < _MOST_MEMORIES and sum(map(len, lines + more)) < left and different > _MOST_ALIKE:
                lines += more
                label = memory.pop("label")
                self._labels.setdefault(" ".join(memory["text"].split()), []).append(
                    (frozenset(memory["cites"]), label)
                )
                found.append(memory)
        return found

    def _some(self, cites: Sequence[str], count: int) -> list[str]:
        return self._random.sample(list(cites), min(count, len(cites)))


def imagined_texts(story: Story, imagined: Hypothetical) -> list[str]:
    """The ways in which something imagined may be worded as a memory: as the truth words it, and as it was written."""
    texts = [imagined.what, _COLON.split(imagined.what, maxsplit=1)[-1]]
    for cite in imagined.evidence:
        for sentence in sentences(story.beat(cite).text):
            if likeness(sentence, imagined.what) >= 0.5:
                texts += [sentence.strip(), _COLON.split(sentence, maxsplit=1)[-1].strip()]
    return [text for text in dict.fromkeys(texts) if len(features(text)) > 1]


def _happened(asked: Asked, cite: str) -> dict[str, Any]:
    """A beat's longest sentence as an event."""
    text = next(text for citation, (_, __, text) in asked.beats.items() if str(citation) == cite)
    return _memory("event", max(sentences(text), key=len, default=text).strip()[:160], [cite])


def numbered(message: str) -> dict[int, str]:
    """The numbered events of a request for a major fold."""
    return {int(number): text for number, text in _NUMBERED.findall(message)}


def _memory(
    kind: str, text: str, cites: Sequence[str], *, actual: str = "", who: str = "", to: str = ""
) -> dict[str, Any]:
    return {"kind": kind, "text": text, "actual": actual, "who": who, "to": to, "cites": list(cites)}
