"""Recall: which lines that are no longer in the prompt fit what was just said. An honest nothing is a good answer.

A text is looked up by its sentences. A line fits when it has most of a sentence by weight, where a word weighs more the
rarer it is in the session, and a word that never occurred weighs most: a question about somebody nobody ever mentioned finds
nothing, however common the rest of it is.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from bot.memory.likeness import features, have_same, is_same
from bot.memory.memories import Memory, MemoryKind
from bot.memory.passages import sentences
from bot.memory.prompt import memory_line
from bot.memory.turns import Beat, BeatKind, Turn
from bot.memory.wording import WORDINGS, Language

VISIBLE: Final = (BeatKind.NARRATION, BeatKind.SPEECH)
# A line recalled must have this share of a sentence's weight. Chosen on 104 questions about three stories of a hundred turns:
# the source of what was told is among the four best lines for 40 % (52 % with memories), and for a third of the questions
# without an answer there is a line about what else they mention. Many a question shares no word with its source.
LOWEST_SCORE: Final = 0.55
LONGEST_FEATURE: Final = 40
"""Characters of a word that is looked up; the rest of a longer one does not count."""
_HALF: Final = 0.5
# Bounds of a look-up, so that it costs the same in a story of years.
_SENTENCES: Final = 24
_FEATURES: Final = 96
_POSTINGS: Final = 2_000
# A word that more than a twelfth of the lines have, and more than three, is common. Where nothing is asked a fiftieth is common
# already: what was said a hundred times is not brought to mind by being said again. Of 832 turns without a question in three
# conversations of LoCoMo 43 recall something, and 184 would with a twelfth: mostly thanks and good wishes.
_COMMON_SHARE: Final = 12
_COMMON_UNASKED: Final = 50
_COMMON_COUNT: Final = 3
_WEAK: Final = 0.35
_NAMED: Final = 1.5
# What a statement must share: two words, or four characters of a wide script; a question may share one.
_SUBSTANCE: Final = 4
_EXCERPT: Final = 220
_WIDE_EXCERPT: Final = 110

_HAN: Final = "㐀-鿿豈-﫿々"
_HIRAGANA: Final = re.compile(r"[぀-ゟー]")
_KANA: Final = re.compile(r"[぀-ヿ]")
_WIDE: Final = re.compile(rf"[぀-ヿ{_HAN}]")
_RUN: Final = re.compile(rf"[぀-ヿ{_HAN}]{{2,}}")
_LONE_HAN: Final = re.compile(rf"(?<![{_HAN}])[{_HAN}](?![{_HAN}])")
_LAST_HAN: Final = re.compile(rf"[{_HAN}](?![{_HAN}])")
# A capital within a sentence, a run of katakana, or what a Japanese title or って follows.
_NAMES: Final = re.compile(r"(?<=[\w,;] )[A-Z][\w'’]+|[゠-ヿ]{2,}|[ぁ-ゖー]{2,6}?(?=さん|ちゃん|くん|さま|って)")
_QUESTION: Final = re.compile(r"[?？]|か[。」\s]*\Z|[吗嗎呢][。」\s]*\Z")
# What is quieter than somebody remembers is told, not asked.
_ASKING: Final = re.compile(
    r"[?？]|か[。」\s]*\Z|\b(?:tell (?:me|us)|(?<!than i )remember|remind|recall)\b|覚え|憶え|思い出|教えて|记得|想起|告诉|提醒",
    re.IGNORECASE,
)
# Words that ask, or that every talk has; they say nothing about what is asked for.
_EMPTY: Final = frozenset(
    "about again ago all also always am another any anybody anyone anything ask back because before believe both "
    "can come could day did didn does doesn doing down each ever every everyone everything feel few find first get "
    "give go going gone gonna good got hello hey hi if into isn just keep kind know known last let like little long "
    "look lot made make many maybe mean might more most much must name never new next no not now off oh ok okay old "
    "once one only other out over please put really recall remember remind right same say see seem should since so "
    "some somebody someone something still such sure take talk tell than thank then thing think though thought time "
    "today too took true until up us use very wait want wasn way well went whatever while whose why without won "
    "would yeah yes yesterday yet".split()
)
_EMPTY_HAN: Final = frozenset("何誰私僕俺君彼人方事物時今前後中上下言見行来思聞知話本当日年者間内外出入名気")
_EMPTY_CHINESE: Final = frozenset(
    "的了是在我你您他她它们這这那有不和与也就都吗嗎呢吧啊么什谁誰哪里裡怎为為着过過到说說对對把被让给還还个個很没沒会會"
    "能要想去来來上下叫做曾之其而但又才再可以从從得地些样樣多少几幾吃请"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is recalled for a reply: lines, and tokens in all. Zero of either switches recall off."""

    lines: int = 4
    tokens: int = 300


