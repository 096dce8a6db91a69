from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import insert

from bot.memory.corrections import Correction, CorrectionKind, corrected
from bot.memory.figures import NEWEST, POINTS, Cost, Mark, Point, Reuse, Spread
from bot.memory.memories import MemoryKind
from bot.memory.moderation import FlagState
from bot.memory.people import JudgementKind
from bot.memory.story import FoldKind, FoldState
from bot.store import Call, Store
from bot.store.tables import calls, folds
from tests.store.persons import morning
from tests.store.tale import MIO, START, Tale, begin, condensed, event, later, loose_end, never, render, said

MODERATOR = 9_001


async def asked(
    tale: Tale,
    prompt: int = 1_000,
    cached: int | None = 900,
    *,
    purpose: str = "reply",
    outcome: str = "stop",
    rejection: str | None = None,
    milliseconds: int = 2_000,
    waited: int = 500,
    epoch: int = 0,
    cuts: int = 0,
    at: datetime | None = None,
) -> None:
    """A request of the story, with 50 tokens written unless it got no answer."""
    answered = not outcome.startswith("model-")
    tokens: tuple[int | None, int | None, int | None] = (prompt, cached, 50) if answered else (None, None, None)
    await tale.store.record_calls(Call(
        purpose, tale.session_id, "small", *tokens, outcome, 1, milliseconds, at or later(1),
        waited_milliseconds=waited, interruptions=0 if purpose == "reply" else 1, rejection=rejection,
        epoch=epoch if purpose == "reply" else None, forced_cuts=cuts if purpose == "reply" else None,
    ))  # fmt: skip


async def worked(tale: Tale, kind: FoldKind, seconds: float, *, failures: tuple[str, ...] = ()) -> None:
    """A fold that was done in so many seconds, after tries that came to nothing."""
    store = tale.store
    await store.request_fold(tale.session_id, kind, START)
    fold = next(f for f in await tale.open_folds() if f.kind is kind)
    for code in failures:
        await store.claim_fold(fold.id, later(1))
        await store.fail_fold(fold.id, code, retry_at=later(2), now=later(1))
    await store.claim_fold(fold.id, later(3))
    await store.finish_fold(fold.id, later(3) + timedelta(seconds=seconds))


async def correct(tale: Tale, number: int, kind: CorrectionKind, text: str = "") -> None:
    memory = await tale.memory(number)
    history = (await tale.store.histories(tale.session_id, [number]))[number]
    changed = corrected(memory, Correction(kind, MODERATOR, "", text), speaker="Rin", history=history)
    assert await tale.store.save_correction(
        tale.session_id, memory.version, changed, by=str(MODERATOR), reason="", at=later(60), render=render
    )


async def test_a_new_story_has_no_figures(tale: Tale) -> None:
    story = await tale.store.story_figures(tale.session_id)
    figures = story.figures

    assert (figures.turns, figures.replies, figures.folds, figures.costs) == (0, 0, {}, ())
    assert (figures.fold_seconds, figures.answer_seconds, figures.chapter_turns) == ({}, {}, None)
    assert (figures.reuse.share, figures.ordinary.share, story.points, story.first) == (None, None, (), 1)
    assert (story.head_tokens, story.head_characters) == (0, len("[] "))
    with pytest.raises(LookupError):
        await tale.store.story_figures(tale.session_id + 1)


async def test_turns_chapters_and_lines_are_counted(tale: Tale) -> None:
    await tale.exchanges(4)
    await tale.player("A fifth.")
    await tale.chapter(1, 4, event("One.", 1), event("Two.", 3), loose_end("Who?", 2))
    await tale.chapter(5, 6, event("Three.", 5))
    await tale.synopsis([1], condensed("Both.", 1, 2))

    story = await tale.store.story_figures(tale.session_id)

    assert (story.figures.turns, story.figures.replies) == (9, 4)
    assert (story.figures.chapters, story.figures.chapter_turns) == (2, Spread(3, 4, 2))
    assert story.figures.lines == {MemoryKind.EVENT: 2, MemoryKind.LOOSE_END: 1}
    assert (story.head_tokens, story.head_characters) == (30, len(await tale.head()))


