"""Plays a story of the evaluation through the real engine, folder and store; in that of lies it corrects some on the way."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from bot.core import Core, open_core
from bot.evals.folders import AdversaryFolder, Asked, Book, Lie, ScriptedFolder, TruthFolder, numbered
from bot.evals.machinery import Clock, ModelAt, overheard, require_answers, settings_for
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
CHANNEL: Final = 2
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


def _unseen(_: int) -> None:
    """Nobody waits for it."""


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


async def play(
    story: Story, who: str | ModelAt, seed: int, folder_path: Path, advance: Callable[[int], object] = _unseen
) -> Played:
    """Play a story with its corrected lies to its end and fold all of it; ``who`` folds: ``truth``, ``adversary`` or a model.

    The database is made in ``folder_path``. ``advance`` hears of the turns that are done, as many as the story has. Raises
    SettingsError when a model folds and the environment's settings are wrong, and ModelGone.
    """
    book = Book(story, tuple(chosen_lies(story)))
    if isinstance(who, ModelAt):
        return await _to_the_end(Stage(story, book, None, advance), folder_path, who)
    folder = AdversaryFolder(book, seed) if who == "adversary" else TruthFolder(book)
    return await _to_the_end(Stage(story, book, folder, advance), folder_path)


async def play_plainly(
    story: Story, folder: ModelAt, folder_path: Path, advance: Callable[[int], object], chapters: int | None = None
) -> Played:
    """The same with a model that folds, and without any lie added or corrected.

    With ``chapters`` the play ends once there are so many, and the rest stays raw.
    """
    return await _to_the_end(Stage(story, Book(story, ()), None, advance), folder_path, folder, chapters)


async def _to_the_end(
    stage: Stage, folder_path: Path, model: ModelAt | None = None, chapters: int | None = None
) -> Played:
    async with scripted_model(stage.answer) as address:
        settings = stage.settings(address, folder_path / "story.db", model)
        with overheard("bot.folder", partial(_count_drops, stage.dropped)):
            async with open_core(settings, clock=stage.clock) as core:
                await stage.begin(core)
                while stage.is_going_on and not await stage.has_chapters(core, chapters):
                    await stage.step(core)
                    await stage.fold(core)
                if stage.is_going_on:
                    return await stage.played(core, settings)
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


class Stage:
    """One running play. It outlives the core that it is played with: the next one goes on with the same database.

    ``folder`` is None where a model folds; ``card`` is what the story plays, by default its first card with the others'
    descriptions.
    """

    def __init__(
        self,
        story: Story,
        book: Book,
        folder: ScriptedFolder | None,
        advance: Callable[[int], object] = _unseen,
        card: Card | None = None,
    ) -> None:
        self._story = story
        self._book = book
        self._folder = folder
        self._advance = advance
        described = "\n".join(f"{c.name}: {c.description}" for c in story.cards)
        self._card = card or Card(story.cards[0].name, described)
        self._steps = _steps(story)
        self._reply = ""
        self._message_id = 10_000
        self._session: Session | None = None
        self._absorbed = 0
        self.clock = Clock()
        self.dropped: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
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

    @property
    def is_going_on(self) -> bool:
        """Whether turns are left."""
        return bool(self._steps)

    @property
    def session(self) -> Session:
        """The session that is played."""
        if self._session is None:
            raise RuntimeError("nothing was played yet")
        return self._session

    def settings(self, address: str, database: Path, model: ModelAt | None) -> Settings:
        """Budgets cut to the story, with the story's own turns as replies; ``model`` folds where no folder is scripted."""
        return _settings(address, database, self._story, model)

    async def begin(self, core: Core) -> None:
        """The session, and the story's first turn where a character opens it."""
        opening = self._steps.pop(0) if self._steps[0][0].by_player is None else []
        first = _reply_of(opening, []) if opening else ""
        scope, place = Scope(1, MODERATOR), Place(1, CHANNEL)
        await core.characters.create(scope, replace(self._card, first_message=first, alternate_greetings=()), "")
        name = markup.plain_name(self._card.name)
        started = await core.engine.start_session(place, scope, name, greeting=bool(first))
        self._session = started.session
        if started.greeting:
            self._note(opening, started.greeting.turn, [])
        self._advance(len(opening))

    async def step(self, core: Core) -> bool:
        """The next message, or the reply to those before; whether it was a reply."""
        step = self._steps.pop(0)
        is_reply = step[0].by_player is None
        self.clock.pass_minutes(1)
        if is_reply:
            await self._replied(core, step)
        else:
            await self._heard(core, step[0])
        self._advance(len(step))
        return is_reply

    async def has_chapters(self, core: Core, count: int | None) -> bool:
        """Whether so many chapters are written; never with None."""
        return count is not None and len((await core.store.memory(self.session.id)).chapters) >= count

    async def fold_the_rest(self, core: Core) -> None:
        """What is still raw becomes chapters too, all but one last message of nobody's story."""
        self.clock.time += timedelta(days=1)
        message = PlayerMessage(self._message_id, CHANNEL, FIRST_PLAYER, self._story.players[0].name, "…", self.clock())
        await core.engine.hear(message)
        await self.fold_now(core)

    async def fold_now(self, core: Core) -> None:
        """Whatever is over the trigger becomes chapters, though nothing was written."""
        await core.store.request_fold(self.session.id, FoldKind.FOLD, self.clock())
        for _ in range(6):
            self.clock.pass_minutes(1)
            await self.fold(core)

    async def played(self, core: Core, settings: Settings) -> Played:
        """The outcome."""
        memory = await core.store.memory(self.session.id)
        histories = await core.store.histories(self.session.id, [m.number for m in memory.memories])
        turns = await core.store.turns(self.session.id, 1, 10**6)
        return Played(
            self._book, memory, histories, {t.seq: t for t in turns}, self._player_ids, self._folder,
            core.folder_model.profile.model, settings,
            self._majors, self.failed, self.dropped, self._thoughts_shown,
        )  # fmt: skip

    async def _heard(self, core: Core, turn: StoryTurn) -> None:
        self._message_id += 1
        player = next(p for p in self._story.players if p.id == turn.by_player)
        text = "\n".join(_as_typed(beat.kind, beat.text) for beat in turn.beats)
        await core.engine.hear(
            PlayerMessage(self._message_id, CHANNEL, self._player_ids[player.id], player.name, text, self.clock())
        )
        found = await core.store.turn_of_message(self._message_id)
        if found is not None:
            self._note([turn], found[1], [])

    async def _replied(self, core: Core, step: Sequence[StoryTurn]) -> None:
        added, lies = self._lies_told(step)
        self._reply = _reply_of(step, added)
        reply = await core.engine.reply(self.session.id)
        if reply is None:
            raise RuntimeError(f"nothing was unanswered before turn {step[0].seq}")
        self._message_id += 1
        await core.engine.delivered(reply.turn.id, CHANNEL, [self._message_id])
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

    async def fold(self, core: Core) -> None:
        """The folds that are due, and the corrections after them. Raises ModelGone."""
        await core.folder.run_due()
        memory = await core.store.memory(self.session.id)
        absorbed = sum(chapter.absorbed for chapter in memory.chapters)
        self._majors += absorbed > self._absorbed
        self._absorbed = absorbed
        for lie in self._book.lies:
            for standing in [] if lie.is_corrected else _standing(memory, lie):
                await self._correct(core, lie, standing)
                lie.newest = max(m.number for m in memory.memories)
        self.failed = Counter(f.error for f in (await core.store.figures(self.session.id)).folds if f.error)
        require_answers(self.failed)

    async def _correct(self, core: Core, lie: Lie, standing: Memory) -> None:
        correction = Correction(lie.how, MODERATOR, "a lie", lie.new_text if lie.how is CorrectionKind.EDIT else "")
        await core.moderation.correct(self.session.id, correction, standing.number)
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


def _settings(address: str, database: Path, story: Story, model: ModelAt | None) -> Settings:
    tokens = sum(estimate(beat.text) + 20 for turn in story.turns for beat in turn.beats)
    room = max(_SHORTEST_ROOM, tokens // _ROOMS)
    changes = {
        "fold_trigger": 3 * room, "fold_ceiling": 12 * room, "fold_floor": room, "fold_room": room,
        "fold_stretch": 2 * room, "fold_chapters_total": room // 2, "fold_attempts": 3,
    }  # fmt: skip
    return settings_for(address, database, changes, with_model=model)


def _count_drops(dropped: Counter[str], record: logging.LogRecord) -> None:
    """Count what the folder says in its log that it dropped."""
    for argument in record.args if isinstance(record.args, tuple) else ():
        if isinstance(argument, dict):
            dropped.update(argument)
