"""Folding, on the real store and a real socket: what is asked, what is stored, and what the next prompt has of it."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.core import open_core
from bot.errors import Refused
from bot.llm import client
from bot.memory.corrections import Correction, CorrectionKind
from bot.memory.memories import MemoryKind, MemoryStatus
from bot.memory.story import Fold, FoldKind, FoldState
from tests.support.model_server import ModelServer, Script
from tests.support.scene import SMALL_BUDGETS, Scene, open_scene, settings_for

MODERATOR = 99
NODS = '*She nods at the chart.* "Aye."'
HAPPENED = (
    "The engine coughed and died twice.", "A gull stole somebody's supper.", "Fog came down over the whole bay.",
    "The anchor chain slipped off its drum.", "Two seals followed the wake for hours.", "Rin lit every lamp aboard.",
    "An old bell rang under the water.",
)  # fmt: skip
REFUSAL = "I'm sorry, but I can't help with creating that record."


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        running.on_reply = lambda _: '*She turns the wheel.* "I have a master\'s ticket, class one."'
        running.on_fold = lambda body: chapter_of(body)
        yield running


@pytest.fixture
async def scene(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "k.db", **SMALL_BUDGETS) as opened:
        yield opened


def source_of(body: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The numbered lines that a fold was asked about: citation, kind, text."""
    return re.findall(r"^\[(\d+\.\d+) (\w+) [^\]]*\] (.*)$", body["messages"][-1]["content"], re.MULTILINE)


def memory(kind: str, text: str, *cites: str, **rest: str) -> dict[str, Any]:
    return {"kind": kind, "text": text, "actual": "", "who": "", "to": "", "cites": list(cites), **rest}


