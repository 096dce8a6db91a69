"""Evidence decides: what a model proposes to remember, judged by the beats it cites. Code has the last word.

The rules, in the order they are applied:

1. A citation outside the stretch is dropped. So is one of talk out of character, of something only imagined, or of a
   sentence of a player that orders the record about; and so is a memory that is nearer to such words than to anything
   else it cites, that imagines or orders itself, or that has no citation left.
2. A quote must stand in a cited line of speech to the letter. Orders and imaginings may be quoted, nothing else.
3. A secret needs a character's speech for its outward side, and a thought or narration for its actual one; with one side
   only it is a claim or a fact. Sides that were exchanged are put right; where words do not tell them apart, the line that
   was said stands for the outward one. An actual side that repeats what was said shows nothing: a claim.
4. A claim belongs to the speaker of the beat it cites; of several, to the one the model names, else to the one whose words
   are nearest to it. Narration that tells what was said is the claim of its character; a thought alone is no claim.
5. An event or fact stands when narration or a thought of a character's turn backs it. Where speech is cited beside them, or
   quoted in the narration, they must share more with it than the speech does, names apart; for an event, more than half as
   much, and what players do in the scene counts with them. A character's line anywhere in the stretch counts as cited when
   they share nothing with it and that line does, or when half of it stands in that line, and three times as much as they
   share. A fact about no player that says always or never must cite a line that does.
6. Else it stands when a player tells it of themselves: it shares more than names with their words, and no character's line
   has far more of it, as in rule 5; it names them before anybody else, says nothing of a promise or debt, and comes from a
   sentence that neither reminds another of their word nor poses as a line of theirs. When it also names a character or
   another player, it must be an act narrated by its player, or a taste, wish, fear or denial of theirs, and nothing they
   were told, given or know. When it names nobody at all, the model must name the player, nobody else may be cited, no
   character's line be nearer, the sentence may not ask, and again nothing told, given or known.
7. Else it is a claim of the speaker.
8. What a cited thought shows, more than all else that is cited, is private.
9. A memory that repeats a corrected or retracted one is a claim, linked to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bot.memory.corrections import claim_of, restated
from bot.memory.likeness import closeness, features, is_same
from bot.memory.memories import Content, MemoryKind, MemoryStatus, NewMemory, SessionMemory, Version
from bot.memory.passages import Cited, is_of_you, is_sweeping, is_unreal
from bot.memory.turns import BeatKind, Citation, Turn, TurnState

# A promise or a debt binds another, so nobody can put it on record alone.
_BOUND: Final = re.compile(
    r"\b(?:promis\w+|ow(?:e|es|ed|ing)|debts?|swor[en]|vow\w*)\b|約束|借金|[貸借]りがあ|誓|答应|承诺|许诺|保证|(?<!哈)欠",
    re.IGNORECASE,
)
_RECEIVED: Final = re.compile(
    r"\b(?:was|were|been|got|is|are) (?:\w+ )?(?:given|told|named|made|appointed|granted|allowed|paid|married|chosen)\b"
    r"|\bby\b|\b(?:knows?|knew|remembers?|recalls?|heard|hears?|saw|says?|said|married|inherit\w*|receive\w*)\b"
    r"|もら|くれ[たる]|[さら]れた|任され|覚えて|聞い|言った|知って|結婚|被|得知|听说|记得|知道|成亲|继承",
    re.IGNORECASE,
)
_OWN_MIND: Final = re.compile(
    r"\b(?:likes?|loves?|hates?|dislikes?|enjoys?|prefers?|wants?|wishes|hopes?|plans?|intends?|decide[sd]?|fears?|afraid"
    r"|scared|trusts?|distrusts?|misses|admires?|worries|worried|not|never|no|isn't|doesn't|don't)\b"
    r"|好き|嫌い|苦手|怖|恐|[らみきしべい]たい|ほしい|欲しい|つもり|予定|信[じ頼用]|心配|ない|喜欢|讨厌|不|怕|要|想|愿|信|爱|没",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w+")
_WIDE: Final = re.compile(r"[぀-ヿ㐀-鿿가-힣]")
_TELLING_SHARES: Final = 2
# An event is mostly told by narration that also carries what was said in it; a fact may be what was said alone.
_EVENT_WEIGHT: Final = 2
# Of one shared word more or less chance decides.
_CLEARLY: Final = 2
_REPEATED_SHARE: Final = 0.75
_NAME_BEFORE_COLON: Final = re.compile(r"([^:：]{1,40})[:：]")
LONGEST_TEXT: Final = 400


@dataclass(frozen=True, slots=True)
class Proposal:
    """One memory as the model worded it, nothing of it trusted yet."""

    kind: str
    text: str
    actual: str = ""
    who: str = ""
    to: str = ""
    cites: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """The model's word that a loose end is settled."""

    number: int
    cites: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class FoldAnswer:
    """All that a model proposed for one stretch."""

    memories: tuple[Proposal, ...] = ()
    opened: tuple[Proposal, ...] = ()
    resolved: tuple[Resolution, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What code accepted: memories in order, loose ends closed (number to the seq that closed it), and why the rest fell."""

    memories: tuple[NewMemory, ...]
    resolved: Mapping[int, int] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)


class Judge:
    """Judges what was proposed for one stretch of turns.

    ``histories`` holds the versions of the memories that a moderator settled, by number.
    """

    def __init__(
        self, turns: Sequence[Turn], memory: SessionMemory, histories: Mapping[int, Sequence[Version]]
    ) -> None:
        self._turns = {turn.seq: turn for turn in turns if turn.state is TurnState.KEPT}
        self._memory = memory
        self._settled = [(m, histories.get(m.number, ())) for m in memory.settled()]
        self._cast = _Cast(self._turns.values())
        self._speech = [
            Cited(Citation(turn.seq, place), turn, beat)
            for turn in self._turns.values()
            for place, beat in enumerate(turn.beats, start=1)
            if beat.kind is BeatKind.SPEECH and not turn.author.is_player
        ]
        beats = [beat for turn in self._turns.values() for beat in turn.beats]
        self._words = features("\n".join(f"{beat.speaker}\n{beat.text}" for beat in beats))
        self._dropped: Counter[str] = Counter()

    def judge(self, answer: FoldAnswer) -> Verdict:
        """The memories that hold, each with the kind its evidence allows."""
        accepted: list[NewMemory] = []
        seen: set[tuple[MemoryKind, str, str]] = set()
        judged = [self._memory_of(p) for p in answer.memories] + [self._end_of(p) for p in answer.opened]
        for new in judged:
            if new is None:
                continue
            key = (new.content.kind, new.content.text, new.content.speaker)
            if key in seen:
                self._dropped["repeated"] += 1
                continue
            seen.add(key)
            accepted.append(new)
        return Verdict(tuple(accepted), self._resolved(answer.resolved), self._dropped)

    def _memory_of(self, proposal: Proposal) -> NewMemory | None:
        text = cleaned(proposal.text)
        cited = self._cited(proposal.cites)
        try:
            kind = MemoryKind(proposal.kind)
        except ValueError:
            return self._dropped_for("unknown-kind")
        if not _says_something(text):
            return self._dropped_for("no-text")
        if not cited:
            return self._dropped_for("no-evidence")
        if kind is MemoryKind.QUOTE:
            return self._quote(proposal.text, cited)
        cited = self._real(f"{text} {cleaned(proposal.actual)}", cited)
        if not cited or (kind is not MemoryKind.LOOSE_END and is_unreal(text)):
            return self._dropped_for("only-imagined")
        if kind is MemoryKind.LOOSE_END:
            return self._end(text, cited)
        content = self._content(kind, text, proposal, cited)
        if content is None:
            return self._dropped_for("nobody-said-it")
        if content.kind is MemoryKind.FACT and content.player_id is None and is_sweeping(text, (c.real for c in cited)):
            return self._dropped_for("more-than-shown")
        content = replace(content, private=self._is_private(content, cited))
        return self._checked(NewMemory(content, tuple(c.citation for c in cited)), proposal.who, cited)

    def _is_private(self, content: Content, cited: list[Cited]) -> bool:
        """Whether it is a thought that shows it; of a claim and of a secret, the outward words never are."""
        if content.kind in (MemoryKind.CLAIM, MemoryKind.SECRET):
            return False
        thoughts = [c.real for c in cited if c.beat.kind is BeatKind.THOUGHT]
        others = [c.real for c in cited if c.beat.kind is not BeatKind.THOUGHT]
        return bool(thoughts) and (
            not others or self._shared(content.text, *thoughts) > self._shared(content.text, *others)
        )

    def _real(self, text: str, cited: list[Cited]) -> list[Cited]:
        """The citations that can show something; none when what is imagined or ordered is nearest to the text."""
        real = [c for c in cited if c.real or c.quoted]
        imagined = max((self._shared(text, c.unreal) for c in cited), default=0)
        return (
            real
            if imagined == 0 or imagined < max((self._shared(text, c.real, c.quoted) for c in real), default=0)
            else []
        )

    def _content(self, kind: MemoryKind, text: str, proposal: Proposal, cited: list[Cited]) -> Content | None:
        if kind is MemoryKind.SECRET:
            return self._secret(text, proposal, cited)
        if kind is MemoryKind.CLAIM:
            return self._claim(text, proposal, cited)
        solid = [c for c in cited if c.is_solid]
        if solid and kind is MemoryKind.EVENT:
            solid += [c for c in cited if c.is_act]
        spoken = [c for c in cited if c not in solid]
        shown = self._shared(text, *(c.real for c in solid))
        beside = self._said_beside(text, shown) if solid and not spoken else []
        if beside:
            return self._claim(text, proposal, beside)
        voices = spoken + [c for c in solid if c.quoted]
        said = max((self._shared(text, c.real if c in spoken else c.quoted) for c in voices), default=0)
        shown *= _EVENT_WEIGHT if kind is MemoryKind.EVENT else 1
        if solid and (not voices or shown > said or (not spoken and shown == said)):
            about = self._cast.subjects(text) if kind is MemoryKind.FACT else []
            return Content(kind, text, player_id=about[0][0] if len(about) == 1 else None)
        voice = self._voice(text, "", voices)
        alone = not solid and all(c.turn.author == voice.turn.author for c in spoken)
        who = proposal.who if alone else ""
        if voice.turn.author.is_player and self._is_own(kind, text, who, voice):
            return Content(kind, text, player_id=voice.turn.author.id if kind is MemoryKind.FACT else None)
        return self._claim(text, proposal, [voice])

    def _secret(self, text: str, proposal: Proposal, cited: list[Cited]) -> Content | None:
        actual = cleaned(proposal.actual)
        solid = [c for c in cited if c.is_solid]
        outward = [c for c in cited if c.is_spoken and not c.turn.author.is_player]
        if outward and solid and actual:
            said, told = [c.real for c in outward], [c.real for c in solid]
            straight = self._shared(text, *said) + self._shared(actual, *told)
            crossed = self._shared(actual, *said) + self._shared(text, *told)
            if crossed >= straight + _CLEARLY:
                text, actual = actual, text
            if is_same(text, actual) or self._is_repeated(actual, said, told):
                return self._claim(text, proposal, outward)
            voice = self._voice(text, proposal.who, outward)
            if abs(straight - crossed) < _CLEARLY and not self._is_repeated(text, said, ()):
                text = cleaned(voice.nearest(text) or voice.beat.text)
            return Content(MemoryKind.SECRET, text, voice.beat.speaker, self._cast.known(proposal.to), actual)
        if outward:
            return self._claim(text, proposal, outward)
        return self._content(MemoryKind.FACT, actual if solid and actual else text, proposal, cited)

    def _is_repeated(self, text: str, said: Sequence[str], told: Sequence[str]) -> bool:
        """Whether a text repeats what was said, rather than what thought or narration shows."""
        spoken = self._shared(text, *said)
        whole = len(features(text) - self._cast.features)
        return spoken > self._shared(text, *told) and spoken >= _REPEATED_SHARE * whole

    def _claim(self, text: str, proposal: Proposal, cited: list[Cited]) -> Content | None:
        """The text as said by whoever is cited; None when all that is cited is thought."""
        voices = [c for c in cited if c.is_spoken] or [c for c in cited if c.is_told or c.turn.author.is_player]
        if not voices:
            return None
        speaker = self._voice(text, proposal.who, voices).beat.speaker
        return Content(MemoryKind.CLAIM, text, speaker, self._cast.known(proposal.to))

    def _is_own(self, kind: MemoryKind, text: str, who: str, voice: Cited) -> bool:
        """Whether a player tells it of themselves, by rule 6."""
        author = voice.turn.author
        told_in = voice.nearest(text)
        posing = _NAME_BEFORE_COLON.match(told_in)
        if _BOUND.search(text) or is_of_you(told_in) or (posing and self._cast.names_others(posing[1], author.voice)):
            return False
        told = self._shared(text, voice.real)
        if self._cast.names_nobody(text):
            tells = told >= _TELLING_SHARES and not told_in.rstrip().endswith(("?", "？"))
            nearest = all(self._shared(text, line.real) <= told for line in self._speech)
            return tells and nearest and author.voice in self._cast.subjects(who) and not _RECEIVED.search(text)
        if not told or self._said_beside(text, told) or author.voice not in self._cast.subjects(text):
            return False
        if not self._cast.names_others(text, author.voice):
            return True
        acted = kind is MemoryKind.EVENT and voice.beat.kind is BeatKind.NARRATION
        return not _RECEIVED.search(text) and (acted or bool(_OWN_MIND.search(text)))

    def _voice(self, text: str, who: str, cited: Sequence[Cited]) -> Cited:
        """The citation whose speaker a text belongs to."""
        named = [c for c in cited if who and c.beat.speaker == self._cast.known(who)]
        return max(named or cited, key=lambda c: self._shared(text, c.real, c.quoted))

    def _said_beside(self, text: str, shown: int) -> list[Cited]:
        """The characters' speech that a text repeats, rather than what it cites and shares ``shown`` features with."""
        half = len(features(text) - self._cast.features) / 2 if shown else 0
        least = max(_TELLING_SHARES, 3 * shown, half)
        return [line for line in self._speech if self._shared(text, line.real) >= least]

    def _shared(self, text: str, *others: str) -> int:
        """How many features a text shares with others, the names of the persons apart."""
        return len((features(text) & features("\n".join(others))) - self._cast.features)

    def _quote(self, text: str, cited: list[Cited]) -> NewMemory | None:
        words = text.strip().strip('"“”「」『』').strip()
        whole = re.compile(rf"(?<![A-Za-z0-9]){re.escape(words)}(?![A-Za-z0-9])")
        for c in cited:
            if words and c.is_spoken and whole.search(c.beat.text):
                return NewMemory(Content(MemoryKind.QUOTE, words, speaker=c.beat.speaker), (c.citation,))
        return self._dropped_for("not-to-the-letter")

    def _end_of(self, proposal: Proposal) -> NewMemory | None:
        return self._memory_of(replace(proposal, kind=MemoryKind.LOOSE_END.value))

    def _end(self, text: str, cited: list[Cited]) -> NewMemory | None:
        # One that was replaced before anybody tied it has a successor, or is open for all that is known.
        known = [
            m.content.text
            for m in self._memory.memories
            if m.kind is MemoryKind.LOOSE_END
            and m.status is not MemoryStatus.ASIDE
            and (m.status is not MemoryStatus.REPLACED or m.resolved_by is not None)
        ]
        if any(is_same(text, other) for other in known):
            return self._dropped_for("end-already-known")
        if features(text).isdisjoint(self._words):
            return self._dropped_for("not-shown")
        content = Content(MemoryKind.LOOSE_END, text)
        content = replace(content, private=self._is_private(content, cited))
        return NewMemory(content, tuple(c.citation for c in cited))

    def _checked(self, new: NewMemory, who: str, cited: list[Cited]) -> NewMemory:
        """The same, as a linked claim when it repeats what a moderator set right; of a secret, each side is looked at."""
        what = new.content
        repeated = restated(what.text, self._settled) or (restated(what.actual, self._settled) if what.actual else None)
        if repeated is None:
            return new
        speaker = what.speaker or self._voice(what.text, who, [c for c in cited if c.is_spoken] or cited).beat.speaker
        return replace(new, content=claim_of(what, speaker), restates=repeated.number)

    def _resolved(self, resolutions: Sequence[Resolution]) -> dict[int, int]:
        open_numbers = {m.number for m in self._memory.open_ends()}
        closed: dict[int, int] = {}
        for resolution in resolutions:
            cited = self._cited(resolution.cites)
            if resolution.number not in open_numbers:
                self._dropped["not-open"] += 1
            elif not any(c.real for c in cited):
                self._dropped["no-evidence"] += 1
            else:
                closed[resolution.number] = max(c.citation.seq for c in cited if c.real)
        return closed

    def _cited(self, cites: Sequence[Citation]) -> list[Cited]:
        found = []
        for citation in dict.fromkeys(cites):
            turn = self._turns.get(citation.seq)
            beat = turn.beat(citation) if turn else None
            if turn is None or beat is None:
                self._dropped["citation"] += 1
            else:
                found.append(Cited(citation, turn, beat))
        return found

    def _dropped_for(self, reason: str) -> NewMemory | None:
        self._dropped[reason] += 1
        return None


class _Cast:
    """Who takes part in a stretch, by the names that its turns use; a player who was renamed has several.

    Each persona of a player is somebody of their own.
    """

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._players: dict[tuple[int, int | None], set[str]] = {}
        others: set[str] = set()
        for turn in turns:
            spoken = {beat.speaker for beat in turn.beats}
            if turn.author.is_player:
                self._players.setdefault(turn.author.voice, {turn.author.name}).update({turn.author.name}, spoken)
            else:
                others |= spoken | {turn.author.name}
        self._others = others - {name for names in self._players.values() for name in names}
        self._all = [*(name for names in self._players.values() for name in names), *self._others]
        self.features = features("\n".join(self._all))

    def subjects(self, text: str) -> list[tuple[int, int | None]]:
        """The player, by voice, whom a text names before anybody else; several when they bear one name."""
        places = {i: place for i, names in self._players.items() if (place := _first(text, names)) is not None}
        first = min(places.values(), default=-1)
        other = _first(text, self._others)
        return [] if other is not None and other < first else [i for i, place in places.items() if place == first]

    def names_nobody(self, text: str) -> bool:
        """Whether a text has no name of anybody here."""
        return _first(text, self._all) is None

    def names_others(self, text: str, voice: tuple[int, int | None]) -> bool:
        """Whether a text names anybody besides one player."""
        own = self._players[voice]
        others = {name for i, names in self._players.items() if i != voice for name in names} - own
        return _first(text, others | self._others) is not None

    def known(self, name: str) -> str:
        """The full name of whoever is meant; empty for nobody known."""
        return next((full for full in self._all if name and (name == full or _first(name, (full,)) is not None)), "")


def condensing(
    found: Sequence[NewMemory], memory: SessionMemory, histories: Mapping[int, Sequence[Version]], turns: Sequence[Turn]
) -> tuple[NewMemory, ...]:
    """The condensed events that tell what they stand for.

    Less those nearer to something that was only said, on record or in ``turns``, than to any event they condense, and those
    that repeat what a moderator set right. ``histories`` is as in :class:`Judge`.
    """
    settled = [(m, histories.get(m.number, ())) for m in memory.settled()]
    claimed = (MemoryKind.CLAIM, MemoryKind.SECRET)
    said = [m.content.text for m in memory.memories if m.kind in claimed and m.status is not MemoryStatus.ASIDE]
    said += [beat.text for turn in turns for beat in turn.beats if beat.kind is BeatKind.SPEECH]
    texts = {m.number: m.content.text for m in memory.memories}

    def is_told(new: NewMemory) -> bool:
        text = new.content.text
        near = max((closeness(text, texts[number]) for number in new.condenses), default=0.0)
        return restated(text, settled) is None and all(closeness(text, words) <= near for words in said)

    return tuple(new for new in found if is_told(new))


def _says_something(text: str) -> bool:
    """Whether a text can be a sentence: two words, or four characters of a script without spaces."""
    return len(_WORD.findall(text)) > 1 or len(_WIDE.findall(text)) > 3


def cleaned(text: str) -> str:
    """A text as it is kept: on one line, and no longer than ``LONGEST_TEXT`` characters."""
    return " ".join(text.split())[:LONGEST_TEXT]


def _first(text: str, names: Iterable[str]) -> int | None:
    """Where a text first names one of these, by any part of a name.

    A part is a word, less the commonest ones, and of a name in a wide script its first or last two characters.
    """
    places = []
    for name in names:
        for part in re.findall(r"\w+", name):
            if not part.isascii():
                places += [text.find(part[:2]), text.find(part[-2:])] if len(part) > 1 else [text.find(part)]
            elif features(part) and (
                found := re.search(rf"\b{re.escape(part)}(?:\b|(?=[^\x00-\x7f]))", text, re.IGNORECASE)
            ):
                places.append(found.start())
    return min((place for place in places if place >= 0), default=None)
