"""The background work on memories: fold, major fold, folding a chapter again whose turns were changed, and audit.

Rows say what is due; this only carries it out. Model calls stand outside every transaction, and a result is committed only if
what it was made from is still the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from bot.errors import GaveWay, ModelUnavailable, WorkFailed
from bot.llm.checks import Rejection, check_form, check_output
from bot.llm.client import ModelClient
from bot.llm.drawing import draw
from bot.llm.requests import Completion, ModelRequest, Purpose
from bot.memory import folding, policy, recall
from bot.memory.audit import audit_messages, audit_schema, audit_work, is_audit, judge_audit, read_audit
from bot.memory.evidence import Judge, Verdict, condensing
from bot.memory.language import detect_language
from bot.memory.memories import Chapter, NewMemory, SessionMemory
from bot.memory.messages import Message
from bot.memory.prompt import memory_line
from bot.memory.story import Fold, FoldKind, FoldState, Session
from bot.memory.turns import Turn
from bot.rendering import Renderer
from bot.store import Store
from bot.tasks import Tasks

log = logging.getLogger(__name__)

_PLANS: Final = 3
# What a stretch of so many turns would tell is not worth a chapter of its own.
_FEWEST_TURNS: Final = 4
# A chapter that is folded again cannot be cut in half; it is tried so many times as often when replies left it no time.
_PATIENCE: Final = 4
# Of the usual delay the fifth power of four is eight hours.
_LONGEST_WAIT: Final = 5
# Below this, a source in characters may hold nothing worth remembering.
_TRIFLE: Final = 400
_BY_FOLD: Final = "fold"
_BY_MAJOR: Final = "major fold"
_BY_AUDIT: Final = "audit"


class Folder:
    """Carries out due folds.

    ``budgets`` gives the budgets for a window in tokens. ``attempts`` is how often a fold is tried; between tries ``delay``
    passes, four times as long each time. ``at_once`` is how many folds run at the same time. ``audit`` asks for a second
    look at each new chapter. ``on_given_up``, when it is set, is told of each fold that failed for good.
    """

    def __init__(
        self,
        store: Store,
        model: ModelClient,
        renderer: Renderer,
        *,
        story_window: Callable[[], int | None],
        budgets: Callable[[int | None], policy.Budgets],
        clock: Callable[[], datetime],
        delay: timedelta,
        attempts: int = 3,
        at_once: int = 1,
        audit: bool = False,
    ) -> None:
        self._store = store
        self._model = model
        self._renderer = renderer
        self._story_window = story_window
        self._budgets = budgets
        self._clock = clock
        self._delay = delay
        self._attempts = attempts
        self._audits = audit
        self.on_given_up: Callable[[Fold], Awaitable[None]] | None = None
        self._places = asyncio.Semaphore(at_once)
        self._tasks = Tasks()

    @property
    def budgets(self) -> policy.Budgets:
        """The story's budgets, with stretches and answers that the folder's own model can take."""
        story, own = self._budgets(self._story_window()), self._budgets(self._model.profile.window)
        return replace(story, stretch=min(story.stretch, own.stretch), fold_output=own.fold_output)

    async def wake(self) -> None:
        """Take on all that is due and not under way yet; returns at once."""
        for fold in await self._store.due_folds(self._clock()):
            self._tasks.begin(fold.id, partial(self._run, fold), name=f"fold-{fold.id}")

    async def run_due(self) -> None:
        """Take on all that is due and wait until it is done."""
        await self.wake()
        await self._tasks.finished()

    async def close(self) -> None:
        """Stop what is under way; its rows say that it is unfinished, so the next start takes it up."""
        await self._tasks.close()

    async def _run(self, due: Fold) -> None:
        async with self._places:
            fold = await self._store.claim_fold(due.id, self._clock())
            if fold is None:
                return
            try:
                await self._work(fold)
            except (WorkFailed, ModelUnavailable) as error:
                await self._failed(fold, error.code, error)
            except Exception as error:  # a fold must not take the others down; the row says that it failed
                if await self._store.session(fold.session_id) is None:
                    log.info("fold %d is gone with its story", fold.id)
                    return
                log.exception("fold %d of session %d broke", fold.id, fold.session_id)
                await self._failed(fold, "broken", error)
            else:
                await self._store.finish_fold(fold.id, self._clock())

    async def _failed(self, fold: Fold, code: str, error: Exception) -> None:
        # Nothing else asks for it again, and until it is done its memories are out of sight.
        patience = _PATIENCE if isinstance(error, GaveWay) and fold.kind is FoldKind.REFOLD else 1
        again = fold.attempts < self._attempts * patience
        retry_at = self._clock() + self._delay * 4 ** min(fold.attempts, _LONGEST_WAIT) if again else None
        log.warning(
            "%s %d of session %d failed, try %d of %d: %s",
            fold.kind, fold.id, fold.session_id, fold.attempts, self._attempts, error,
        )  # fmt: skip
        await self._store.fail_fold(fold.id, code, retry_at=retry_at, now=self._clock())
        if not again and self.on_given_up is not None:
            try:
                await self.on_given_up(replace(fold, state=FoldState.FAILED, error=code))
            except Exception:  # the row is written; that nobody could be told must not stop the folder
                log.exception("nobody could be told that fold %d was given up", fold.id)

    async def _work(self, fold: Fold) -> None:
        session = await self._store.session(fold.session_id)
        if session is None:
            return
        match fold.kind:
            case FoldKind.FOLD:
                await self._fold(session)
            case FoldKind.MAJOR:
                await self._major(session)
            case FoldKind.REFOLD:
                await self._refold(fold, session)
            case FoldKind.AUDIT if self._audits:
                await self._audit(fold, session)

    async def _fold(self, session: Session) -> None:
        """Stretch after stretch, planned anew from the rows each time, until the story is below the trigger.

        A fold that replies leave no time for takes half as much: a shorter stretch fits a shorter pause.
        """
        misses = 0
        planned: int | None = None
        longest: int | None = None
        while misses < _PLANS:
            memory = await self._store.memory_for_fold(session.id)
            snapshot = await self._store.snapshot(session.id)
            budgets = self.budgets
            budgets = replace(budgets, stretch=min(budgets.stretch, longest or budgets.stretch))
            expected = round(budgets.room * folding.CHAPTER_SHARE)
            plan = policy.plan_fold(snapshot.turns, budgets, snapshot.session.memory_tokens, expected)
            planned = len(plan) if planned is None else planned
            if not plan or planned <= 0:
                break
            stretch = plan[0]
            turns = [t for t in snapshot.turns if stretch.first <= t.seq <= stretch.last]
            try:
                verdict = await self._chapter(session, turns, memory)
            except GaveWay:
                if len(turns) < 2 * _FEWEST_TURNS:
                    raise
                longest, planned = sum(turn.tokens for turn in turns) // 2, None
                log.info("session %d: replies leave no time to fold, half as much is tried", session.id)
                continue
            chapter = await self._store.commit_chapter(
                None, session.id, stretch, _revisions(turns), verdict.memories, verdict.resolved,
                by=_BY_FOLD, at=self._clock(), render=self._renderer.for_session(session, budgets),
                settled=_settled(memory), audit_at=self._audit_at,
            )  # fmt: skip
            if chapter is None:
                misses += 1
                log.info("session %d: turns changed while they were folded, planned anew", session.id)
                continue
            planned -= 1
            log.info(
                "session %d: chapter %d of turns %d-%d, %d memories, %d loose ends resolved, dropped %s",
                session.id, chapter.ordinal, stretch.first, stretch.last, len(verdict.memories),
                len(verdict.resolved), dict(verdict.dropped),
            )  # fmt: skip
        if misses >= _PLANS:
            raise WorkFailed("changed-meanwhile")
        await self._ask_for_major(session)

    async def _chapter(
        self, session: Session, turns: Sequence[Turn], memory: SessionMemory, *, anew: Chapter | None = None
    ) -> Verdict:
        """What of a model's answer about some turns holds; ``anew`` is the chapter that is written again."""
        known = folding.without_chapter(memory, anew) if anew else memory
        lines = folding.source_lines(turns)
        source = "\n".join(lines)
        language = detect_language("\n".join(t.raw for t in turns))
        value = await self._ask(
            session,
            Purpose.FOLD,
            folding.fold_messages(turns, known, language),
            folding.fold_schema(turns, self.budgets.fold_output),
            _texts_check(source, lambda parsed: folding.texts_of(folding.read_fold(parsed))),
        )
        histories = await self._store.histories(session.id, [m.number for m in memory.settled()])
        answer = folding.read_fold(value)
        for text in folding.end_texts(answer):
            memory = memory.with_found(await self._store.ends_like(session.id, text))
        known = folding.without_chapter(memory, anew) if anew else memory
        verdict = Judge(turns, known, histories).judge(answer)
        if not verdict.memories and not verdict.resolved and len(source) > _TRIFLE:
            log.info("session %d: nothing of the answer held, dropped %s", session.id, dict(verdict.dropped))
            raise await self._of_no_use(session, Purpose.FOLD, "nothing-held")
        return verdict

    async def _ask_for_major(self, session: Session) -> None:
        memory = await self._store.memory_for_fold(session.id)
        if policy.oldest_half(self._chapter_sizes(memory), self.budgets):
            await self._store.request_fold(session.id, FoldKind.MAJOR, self._clock())

    async def _major(self, session: Session) -> None:
        for _ in range(_PLANS):
            memory = await self._store.memory_for_fold(session.id)
            half = policy.oldest_half(self._chapter_sizes(memory), self.budgets)
            if not half:
                return
            work = folding.condensation(memory, half)
            found = await self._condensed(session, work, memory) if len(work.events) > 1 else ()
            committed = await self._store.commit_synopsis(
                session.id, {m.number: m.version for m in work.events}, work.chapters, found,
                by=_BY_MAJOR, at=self._clock(), render=self._renderer.for_session(session, self.budgets),
            )  # fmt: skip
            if committed:
                log.info(
                    "session %d: chapters %s moved into the synopsis, %d events became %d",
                    session.id, work.chapters, len(work.events), len(found),
                )  # fmt: skip
                return
        raise WorkFailed("changed-meanwhile")

    async def _condensed(
        self, session: Session, work: folding.Condensation, memory: SessionMemory
    ) -> tuple[NewMemory, ...]:
        source = "\n".join(m.content.text for m in work.events)
        value = await self._ask(
            session,
            Purpose.MAJOR_FOLD,
            folding.major_messages(work, detect_language(source)),
            folding.major_schema(work),
            _texts_check(source, lambda parsed: [new.content.text for new in folding.read_major(parsed, work)]),
        )
        histories = await self._store.histories(session.id, [m.number for m in memory.settled()])
        proposed = folding.read_major(value, work)
        turns: dict[int, Turn] = {}
        for new in proposed:
            alike = await self._store.find_words(session.id, recall.indexed_words(new.content.text))
            turns |= {line.turn.seq: line.turn for line in alike if line.turn and line.turn.seq <= memory.folded_to}
            memory = memory.with_found([line.memory for line in alike if line.memory])
        found = condensing(proposed, memory, histories, tuple(turns.values()))
        if not folding.shrinks(found, work):
            raise await self._of_no_use(session, Purpose.MAJOR_FOLD, "no-shrink")
        return found

    async def _refold(self, fold: Fold, session: Session) -> None:
        for _ in range(_PLANS):
            memory = await self._store.memory_for_fold(session.id, fold.chapter)
            chapter = next((c for c in memory.chapters if c.ordinal == fold.chapter), None)
            if chapter is None:
                return
            turns = await self._store.turns(session.id, chapter.first, chapter.last)
            verdict = await self._chapter(session, turns, memory, anew=chapter) if turns else Verdict(())
            if await self._store.commit_refold(
                fold.id, session.id, chapter.ordinal, _revisions(turns), verdict.memories, verdict.resolved,
                by=_BY_FOLD, at=self._clock(), render=self._renderer.for_session(session, self.budgets),
                settled=_settled(memory), audit_at=self._audit_at,
            ):  # fmt: skip
                log.info("session %d: chapter %d folded again", session.id, chapter.ordinal)
                return
        raise WorkFailed("changed-meanwhile")

    @property
    def _audit_at(self) -> datetime | None:
        return self._clock() if self._audits else None

    async def _audit(self, fold: Fold, session: Session) -> None:
        """A second look at a chapter; whatever becomes of it, the chapter stands."""
        for _ in range(_PLANS):
            memory = await self._store.memory_for_fold(session.id, fold.chapter)
            chapter = next((c for c in memory.chapters if c.ordinal == fold.chapter), None)
            turns = await self._store.turns(session.id, chapter.first, chapter.last) if chapter else ()
            work = audit_work(memory, chapter, turns) if chapter else None
            if not work or not chapter:
                return
            language = detect_language("\n".join(t.raw for t in work.turns))
            value = await self._ask(
                session,
                Purpose.AUDIT,
                audit_messages(work, language),
                audit_schema(work),
                lambda completion, parsed: check_form(completion.text, completion.finish_reason, is_audit(parsed)),
            )
            verdict = judge_audit(work, read_audit(value))
            if await self._store.commit_audit(
                session.id, chapter.ordinal, _revisions(work.turns), verdict.claims, verdict.resolved,
                verdict.flagged, by=_BY_AUDIT, at=self._clock(), render=self._renderer.for_session(session, self.budgets),
            ):  # fmt: skip
                log.info(
                    "session %d: chapter %d audited, %d lines are claims, %d loose ends resolved, flagged %s, dropped %s",
                    session.id, chapter.ordinal, len(verdict.claims), len(verdict.resolved), list(verdict.flagged),
                    dict(verdict.dropped),
                )  # fmt: skip
                return
        raise WorkFailed("changed-meanwhile")

    async def _ask(
        self,
        session: Session,
        purpose: Purpose,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        check: Callable[[Completion, object], Rejection | None],
    ) -> object:
        """A parsed answer that passed the checks."""
        request = ModelRequest(
            messages,
            purpose,
            max_tokens=self.budgets.fold_output,
            schema=dict(schema),
            schema_name=purpose.value,
            session_id=session.id,
        )
        return await draw(self._model, request, check)

    async def _of_no_use(self, session: Session, purpose: Purpose, code: str) -> WorkFailed:
        """What to raise of an answer that passed the checks and of which nothing can be used; it is put on record as such."""
        await self._store.reject_answer(session.id, purpose.value, code)
        return WorkFailed(code)

    def _chapter_sizes(self, memory: SessionMemory) -> list[int]:
        return [
            sum(self._renderer.size(memory_line(m, "en")) for m in memory.of_chapter(chapter))
            for chapter in memory.chapters
            if not chapter.absorbed
        ]


def _texts_check(
    source: str, texts: Callable[[object], Sequence[str]]
) -> Callable[[Completion, object], Rejection | None]:
    """The checks of an answer whose texts become memory."""
    return lambda completion, value: check_output(
        completion.text,
        completion.finish_reason,
        source_characters=len(source),
        source_text=source,
        lines=texts(value),
    )


def _revisions(turns: Sequence[Turn]) -> dict[int, int]:
    return {turn.seq: turn.revision for turn in turns}


def _settled(memory: SessionMemory) -> dict[int, int]:
    return {m.number: m.version for m in memory.settled()}
