"""The figures of a story that was really played: real store, engine and folder against the scripted model server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest

from bot.errors import ModelUnavailable
from bot.memory.corrections import Correction, CorrectionKind
from bot.memory.figures import Mark
from bot.memory.story import FoldKind, FoldState
from tests.support.model_server import ModelServer, Script
from tests.support.scene import SMALL_BUDGETS, Scene, open_scene
from tests.test_folder import REFUSAL, chapter_of, fill, fold

MODERATOR = 99


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with ModelServer() as server, open_scene(server, tmp_path / "k.db", **SMALL_BUDGETS) as opened:
        server.on_reply = lambda _: '*She turns the wheel.* "I have a master\'s ticket, class one."'
        server.on_fold = chapter_of
        yield opened


async def marks(scene: Scene) -> list[Mark | None]:
    return [point.mark for point in (await scene.core.statistics.story(scene.session.id)).points]


async def say(scene: Scene, *texts: str) -> None:
    for text in texts:
        await scene.hear(text)
        await scene.reply()


async def test_each_fold_is_a_tooth_of_the_picture_and_no_ordinary_turn(scene: Scene) -> None:
    await fill(scene)
    before = len(await marks(scene))
    await fold(scene)
    await say(scene, "And now?", "And then?")

    story = await scene.core.statistics.story(scene.session.id)

    points = story.points
    assert [point.mark for point in points] == [None] * before + [Mark.FOLD, None]
    assert [(p.prompt, p.cached) for p in points] == [
        (r.prompt_tokens, r.cached_tokens) for r in scene.server.of("reply")
    ]
    folded = points[before]
    assert (folded.cached or 0) < folded.prompt / 2
    assert points[before - 1].prompt > folded.prompt
    assert all((now.cached or 0) >= then.prompt for then, now in pairwise(points) if now.mark is None)
    figures = story.figures
    ordinary = [point for point in points[1:] if point.mark is None]
    assert figures.ordinary.prompt == sum(point.prompt for point in ordinary)
    assert figures.ordinary.cached == sum(point.cached or 0 for point in ordinary)
    assert figures.folds[FoldKind.FOLD] == {FoldState.DONE: 1}
    assert figures.chapters == 1
    assert figures.chapter_turns is not None


async def test_a_refusal_is_on_record_though_the_next_answer_was_taken(scene: Scene) -> None:
    answers = iter([REFUSAL])
    scene.server.on_fold = lambda body: next(answers, None) or chapter_of(body)
    await fill(scene)
    await fold(scene)

    figures = (await scene.core.statistics.story(scene.session.id)).figures

    assert figures.rejected == {"fold": {"refused": 1}}
    assert figures.folds[FoldKind.FOLD] == {FoldState.DONE: 1}
    assert [c.rejection for c in await scene.core.store.calls(scene.session.id) if c.purpose == "fold"] == [
        "refused",
        None,
    ]


async def test_each_try_of_a_fold_that_is_given_up_is_counted(scene: Scene) -> None:
    scene.server.on_fold = lambda _: Script('{"memories": [', finish_reason="length")
    await fill(scene)
    for _ in range(3):
        await fold(scene)
        scene.clock.pass_by(hours=1)

    figures = (await scene.core.statistics.story(scene.session.id)).figures

    assert figures.rejected == {"fold": {"cut": 3}}
    assert (figures.tries_in_vain, figures.fold_errors) == (3, {"cut": 1})
    assert figures.folds[FoldKind.FOLD] == {FoldState.FAILED: 1}


async def test_an_answer_of_which_nothing_holds_is_counted(scene: Scene) -> None:
    made_up = {
        "kind": "event",
        "text": "A dragon sank the ferry.",
        "actual": "",
        "who": "",
        "to": "",
        "cites": ["900.1"],
    }
    answers = iter([{"memories": [made_up], "opened": [], "resolved": []}])
    scene.server.on_fold = lambda body: next(answers, None) or chapter_of(body)
    await fill(scene)
    await fold(scene)
    scene.clock.pass_by(hours=1)
    await fold(scene)

    figures = (await scene.core.statistics.story(scene.session.id)).figures

    assert figures.rejected == {"fold": {"nothing-held": 1}}
    assert (figures.tries_in_vain, figures.fold_errors) == (1, {})
    assert figures.folds[FoldKind.FOLD] == {FoldState.DONE: 1}


async def test_a_reply_with_nothing_to_show_and_one_that_was_filtered_are_counted(scene: Scene) -> None:
    scene.server.replies.extend(["`Only a thought.`", '"Aye."'])
    await say(scene, "Are you there?")
    scene.server.replies.append(Script("No.", finish_reason="content_filter"))
    await scene.hear("And now?")
    with pytest.raises(ModelUnavailable, match="model-filtered"):
        await scene.core.engine.reply(scene.session.id)

    figures = (await scene.core.statistics.story(scene.session.id)).figures

    assert figures.rejected == {"reply": {"empty": 1, "filtered": 1}}
    assert figures.replies == 2


async def test_a_correction_and_a_forced_cut_are_told_apart(scene: Scene) -> None:
    await fill(scene)
    await fold(scene)
    await say(scene, "And now?")
    await scene.core.moderation.correct(
        scene.session.id, Correction(CorrectionKind.RETRACT, MODERATOR, "It was not so."), 1
    )
    await say(scene, "And then?")
    assert (await marks(scene))[-2:] == [Mark.FOLD, Mark.CHANGE]
    scene.server.on_fold = lambda _: Script.failure(500)

    await say(scene, *["We steer on through the long grey swell, past the buoys and the bell. " * 3] * 14)

    found = await marks(scene)
    story = await scene.core.statistics.story(scene.session.id)
    assert found.count(Mark.FORCED_CUT) == story.figures.forced_cuts >= 1
    assert (story.figures.corrections, story.figures.undone) == (1, 0)
