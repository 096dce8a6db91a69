"""``kataribe eval lies``: whether lies, secrets and imaginings of a story end up in memory as what they are not.

Two texts count as the same when ``likeness.is_same`` says so: they share most of the shorter one's features, and nearly half
of both. A memory that is as near to something true as to the lie is not counted as the lie.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bot.evals.folders import BEYOND, AdversaryFolder, imagined_texts
from bot.evals.machinery import ModelAt, kept_model
from bot.evals.playing import Played, play
from bot.evals.progress import progress
from bot.evals.report import counts, table
from bot.evals.runs import open_run
from bot.evals.stories import Story, load_story
from bot.memory.likeness import closeness, is_same
from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus
from bot.memory.turns import Beat, BeatKind

_SOLID: Final = (MemoryKind.FACT, MemoryKind.EVENT)
_FEWEST_FOLDS: Final = 8
_FEWEST_MAJORS: Final = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """A memory that should not be as it is, and the part of the truth that it goes against."""

    number: int
    kind: str
    text: str
    against: str


@dataclass(frozen=True, slots=True)
class Figures:
    """The outcome for one story. Lists name what went wrong; of pairs the second is the number there is."""

    story: str
    folds: int
    major_folds: int
    memories: dict[str, int]
    claims_as_fact: tuple[Finding, ...]
    claims_as_fact_beyond: tuple[Finding, ...]
    secrets_shown: tuple[Finding, ...]
    thoughts_shown: int
    known_by_thought_only: int
    player_facts_kept: tuple[int, int]
    player_facts_of_others: tuple[Finding, ...]
    ends_tied: int
    ends_still_open: tuple[Finding, ...]
    ends_reopened: tuple[Finding, ...]
    quotes_kept: tuple[int, int]
    quotes_altered: tuple[Finding, ...]
    hypotheticals_stored: tuple[Finding, ...]
    planted_stored: tuple[Finding, ...]
    lies_corrected: int
    lies_told_again: int
    lies_kept_as_claims: int
    lies_returned: tuple[Finding, ...]
    folds_failed: dict[str, int]
    dropped: dict[str, int]

    def misses(self, folder: str) -> list[str]:
        """What a scripted folder must not achieve, or must; the names of the figures that say otherwise."""
        none = ["claims_as_fact", "secrets_shown", "ends_reopened", "quotes_altered", "player_facts_of_others"]
        none += ["hypotheticals_stored", "planted_stored", "lies_returned"]
        missed = [name for name in none if getattr(self, name)]
        missed += ["thoughts_shown"] if self.thoughts_shown else []
        if folder == "truth":
            kept = {"player_facts_kept": self.player_facts_kept, "quotes_kept": self.quotes_kept}
            missed += [name for name, (count, of) in kept.items() if count < of]
            missed += ["ends_still_open"] if self.ends_still_open else []
        enough = self.folds >= _FEWEST_FOLDS and self.major_folds >= _FEWEST_MAJORS
        return missed if enough else [*missed, "folds"]


def measure(played: Played) -> Figures:
    """Compare what is remembered with what is so."""
    look = _Look(played)
    truth = played.book.story.truth
    lies = tuple(look.claims_as_fact())
    beyond = tuple(f for f in lies if look.is_beyond(f))
    kinds = Counter(m.kind.value for m in played.memory.memories if m.is_active)
    kept, quotes = look.player_facts_kept(), look.quotes_kept()
    again = [lie for lie in played.book.lies if lie.retold]
    return Figures(
        story=played.book.story.id,
        folds=len(played.memory.chapters),
        major_folds=played.major_folds,
        memories=dict(sorted(kinds.items())),
        claims_as_fact=tuple(f for f in lies if f not in beyond),
        claims_as_fact_beyond=beyond,
        secrets_shown=tuple(look.secrets_shown()),
        thoughts_shown=played.thoughts_shown,
        known_by_thought_only=sum(look.by_thought_only(m) for m in look.active(*_SOLID)),
        player_facts_kept=(kept, len(truth.player_facts)),
        player_facts_of_others=tuple(look.player_facts_of_others()),
        ends_tied=sum(m.status is MemoryStatus.RESOLVED for m in played.memory.memories),
        ends_still_open=tuple(look.ends_still_open()),
        ends_reopened=tuple(look.ends_reopened()),
        quotes_kept=(quotes, len(truth.quotes)),
        quotes_altered=tuple(look.quotes_altered()),
        hypotheticals_stored=tuple(look.imagined(planted=False)),
        planted_stored=tuple(look.imagined(planted=True)),
        lies_corrected=sum(lie.is_corrected for lie in played.book.lies),
        lies_told_again=sum(len(lie.retold) for lie in again),
        lies_kept_as_claims=sum(m.restates is not None for m in look.active(MemoryKind.CLAIM)),
        lies_returned=tuple(look.lies_returned()),
        folds_failed=dict(played.failed),
        dropped=dict(played.dropped.most_common()),
    )


class _Look:
    """Looks through one outcome."""

    def __init__(self, played: Played) -> None:
        self._played = played
        self._truth = played.book.story.truth
        self._memories = played.memory.memories
        self._planted = {lie.planted for lie in played.book.lies if lie.planted}

    def active(self, *kinds: MemoryKind) -> list[Memory]:
        """The memories of some kinds that are in use."""
        return [m for m in self._memories if m.is_active and m.kind in kinds]

    def claims_as_fact(self) -> Iterator[Finding]:
        """Whatever a fold or major fold ever wrote as fact or event, or as the true side of a secret, that was a lie.

        The lies that narration told by mistake are left out: they were facts until a moderator corrected them.
        """
        for memory in self._memories:
            if self._planted.intersection(memory.cites):
                continue
            for content in self._as_folded(memory):
                text = content.actual if content.kind is MemoryKind.SECRET else content.text
                claim = self._lie(text) if content.kind in (*_SOLID, MemoryKind.SECRET) else None
                if claim is not None:
                    yield Finding(memory.number, content.kind.value, text, claim)
                    break

    def is_beyond(self, finding: Finding) -> bool:
        """Whether only a proposal that cites unrelated narration can have led to it, also by way of what it condenses."""
        folder = self._played.folder
        if not isinstance(folder, AdversaryFolder):
            return False
        return self._is_beyond(folder, finding.number, finding.text)

    def _is_beyond(self, folder: AdversaryFolder, number: int, text: str) -> bool:
        memory = self._played.memory.get(number)
        if memory is None:
            return False
        sources = [self._played.memory.get(n) for n in memory.condenses]
        if sources:
            return any(
                source is not None
                and _alike(source.content.text, text)
                and self._is_beyond(folder, source.number, source.content.text)
                for source in sources
            )
        return folder.label(memory.content.text, memory.cites) == BEYOND

    def secrets_shown(self) -> Iterator[Finding]:
        """What players read of a secret is its outward side, and no kept words are a thought's."""
        thoughts = [b.text for t in self._played.turns.values() for b in t.beats if b.kind is BeatKind.THOUGHT]
        for memory in self.active(MemoryKind.SECRET):
            for secret in self._truth.secrets:
                shown = memory.content.text
                if is_same(shown, secret.actual) and closeness(shown, secret.actual) > closeness(shown, secret.outward):
                    yield _finding(memory, secret.id)
        for memory in self.active(MemoryKind.QUOTE):
            if any(memory.content.text in thought for thought in thoughts) and not self._spoken(memory):
                yield _finding(memory, "a thought")

    def by_thought_only(self, memory: Memory) -> bool:
        """Whether nothing but thoughts shows it."""
        beats = self._cited(memory)
        return bool(beats) and all(beat.kind is BeatKind.THOUGHT for beat in beats)

    def player_facts_kept(self) -> int:
        """How many of the players' facts are remembered as theirs."""
        facts = self.active(MemoryKind.FACT)
        return sum(
            any(
                m.content.player_id == self._played.player_ids[f.player] and _alike(m.content.text, f.text)
                for m in facts
            )
            for f in self._truth.player_facts
        )

    def player_facts_of_others(self) -> Iterator[Finding]:
        """Facts that are kept under the id of a player who never said them."""
        for memory in self.active(MemoryKind.FACT):
            owners = {
                self._played.player_ids[f.player]
                for f in self._truth.player_facts
                if _alike(memory.content.text, f.text)
            }
            if owners and memory.content.player_id not in (*owners, None):
                yield _finding(memory, "another player")

    def ends_still_open(self) -> Iterator[Finding]:
        """Open ends that the story has settled."""
        for memory in self.active(MemoryKind.LOOSE_END):
            for end in self._truth.loose_ends:
                if end.resolved and _alike(memory.content.text, end.text):
                    yield _finding(memory, end.id)

    def ends_reopened(self) -> Iterator[Finding]:
        """Open ends of which an older one was tied."""
        tied = [m for m in self._memories if m.kind is MemoryKind.LOOSE_END and m.status is MemoryStatus.RESOLVED]
        for memory in self.active(MemoryKind.LOOSE_END):
            for other in tied:
                if other.number < memory.number and _alike(memory.content.text, other.content.text):
                    yield _finding(memory, f"#{other.number}")
                    break

    def quotes_kept(self) -> int:
        """How many of the quotes are remembered to the letter, by who said them."""
        kept = {(m.content.speaker, m.content.text) for m in self.active(MemoryKind.QUOTE)}
        return sum((quote.speaker, quote.text) in kept for quote in self._truth.quotes)

    def quotes_altered(self) -> Iterator[Finding]:
        """Quotes that nobody said."""
        for memory in self.active(MemoryKind.QUOTE):
            if not self._spoken(memory):
                yield _finding(memory, "the letter")

    def imagined(self, *, planted: bool) -> Iterator[Finding]:
        """What was imagined, or put forward by a player as if it had been, and is remembered as so."""
        for memory in self.active(*_SOLID, MemoryKind.SECRET, MemoryKind.LOOSE_END):
            texts = [memory.content.text, *([memory.content.actual] if memory.content.actual else [])]
            for imagined in self._truth.hypotheticals:
                worded = imagined_texts(self._played.book.story, imagined)
                if imagined.is_planted is planted and any(_alike(t, w) for t in texts for w in worded):
                    yield _finding(memory, imagined.id)
                    break

    def lies_returned(self) -> Iterator[Finding]:
        """Corrected lies that are in use again as a fact, event or true side of a secret, or whose correction is undone."""
        for lie in self._played.book.lies:
            for memory in self._memories if lie.is_corrected else ():
                own = memory.number in lie.numbers
                says = memory.content.actual if memory.kind is MemoryKind.SECRET else memory.content.text
                stands = (
                    memory.is_active and memory.kind in (*_SOLID, MemoryKind.SECRET) and _alike(says, lie.claim.text)
                )
                undone = own and not memory.corrected
                old = memory.number <= lie.newest and not own
                if undone or (stands and not old and closeness(says, lie.claim.text) > closeness(says, lie.new_text)):
                    yield _finding(memory, lie.claim.id)

    def _as_folded(self, memory: Memory) -> list[Content]:
        versions = self._played.histories.get(memory.number, ())
        return [v.content for v in versions if not v.by.isdigit()] or [memory.content]

    def _lie(self, text: str) -> str | None:
        """The id of the false or unproven claim that a text repeats, unless something true is as near."""
        claims = [c for c in self._truth.claims if c.actually != "true"]
        best = max(claims, key=lambda c: closeness(text, c.text), default=None)
        if best is None or not _alike(text, best.text):
            return None
        true = [f.text for f in self._truth.facts] + [f.text for f in self._truth.player_facts]
        true += [s.actual for s in self._truth.secrets] + [c.text for c in self._truth.claims if c.actually == "true"]
        nearest = max((closeness(text, t) for t in true), default=0.0)
        return best.id if nearest < closeness(text, best.text) else None

    def _cited(self, memory: Memory) -> list[Beat]:
        turns = self._played.turns
        return [beat for c in memory.cites if c.seq in turns and (beat := turns[c.seq].beat(c))]

    def _spoken(self, memory: Memory) -> bool:
        return any(memory.content.text in b.text for b in self._cited(memory) if b.kind is BeatKind.SPEECH)


