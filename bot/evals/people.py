"""``kataribe eval people``: whether what is kept about a person is theirs, and what becomes of it with time.

One person's dialogues are played through the real engine, store and judging, at the times at which they were written; the other
speakers' lines are the replies of one character. The last tenth of the dialogues comes after a pause in which what was not seen
again is dormant, and after all of them follow days in which nobody writes.
"""

from __future__ import annotations

import json
import logging
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from bot.core import Core, open_core
from bot.evals.dialogues import ZONE, Dialogue, Talks, load_talks
from bot.evals.judges import ScriptedJudge, of_oneself
from bot.evals.machinery import Clock, ModelAt, kept_model, overheard, require_answers, settings_for
from bot.evals.progress import progress
from bot.evals.report import counts, table
from bot.evals.runs import open_run
from bot.evals.scripted import scripted_model
from bot.memory.likeness import alike, closeness, features, is_same
from bot.memory.people import Portrait, Trait, TraitStatus
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope
from bot.memory.turns import PlayerMessage
from bot.settings import Settings
from bot.time_zones import MORNING_HOUR

PLAYER: Final = 1_001
_GUILD: Final = 1
_CHANNEL: Final = 2
_CHARACTER: Final = "聞き手"
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
# Longer than a new trait takes to become dormant, 60 days, and shorter than until it is forgotten.
PAUSE: Final = timedelta(days=75)
# Until the most important trait is gone: 150 days to dormancy, 60 dormant, 30 restorable.
QUIET: Final = timedelta(days=245)
_LATE_SHARE: Final = 0.1
# A judgement that failed is due again at once.
_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """A note or trait that says what another speaker said of themselves."""

    tier: str
    text: str
    against: str


@dataclass(frozen=True, slots=True)
class Figures:
    """The outcome, tier by tier. Of pairs the second is the number there is; None where no persona is known."""

    dialogues: int
    replies: int
    exchanges: dict[str, int]
    notes: dict[str, int]
    notes_dropped: dict[str, int]
    traits: dict[str, int]
    traits_dropped: dict[str, int]
    of_others: tuple[Finding, ...]
    tries_failed: dict[str, int]
    persona_found: tuple[int, int] | None
    traits_in_persona: tuple[int, int] | None

    def misses(self) -> list[str]:
        """What a scripted judge must not achieve, or must; the names of the figures that say otherwise."""
        missed = ["of_others"] if self.of_others else []
        missed += ["exchanges"] if self.exchanges["waiting"] or self.exchanges["judged"] < self.replies else []
        missed += ["tries_failed"] if self.tries_failed else []
        return missed if self.traits["new"] else [*missed, "traits"]


@dataclass(slots=True)
class Played:
    """What was noticed while the dialogues were played: every text that was ever kept, and what became of traits."""

    model: str = ""
    replies: int = 0
    waiting: int = 0
    notes: list[str] = field(default_factory=list)
    traits: dict[tuple[int, datetime], list[str]] = field(default_factory=dict)
    now: dict[tuple[int, datetime], Trait] = field(default_factory=dict)
    changes: Counter[str] = field(default_factory=Counter)
    proposed: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    notes_dropped: Counter[str] = field(default_factory=Counter)
    traits_dropped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    def look(self, portrait: Portrait) -> None:
        """Note what is kept now, and what became of the traits since the last look."""
        self.waiting = portrait.waiting
        self.notes += [note.text for note in portrait.notes if note.text not in self.notes]
        now = {(trait.id, trait.first_at): trait for trait in portrait.traits}
        for key, trait in now.items():
            said = self.traits.setdefault(key, [])
            said += [trait.text] if trait.text not in said else []
            self.changes.update(_changes(self.now.get(key), trait))
        self.changes["gone"] += len(self.now.keys() - now.keys())
        self.now = now


def _changes(before: Trait | None, trait: Trait) -> Iterator[str]:
    """What became of a trait between two looks."""
    if before is None:
        yield "new"
        return
    if trait.matches > before.matches:
        yield "seen again"
    if trait.text != before.text:
        yield "overwritten"
    if trait.status is not before.status:
        back = trait.status is TraitStatus.ACTIVE
        yield (
            ("revived" if trait.matches == before.matches else "dormant and seen again") if back else trait.status.value
        )


async def play(
    talks: Talks, folder: Path, model: ModelAt | None = None, advance: Callable[[int], object] = lambda _: None
) -> Played:
    """Play the dialogues of a person, and the days after them; ``model`` judges, or a script. The database is made in ``folder``.

    ``advance`` hears of the dialogues that are done. Raises SettingsError when a model judges and the environment's settings
    are wrong, and ModelGone.
    """
    judge = None if model else ScriptedJudge()
    stage = _Stage(talks, judge, advance)
    async with scripted_model(stage.answer) as address:
        settings = _settings(address, folder / "people.db", model)
        with overheard("bot.judging", partial(_count, stage.played)):
            async with open_core(settings, clock=stage.clock) as core:
                await stage.play(core)
                stage.played.model = core.folder_model.profile.model
    stage.played.proposed = judge.proposed if judge else Counter()
    return stage.played


