"""Whoever wants to know is told of each fold that failed for good, once, and not of tries that are repeated."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.memory.story import Fold, FoldKind, FoldState
from tests.support.model_server import ModelServer
from tests.support.scene import SMALL_BUDGETS, Scene, open_scene

REFUSAL = "I'm sorry, but I can't help with creating that record."


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """A story whose fold is due, and will be refused twice."""
    changes = {**SMALL_BUDGETS, "fold_attempts": 2}
    async with ModelServer() as server, open_scene(server, tmp_path / "k.db", **changes) as opened:
        server.on_reply = lambda _: '*She nods at the chart.* "Aye."'
        server.on_fold = lambda _: REFUSAL
        for number in range(9):
            await opened.hear(f"Message {number}: we steer past the {number}th buoy in the long grey swell.")
            await opened.reply()
        yield opened


async def try_to_fold(scene: Scene) -> None:
    scene.clock.pass_by(hours=1)
    await scene.core.folder.run_due()


async def states(scene: Scene) -> list[FoldState]:
    return [fold.state for fold in (await scene.core.engine.figures(scene.session.id)).folds]


async def test_it_is_told_after_the_last_try_and_once(scene: Scene) -> None:
    told: list[Fold] = []

    async def tell(fold: Fold) -> None:
        told.append(fold)

    scene.core.folder.on_given_up = tell
    await try_to_fold(scene)
    assert told == []
    await try_to_fold(scene)
    await try_to_fold(scene)

    (fold,) = told
    assert (fold.session_id, fold.kind, fold.state) == (scene.session.id, FoldKind.FOLD, FoldState.FAILED)
    assert (fold.attempts, fold.error) == (2, "refused")
    assert await states(scene) == [FoldState.FAILED]


async def test_who_cannot_be_told_stops_nothing(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    async def tell(fold: Fold) -> None:
        raise OSError("no wire")

    scene.core.folder.on_given_up = tell
    await try_to_fold(scene)
    await try_to_fold(scene)

    assert "nobody could be told that fold 1 was given up" in caplog.messages
    assert await states(scene) == [FoldState.FAILED]


async def test_a_failure_that_was_made_up_for_is_no_news_any_more(scene: Scene) -> None:
    await try_to_fold(scene)
    await try_to_fold(scene)
    assert await states(scene) == [FoldState.FAILED]

    await scene.core.store.request_fold(scene.session.id, FoldKind.FOLD, scene.clock())
    (due,) = await scene.core.store.due_folds(scene.clock())
    await scene.core.store.claim_fold(due.id, scene.clock())
    await scene.core.store.finish_fold(due.id, scene.clock())

    assert await states(scene) == []