@dataclass(frozen=True, slots=True)
class Asked:
    """One sentence that is looked up: its features, which of them belong to a name, and whether it asks for something.

    ``runs`` are the character pairs of each run of a wide script, in order.
    """

    features: frozenset[str]
    names: frozenset[str] = frozenset()
    is_asking: bool = False
    runs: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A line on record: a memory, or a kept turn with the first of the Discord messages that carry it."""

    at: datetime
    features: frozenset[str]
    memory: Memory | None = None
    turn: Turn | None = None
    message_id: int | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What a look-up found: how many lines there are at most, how many have each feature, and the likeliest lines."""

    total: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    lines: tuple[Found, ...] = ()


def indexed_words(text: str) -> frozenset[str]:
    """What a text is found by: its features, and the Han characters that stand alone or end a run."""
    folded = unicodedata.normalize("NFKC", text)
    return frozenset(word[:LONGEST_FEATURE] for word in features(folded) | set(_LAST_HAN.findall(folded)))


def words_of_turn(beats: Sequence[Beat]) -> frozenset[str]:
    """What a turn is found by: what players saw of it, and who spoke. Never a thought, never talk out of character."""
    shown = [f"{beat.speaker}\n{beat.text}" for beat in beats if beat.kind in VISIBLE]
    return indexed_words("\n".join(shown))


def words_of_memory(memory: Memory) -> frozenset[str]:
    """What a memory is found by; of a secret only the outward side."""
    what = memory.content
    return indexed_words(f"{what.speaker}\n{what.addressee}\n{what.text}")


def asked_of_turns(turns: Sequence[Turn]) -> tuple[Asked, ...]:
    """The sentences of some turns that a look-up is made of, the newest turn's last ones first."""
    texts = [beat.text for turn in turns for beat in turn.beats if beat.kind in VISIBLE]
    pieces = [piece for text in texts for piece in sentences(text)]
    found = [asked for piece in pieces[: -_SENTENCES - 1 : -1] if (asked := asked_of(piece)).features]
    return tuple(found)


def asked_of(sentence: str) -> Asked:
    """The features of one sentence that may say what it is about; none when it has only words that every talk has."""
    text = unicodedata.normalize("NFKC", sentence).strip()
    plain = {word[:LONGEST_FEATURE] for word in features(text) if word not in _EMPTY}
    wide = {word for word in plain if _WIDE.search(word)}
    japanese = bool(_KANA.search(text))
    lone = {han for han in _LONE_HAN.findall(text) if han not in _EMPTY_HAN} if japanese else set[str]()
    kept = (plain - wide) | lone | {word for word in wide if len(word) > 1 and not _is_idle(word, japanese=japanese)}
    named = {part for name in _NAMES.findall(text) for part in features(name)}
    if all(_is_weak(word) for word in kept - named):
        kept = (kept | wide) & named
    runs = tuple(tuple(run[i : i + 2] for i in range(len(run) - 1)) for run in _RUN.findall(text))
    return Asked(frozenset(kept), frozenset(named & kept), bool(_ASKING.search(text)), runs)


def features_of(asked: Sequence[Asked]) -> tuple[str, ...]:
    """The features to look up, a bounded number: those of the first sentences before those of the later ones."""
    ordered = dict.fromkeys(feature for one in asked for feature in sorted(one.features))
    return tuple(ordered)[:_FEATURES]


def rarity(count: int, total: int, *, asking: bool = True) -> float:
    """What a word weighs that ``count`` of ``total`` lines have: the logarithm of how rare it is, nothing when it is common.

    Where nothing is asked, a word has to be rarer.
    """
    common = max(_COMMON_COUNT, total / (_COMMON_SHARE if asking else _COMMON_UNASKED))
    return max(0.0, math.log((total + 1) / (count + 0.5))) if count <= common else 0.0