class _Stage:
    """One running play."""

    def __init__(self, talks: Talks, judge: ScriptedJudge | None, advance: Callable[[int], object]) -> None:
        self._talks = talks
        self._advance = advance
        self._judge = judge
        self._reply = ""
        self._message_id = 10_000
        self._scope = Scope(_GUILD, PLAYER)
        self.clock = Clock(talks.dialogues[0].lines[0].at)
        self.played = Played()

    def answer(self, purpose: str, message: str) -> str:
        """What the model server says: the other speaker's lines, or what the judge makes of them."""
        if purpose == "reply" or self._judge is None:
            beats = [{"kind": "speech", "speaker": _CHARACTER, "text": self._reply}]
            return json.dumps({"beats": beats}, ensure_ascii=False)
        return self._judge.answer(purpose, message)

    async def play(self, core: Core) -> None:
        """All dialogues, with the judgements that fall due, and the days after them."""
        await core.characters.create(self._scope, Card(_CHARACTER, ""), "")
        dialogues = self._talks.dialogues
        early = len(dialogues) - math.ceil(len(dialogues) * _LATE_SHARE)
        for number, dialogue in enumerate(dialogues):
            await self._dialogue(core, dialogue, PAUSE if number >= early else timedelta())
            self._advance(1)
        await self._wait(core, self.clock.time + QUIET)

    async def _dialogue(self, core: Core, dialogue: Dialogue, later: timedelta) -> None:
        """A story of its own. A line of the other's that answers nothing is left out, as nobody waits for it."""
        lines = [(line.speaker == self._talks.person, line.text, line.at + later) for line in dialogue.lines]
        await self._wait(core, lines[0][2])
        session = (
            await core.engine.start_session(Place(_GUILD, _CHANNEL), self._scope, _CHARACTER, greeting=False)
        ).session
        for place, (own, text, at) in enumerate(lines):
            self.clock.time = max(self.clock.time, at)
            self._message_id += 1
            if own:
                message = PlayerMessage(self._message_id, _CHANNEL, PLAYER, self._talks.person, text, self.clock())
                await core.engine.hear(message)
            elif place and lines[place - 1][0]:
                self._reply = "\n".join(_run_of_others(lines[place:]))
                reply = await core.engine.reply(session.id)
                if reply is None:
                    continue
                await core.engine.delivered(reply.turn.id, _CHANNEL, [self._message_id])
                self.played.replies += 1
                if any(trait.status is TraitStatus.DORMANT for trait in self.played.now.values()):
                    await self._look(core)  # a reply may have revived one
                await core.judging.run_due()
                await self._look(core)
        await core.engine.stop_session(_CHANNEL)

    async def _wait(self, core: Core, until: datetime) -> None:
        """Let time pass, with a morning each day as long as anything waits to be judged, and each week after that."""
        morning = _next_morning(self.clock.time)
        while morning <= until:
            self.clock.time = morning
            await core.judging.hold_mornings()
            await core.judging.run_due()
            for _ in range(_TRIES):
                if await core.store.due_judgements(self.clock()):
                    await core.judging.run_due()
            await self._look(core)
            require_answers(self.played.failed)
            morning += _DAY if self.played.waiting else _WEEK
        self.clock.time = max(self.clock.time, until)

    async def _look(self, core: Core) -> None:
        for portrait in await core.store.portraits_of(PLAYER, _GUILD):
            self.played.look(portrait)


def _run_of_others(lines: Sequence[tuple[bool, str, datetime]]) -> Iterator[str]:
    for own, text, _ in lines:
        if own:
            return
        yield text


def _next_morning(after: datetime) -> datetime:
    local = after.astimezone(ZoneInfo(ZONE))
    morning = local.replace(hour=MORNING_HOUR, minute=0, second=0, microsecond=0)
    return morning if morning > local else morning + _DAY


def measure(talks: Talks, played: Played) -> Figures:
    """Compare what was kept with who said it."""
    own_persona = talks.personas.get(talks.person, ())
    texts = [text for said in played.traits.values() for text in said]
    kept = [*texts, *played.notes]
    found = sum(any(alike(sentence, text) for text in kept) for sentence in own_persona)
    in_persona = sum(
        any(alike(sentence, text) for text in said for sentence in own_persona) for said in played.traits.values()
    )
    changes = played.changes
    names = ("new", "seen again", "overwritten", "dormant", "revived", "dormant and seen again", "forgotten", "gone")
    return Figures(
        dialogues=len(talks.dialogues),
        replies=played.replies,
        exchanges={"judged": played.judged["exchanges"], "waiting": played.waiting},
        notes={**{f"proposed {how}": count for how, count in played.proposed.items()}, "kept": played.judged["kept"]},
        notes_dropped=dict(played.notes_dropped.most_common()),
        traits={**{name: changes[name] for name in names}, "left": len(played.now)},
        traits_dropped=dict(played.traits_dropped.most_common()),
        of_others=tuple(_of_others(talks, played)),
        tries_failed=dict(played.failed.most_common()),
        persona_found=(found, len(own_persona)) if own_persona else None,
        traits_in_persona=(in_persona, len(played.traits)) if own_persona else None,
    )