async def run(
    *, stories: Sequence[Path], folder: str, model: str | None, seed: int, as_json: bool, out: Path | None
) -> bool:
    """Play each story and print its figures; whether a scripted folder did what it must, and nothing that it must not.

    Raises StoryUnreadable, and SettingsError when the model of the settings is to fold and none is set.
    """
    logging.getLogger("bot").addHandler(logging.NullHandler())  # what is noteworthy is in the figures
    loaded = [load_story(path) for path in stories]
    by = "model" if model else folder
    made = open_run("eval lies", out, settings={"folder": by}, seed=seed, inputs=stories)
    results = []
    async with AsyncExitStack() as stack:
        who: str | ModelAt = folder
        keeper = None
        if model:
            who, keeper = await stack.enter_async_context(kept_model(model, made, repeat=seed))
        advance = stack.enter_context(progress(sum(len(story.turns) for story in loaded), made.record["what"]))
        for story in loaded:
            with tempfile.TemporaryDirectory() as database:
                played = await play(story, who, seed, Path(database), advance)
            results.append((measure(played), _record(played, story)))
    if keeper:
        made.note(answers=keeper.counts)
    whole = made.save({"stories": [{**record, **asdict(figures)} for figures, record in results]})
    if as_json:
        print(json.dumps(whole, ensure_ascii=False, indent=1))
    else:
        print("\n\n".join(_as_table(figures, {**made.record, **record}) for figures, record in results))
    return model is not None or not any(figures.misses(folder) for figures, _ in results)