def chapter_of(body: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An honest chapter: what was narrated happened, what was said is a 'fact' that code has to judge."""
    lines = source_of(body)
    narrated = next(line for line in lines if line[1] == "narration")
    spoken = next(line for line in lines if line[1] == "speech")
    happened = HAPPENED[int(narrated[0].split(".")[0]) % len(HAPPENED)]
    return {
        "memories": [
            memory("event", f"{happened} ({narrated[0]})", narrated[0]),
            memory("fact", f"Rin holds a master's ticket, as of {spoken[0]}.", spoken[0]),
        ],
        "opened": [],
        "resolved": [],
        **more,
    }


async def fill(scene: Scene, *, turns: int = 9) -> None:
    """Play until a fold is due, and let its time come."""
    for number in range(turns):
        await scene.hear(f"Message {number}: we steer past the {number}th buoy in the long grey swell.")
        await scene.reply()
    scene.clock.pass_by(seconds=31)


async def fold(scene: Scene) -> None:
    await scene.core.folder.run_due()


async def test_a_fold_waits_its_delay_then_becomes_a_chapter_that_the_next_prompt_has(scene: Scene) -> None:
    await fill(scene)
    due = await scene.core.store.next_due()
    assert due is not None
    scene.clock.time = due - timedelta(seconds=1)
    await fold(scene)
    assert scene.server.of("fold") == []
    scene.clock.time = due
    before = (await scene.core.store.snapshot(scene.session.id)).turns

    await fold(scene)
    await scene.hear("And now?")
    await scene.reply()

    memory_ = await scene.core.store.memory(scene.session.id)
    chapter = memory_.chapters[0]
    assert (chapter.ordinal, chapter.first) == (1, 1)
    kinds = {m.kind for m in memory_.memories}
    assert kinds == {MemoryKind.EVENT, MemoryKind.CLAIM}, "what was only said is not a fact"
    claim = next(m for m in memory_.memories if m.kind is MemoryKind.CLAIM)
    assert claim.content.speaker == "Rin"
    prompt = scene.prompts()[-1]
    assert "## Chapter 1" in prompt
    assert f"Rin said: {claim.content.text}" in prompt
    assert before[0].raw not in prompt
    raw_turns = [t for t in before if t.seq > memory_.folded_to]
    assert sum(t.tokens for t in raw_turns) >= SMALL_BUDGETS["fold_floor"]


async def test_chapters_are_disjoint_and_gapless_and_each_fold_breaks_the_prefix_once(scene: Scene) -> None:
    for _ in range(4):
        await fill(scene)
        await fold(scene)
    heads = [request.messages[1]["content"] for request in scene.server.of("reply")]

    chapters = (await scene.core.store.memory(scene.session.id)).chapters
    assert len(chapters) >= 4
    assert [c.first for c in chapters[1:]] == [c.last + 1 for c in chapters[:-1]]
    changes = sum(a != b for a, b in itertools.pairwise(heads))
    assert changes == sum(head != heads[0] for head in dict.fromkeys(heads))


async def test_the_fold_is_asked_with_numbered_beats_open_ends_and_settled_memories(scene: Scene) -> None:
    end = {"text": "Where does the swell come from?", "cites": ["1.1"]}
    scene.server.folds.append(Script('{"x": 1}'))
    scene.server.on_fold = lambda body: chapter_of(body, opened=[end])
    await fill(scene)
    await fold(scene)
    scene.clock.pass_by(minutes=5)
    await fold(scene)
    (opened,) = (await scene.core.store.memory(scene.session.id)).open_ends()
    numbers = {m.number: m for m in (await scene.core.store.memory(scene.session.id)).memories}
    event = next(m for m in numbers.values() if m.kind is MemoryKind.EVENT)
    await _correct(scene, event.number, CorrectionKind.EDIT, "Rin let go of the wheel.")
    scene.server.on_fold = lambda body: chapter_of(
        body, resolved=[{"number": opened.number, "cites": [source_of(body)[0][0]]}, {"number": 9999, "cites": ["1.1"]}]
    )

    await fill(scene)
    await fold(scene)

    request = scene.server.of("fold")[-1]
    text = request.messages[-1]["content"]
    assert f"#{opened.number} Where does the swell come from?" in text
    assert "Rin let go of the wheel." in text
    assert event.content.text not in text
    assert request.body["max_tokens"] <= 4096
    after = await scene.core.store.memory(scene.session.id)
    assert after.open_ends() == ()
    resolved = after.get(opened.number)
    assert resolved is not None
    assert (resolved.status, bool(resolved.resolved_by)) == (MemoryStatus.RESOLVED, True)
    scene.server.on_fold = lambda body: chapter_of(body, opened=[end | {"cites": [source_of(body)[0][0]]}])
    await fill(scene)
    await fold(scene)
    assert (await scene.core.store.memory(scene.session.id)).open_ends() == (), "a resolved end cannot return"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Script(""), "empty"),
        (Script('{"memories": [', finish_reason="length"), "cut"),
        (
            Script('*Rin laughs.* "Another story!" She leans on the wheel and begins to tell it from the start.'),
            "story",
        ),
        (Script("The " + "same line.\n" * 500), "repet"),
        (Script.html(), "model-unavailable"),
        (Script('{"memories": [], "opened": [], "resolved": []}'), "empty"),
    ],
)
async def test_nothing_bad_is_stored_the_source_stays_and_the_fold_is_tried_again(
    scene: Scene, answer: Script, code: str
) -> None:
    scene.server.folds.append(answer)
    await fill(scene)

    await fold(scene)

    figures = await scene.core.engine.figures(scene.session.id)
    (row,) = figures.folds
    assert (row.state, row.attempts) == (FoldState.DUE, 1)
    assert code in row.error.replace("_", "-")
    assert (await scene.core.store.memory(scene.session.id)).memories == ()
    assert figures.raw_turns == figures.turns
    scene.clock.pass_by(minutes=3)
    await fold(scene)
    assert len((await scene.core.store.memory(scene.session.id)).chapters) == 1


async def test_a_refusal_is_drawn_again_once_and_never_stored(scene: Scene) -> None:
    scene.server.folds.append(REFUSAL)
    await fill(scene)
    await fold(scene)
    assert len(scene.server.of("fold")) == 2
    assert len((await scene.core.store.memory(scene.session.id)).chapters) == 1


async def test_three_failures_are_the_end_and_are_visible_until_the_story_has_moved_on(scene: Scene) -> None:
    scene.server.on_fold = lambda _: REFUSAL
    await fill(scene)
    for _ in range(5):
        await fold(scene)
        scene.clock.pass_by(hours=1)

    (row,) = (await scene.core.engine.figures(scene.session.id)).folds
    assert (row.state, row.attempts) == (FoldState.FAILED, 3)
    assert len(scene.server.of("fold")) == 6
    await scene.exchange("still here")
    assert len((await scene.core.engine.figures(scene.session.id)).folds) == 1
    await fill(scene, turns=12)
    assert (await scene.core.engine.figures(scene.session.id)).folds[0].state is FoldState.DUE


async def test_turns_that_change_while_they_are_folded_are_planned_anew(scene: Scene) -> None:
    first = (await scene.core.store.snapshot(scene.session.id)).turns
    await fill(scene)
    changed = await scene.core.store.snapshot(scene.session.id)
    victim = next(t for t in changed.turns if t.author.is_player)

    async def meddle(body: dict[str, Any]) -> dict[str, Any]:
        if len(scene.server.of("fold")) == 1:
            await scene.core.engine.message_edited(1001, "Something else entirely, said in the swell.")
        return chapter_of(body)

    scene.server.on_fold = meddle
    await fold(scene)

    assert victim.raw not in scene.server.of("fold")[-1].prompt
    assert len(scene.server.of("fold")) >= 2
    assert len((await scene.core.store.memory(scene.session.id)).chapters) == 1
    assert first[0].seq == 1


async def test_two_folds_of_one_stretch_at_the_same_time_make_one_chapter(scene: Scene) -> None:
    await fill(scene)
    await asyncio.gather(fold(scene), fold(scene))

    assert len((await scene.core.store.memory(scene.session.id)).chapters) == 1


async def test_a_fold_that_was_under_way_at_the_crash_is_taken_up_again(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db", **SMALL_BUDGETS) as scene:
        server.folds.append(Script("x", hang=asyncio.Event()))
        await fill(scene)
        await scene.core.folder.wake()
        await server.arrived(1, "fold")
        clock, session_id = scene.clock, scene.session.id
    async with open_core(settings_for(server, tmp_path / "k.db", **SMALL_BUDGETS), clock=clock) as core:
        await core.folder.run_due()
        assert len((await core.store.memory(session_id)).chapters) == 1


async def test_a_reply_does_not_wait_for_a_fold_on_the_same_slot(scene: Scene) -> None:
    gate = asyncio.Event()
    scene.server.folds.append(Script("{}", hang=gate))
    await fill(scene)
    await scene.core.folder.wake()
    (hanging,) = await scene.server.arrived(1, "fold")

    await scene.hear("Are you there?")
    reply = await asyncio.wait_for(scene.reply(), 30)

    assert "class one" in reply.text
    await asyncio.wait_for(hanging.disconnected.wait(), 30)
    await fold(scene)
    assert len((await scene.core.store.memory(scene.session.id)).chapters) == 1


async def _correct(scene: Scene, number: int, kind: CorrectionKind, text: str = "") -> None:
    await scene.core.moderation.correct(scene.session.id, Correction(kind, MODERATOR, "she made it up", text), number)


async def test_a_correction_is_in_the_very_next_reply_and_on_record(scene: Scene) -> None:
    await fill(scene)
    await fold(scene)
    event = (await scene.core.store.memory(scene.session.id)).memories[0]

    await _correct(scene, event.number, CorrectionKind.SAID_NOT_TRUE)
    await scene.hear("And now?")
    await scene.reply()

    assert f"Rin said: {event.content.text}" in scene.prompts()[-1]
    detail = await scene.core.engine.detail(scene.session.id, event.number)
    assert [(v.version, v.by, v.content.kind) for v in detail.history] == [
        (1, "fold", MemoryKind.EVENT),
        (2, str(MODERATOR), MemoryKind.CLAIM),
    ]
    assert detail.history[1].reason == "she made it up"
    with pytest.raises(Refused, match="correction-not-a-fact"):
        await _correct(scene, event.number, CorrectionKind.SAID_NOT_TRUE)
    await _correct(scene, event.number, CorrectionKind.RESTORE)
    await scene.hear("And now?")
    await scene.reply()
    assert f"- {event.content.text}" in scene.prompts()[-1]


def condense(body: dict[str, Any], word: str = "They sailed on.") -> dict[str, Any]:
    numbers = [int(n) for n in re.findall(r"^#(\d+) ", body["messages"][-1]["content"], re.MULTILINE)]
    return {"events": [{"text": word, "condenses": numbers}]}


async def test_a_major_fold_condenses_the_oldest_half_and_carries_the_ledger_and_corrections_over(scene: Scene) -> None:
    scene.server.on_major_fold = condense
    old_text = ""
    for round_ in range(8):
        await fill(scene)
        await fold(scene)
        if round_ == 0:
            event = next(
                m for m in (await scene.core.store.memory(scene.session.id)).memories if m.kind is MemoryKind.EVENT
            )
            old_text = event.content.text
            await _correct(scene, event.number, CorrectionKind.EDIT, "Rin never touched the wheel.")
        marker = len(scene.server.requests)
    await fold(scene)
    await scene.hear("And now?")
    await scene.reply()

    memory_ = await scene.core.store.memory(scene.session.id)
    assert any(c.absorbed for c in memory_.chapters)
    assert not memory_.chapters[-1].absorbed
    assert scene.server.of("major_fold")
    prompt = scene.prompts()[-1]
    assert "## Synopsis" in prompt
    assert "They sailed on." in prompt
    assert "Rin never touched the wheel." in prompt
    claims = [m for m in memory_.memories if m.kind is MemoryKind.CLAIM]
    assert all(m.is_active and m.version == 1 for m in claims), "the ledger is carried over unrewritten"
    assert all(old_text not in r.prompt for r in scene.server.requests[marker:])
    condensed = [m for m in memory_.memories if m.status is MemoryStatus.CONDENSED]
    standing = {n for m in memory_.memories for n in m.condenses}
    assert {m.number for m in condensed} <= standing


async def test_a_major_fold_that_does_not_shrink_is_tried_three_times_and_the_chapters_stay(scene: Scene) -> None:
    def longer(body: dict[str, Any]) -> dict[str, Any]:
        first = condense(body)["events"][0]["condenses"][:1]
        return {"events": [{"text": "They sailed on, slowly, past the long grey pier.", "condenses": first}]}

    scene.server.on_major_fold = longer
    for _ in range(4):
        await fill(scene)
        await fold(scene)
    for _ in range(5):
        scene.clock.pass_by(hours=1)
        await fold(scene)

    rows = (await scene.core.engine.figures(scene.session.id)).folds
    major = next(row for row in rows if row.kind is FoldKind.MAJOR)
    assert (major.state, major.attempts, major.error) == (FoldState.FAILED, 3, "no-shrink")
    figures = (await scene.core.statistics.story(scene.session.id)).figures
    assert figures.rejected == {"major_fold": {"no-shrink": 3}}
    memory_ = await scene.core.store.memory(scene.session.id)
    assert not any(c.absorbed for c in memory_.chapters[-2:])
    assert all(m.is_active for m in memory_.memories)


async def test_a_lie_told_again_after_its_correction_stays_a_claim(scene: Scene) -> None:
    await fill(scene)
    await fold(scene)
    event = (await scene.core.store.memory(scene.session.id)).memories[0]
    await _correct(scene, event.number, CorrectionKind.RETRACT)

    def again(body: dict[str, Any]) -> dict[str, Any]:
        narrated = next(line for line in source_of(body) if line[1] == "narration")
        return {"memories": [memory("fact", event.content.text, narrated[0])], "opened": [], "resolved": []}

    scene.server.on_fold = again
    await fill(scene)
    await fold(scene)

    told_again = (await scene.core.store.memory(scene.session.id)).memories[-1]
    assert (told_again.kind, told_again.restates) == (MemoryKind.CLAIM, event.number)
    retracted = (await scene.core.store.memory(scene.session.id)).get(event.number)
    assert retracted is not None
    assert retracted.status is MemoryStatus.RETRACTED
    await scene.hear("And now?")
    await scene.reply()
    assert f"- {event.content.text}" not in scene.prompts()[-1]


async def test_deleting_a_folded_message_hides_what_came_of_it_until_its_chapter_is_folded_again(scene: Scene) -> None:
    def from_players(body: dict[str, Any]) -> dict[str, Any]:
        lines = [line for line in source_of(body) if line[1] == "player"]
        return {
            "memories": [memory("fact", f"Mio wrote {text[:11]}.", cite, who="Mio") for cite, _, text in lines],
            "opened": [],
            "resolved": [],
        }

    scene.server.on_fold = from_players
    await fill(scene)
    await fold(scene)
    before = await scene.core.store.memory(scene.session.id)
    assert "Mio wrote Message 0: ." in [m.content.text for m in before.memories]
    assert [m.content.player_id for m in before.memories] == [11] * len(before.memories)

    await scene.core.engine.messages_deleted([1001])
    await scene.hear("And now?")
    await scene.reply()

    assert "Message 0" not in scene.prompts()[-1]
    assert "Mio wrote Message 1: ." in scene.prompts()[-1]
    scene.clock.pass_by(minutes=1)
    await fold(scene)
    after = await scene.core.store.memory(scene.session.id)
    assert len(after.chapters) == len(before.chapters)
    assert "Message 0" not in scene.server.of("fold")[-1].prompt
    texts = [m.content.text for m in after.memories if m.is_active]
    assert "Mio wrote Message 0: ." not in texts
    assert "Mio wrote Message 1: ." in texts


async def test_a_correction_made_while_a_fold_runs_is_not_undone_by_it(scene: Scene) -> None:
    await fill(scene)
    await fold(scene)
    event = (await scene.core.store.memory(scene.session.id)).memories[0]
    asked: list[str] = []

    async def told_again(body: dict[str, Any]) -> dict[str, Any]:
        if not asked:
            await _correct(scene, event.number, CorrectionKind.RETRACT)
        asked.append(body["messages"][-1]["content"])
        narrated = next(line for line in source_of(body) if line[1] == "narration")
        return {"memories": [memory("event", event.content.text, narrated[0])], "opened": [], "resolved": []}

    scene.server.on_fold = told_again
    await fill(scene)
    await fold(scene)

    assert len(asked) == 2, "the first answer was made from what is no longer so"
    newest = (await scene.core.store.memory(scene.session.id)).memories[-1]
    assert (newest.kind, newest.restates) == (MemoryKind.CLAIM, event.number)


async def test_a_deleted_message_that_tied_a_loose_end_opens_it_again(scene: Scene) -> None:
    end = {"text": "Where does the swell come from tonight?", "cites": ["1.1"]}
    scene.server.on_fold = lambda body: chapter_of(body, opened=[end])
    await fill(scene)
    await fold(scene)
    (opened,) = (await scene.core.store.memory(scene.session.id)).open_ends()
    tied: list[str] = []

    def tie(body: dict[str, Any]) -> dict[str, Any]:
        cite = next(line[0] for line in source_of(body) if line[1] == "player")
        tied.append(cite)
        return chapter_of(body, resolved=[{"number": opened.number, "cites": [cite]}])

    scene.server.on_fold = tie
    await fill(scene)
    await fold(scene)
    assert (await scene.core.store.memory(scene.session.id)).open_ends() == ()
    turn = next(
        t for t in await scene.core.store.turns(scene.session.id, 1, 999) if t.seq == int(tied[0].split(".")[0])
    )
    message = await _message_of(scene, turn.raw)

    await scene.core.engine.messages_deleted([message])

    (again,) = (await scene.core.store.memory(scene.session.id)).open_ends()
    assert (again.number, again.resolved_by) == (opened.number, None)


async def _message_of(scene: Scene, raw: str) -> int:
    for message_id in range(1001, scene.written + 1):
        found = await scene.core.store.turn_of_message(message_id)
        if found and found[1].raw == raw and found[1].seq > 14:
            return message_id
    raise AssertionError(raw)


async def test_a_story_from_a_wide_window_is_folded_in_stretches_in_a_narrow_one(
    server: ModelServer, tmp_path: Path
) -> None:
    async with open_scene(server, tmp_path / "k.db") as wide:
        for number in range(60):
            await wide.exchange(
                f"Message {number}: past the {number}th buoy, in the long grey swell, under the rain.", NODS
            )
        session_id, clock = wide.session.id, wide.clock
    server.window = 2_000
    async with open_core(settings_for(server, tmp_path / "k.db"), clock=clock) as core:
        narrow = Scene(core, server, clock, wide.session, wide.written)
        await narrow.exchange("And here?", NODS)
        assert server.of("reply")[-1].prompt_tokens <= 2_000
        clock.pass_by(seconds=31)
        await core.folder.run_due()

        chapters = (await core.store.memory(session_id)).chapters
        assert len(chapters) >= 2
        assert max(request.prompt_tokens for request in server.of("fold")) <= 2_000
        await narrow.exchange("And now?", NODS)
        assert "## Chapter 1" in narrow.prompts()[-1]
        snapshot = await core.store.snapshot(session_id)
        assert sum(t.tokens for t in snapshot.turns) < core.engine.budgets.trigger


async def test_a_fold_that_replies_leave_no_time_for_takes_shorter_stretches(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request of a fold gives way to every reply; what is too long for the pauses is halved until it fits."""
    monkeypatch.setattr(client, "_FIRST_QUIET_SECONDS", 0.01)
    async with open_scene(server, tmp_path / "k.db", **{**SMALL_BUDGETS, "fold_room": 300}) as scene:
        await fill(scene, turns=14)
        sizes: list[int] = []

        def folded(body: dict[str, Any]) -> Any:
            lines = source_of(body)
            sizes.append(len({cite.partition(".")[0] for cite, _, _ in lines}))
            return chapter_of(body) if sizes[-1] < sizes[0] else Script("{", hang=asyncio.Event())

        server.on_fold = folded
        folding = asyncio.create_task(fold(scene))
        for number in (1, 2, 3):
            await server.arrived(number, "fold")
            await scene.hear(f"Wait, {number}!")
            await scene.reply()
        await folding

        chapters = (await scene.core.store.memory(scene.session.id)).chapters
        assert sizes[:3] == [sizes[0]] * 3
        assert all(size <= sizes[0] / 2 + 1 for size in sizes[3:])
        assert len(chapters) == len(sizes) - 3 >= 2
        assert [c.first for c in chapters[1:]] == [c.last + 1 for c in chapters[:-1]]
        left = (await scene.core.store.figures(scene.session.id)).folds
        assert [f.kind for f in left] == [FoldKind.MAJOR], "the fold itself is done"


async def test_a_fold_that_finds_no_pause_at_all_is_tried_again_later_and_then_given_up_visibly(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_FIRST_QUIET_SECONDS", 0.01)
    given_up: list[str] = []

    async def told(fold: Fold) -> None:
        given_up.append(fold.error)

    async with open_scene(server, tmp_path / "k.db", **SMALL_BUDGETS, fold_attempts=1) as scene:
        await fill(scene)
        scene.core.folder.on_given_up = told
        server.on_fold = lambda body: Script("{", hang=asyncio.Event())
        folding = asyncio.create_task(fold(scene))
        while not folding.done():
            seen = len(server.of("fold"))
            await scene.hear("And on!")
            await scene.reply()
            while len(server.of("fold")) == seen and not folding.done():
                await asyncio.sleep(0.01)

        assert given_up == ["model-gave-way"]
        # A request may be interrupted before it is sent, so they cannot be counted.
        assert len({len(request.messages[-1]["content"]) for request in server.of("fold")}) > 1, "less is tried at once"
        assert (await scene.core.store.memory(scene.session.id)).chapters == ()