def worth_reading(counts: Mapping[str, int], total: int) -> dict[str, float]:
    """The weights of the rarest features that occur, as many as have 2,000 lines between them."""
    room = _POSTINGS
    chosen: dict[str, float] = {}
    for feature in sorted(counts, key=lambda feature: (counts[feature], feature)):
        weight = rarity(counts[feature], total) * (_WEAK if _is_weak(feature) else 1)
        if not counts[feature] or not weight:
            continue
        if chosen and counts[feature] > room:
            break
        room -= counts[feature]
        chosen[feature] = weight
    return chosen


def weights(asked: Asked, findings: Findings, *, asking: bool) -> dict[str, float]:
    """What each feature of a sentence weighs: by its rarity in the session; more, when it is a name or never occurred.

    ``asking`` says whether it, or a sentence beside it, asks for something.

    A pair of characters that only joins two words says little, and nothing at all when it never occurred.
    """
    counts = findings.counts
    joints = {
        pair
        for run in asked.runs
        for before, pair, after in zip(run, run[1:], run[2:], strict=False)
        if not counts.get(pair) and counts.get(before) and counts.get(after)
    }
    found = {}
    for feature in asked.features:
        count = counts.get(feature, 0)
        weight = rarity(count, findings.total, asking=asking)
        if feature in asked.names or not (count or _WIDE.search(feature)):
            weight *= _NAMED
        elif feature in joints:
            weight = 0.0
        elif _is_weak(feature):
            weight *= _WEAK * bool(count)
        found[feature] = weight
    return found


def score(asked: Asked, words: Collection[str], weighed: Mapping[str, float]) -> float:
    """The share (0 to 1) of a sentence's weight that a line has; 0 when what they share is too little to mean anything."""
    shared = {feature for feature, weight in weighed.items() if weight and feature in words}
    strong = {feature for feature in shared if not _is_weak(feature) or feature in asked.names}
    if not strong or not (asked.is_asking or _substance(strong) >= _SUBSTANCE):
        return 0.0
    return sum(weighed[feature] for feature in shared) / sum(weighed.values())


def ranked(asked: Sequence[Asked], findings: Findings) -> tuple[tuple[float, Found], ...]:
    """The lines that fit one of the sentences well enough, the best first, of equals the newest."""
    asking = _asks(asked)
    weighed = [(one, weights(one, findings, asking=asking)) for one in asked]
    scored = [(max((score(one, line.features, w) for one, w in weighed), default=0.0), line) for line in findings.lines]
    fitting = [pair for pair in scored if pair[0] >= LOWEST_SCORE]
    return tuple(sorted(fitting, key=lambda pair: (pair[0], pair[1].at), reverse=True))


def recalled(
    asked: Sequence[Asked],
    findings: Findings,
    *,
    in_prompt: str,
    turns_shown: Sequence[Turn] = (),
    character: str,
    language: Language,
    limits: Limits,
    size: Callable[[str], int],
) -> tuple[str, ...]:
    """The lines for the tail, oldest first, each with its date; ``size`` counts tokens.

    What stands ``in_prompt`` already is left out, and so is what says the same as a better line, or nothing that was not just
    said: each line stays in the prompt until the next fold. So is an old turn that says the same as one of ``turns_shown``.
    """
    just_said = frozenset(feature for one in asked for feature in one.features)
    # One new word may be the answer to a question; beside a statement it is an echo.
    asking = _asks(asked)
    least = 1 if asking else _SUBSTANCE
    weighed = {feature: weight for one in asked for feature, weight in weights(one, findings, asking=asking).items()}
    chosen: list[tuple[datetime, str]] = []
    said: list[str] = []
    room = limits.tokens
    fitting = ranked(asked, findings)
    told = _told_by(turns_shown) if fitting else ()
    for _, line in fitting:
        if len(chosen) >= limits.lines:
            break
        core, text = _told(line, weighed, character, language)
        shown = WORDINGS[language].recalled.format(date=line.at.date().isoformat(), text=" ".join(text.split()))
        what = features(core)
        repeats = line.turn is not None and any(have_same(what, other) for other in told)
        adds_nothing = repeats or _substance(what - just_said) < least
        if adds_nothing or core in in_prompt or any(is_same(core, other) for other in said) or size(shown) > room:
            continue
        room -= size(shown)
        said.append(core)
        chosen.append((line.at, shown))
    return tuple(text for _, text in sorted(chosen))


def typed_words(text: str) -> tuple[str, ...]:
    """What a person who searches means: words, of which ``*`` at the end stands for any ending; at most 24."""
    words = sorted(word[:LONGEST_FEATURE] for word in features(text))
    alone = len(words) == 1
    return tuple(word if _WIDE.search(word) and not alone else f"{word}*" for word in words)[:_SENTENCES]