async def test_folds_are_counted_by_kind_and_state_and_timed(tale: Tale) -> None:
    store = tale.store
    for seconds in (20, 30, 90):
        await worked(tale, FoldKind.FOLD, seconds, failures=("refused", "cut") if seconds == 90 else ())
    await worked(tale, FoldKind.MAJOR, 34)
    await store.request_fold(tale.session_id, FoldKind.AUDIT, START, 1)
    (audit,) = await tale.open_folds()
    await store.claim_fold(audit.id, later(1))
    await store.fail_fold(audit.id, "not_json", retry_at=None, now=later(1))
    await store.request_fold(tale.session_id, FoldKind.FOLD, START)
    (fold,) = await tale.open_folds()
    await store.claim_fold(fold.id, later(1))

    figures = (await store.story_figures(tale.session_id)).figures

    assert figures.folds == {
        FoldKind.FOLD: {FoldState.DONE: 3, FoldState.RUNNING: 1},
        FoldKind.MAJOR: {FoldState.DONE: 1},
        FoldKind.AUDIT: {FoldState.FAILED: 1},
    }
    assert figures.fold_seconds == {FoldKind.FOLD: Spread(30, 90, 3), FoldKind.MAJOR: Spread(34, 34, 1)}
    assert (figures.tries_in_vain, figures.fold_errors) == (3, {"not_json": 1})
    assert figures.folds_in(FoldState.DONE) == 4


async def test_only_the_newest_folds_are_timed(tale: Tale) -> None:
    done = {
        "session_id": tale.session_id, "kind": FoldKind.FOLD, "state": FoldState.DONE, "due_at": START, "attempts": 1,
        "error": "", "claimed_at": START,
    }  # fmt: skip
    async with tale.store._database.write() as connection:
        for seconds in (1_000, *[10] * NEWEST):
            await connection.execute(insert(folds).values(**done, finished_at=START + timedelta(seconds=seconds)))

    figures = (await tale.store.story_figures(tale.session_id)).figures

    assert figures.fold_seconds == {FoldKind.FOLD: Spread(10, 10, NEWEST)}


async def test_requests_are_counted_by_what_became_of_them(tale: Tale) -> None:
    await asked(tale, milliseconds=1_000, waited=0)
    await asked(tale, milliseconds=4_000, waited=3_000)
    await asked(tale, outcome="model-timeout", milliseconds=300_000)
    await asked(tale, rejection="empty")
    await asked(tale, 5_000, 0, purpose="fold", rejection="refused")
    await asked(tale, 5_000, 4_900, purpose="fold", outcome="length", rejection="cut")
    await asked(tale, 5_000, None, purpose="fold", milliseconds=27_000)

    figures = (await tale.store.story_figures(tale.session_id)).figures

    assert figures.rejected == {"fold": {"refused": 1, "cut": 1}, "reply": {"empty": 1}}
    assert figures.unanswered == {"reply": {"model-timeout": 1}}
    assert figures.answer_seconds == {"fold": Spread(2, 27, 3), "reply": Spread(2, 4, 3)}
    assert figures.wait_seconds == {"fold": Spread(0.5, 0.5, 3), "reply": Spread(0.5, 3, 3)}
    assert figures.costs == (
        Cost("fold", "small", 3, 10_100, 4_900, 150, 31.0, 1.5, 3),
        Cost("reply", "small", 4, 300, 2_700, 150, 307.0, 4.0, 0),
    )
    assert figures.reuse == Reuse(3_000, 2_700)
    assert figures.reuse.share == pytest.approx(0.9)