def _of_others(talks: Talks, played: Played) -> Iterator[Finding]:
    """The texts that say what another said of themselves, unless a line of the person's holds as much of it."""
    own = [*talks.personas.get(talks.person, ())]
    others = [s for speaker, persona in talks.personas.items() if speaker != talks.person for s in persona]
    for line in (line for dialogue in talks.dialogues for line in dialogue.lines):
        if line.speaker == talks.person:
            own.append(line.text)
        else:
            others += of_oneself(line.text)
    of_own = [features(text) for text in dict.fromkeys(own)]
    of_others = {text: features(text) for text in others}
    tiers = [("note", text) for text in played.notes]
    tiers += [("trait", text) for said in played.traits.values() for text in said]
    for tier, text in tiers:
        wanted = features(text)
        near = [other for other, parts in of_others.items() if text == other or len(wanted & parts) * 2 > len(wanted)]
        theirs = max(near, key=lambda other: closeness(text, other), default="")
        if text == theirs or is_same(text, theirs):
            shown = len(wanted & of_others[theirs])
            if all(len(wanted & ours) < shown for ours in of_own):
                yield Finding(tier, text, theirs)


async def run(
    *, dialogues: Path, model: str | None, seed: int, limit: int | None, as_json: bool, out: Path | None
) -> bool:
    """Play a person's dialogues and print the figures; whether the scripted judge did what it must and not what it must not.

    Raises DialoguesUnreadable, and SettingsError when the model of the settings is to judge and none is set.
    """
    logging.getLogger("bot").addHandler(logging.NullHandler())  # what is noteworthy is in the figures
    talks = load_talks(dialogues, limit)
    by = {"judge": "model" if model else "scripted", "limit": limit}
    made = open_run("eval people", out, settings=by, seed=seed, inputs=[dialogues])
    async with AsyncExitStack() as stack:
        at = keeper = None
        if model:
            at, keeper = await stack.enter_async_context(kept_model(model, made, repeat=seed))
        database = stack.enter_context(tempfile.TemporaryDirectory())
        advance = stack.enter_context(progress(len(talks.dialogues), made.record["what"]))
        played = await play(talks, Path(database), at, advance)
    if keeper:
        made.note(answers=keeper.counts)
    figures = measure(talks, played)
    made.note(model=played.model, person=talks.person, pause_days=PAUSE.days, quiet_days=QUIET.days)
    whole = made.save(asdict(figures))
    print(json.dumps(whole, ensure_ascii=False, indent=1) if as_json else _as_table(figures, made.record))
    return model is not None or not figures.misses()


def _as_table(figures: Figures, record: dict[str, Any]) -> str:
    def share(pair: tuple[int, int] | None) -> str:
        return f"{pair[0]} of {pair[1]}" if pair else "unknown: no personas.json beside the dialogues"

    others = [f"{f.tier} “{f.text}” (“{f.against}”)" for f in figures.of_others]
    rows = [
        ("replies", str(figures.replies)),
        ("exchanges", counts(figures.exchanges)),
        ("notes", counts(figures.notes)),
        ("  proposals dropped", counts(figures.notes_dropped)),
        ("traits", counts(figures.traits)),
        ("  proposals dropped", counts(figures.traits_dropped)),
        ("other speakers' facts", "; ".join([str(len(others)), *others])),
        ("failed tries", counts(figures.tries_failed)),
        ("persona sentences found in a note or trait", share(figures.persona_found)),
        ("traits that are in the persona", share(figures.traits_in_persona)),
    ]
    return table(
        f"{record['person']}, {figures.dialogues} dialogues: judge {record['settings']['judge']} ({record['model']})",
        rows,
    )


def _settings(address: str, database: Path, model: ModelAt | None) -> Settings:
    changes = {"default_time_zone": ZONE, "fold_attempts": _TRIES}
    return settings_for(address, database, changes, with_model=model)


def _count(played: Played, record: logging.LogRecord) -> None:
    """Count what judging says in its log: what it judged, what it dropped, what failed."""
    arguments = record.args if isinstance(record.args, tuple) else ()
    for what, dropped in (("exchanges", played.notes_dropped), ("notes", played.traits_dropped)):
        if f"%d {what} judged" in record.msg:
            played.judged[what] += int(str(arguments[1]))
            played.judged["kept"] += int(str(arguments[2])) if what == "exchanges" else 0
            dropped.update(arguments[-1] if isinstance(arguments[-1], dict) else {})
    if " failed, " in record.msg:
        played.failed[str(arguments[-1])] += 1
    elif record.exc_info:
        played.failed["broken"] += 1