def matching(words: Sequence[str], lines: Sequence[Found]) -> tuple[Found, ...]:
    """The lines with at least half of the typed words that players may read, those with most first, then the newest."""
    scored = []
    for line in lines:
        share = sum(_occurs(word, line.features) for word in words) / max(1, len(words))
        if share >= _HALF and not (line.memory and line.memory.content.private):
            scored.append((share, line))
    return tuple(line for _, line in sorted(scored, key=lambda pair: (pair[0], pair[1].at), reverse=True))


def matched(words: Sequence[str], line: Found) -> dict[str, float]:
    """What of a line the typed words mean, all of the same weight, to make an excerpt by."""
    return {feature: 1.0 for feature in line.features if any(_occurs(word, (feature,)) for word in words)}


def excerpt(turn: Turn, weighed: Mapping[str, float]) -> Beat | None:
    """The visible beat of a turn that has most of what is looked for, shortened to the sentences around it."""
    shown = [beat for beat in turn.beats if beat.kind in VISIBLE]
    if not shown:
        return None
    best = max(shown, key=lambda beat: _weight_of(beat.text, weighed))
    return Beat(best.kind, _around(best.text, weighed), best.speaker)


def _told_by(turns: Sequence[Turn]) -> tuple[frozenset[str], ...]:
    """The features of what some turns tell: of what players saw of them, questions apart, which resemble their answers."""
    beats = (beat for turn in turns for beat in turn.beats if beat.kind in VISIBLE)
    return tuple(features(beat.text) for beat in beats if not _QUESTION.search(beat.text.strip()))


def _asks(asked: Sequence[Asked]) -> bool:
    return any(one.is_asking for one in asked)


def _told(line: Found, weighed: Mapping[str, float], character: str, language: Language) -> tuple[str, str]:
    """What a line says, as such and as the prompt shows it. Of another's secret only what is shown outwardly."""
    words = WORDINGS[language]
    if line.memory is not None:
        what = line.memory.content
        if what.kind is MemoryKind.SECRET and what.speaker != character:
            return what.text, words.claim.format(speaker=what.speaker, text=what.text)
        return what.text, memory_line(line.memory, language)
    beat = excerpt(line.turn, weighed) if line.turn else None
    if beat is None:
        return "", ""
    if beat.kind is BeatKind.SPEECH:
        return beat.text, words.quote.format(speaker=beat.speaker, text=beat.text)
    return beat.text, f"{beat.speaker}: *{beat.text}*"


def _around(text: str, weighed: Mapping[str, float]) -> str:
    """The sentence of a text that is looked for, with as many of its neighbours as an excerpt has room for."""
    longest = _WIDE_EXCERPT if _WIDE.search(text) else _EXCERPT
    if len(text) <= longest:
        return text
    pieces = sentences(text)
    first = last = max(range(len(pieces)), key=lambda index: _weight_of(pieces[index], weighed))
    while True:
        following = "".join(pieces[first : last + 2])
        preceding = "".join(pieces[max(0, first - 1) : last + 1])
        if last + 1 < len(pieces) and len(following) <= longest:
            last += 1
        elif first and len(preceding) <= longest:
            first -= 1
        else:
            break
    kept = "".join(pieces[first : last + 1]).strip()
    return kept if len(kept) <= longest else kept[: longest - 1].rstrip() + "…"


def _weight_of(text: str, weighed: Mapping[str, float]) -> float:
    return sum(weighed.get(word, 0.0) for word in indexed_words(text))


def _substance(shared: Collection[str]) -> int:
    wide = {character for word in shared if _WIDE.search(word) for character in word}
    return len(wide) + 2 * sum(not _WIDE.search(word) for word in shared)


def _occurs(word: str, among: Collection[str]) -> bool:
    return any(other.startswith(word[:-1]) for other in among) if word.endswith("*") else word in among


def _is_weak(feature: str) -> bool:
    return bool(len(feature) == 2 and _HIRAGANA.search(feature) and _WIDE.search(feature))


def _is_idle(pair: str, *, japanese: bool) -> bool:
    """Whether a pair of characters is made of words that every talk has."""
    if japanese:
        return all(_HIRAGANA.match(character) or character in _EMPTY_HAN for character in pair)
    return any(character in _EMPTY_CHINESE for character in pair)
