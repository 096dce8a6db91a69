"""Plays a story of the evaluation through the real engine, folder and store, and corrects lies on the way."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from bot.core import Core, open_core
from bot.evals.folders import AdversaryFolder, Asked, Book, Lie, ScriptedFolder, TruthFolder, numbered
from bot.evals.machinery import Clock, overheard, settings_for
from bot.evals.scripted import scripted_model
from bot.evals.stories import Story, StoryTurn, TrueClaim, seq_of
from bot.memory import markup
from bot.memory.corrections import Correction, CorrectionKind
from bot.memory.likeness import is_same, likeness
from bot.memory.memories import Memory, MemoryKind, SessionMemory, Version
from bot.memory.prompt import Card
from bot.memory.story import FoldKind, Place, Scope, Session
from bot.memory.tokens import estimate
from bot.memory.turns import Citation, PlayerMessage, Turn
from bot.settings import Settings

MODERATOR: Final = 900
FIRST_PLAYER: Final = 1_001
_CHANNEL: Final = 2
_LIES: Final = 3
# The lies to correct are told early, so that folds enough come after the correction.
_EARLY_SHARE: Final = 0.4
# After a correction, as shares of the story.
_RETOLD_AFTER: Final = (0.04, 0.24)
# A story is cut into about so many rooms; three of them are raw at any time.
_RETOLD_LIKENESS: Final = 0.5
_ROOMS: Final = 13
_SHORTEST_ROOM: Final = 60
_CORRECTIONS: Final = (CorrectionKind.SAID_NOT_TRUE, CorrectionKind.RETRACT, CorrectionKind.EDIT)
_KINDS: Final = {"truth": TruthFolder, "adversary": AdversaryFolder}


@dataclass(slots=True)
class Played:
    """What is left of a story when it was played: what is remembered, and all that was noticed on the way."""

    book: Book
    memory: SessionMemory
    histories: dict[int, tuple[Version, ...]]
    turns: dict[int, Turn]
    player_ids: dict[str, int]
    folder: ScriptedFolder | None
    model: str
    settings: Settings
    major_folds: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    thoughts_shown: int = 0


async def play(story: Story, kind: str, seed: int, folder_path: Path) -> Played:
    """Play a story to its end and fold all of it; ``kind`` is ``truth``, ``adversary`` or ``model``.

    The database is made in ``folder_path``. Raises SettingsError when a model is to fold and none is set.
    """
    book = Book(story, tuple(chosen_lies(story)))
    folder: ScriptedFolder | None = None
    if kind == "truth":
        folder = TruthFolder(book)
    elif kind == "adversary":
        folder = AdversaryFolder(book, seed)
    stage = _Stage(story, book, folder)
    async with scripted_model(stage.answer) as address:
        settings = _settings(address, folder_path / f"{story.id}.db", story, with_model=folder is None)
        with overheard("bot.folder", partial(_count_drops, stage.dropped)):
            async with open_core(settings, clock=stage.clock) as core:
                await stage.play(core)
            rest = settings.model_copy(update={"fold_trigger": 3, "fold_floor": 1, "fold_room": 1})
            async with open_core(rest, clock=stage.clock) as core:
                await stage.fold_the_rest(core)
                return await stage.played(core, settings)


def chosen_lies(story: Story) -> Iterator[Lie]:
    """Three false claims told early, those told most often first; one is said not true, one retracted, one edited."""
    last = story.turns[0].seq + _EARLY_SHARE * len(story.turns)
    false = [c for c in story.truth.claims if c.actually == "false" and seq_of(c.evidence[0]) <= last]
    true = [f.text for f in story.truth.facts] + [f.text for f in story.truth.player_facts]
    chosen: list[TrueClaim] = []
    for claim in sorted(false, key=lambda c: -len(c.evidence)):
        if len(chosen) < _LIES and not any(likeness(claim.text, other.text) > 0 for other in chosen):
            chosen.append(claim)
    for claim, how in zip(chosen, _CORRECTIONS, strict=False):
        new = min((text for text in true if not is_same(text, claim.text)), key=len, default="")
        yield Lie(claim, how, new)


class _Stage:
    """One running play."""

    def __init__(self, story: Story, book: Book, folder: ScriptedFolder | None) -> None:
        self._story = story
        self._book = book
        self._folder = folder
        self._reply = ""
        self._message_id = 10_000
        self._session: Session | None = None
        self._absorbed = 0
        self.clock = Clock()
        self.dropped: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._majors = 0
        self._thoughts_shown = 0
        self._player_ids = {p.id: FIRST_PLAYER + i for i, p in enumerate(story.players)}

    def answer(self, purpose: str, message: str) -> str:
        """What the model server says: the story's next reply, or what the folder makes of a stretch."""
        if purpose == "reply" or self._folder is None:
            return self._reply
        if purpose == "fold":
            return json.dumps(self._folder.fold(Asked.read(message)), ensure_ascii=False)
        return json.dumps(self._folder.major(numbered(message)), ensure_ascii=False)

    async def play(self, core: Core) -> None:
        """Every turn of the story, with the folds that fall due, and the corrections after them."""
        steps = _steps(self._story)
        card = self._story.cards[0]
        description = "\n".join(f"{c.name}: {c.description}" for c in self._story.cards)
        opening = steps.pop(0) if steps[0][0].by_player is None else []
        first = _reply_of(opening, []) if opening else ""
        scope, place = Scope(1, MODERATOR), Place(1, _CHANNEL)
        await core.characters.create(scope, Card(card.name, description, first), "")
        started = await core.engine.start_session(place, scope, markup.plain_name(card.name), greeting=bool(first))
        self._session = started.session
        if started.greeting:
            self._note(opening, started.greeting.turn, [])
        for step in steps:
            self.clock.pass_minutes(1)
            if step[0].by_player is None:
                await self._replied(core, step)
            else:
                await self._heard(core, step[0])
            await self._fold(core)

    async def fold_the_rest(self, core: Core) -> None:
        """What is still raw becomes chapters too, all but one last message of nobody's story."""
        self.clock.time += timedelta(days=1)
        message = PlayerMessage(
            self._message_id, _CHANNEL, FIRST_PLAYER, self._story.players[0].name, "…", self.clock()
        )
        await core.engine.hear(message)
        await core.store.request_fold(self._of.id, FoldKind.FOLD, self.clock())
        for _ in range(6):
            self.clock.pass_minutes(1)
            await self._fold(core)

    async def played(self, core: Core, settings: Settings) -> Played:
        """The outcome."""
        memory = await core.store.memory(self._of.id)
        histories = await core.store.histories(self._of.id, [m.number for m in memory.memories])
        turns = await core.store.turns(self._of.id, 1, 10**6)
        return Played(
            self._book, memory, histories, {t.seq: t for t in turns}, self._player_ids, self._folder,
            core.folder_model.profile.model, settings,
            self._majors, self._failed, self.dropped, self._thoughts_shown,
        )  # fmt: skip

    @property
    def _of(self) -> Session:
        if self._session is None:
            raise RuntimeError("nothing was played yet")
        return self._session

    async def _heard(self, core: Core, turn: StoryTurn) -> None:
        self._message_id += 1
        player = next(p for p in self._story.players if p.id == turn.by_player)
        text = "\n".join(_as_typed(beat.kind, beat.text) for beat in turn.beats)
        await core.engine.hear(
            PlayerMessage(self._message_id, _CHANNEL, self._player_ids[player.id], player.name, text, self.clock())
        )
        found = await core.store.turn_of_message(self._message_id)
        if found is not None:
            self._note([turn], found[1], [])

    async def _replied(self, core: Core, step: Sequence[StoryTurn]) -> None:
        added, lies = self._lies_told(step)
        self._reply = _reply_of(step, added)
        reply = await core.engine.reply(self._of.id)
        if reply is None:
            raise RuntimeError(f"nothing was unanswered before turn {step[0].seq}")
        self._message_id += 1
        await core.engine.delivered(reply.turn.id, _CHANNEL, [self._message_id])
        thoughts = [beat.text for turn in step for beat in turn.beats if beat.kind == "thought"]
        self._thoughts_shown += sum(thought in reply.text for thought in thoughts)
        self._note(step, reply.turn, added)
        places = range(len(reply.turn.beats) - len(added) + 1, len(reply.turn.beats) + 1)
        for lie, place in zip(lies, places, strict=True):
            citation = Citation(reply.turn.seq, place)
            if lie.is_corrected:
                lie.retold.append(citation)
                lie.retell_from.pop(0)
            else:
                lie.planted = citation

    def _lies_told(self, step: Sequence[StoryTurn]) -> tuple[list[dict[str, str]], list[Lie]]:
        """The beats that are added to a reply: a lie narrated as if it were so, or a corrected one told again."""
        seqs = {turn.seq for turn in step}
        beats, lies = [], []
        for lie in self._book.lies:
            if lie.planted is None and seq_of(lie.claim.evidence[0]) in seqs:
                beats.append({"kind": "narration", "speaker": self._story.cards[0].name, "text": lie.claim.text})
            elif lie.retell_from and lie.retell_from[0] <= max(seqs):
                beats.append({"kind": "speech", "speaker": lie.claim.speaker, "text": lie.claim.text})
            else:
                continue
            lies.append(lie)
        return beats, lies

    def _note(self, step: Sequence[StoryTurn], turn: Turn, added: Sequence[object]) -> None:
        """Write down which beats of the session carry which beats of the story."""
        wanted = [(f"{t.seq}.{place}", _squeezed(b.text)) for t in step for place, b in enumerate(t.beats, start=1)]
        at = 0
        for place, beat in enumerate(turn.beats[: len(turn.beats) - len(added)], start=1):
            text = _squeezed(beat.text)
            at = next((i for i in range(at, len(wanted)) if text in wanted[i][1]), at)
            cite = wanted[at][0]
            self._book.places[cite] = (*self._book.places.get(cite, ()), Citation(turn.seq, place))

    async def _fold(self, core: Core) -> None:
        await core.folder.run_due()
        memory = await core.store.memory(self._of.id)
        absorbed = sum(chapter.absorbed for chapter in memory.chapters)
        self._majors += absorbed > self._absorbed
        self._absorbed = absorbed
        for lie in self._book.lies:
            for standing in [] if lie.is_corrected else _standing(memory, lie):
                await self._correct(core, lie, standing)
                lie.newest = max(m.number for m in memory.memories)
        self._failed = Counter(f.error for f in (await core.store.figures(self._of.id)).folds if f.error)

    async def _correct(self, core: Core, lie: Lie, standing: Memory) -> None:
        correction = Correction(lie.how, MODERATOR, "a lie", lie.new_text if lie.how is CorrectionKind.EDIT else "")
        await core.moderation.correct(self._of.id, correction, standing.number)
        lie.numbers.append(standing.number)
        now = max(seq_of(cite) for cite in self._book.places)
        lie.retell_from = [now + round(share * len(self._story.turns)) for share in _RETOLD_AFTER]


