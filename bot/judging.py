"""The background work on people: exchanges are judged for notes, notes for traits, and each morning what is left, and traits fade.

Rows say what is due; this only carries it out. Model calls stand outside every transaction, and a result is committed only if
what it was made from is still the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from bot.errors import ModelTimeout, ModelUnavailable, WindowExceeded, WorkFailed
from bot.llm.checks import Rejection, check_form, check_output
from bot.llm.client import ModelClient
from bot.llm.drawing import draw
from bot.llm.requests import Completion, ModelRequest, Purpose
from bot.memory import judgement
from bot.memory.fading import aged, confirmed, is_past
from bot.memory.language import detect_language
from bot.memory.messages import Message
from bot.memory.observing import NotesVerdict, TraitsVerdict, judge_notes, judge_traits
from bot.memory.people import Acquaintance, Exchange, Judgement, JudgementKind, Note, Trait
from bot.store import Store
from bot.store.judgements import NotesWork, TraitsWork
from bot.tasks import Tasks
from bot.time_zones import morning_day, zone_name

log = logging.getLogger(__name__)

_PLANS: Final = 3
# A hosted server may refuse for hours; a judgement that cannot be asked for waits no longer than this between tries.
_LONGEST_WAIT: Final = timedelta(hours=1)
# Six notes, or four traits with what was seen again, with their numbers; more is no handover.
_ANSWER_TOKENS: Final = 2048


class Judging:
    """Carries out due judgements, and holds the mornings.

    ``zone`` is the time zone of guilds that set none, and of direct messages. ``attempts`` is how often a judge is asked who
    answers nothing usable; between tries ``delay`` passes, four times as long each time. ``at_once`` is how many judgements
    run at the same time. With ``active`` false nobody is judged, and what is kept fades all the same.
    """

    def __init__(
        self,
        store: Store,
        model: ModelClient,
        *,
        clock: Callable[[], datetime],
        zone: str,
        delay: timedelta,
        attempts: int = 3,
        at_once: int = 1,
        active: bool = True,
    ) -> None:
        self._store = store
        self._model = model
        self._clock = clock
        self._default_zone = zone
        self._delay = delay
        self._attempts = attempts
        self._active = active
        self._places = asyncio.Semaphore(at_once)
        self._tasks = Tasks()

    async def wake(self) -> None:
        """Take on all that is due and not under way yet; returns at once."""
        for due in await self._store.due_judgements(self._clock()) if self._active else ():
            self._tasks.begin(due.id, partial(self._run, due), name=f"judgement-{due.id}")

    async def run_due(self) -> None:
        """Take on all that is due, then what the notes that were kept make due, and wait until it is done."""
        for _ in JudgementKind:
            await self.wake()
            await self._tasks.finished()

    async def close(self) -> None:
        """Stop what is under way; its rows say that it is unfinished, so the next start takes it up."""
        await self._tasks.close()

    # Mornings

    async def zones(self) -> frozenset[str]:
        """The time zones of all guilds with somebody to judge."""
        return frozenset(map(self._zone, (await self._store.guilds_with_people()).values()))

    async def hold_mornings(self, zone: str | None = None) -> None:
        """Plan the judgement of all that is left, and let traits fade, in each guild (of a zone, or of all) whose last 05:00 was
        not held yet; then take on what is due.
        """
        now = self._clock()
        for guild_id, name in (await self._store.guilds_with_people()).items():
            used = self._zone(name)
            if zone not in (None, used):
                continue
            try:
                await self._hold_morning(guild_id, morning_day(now, used), now)
            except Exception:  # a guild must not take the others down; what is left waits for the next morning
                log.exception("the morning of guild %d broke", guild_id)
        await self.wake()

    async def _hold_morning(self, guild_id: int, day: date, now: datetime) -> None:
        planned = await self._store.hold_morning(guild_id, day, now, judge=self._active)
        if planned is None:
            return
        faded = await self._store.age_traits([guild_id], now, aged)
        log.info("guild %d: morning of %s held, %d judgements planned, traits %s", guild_id, day, planned, faded)

    def _zone(self, name: str | None) -> str:
        """A guild's zone, unless the database of zones does not know its name any more."""
        return (zone_name(name) if name else None) or self._default_zone

    # One judgement

    async def _run(self, due: Judgement) -> None:
        async with self._places:
            claimed = await self._store.claim_judgement(due.id, self._clock())
            if claimed is None:
                return
            read: set[int] = set()
            try:
                match claimed.kind:
                    case JudgementKind.NOTES:
                        await self._judge_exchanges(claimed, read)
                    case JudgementKind.TRAITS:
                        await self._judge_notes(claimed, read)
            except (WorkFailed, ModelUnavailable) as error:
                await self._failed(claimed, error.code, error, read)
            except Exception as error:  # a judgement must not take the others down; the row says that it failed
                if await self._store.acquaintance(claimed.acquaintance_id) is None:
                    log.info("judgement %d is gone with its person", claimed.id)
                    return
                log.exception("judgement %d of acquaintance %d broke", claimed.id, claimed.acquaintance_id)
                await self._failed(claimed, "broken", error, read)

    async def _failed(self, claimed: Judgement, code: str, error: Exception, read: Collection[int]) -> None:
        """``read`` are the ids of what the judge was shown last. Tries in which it was not heard, and those that ended with
        the process, make the waits longer but are not counted.
        """
        heard = not _was_not_heard(error)
        failures = claimed.failures + heard
        again = failures < self._attempts
        wait = min(self._delay * 4 ** min(claimed.attempts, 10), _LONGEST_WAIT)
        log.warning(
            "judgement %d (%s) of acquaintance %d failed, %d of %d times, %s: %s",
            claimed.id, claimed.kind, claimed.acquaintance_id, failures, self._attempts,
            "to be tried again" if again else "given up", error,
        )  # fmt: skip
        now = self._clock()
        await self._store.fail_judgement(
            claimed.id, code, retry_at=now + wait if again else None, now=now, read=read, heard=heard
        )

    async def _judge_exchanges(self, due: Judgement, read: set[int]) -> None:
        """``read`` takes the ids of the exchanges that the judge is shown."""
        for _ in range(_PLANS):
            work = await self._store.work_for_notes(due)
            exchanges, verdict = await self._oldest_judged(work, read)
            if await self._store.commit_notes(
                due.id, [e.id for e in exchanges], _revisions(exchanges), verdict.notes, self._clock()
            ):
                log.info(
                    "acquaintance %d: %d exchanges judged, %d notes, dropped %s",
                    work.acquaintance.id, len(exchanges), len(verdict.notes), dict(verdict.dropped),
                )  # fmt: skip
                return
        raise WorkFailed("changed-meanwhile")

    async def _oldest_judged(self, work: NotesWork, read: set[int]) -> tuple[tuple[Exchange, ...], NotesVerdict]:
        """What holds of all exchanges; when they are too long for the model's window, of as many of the oldest as fit."""
        exchanges = work.exchanges
        while exchanges:
            _show(read, exchanges)
            try:
                return exchanges, await self._notes_of(work, exchanges)
            except WindowExceeded:
                if len(exchanges) == 1:
                    raise
                exchanges = exchanges[: len(exchanges) // 2]
        return (), NotesVerdict()

    async def _notes_of(self, work: NotesWork, exchanges: Sequence[Exchange]) -> NotesVerdict:
        person = work.acquaintance
        source = "\n".join(turn.raw for exchange in exchanges for turn in exchange.turns)
        messages = judgement.note_messages(
            person.name, person.character_name, exchanges, work.known, detect_language(source),
            player_id=person.player_id, zone=await self._zone_of(person),
        )  # fmt: skip
        value = await self._ask(
            JudgementKind.NOTES,
            messages,
            judgement.note_schema(exchanges, person.player_id),
            lambda completion, parsed: _rejection(
                completion, source, judgement.note_texts(parsed), has_form=judgement.is_notes(parsed)
            ),
        )
        return judge_notes(judgement.read_notes(value), person.player_id, exchanges, character=person.character_name)

    async def _judge_notes(self, due: Judgement, read: set[int]) -> None:
        """``read`` takes the ids of the notes that the judge is shown."""
        for _ in range(_PLANS):
            work = await self._store.work_for_traits(due)
            _show(read, work.notes)
            verdict = await self._traits_of(work) if work.notes else TraitsVerdict()
            now = self._clock()
            changed = _changed(work, verdict, now)
            if await self._store.commit_traits(due.id, work, verdict.new, changed, verdict.absorbed, now):
                log.info(
                    "acquaintance %d: %d notes judged, %d new traits, %d seen again, %d overwritten, dropped %s",
                    work.acquaintance.id, len(work.notes), len(verdict.new), len(verdict.seen), len(verdict.updates),
                    dict(verdict.dropped),
                )  # fmt: skip
                return
        raise WorkFailed("changed-meanwhile")

    async def _traits_of(self, work: TraitsWork) -> TraitsVerdict:
        person, notes, traits = work.acquaintance, work.notes, work.traits
        zone = await self._zone_of(person)
        today = self._clock().astimezone(zone).date()
        source = "\n".join([*(note.text for note in notes), *(trait.text for trait in traits)])
        value = await self._ask(
            JudgementKind.TRAITS,
            judgement.trait_messages(person.name, notes, traits, detect_language(source), today, zone=zone),
            judgement.trait_schema(notes, traits),
            lambda completion, parsed: _rejection(
                completion, source, judgement.trait_texts(parsed), has_form=judgement.is_traits(parsed)
            ),
        )
        return judge_traits(judgement.read_traits(value), notes, traits, today, name=person.name)

    async def _zone_of(self, person: Acquaintance) -> ZoneInfo:
        settings = None if person.guild_id is None else await self._store.guild_settings(person.guild_id)
        return ZoneInfo(self._zone(settings.time_zone if settings else None))

    async def _ask(
        self,
        kind: JudgementKind,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        check: Callable[[Completion, object], Rejection | None],
    ) -> object:
        """A parsed answer that passed the checks."""
        request = ModelRequest(
            messages,
            Purpose.JUDGE,
            max_tokens=_ANSWER_TOKENS,
            schema=dict(schema),
            schema_name=f"{Purpose.JUDGE}_{kind}",
        )
        return await draw(self._model, request, check)


def _rejection(completion: Completion, source: str, lines: Sequence[str], *, has_form: bool) -> Rejection | None:
    """Why an answer cannot be used. That there is nothing to keep is an answer, when it comes in the form asked for."""
    if has_form and not any(line.strip() for line in lines):
        return check_form(completion.text, completion.finish_reason, has_form)
    return check_output(
        completion.text,
        completion.finish_reason,
        source_characters=len(source),
        source_text=source,
        lines=lines,
    )


def _was_not_heard(error: Exception) -> bool:
    """Whether the judge could not be asked at all, which says nothing about what it would answer."""
    return isinstance(error, ModelUnavailable) and not isinstance(error, ModelTimeout | WindowExceeded)


def _revisions(exchanges: Iterable[Exchange]) -> dict[int, int]:
    return {turn.id: turn.revision for exchange in exchanges for turn in exchange.turns}


def _show(read: set[int], shown: Iterable[Exchange | Note]) -> None:
    read.clear()
    read.update(one.id for one in shown)


def _changed(work: TraitsWork, verdict: TraitsVerdict, now: datetime) -> tuple[Trait, ...]:
    """The traits that were seen again, with what the judge wrote over some of them.

    Words that are judged once more, after an edit beside them, do not confirm what they showed before.
    """
    shown = {note.id: note.sources for note in work.notes}
    texts = {trait_id: text for trait_id, (text, _) in verdict.updates.items()}
    cited = {**verdict.seen, **{trait_id: note_ids for trait_id, (_, note_ids) in verdict.updates.items()}}
    changed = []
    for trait in (trait for trait in work.traits if trait.id in cited):
        sources = tuple(dict.fromkeys([*trait.sources, *(s for n in cited[trait.id] for s in shown[n])]))
        is_new = not trait.sources or len(sources) > len(trait.sources)
        seen = confirmed(trait, now) if is_new else trait
        text = texts.get(trait.id, trait.text)
        # A new wording is not about a date that is past.
        is_over = text != trait.text and is_past(trait, now)
        until = verdict.dates.get(trait.id, None if is_over else trait.until)
        changed.append(replace(seen, text=text, sources=sources, until=until))
    return tuple(changed)