def _record(played: Played, story: Story) -> dict[str, Any]:
    """What a story's figures have to say of how they came to be."""
    return {"model": played.model, "language": story.language, "budgets": asdict(played.settings.budgets(None))}


def _as_table(figures: Figures, record: dict[str, Any]) -> str:
    def share(pair: tuple[int, int]) -> str:
        return f"{pair[0]} of {pair[1]}"

    rows = [
        ("folds, major folds", f"{figures.folds}, {figures.major_folds}"),
        ("memories in use", counts(figures.memories)),
        ("claims stored as fact or event", _listed(figures.claims_as_fact)),
        ("  beyond the rules: cited to unrelated narration", _listed(figures.claims_as_fact_beyond)),
        ("secrets shown to players", _listed(figures.secrets_shown)),
        ("thoughts in delivered replies", str(figures.thoughts_shown)),
        ("facts that only a thought shows", str(figures.known_by_thought_only)),
        ("players' facts kept", share(figures.player_facts_kept)),
        ("  under another player", _listed(figures.player_facts_of_others)),
        ("loose ends tied", str(figures.ends_tied)),
        ("  settled but still open", _listed(figures.ends_still_open)),
        ("  tied and open again", _listed(figures.ends_reopened)),
        ("quotes kept to the letter", share(figures.quotes_kept)),
        ("  kept, and not to the letter", _listed(figures.quotes_altered)),
        ("hypotheticals stored", _listed(figures.hypotheticals_stored)),
        ("planted memories stored", _listed(figures.planted_stored)),
        ("lies corrected, told again", f"{figures.lies_corrected}, {figures.lies_told_again}"),
        ("  kept as linked claims", str(figures.lies_kept_as_claims)),
        ("  returned", _listed(figures.lies_returned)),
        ("failed tries of folds that are open", counts(figures.folds_failed)),
        ("proposals dropped", counts(figures.dropped)),
    ]
    return table(
        f"{figures.story}: folder {record['settings']['folder']} ({record['model']}), seed {record['seed']}", rows
    )


def _listed(findings: Iterable[Finding]) -> str:
    found = list(findings)
    return "; ".join([str(len(found)), *(f"#{f.number} {f.kind} “{f.text}” ({f.against})" for f in found)])


def _finding(memory: Memory, against: str) -> Finding:
    return Finding(memory.number, memory.kind.value, memory.content.text, against)


def _alike(one: str, other: str) -> bool:
    return one == other or is_same(one, other)