def _standing(memory: SessionMemory, lie: Lie) -> list[Memory]:
    """The memories that have a planted lie as a fact or event."""
    text = lie.claim.text
    return [
        m
        for m in memory.memories
        if m.is_active
        and m.kind in (MemoryKind.FACT, MemoryKind.EVENT)
        and lie.planted in m.cites
        and (m.content.text == text or likeness(m.content.text, text) >= _RETOLD_LIKENESS)
    ]


def _steps(story: Story) -> list[list[StoryTurn]]:
    """The story as messages and replies: what characters write when nobody waits belongs to the reply before."""
    steps: list[list[StoryTurn]] = []
    replies: list[list[StoryTurn]] = []
    waiting = False
    for turn in story.turns:
        if turn.by_player is None and replies and not waiting:
            replies[-1].append(turn)
            continue
        steps.append([turn])
        if turn.by_player is None:
            replies.append(steps[-1])
            waiting = False
        else:
            waiting = waiting or not turn.is_out_of_character
    return steps


def _reply_of(step: Sequence[StoryTurn], added: Sequence[dict[str, str]]) -> str:
    """A reply as a model writes it by the schema."""
    beats = [beat.model_dump() for turn in step for beat in turn.beats]
    return json.dumps({"beats": [*beats, *added]}, ensure_ascii=False)


def _as_typed(kind: str, text: str) -> str:
    return f"(({text}))" if kind == "ooc" and not text.startswith(("((", "（（", "//", "[")) else text


def _squeezed(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def _settings(address: str, database: Path, story: Story, *, with_model: bool) -> Settings:
    tokens = sum(estimate(beat.text) + 20 for turn in story.turns for beat in turn.beats)
    room = max(_SHORTEST_ROOM, tokens // _ROOMS)
    changes = {
        "fold_trigger": 3 * room, "fold_ceiling": 12 * room, "fold_floor": room, "fold_room": room,
        "fold_stretch": 2 * room, "fold_chapters_total": room // 2, "fold_attempts": 3,
    }  # fmt: skip
    return settings_for(address, database, changes, with_model=with_model)


def _count_drops(dropped: Counter[str], record: logging.LogRecord) -> None:
    """Count what the folder says in its log that it dropped."""
    for argument in record.args if isinstance(record.args, tuple) else ():
        if isinstance(argument, dict):
            dropped.update(argument)