async def test_ordinary_turns_are_those_before_which_nothing_changed_the_prompt(tale: Tale) -> None:
    other = await begin(tale.store, channel_id=101, name="Mara")
    for epoch, cached in ((0, 0), (0, 990), (1, 100), (1, 970)):
        await asked(tale, 1_000, cached, epoch=epoch)
        await asked(other, 500, cached // 2, epoch=1)
    await asked(tale, 1_000, None, epoch=1)

    mine = (await tale.store.story_figures(tale.session_id)).figures
    both = (await tale.store.bot_figures()).figures

    assert (mine.ordinary, mine.reuse) == (Reuse(2_000, 1_960), Reuse(4_000, 2_060))
    assert both.ordinary == Reuse(2_000 + 1_500, 1_960 + 495 + 50 + 485)


async def test_requests_of_an_older_version_are_no_ordinary_turns_and_in_no_picture(tale: Tale) -> None:
    for _ in range(2):
        await tale.store.record_calls(Call("reply", tale.session_id, "small", 1_000, 900, 50, "stop", 1, 5, START))
    await asked(tale, 1_000, 800)

    story = await tale.store.story_figures(tale.session_id)

    assert (story.figures.reuse, story.figures.ordinary) == (Reuse(3_000, 2_600), Reuse())
    assert (story.points, story.first) == ((Point(1_000, 800),), 3)
    assert story.figures.wait_seconds["reply"] == Spread(0.5, 0.5, 1)


async def test_the_points_say_what_changed_the_prompt(tale: Tale) -> None:
    await tale.exchanges(4)
    await asked(tale, 800, 0, at=later(10))
    await asked(tale, 900, 800, at=later(20))
    await tale.chapter(1, 2, event("One.", 1), event("Two.", 2))  # at 30
    await asked(tale, 950, 890, at=later(35))  # its prompt was laid out before
    await asked(tale, 400, 100, epoch=1, at=later(40))
    await tale.synopsis([1], condensed("Both.", 1, 2))  # at 50
    await asked(tale, 410, None, epoch=2, at=later(55))
    await asked(tale, 420, 50, epoch=3, cuts=1, at=later(56))
    await asked(tale, 430, 60, epoch=4, cuts=1, at=later(57))
    await asked(tale, outcome="model-busy", at=later(58))

    story = await tale.store.story_figures(tale.session_id)

    assert story.points == (
        Point(800, 0),
        Point(900, 800),
        Point(950, 890),
        Point(400, 100, Mark.FOLD),
        Point(410, None, Mark.MAJOR_FOLD),
        Point(420, 50, Mark.FORCED_CUT),
        Point(430, 60, Mark.CHANGE),
    )


async def test_a_long_story_gives_no_more_than_its_newest_points(tale: Tale) -> None:
    async with tale.store._database.write() as connection:
        rows = [
            {
                "purpose": "reply", "session_id": tale.session_id, "model": "small", "prompt_tokens": number,
                "cached_tokens": 0, "completion_tokens": 1, "outcome": "stop", "attempts": 1, "milliseconds": 1,
                "at": START, "epoch": 0, "forced_cuts": 0,
            }
            for number in range(1, POINTS + 101)
        ]  # fmt: skip
        await connection.execute(insert(calls), rows)

    story = await tale.store.story_figures(tale.session_id)

    assert (len(story.points), story.first) == (POINTS, 101)
    assert (story.points[0].prompt, story.points[-1].prompt) == (101, POINTS + 100)


async def test_corrections_are_counted_and_those_that_were_taken_back(tale: Tale) -> None:
    await tale.exchanges(1)
    await tale.chapter(1, 2, event("The bridge burnt down.", 2), event("It rained.", 1))
    assert (await tale.store.story_figures(tale.session_id)).figures.corrections == 0

    await correct(tale, 1, CorrectionKind.EDIT, "The bridge stands.")
    await correct(tale, 1, CorrectionKind.RESTORE)
    await correct(tale, 2, CorrectionKind.RETRACT)
    figures = (await tale.store.story_figures(tale.session_id)).figures
    assert (figures.corrections, figures.undone) == (3, 1)

    await correct(tale, 2, CorrectionKind.RESTORE)
    await correct(tale, 1, CorrectionKind.SAID_NOT_TRUE)
    figures = (await tale.store.story_figures(tale.session_id)).figures
    assert (figures.corrections, figures.undone) == (5, 2)


async def test_reports_and_forced_cuts_are_counted(tale: Tale) -> None:
    store = tale.store
    await tale.exchanges(2)
    await tale.chapter(1, 2, event("One.", 1))
    for _ in range(3):
        await store.add_flag(tale.session_id, 1, by=MIO, why="No.", at=later(1), since=START, most=9)
    assert await store.dismiss_flag(1, by=MODERATOR, at=later(2))
    await store.note_forced_cut(tale.session_id, 3)

    figures = (await store.story_figures(tale.session_id)).figures

    assert figures.reports == {FlagState.OPEN: 2, FlagState.DISMISSED: 1}
    assert figures.forced_cuts == 1


async def test_all_stories_together(store: Store, tale: Tale) -> None:
    other = await begin(store, channel_id=101, name="Mara")
    for story in (tale, other):
        await story.exchanges(3)
        await story.chapter(1, 2, event("One.", 1))
        await worked(story, FoldKind.FOLD, 20)
        await asked(story)
    await other.player("I am another.", by=MIO + 50, name="Kai")
    for speaker in (MIO, MIO + 60):
        masked = replace(other.message("I am a mask.", by=speaker, name="Nao"), persona_id=speaker)
        assert await store.add_player_turn(other.session_id, masked, said("I am a mask."), 10, never())
    await store.record_calls(Call("judge", None, "large", 700, None, 40, "stop", 1, 9_000, START, rejection="not_json"))
    await store.stop_session(other.session_id, later(90))
    await morning(tale)

    found = await store.bot_figures()

    assert (found.running, found.stopped, found.players, found.head_tokens) == (1, 1, 3, Spread(10, 10, 2))
    assert (found.figures.turns, found.figures.replies, found.figures.chapters) == (15, 6, 2)
    assert found.figures.folds == {FoldKind.FOLD: {FoldState.DONE: 2}}
    assert found.figures.rejected == {"judge": {"not_json": 1}}
    assert [(cost.purpose, cost.model, cost.calls) for cost in found.figures.costs] == [
        ("judge", "large", 1),
        ("reply", "small", 2),
    ]
    assert found.judgements == {JudgementKind.NOTES: {FoldState.DUE: 1}}
    assert found.database_bytes is not None
    assert found.database_bytes > 4_096
