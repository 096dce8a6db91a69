"""Use cases of those who watch over memories, on the real engine and store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.errors import NotFound, Refused
from bot.memory.corrections import Correction, CorrectionKind
from bot.memory.memories import Content, MemoryKind, MemoryStatus, NewMemory
from bot.memory.moderation import FlagState
from bot.memory.policy import Stretch
from bot.memory.turns import Citation
from bot.moderation import has_hidden_side, newest_correction
from tests.support.model_server import ModelServer
from tests.support.scene import Scene, open_scene

MIO, SORA, KAI = 1, 99, 98
FACT = Content(MemoryKind.FACT, "The bridge burnt down.")
SECRET = Content(MemoryKind.SECRET, "Rin smiles.", "Rin", actual="She is afraid.")


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """A story with memory 1, a fact, and memory 2, a secret."""
    async with ModelServer() as server, open_scene(server, tmp_path / "k.db", flags_per_hour=2) as opened:
        await opened.exchange("How do I cross?", "“The bridge burnt down.”")
        store, session, engine = opened.core.store, opened.session, opened.core.engine
        turns = await store.turns(session.id, 1, 9)
        cites = (Citation(turns[-1].seq, 1),)
        await store.commit_chapter(
            None, session.id, Stretch(turns[0].seq, turns[-1].seq), {t.seq: t.revision for t in turns},
            [NewMemory(FACT, cites), NewMemory(SECRET, cites)], {}, by="fold", at=opened.clock(),
            render=opened.core.renderer.for_session(session, engine.budgets),
        )  # fmt: skip
        yield opened


def correction(kind: CorrectionKind, by: int = SORA, **more: str) -> Correction:
    return Correction(kind, by, more.pop("reason", "Because."), **more)


async def count(scene: Scene) -> int:
    """How many versions memory 1 has."""
    return len((await scene.core.engine.detail(scene.session.id, 1)).history)


async def test_a_correction_shows_what_was_and_what_is(scene: Scene) -> None:
    moderation = scene.core.moderation

    done = await moderation.correct(scene.session.id, correction(CorrectionKind.SAID_NOT_TRUE), 1)

    assert (done.before.kind, done.after.kind, done.after.version) == (MemoryKind.FACT, MemoryKind.CLAIM, 2)
    assert newest_correction(done.detail) == 2
    assert done.session.id == scene.session.id


async def test_the_undo_of_a_version_undoes_it_once_and_never_another(scene: Scene) -> None:
    moderation, session = scene.core.moderation, scene.session.id
    await moderation.correct(session, correction(CorrectionKind.EDIT, text="It stands."), 1)
    await moderation.correct(session, correction(CorrectionKind.RETRACT), 1)

    with pytest.raises(Refused, match="undo-too-late"):
        await moderation.undo(session, 1, 2, by=SORA)
    undone = await moderation.undo(session, 1, 3, by=KAI)
    with pytest.raises(Refused, match="undo-too-late"):
        await moderation.undo(session, 1, 3, by=SORA)

    assert (undone.after.status, undone.after.content.text) == (MemoryStatus.ACTIVE, "It stands.")
    assert await count(scene) == 4


async def test_who_undoes_at_the_same_moment_undoes_once(scene: Scene) -> None:
    moderation, session = scene.core.moderation, scene.session.id
    await moderation.correct(session, correction(CorrectionKind.RETRACT), 1)

    both = await asyncio.gather(*(moderation.undo(session, 1, 2, by=by) for by in (SORA, KAI)), return_exceptions=True)

    assert sorted(type(one).__name__ for one in both) == ["Corrected", "Refused"]
    assert await count(scene) == 3
    assert (await scene.core.engine.detail(session, 1)).memory.is_active


async def test_a_memory_that_no_moderator_touched_has_nothing_to_undo(scene: Scene) -> None:
    with pytest.raises(Refused, match="undo-too-late"):
        await scene.core.moderation.undo(scene.session.id, 1, 1, by=SORA)
    assert await count(scene) == 1


async def test_of_two_decisions_at_once_one_wins_and_only_that_one_corrects(scene: Scene) -> None:
    moderation, session = scene.core.moderation, scene.session.id
    report = await moderation.flag(session, 1, by=MIO, why="A  lie.\nReally.")

    both = await asyncio.gather(
        moderation.correct(session, correction(CorrectionKind.RETRACT, SORA), 1, flag_id=report.flag.id),
        moderation.correct(session, correction(CorrectionKind.SAID_NOT_TRUE, KAI), 1, flag_id=report.flag.id),
        moderation.dismiss(report.flag.id, by=MIO),
        return_exceptions=True,
    )

    refusals = [str(one) for one in both if isinstance(one, Refused)]
    flag = (await moderation.report(report.flag.id)).flag
    assert len(refusals) == 2
    assert all(refusal.startswith("flag-decided") for refusal in refusals)
    assert flag.why == "A lie. Really."
    assert flag.decided_by == (SORA, KAI, MIO)[next(i for i, one in enumerate(both) if not isinstance(one, Refused))]
    assert await count(scene) == (1 if flag.state is FlagState.DISMISSED else 2)


async def test_reports_are_bounded_by_the_setting(scene: Scene) -> None:
    moderation, session = scene.core.moderation, scene.session.id
    for _ in range(2):
        await moderation.flag(session, 1, by=MIO, why="A lie.")

    with pytest.raises(Refused, match="flag-limit"):
        await moderation.flag(session, 1, by=MIO, why="A lie.")
    scene.clock.pass_by(minutes=61)
    await moderation.flag(session, 1, by=MIO, why="A lie.")

    assert len(await moderation.open_reports(1)) == 3


async def test_unknown_reports_and_sessions_are_said_to_be_so(scene: Scene) -> None:
    moderation = scene.core.moderation

    for attempt in (moderation.report(5), moderation.dismiss(5, by=SORA)):
        with pytest.raises(NotFound, match="flag-unknown"):
            await attempt
    with pytest.raises(NotFound, match="session-unknown"):
        await moderation.log_channel(99)


async def test_the_actual_side_of_a_secret_is_corrected_and_of_nothing_else(scene: Scene) -> None:
    moderation, session = scene.core.moderation, scene.session.id

    secret = await moderation.correct(session, correction(CorrectionKind.EDIT, text="Rin smiles.", actual="Bored."), 2)
    fact = await moderation.correct(session, correction(CorrectionKind.EDIT, text="It stands.", actual="Bored."), 1)
    undone = await moderation.undo(session, 2, 2, by=SORA)

    assert (secret.after.content.text, secret.after.content.actual) == ("Rin smiles.", "Bored.")
    assert fact.after.content.actual == ""
    assert undone.after.content == SECRET


async def test_a_reveal_is_logged_without_words_and_without_the_moderators_id(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    moderation, session = scene.core.moderation, scene.session.id

    with caplog.at_level(logging.INFO, "bot.moderation"):
        revealed = await moderation.reveal(session, 2, by=SORA)

    assert revealed.content.actual == "She is afraid."
    assert caplog.messages == [f"session {session} memory 2: what is hidden was revealed to a moderator"]
    with pytest.raises(Refused, match="reveal-nothing"):
        await moderation.reveal(session, 1, by=SORA)


async def test_what_a_deleted_message_said_is_revealed_to_nobody(scene: Scene) -> None:
    session = scene.session.id
    await scene.core.engine.messages_deleted([scene.written])

    memory = (await scene.core.engine.detail(session, 2)).memory
    assert memory.status is MemoryStatus.STALE
    assert not has_hidden_side(memory)
    with pytest.raises(Refused, match="reveal-nothing"):
        await scene.core.moderation.reveal(session, 2, by=SORA)
    with pytest.raises(Refused, match="flag-not-in-use"):
        await scene.core.moderation.flag(session, 2, by=MIO, why="A lie.")


async def test_roles_and_channels_are_those_of_the_guild(scene: Scene) -> None:
    moderation = scene.core.moderation
    assert not await moderation.is_moderator_role(1, [])
    await moderation.set_moderator_role(1, 5)
    await moderation.set_log_channel(1, 6)

    assert await moderation.is_moderator_role(1, [4, 5])
    assert not await moderation.is_moderator_role(1, [4])
    assert not await moderation.is_moderator_role(2, [5])
    assert await moderation.log_channel(scene.session.id) == 6
