"""The second look at each new chapter, on the real store and a real socket."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.catalogue import Catalogue
from bot.core import open_core
from bot.memory.corrections import Correction, CorrectionKind
from bot.memory.memories import Memory, MemoryKind, MemoryStatus, SessionMemory
from bot.memory.moderation import BY_AUDIT
from bot.memory.story import FoldKind, FoldState
from cogs._history import history_pages
from cogs._lines import bound
from cogs._report_text import report_embed
from tests.support.model_server import ModelServer, Script
from tests.support.scene import SMALL_BUDGETS, Scene, open_scene, settings_for

LIE = "Rin is a certified captain of the first class."
TOLD = "Rin turns the wheel."
END = "Where does the swell come from tonight?"
AUDITED: dict[str, Any] = {**SMALL_BUDGETS, "fold_audit": True}
Found = dict[str, list[dict[str, Any]]]


def lines_of(body: dict[str, Any], kind: str) -> list[str]:
    """The citations of the numbered lines of a kind."""
    return re.findall(rf"^\[(\d+\.\d+) {kind} ", body["messages"][-1]["content"], re.MULTILINE)


def number_of(body: dict[str, Any], text: str) -> int:
    (number,) = re.findall(rf"^#(\d+) {re.escape(text)}$", body["messages"][-1]["content"], re.MULTILINE)
    return int(number)


def chapter_of(body: dict[str, Any]) -> dict[str, Any]:
    """A chapter that has a lie as a fact: in words that nobody used, citing narration that says nothing of it."""
    narrated = lines_of(body, "narration")
    return {
        "memories": [
            {"kind": "fact", "text": LIE, "actual": "", "who": "", "to": "", "cites": [narrated[0]]},
            {"kind": "event", "text": TOLD, "actual": "", "who": "", "to": "", "cites": [narrated[-1]]},
        ],
        "opened": [{"text": END, "cites": [lines_of(body, "player")[0]]}],
        "resolved": [],
    }


def found(body: dict[str, Any]) -> Found:
    """What an able model finds: the lie, the end that was closed; and it is wrong about what was told."""
    spoken = lines_of(body, "speech")[-1]
    return {
        "claims": [
            {"number": number_of(body, LIE), "cites": [spoken]},
            {"number": number_of(body, TOLD), "cites": [spoken]},
            {"number": 999, "cites": [spoken]},
        ],
        "closed": found_end(body),
    }


def found_end(body: dict[str, Any]) -> list[dict[str, Any]]:
    if END not in body["messages"][-1]["content"]:
        return []
    return [{"number": number_of(body, END), "cites": [lines_of(body, "narration")[-1]]}]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        running.on_reply = lambda body: (
            '*Rin turns the wheel.* "This wheel turns hard. I hold a master\'s ticket, class one."'
            if len(running.of("reply")) > 1
            else "*A gull circles over the mast.*"
        )
        running.on_fold = chapter_of
        running.on["audit"] = found
        yield running


@pytest.fixture
async def scene(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "k.db", greeting=False, **AUDITED) as opened:
        yield opened


async def fill(scene: Scene) -> None:
    """Play until a fold is due, and let its time come."""
    for number in range(9):
        await scene.hear(f"Message {number}: we steer past the {number}th buoy in the long grey swell.")
        await scene.reply()
    scene.clock.pass_by(seconds=31)


async def work(scene: Scene) -> None:
    await scene.core.folder.run_due()


async def remembered(scene: Scene) -> SessionMemory:
    return await scene.core.store.memory(scene.session.id)


async def line(scene: Scene, text: str) -> Memory:
    return next(m for m in (await remembered(scene)).memories if m.content.text == text)


async def rows(scene: Scene) -> list[tuple[FoldKind, FoldState, int, str]]:
    folds = (await scene.core.engine.figures(scene.session.id)).folds
    return [(fold.kind, fold.state, fold.attempts, fold.error) for fold in folds]


async def test_without_the_setting_nobody_looks_twice(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db", greeting=False, **SMALL_BUDGETS) as scene:
        await fill(scene)
        await work(scene)
        await work(scene)
        assert server.of("audit") == []
        assert (await line(scene, LIE)).kind is MemoryKind.FACT
        assert await rows(scene) == []


async def test_a_lie_that_slipped_through_becomes_a_claim_and_a_closed_end_closes(scene: Scene) -> None:
    await fill(scene)
    await work(scene)
    assert await rows(scene) == [(FoldKind.AUDIT, FoldState.DUE, 0, "")], "planned with the chapter"
    before = await line(scene, LIE)
    assert before.kind is MemoryKind.FACT

    await work(scene)
    await scene.hear("And now?")
    await scene.reply()

    lie, told, end = [await line(scene, text) for text in (LIE, TOLD, END)]
    assert (lie.kind, lie.content.speaker, lie.status) == (MemoryKind.CLAIM, "Rin", MemoryStatus.ACTIVE)
    assert (lie.number, lie.version, lie.corrected) == (before.number, 2, False)
    assert (told.kind, told.version) == (MemoryKind.EVENT, 1), "narration shows it"
    assert (end.status, end.version) == (MemoryStatus.RESOLVED, 2)
    chapter = (await remembered(scene)).chapters[0]
    assert end.resolved_by is not None
    assert chapter.first <= end.resolved_by <= chapter.last
    (report,) = await scene.core.moderation.open_reports(1)
    assert (report.flag.number, report.flag.by, report.flag.why) == (told.number, BY_AUDIT, "")
    prompt = scene.prompts()[-1]
    assert f"Rin said: {LIE}" in prompt
    assert f"- {TOLD}" in prompt
    assert END not in prompt
    assert await rows(scene) == []
    await work(scene)
    (asked,) = scene.server.of("audit")
    assert asked.body["response_format"]["json_schema"]["schema"]["required"] == ["claims", "closed"]


@pytest.mark.parametrize(
    ("locale", "words"),
    [
        (discord.Locale.american_english, "set right by a second look at the chapter"),
        (discord.Locale.japanese, "章を点検したとき"),
        (discord.Locale.chinese, "复查章节时更正"),
    ],
)
async def test_its_history_says_who_did_it(scene: Scene, locale: discord.Locale, words: str) -> None:
    await fill(scene)
    await work(scene)
    await work(scene)

    detail = await scene.core.engine.detail(scene.session.id, (await line(scene, LIE)).number)

    assert [(v.by, v.content.kind) for v in detail.history] == [("fold", MemoryKind.FACT), ("audit", MemoryKind.CLAIM)]
    say = bound(Catalogue().text, locale)
    assert words in "\n".join(history_pages(detail, scene.session, say))
    (report,) = await scene.core.moderation.open_reports(1)
    shown = report_embed(report, say).description
    assert shown is not None
    assert say("report-by-audit") in shown
    assert "<@0>" not in shown


async def test_its_cost_is_on_record_under_its_own_name(scene: Scene) -> None:
    await fill(scene)
    await work(scene)
    await work(scene)
    (call,) = [c for c in await scene.core.store.calls(scene.session.id) if c.purpose == "audit"]
    assert (call.outcome, call.attempts) == ("stop", 1)
    assert call.prompt_tokens == scene.server.of("audit")[0].prompt_tokens


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Script(""), "empty"),
        (Script('{"claims": [', finish_reason="length"), "cut"),
        (Script('{"claims": []}'), "not_json"),
        (Script("I'm sorry, but I can't help with that record."), "refused"),
        (Script("Nothing was wrong with any of it."), "not_json"),
        (Script.html(), "model-unavailable"),
    ],
)
async def test_its_failing_is_visible_and_harmless(scene: Scene, answer: Script, code: str) -> None:
    scene.server.on["audit"] = lambda _: answer
    await fill(scene)
    await work(scene)
    before = await remembered(scene)
    for _ in range(5):
        await work(scene)
        scene.clock.pass_by(hours=1)

    assert await rows(scene) == [(FoldKind.AUDIT, FoldState.FAILED, 3, code)]
    assert await remembered(scene) == before
    await fill(scene)
    await work(scene)
    assert len((await remembered(scene)).chapters) > len(before.chapters), "folding goes on"


async def test_an_answer_that_finds_nothing_changes_nothing(scene: Scene) -> None:
    scene.server.on["audit"] = lambda _: {"claims": [], "closed": []}
    await fill(scene)
    await work(scene)
    before = await remembered(scene)
    await work(scene)
    assert await remembered(scene) == before
    assert (await rows(scene), len(scene.server.of("audit"))) == ([], 1)


async def test_a_doubt_is_raised_once(scene: Scene) -> None:
    await fill(scene)
    await work(scene)
    told, store = await line(scene, TOLD), scene.core.store
    chapter = (await remembered(scene)).chapters[0]
    turns = await store.turns(scene.session.id, chapter.first, chapter.last)
    render = scene.core.renderer.for_session(scene.session, scene.core.folder.budgets)
    for _ in range(2):
        assert await store.commit_audit(
            scene.session.id, 1, {t.seq: t.revision for t in turns}, [], {}, [told.number],
            by="audit", at=scene.clock(), render=render,
        )  # fmt: skip
    (report,) = await scene.core.moderation.open_reports(1)
    await scene.core.moderation.dismiss(report.flag.id, by=99)
    assert await scene.core.moderation.open_reports(1) == ()


async def test_it_survives_a_crash(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db", greeting=False, **AUDITED) as scene:
        server.queued["audit"].append(Script("x", hang=asyncio.Event()))
        await fill(scene)
        await work(scene)
        await scene.core.folder.wake()
        await server.arrived(1, "audit")
        clock, session = scene.clock, scene.session
    async with open_core(settings_for(server, tmp_path / "k.db", **AUDITED), clock=clock) as core:
        again = Scene(core, server, clock, session)
        await work(again)
        assert (await line(again, LIE)).kind is MemoryKind.CLAIM


async def test_turned_off_it_is_not_done_even_when_it_was_planned(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db", greeting=False, **AUDITED) as scene:
        await fill(scene)
        await work(scene)
        clock, session = scene.clock, scene.session
    async with open_core(settings_for(server, tmp_path / "k.db", **SMALL_BUDGETS), clock=clock) as core:
        again = Scene(core, server, clock, session)
        await work(again)
        assert (server.of("audit"), await rows(again)) == ([], [])


@pytest.mark.parametrize("kind", [CorrectionKind.EDIT, CorrectionKind.RETRACT])
async def test_what_a_moderator_settles_meanwhile_is_not_touched(scene: Scene, kind: CorrectionKind) -> None:
    await fill(scene)
    await work(scene)
    lie = await line(scene, LIE)

    async def meddle(body: dict[str, Any]) -> Found:
        if len(scene.server.of("audit")) == 1:
            correction = Correction(kind, 99, "it is true", "Rin passed the exam.")
            await scene.core.moderation.correct(scene.session.id, correction, lie.number)
            return found(body)
        spoken = lines_of(body, "speech")[-1]
        return {"claims": [{"number": lie.number, "cites": [spoken]}], "closed": found_end(body)}

    scene.server.on["audit"] = meddle
    await work(scene)

    settled = (await remembered(scene)).get(lie.number)
    assert settled is not None
    assert (settled.kind, settled.version, settled.corrected) == (MemoryKind.FACT, 2, True)
    assert len(scene.server.of("audit")) == 2, "the first answer was made from what is no longer so"
    assert LIE not in scene.server.of("audit")[1].messages[-1]["content"].partition("The records:")[2]
    assert (await line(scene, END)).status is MemoryStatus.RESOLVED


async def test_turns_that_change_meanwhile_are_looked_at_again(scene: Scene) -> None:
    await fill(scene)
    await work(scene)

    async def meddle(body: dict[str, Any]) -> Found:
        if len(scene.server.of("audit")) == 1:
            await scene.core.engine.message_edited(1001, "We steer past a wreck.")
        return {"claims": [{"number": number_of(body, LIE), "cites": [lines_of(body, "speech")[-1]]}], "closed": []}

    scene.server.on["audit"] = meddle
    await work(scene)

    assert len(scene.server.of("audit")) == 2
    assert "We steer past a wreck." in scene.server.of("audit")[1].prompt
    assert (await line(scene, LIE)).kind is MemoryKind.CLAIM


async def test_a_chapter_that_is_folded_again_is_looked_at_again(scene: Scene) -> None:
    await fill(scene)
    await work(scene)
    await work(scene)
    await scene.core.engine.messages_deleted([1003])
    scene.clock.time += timedelta(minutes=1)
    await work(scene)
    assert (await line(scene, END)).status is MemoryStatus.RESOLVED, "folding again does not open it"
    anew = [m for m in (await remembered(scene)).memories if m.content.text == LIE and m.is_active]
    assert [m.kind for m in anew] == [MemoryKind.FACT]
    await work(scene)
    again = (await remembered(scene)).get(anew[0].number)
    assert again is not None
    assert (again.kind, len(scene.server.of("audit"))) == (MemoryKind.CLAIM, 2)


async def test_the_store_writes_nothing_of_what_is_no_longer_so(scene: Scene) -> None:
    await fill(scene)
    await work(scene)
    memory, store = await remembered(scene), scene.core.store
    chapter, lie, end = memory.chapters[0], await line(scene, LIE), await line(scene, END)
    turns = await store.turns(scene.session.id, chapter.first, chapter.last)
    revisions = {turn.seq: turn.revision for turn in turns}
    render = scene.core.renderer.for_session(scene.session, scene.core.folder.budgets)
    changed = replace(lie, content=replace(lie.content, kind=MemoryKind.CLAIM, speaker="Rin"), version=2)

    async def commit(ordinal: int, seen: dict[int, int], claims: list[Memory], resolved: dict[int, int]) -> bool:
        return await store.commit_audit(
            scene.session.id, ordinal, seen, claims, resolved, by="audit", at=scene.clock(), render=render
        )

    assert not await commit(9, revisions, [changed], {})
    assert not await commit(1, {**revisions, chapter.first: 7}, [changed], {})
    assert not await commit(1, revisions, [replace(changed, version=3)], {})
    assert not await commit(1, revisions, [changed], {lie.number: chapter.last})
    assert not await commit(1, revisions, [replace(changed, number=999)], {})
    assert await remembered(scene) == memory
    assert await commit(1, revisions, [changed], {end.number: chapter.last})
    assert not await commit(1, revisions, [changed], {})
    assert not await commit(1, revisions, [], {end.number: chapter.last})
