"""The benchmark of folds: what it counts on a scripted server, how it goes on, and a short run with the small model."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot import __main__ as command_line
from bot.demo.model import CACHE, NAME
from bot.evals import fold, fold_ways
from bot.evals.fold_costs import (
    AFTER,
    HANGING,
    KEEPING,
    PLAIN,
    QUIET,
    READING,
    SCENARIOS,
    SLOW,
    TWENTY,
    WRITING,
    Measurement,
    costs,
    within,
    worst,
)
from bot.evals.fold_ways import OWN, WARM, ask_both_ways, counted
from bot.evals.relay import relay
from bot.evals.runs import open_run
from bot.evals.stories import Story
from bot.llm import ModelClient, ModelRequest, Purpose
from bot.memory.messages import Message
from bot.store.statistics import Call
from tests.evals.tales import ENGLISH
from tests.support.model_server import ModelServer, Portion, Script

CHAPTER: dict[str, Any] = {"memories": [], "opened": [], "resolved": []}
REPLY = '{"beats": [{"kind": "speech", "speaker": "Isla", "text": "Aye."}]}'


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        running.on_reply = lambda body: REPLY
        yield running


@asynccontextmanager
async def benching(server: ModelServer, tmp_path: Path, reply_tokens: int = 40) -> AsyncIterator[fold.Bench]:
    async with relay(server.base_url) as at:
        yield fold.Bench(open_run("bench fold", tmp_path / "run", settings={}), at, PLAIN, reply_tokens)


def never() -> Script:
    """A fold that has begun to write and goes no further."""
    return Script(json.dumps(CHAPTER), hang=asyncio.Event(), hang_after=1)


async def test_a_fold_takes_the_only_slot_and_with_it_the_story_from_the_cache(
    server: ModelServer, tmp_path: Path
) -> None:
    server.on_fold = lambda body: never()
    server.milliseconds_per_token, server.on_portion = 2.0, lambda portion: asyncio.sleep(0.05)
    async with benching(server, tmp_path) as bench:
        quiet = await bench.measured(QUIET, 0)
        reading, writing = await bench.measured(READING, 0), await bench.measured(WRITING, 0)
        twenty = await bench.measured(TWENTY, 0)
        server.on_fold = lambda body: CHAPTER
        after = await bench.measured(AFTER, 0)

    assert (quiet.was_running, after.was_running) == (False, False)
    assert all(m.was_running for m in (reading, writing, twenty))
    assert len({m.prompt for m in (quiet, reading, writing, twenty, after)}) == 1, "the same prompt everywhere"
    assert quiet.computed < 100 < 500 < after.computed
    assert reading.computed == writing.computed == twenty.computed == after.computed
    assert [r.purpose for r in server.requests if r.disconnected.is_set()] == ["fold"], (
        "only what was written was broken off"
    )
    assert all(m.attempts == 1 and m.whole >= m.first > 0 and m.written > 0 for m in (quiet, reading, after))


def test_what_a_reply_would_have_taken_is_told_by_its_neighbours() -> None:
    call = Call("reply", 1, "m", 100, 90, 20, "stop", 1, 700, datetime(2026, 12, 1, tzinfo=UTC), waited_milliseconds=30)
    before, beside, after = (fold._Timed(whole, whole / 10, (call,)) for whole in (100.0, 700.0, 400.0))
    found = fold._measured(PLAIN, READING, 2, before, beside, after, True)
    assert found == Measurement(PLAIN, READING, 2, 700.0, 70.0, 100, 90, 20, 1, True, 30, 200.0, 20.0)
    for calls in ((call, call), (replace(call, outcome="length"),), (replace(call, completion_tokens=21),)):
        assert fold._measured(PLAIN, READING, 2, before, replace(beside, calls=calls), after, True) is None
        assert fold._measured(PLAIN, READING, 2, before, beside, replace(after, calls=calls), True) is None
    more = (replace(call, cached_tokens=20),)
    assert fold._measured(PLAIN, READING, 2, before, beside, replace(after, calls=more), True) is None
    assert fold._measured(PLAIN, READING, 2, before, replace(beside, calls=more), after, True), "what a fold may cost"


async def test_replies_of_other_lengths_are_not_compared(server: ModelServer, tmp_path: Path) -> None:
    longer = json.dumps({"beats": [{"kind": "speech", "speaker": "Isla", "text": "Aye, and the tide with it."}]})
    replies = iter([REPLY, REPLY, REPLY, REPLY, REPLY, longer])
    server.on_reply = lambda body: next(replies, longer)
    async with benching(server, tmp_path, reply_tokens=400) as bench:
        await bench.measured(SLOW, 0)
    assert len(server.of("reply")) == 12, "another story is tried"


async def test_a_fold_is_read_from_its_first_portion_to_its_first_word(server: ModelServer) -> None:
    seen: list[tuple[bool, bool]] = []

    async def look(portion: Portion) -> None:
        await asyncio.sleep(0.01)
        seen.append((at.reading.is_set(), at.writing.is_set()))

    server.on_portion, server.milliseconds_per_token = look, 2.0
    server.on_fold = lambda body: CHAPTER
    messages = (Message("system", "Note what happens."), Message("user", "It rains. " * 200))
    request = ModelRequest(messages, Purpose.FOLD, 100, schema={"type": "object"}, schema_name="fold")
    async with relay(server.base_url) as at, ModelClient(at.base_url) as client:
        await client.complete(request)
        assert at.writing.is_set()
        assert seen == [(True, False)] * len(server.portions)
        assert at.read_seconds > 0.01 * len(seen) > 0.1


@pytest.mark.parametrize("scenario", [HANGING, SLOW])
async def test_a_folding_model_of_its_own_never_reaches_the_replies(
    server: ModelServer, tmp_path: Path, scenario: str
) -> None:
    async with benching(server, tmp_path) as bench:
        quiet, beside = await bench.measured(QUIET, 0), await bench.measured(scenario, 0)
    assert beside.was_running, "its fold is under way there"
    assert server.of("fold") == []
    assert beside.computed == quiet.computed


async def test_a_run_goes_on_where_it_was(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fold, "_TWENTY", 3)
    server.on_fold = lambda body: Script(json.dumps(CHAPTER), pause=0.02)
    options: dict[str, Any] = {
        "reply_tokens": 40,
        "stories": [],
        "asked": 0,
        "servers": ["ram"],
        "model": server.base_url,
        "as_json": True,
    }
    out = tmp_path / "run"
    await fold.run(repeats=1, out=out, **options)
    first = json.loads(capsys.readouterr().out)
    assert {m["scenario"] for m in first["measurements"]} == set(SCENARIOS)
    assert (out / "fold.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((out / "result.json").read_text(encoding="utf-8")) == first
    assert first["model"] == "scripted"
    asked = len(server.requests)

    kept = (out / "measurements.jsonl").read_text(encoding="utf-8")
    (out / "measurements.jsonl").write_text(kept + '{"server": "cut by a ki', encoding="utf-8")
    await fold.run(repeats=1, out=out, **options)

    again = json.loads(capsys.readouterr().out)
    assert len(server.requests) == asked
    assert again["costs"] == first["costs"]

    lines = [line for line in kept.splitlines(keepends=True) if HANGING not in line]
    (out / "measurements.jsonl").write_text("".join(lines), encoding="utf-8")
    await fold.run(repeats=1, out=out, **options)
    assert {m["scenario"] for m in json.loads(capsys.readouterr().out)["measurements"]} == set(SCENARIOS)
    added = (out / "measurements.jsonl").read_text(encoding="utf-8").splitlines()[len(lines) :]
    assert [json.loads(line)["scenario"] for line in added] == [WRITING, HANGING], "and how long a fold is read"


def measurement(server: str, scenario: str, repeat: int, whole: float, quiet: float = 100) -> Measurement:
    return Measurement(
        server, scenario, repeat, whole, whole / 2, 100, 90, 20, 1, scenario != QUIET, whole / 20, quiet, quiet / 2
    )


def test_times_are_compared_with_those_of_their_neighbours() -> None:
    """The second repeat was measured while the machine was four times as slow."""
    quiet = (100, 400, 100)
    times = {QUIET: (100, 400, 101), READING: (104, 416, 900), AFTER: (300, 1_200, 300)}
    measured = [measurement(PLAIN, s, r, t, quiet[r]) for s, each in times.items() for r, t in enumerate(each)]
    found = {cost.scenario: cost for cost in costs(measured)}
    assert (found[QUIET].factor, found[READING].factor, found[AFTER].factor) == (1.0, 1.04, 3.0)
    assert (found[QUIET].lowest, found[QUIET].highest) == (1.0, 1.01), "how exact the others are"
    assert (found[READING].lowest, found[READING].highest) == (1.04, 9.0)
    assert (found[READING].count, found[READING].more_milliseconds, found[READING].computed) == (3, 16.0, 10)
    assert found[READING].waited == 20.8
    assert within(found.values()), "what comes after a fold is not what a running one costs"


def test_one_scenario_above_the_limit_fails_a_server_and_one_good_server_is_enough() -> None:
    slow = [measurement(PLAIN, QUIET, 0, 100), measurement(PLAIN, READING, 0, 101), measurement(PLAIN, TWENTY, 0, 106)]
    good = [replace(m, server=KEEPING, whole=100) for m in slow]
    assert not within(costs(slow))
    assert {server: cost.scenario for server, cost in worst(costs([*slow, *good])).items()} == {
        PLAIN: TWENTY, KEEPING: READING,
    }  # fmt: skip
    assert within(costs([*slow, *good]))
    assert not within([])


@pytest.mark.parametrize(("holds", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_says_whether_it_holds(monkeypatch: pytest.MonkeyPatch, holds: bool, code: int) -> None:
    given: dict[str, Any] = {}

    async def run(**options: Any) -> bool:
        given.update(options)
        return holds

    monkeypatch.setattr(fold, "run", run)
    asked = ["--repeats", "3", "--servers", "ram", "two", "--model", "http://127.0.0.1:1/v1", "--json"]
    assert command_line.main(["bench", "fold", *asked]) == code
    assert given == {
        "repeats": 3, "reply_tokens": 96, "stories": [], "asked": 2, "servers": ["ram", "two"],
        "model": "http://127.0.0.1:1/v1", "as_json": True, "out": None,
    }  # fmt: skip


# --- two ways of asking -------------------------------------------------------------------------------------------


def held(body: dict[str, Any]) -> dict[str, Any]:
    """An event for the first line of narration that can be cited, and one that cites nothing there is."""
    cites = body["response_format"]["json_schema"]["schema"]["properties"]["memories"]["items"]["properties"]["cites"]
    known = cites["items"]["enum"]
    line = re.search(r"^\[(\d+\.\d+) narration [^\]]*\] (.*?)…?$", body["messages"][-1]["content"], re.MULTILINE)
    assert line is not None
    number, text = line.groups()
    assert number in known
    memory = {"kind": "event", "text": text, "actual": "", "who": "", "to": "", "cites": [number]}
    return {"memories": [memory, {**memory, "cites": ["9999.1"]}], "opened": [], "resolved": []}


async def test_both_ways_are_asked_about_the_same_folds_and_counted(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold_ways, "_WINDOW", 1_024)
    server.on_fold = held
    story = Story.model_validate(ENGLISH)
    found = await ask_both_ways(story, server.base_url, tmp_path, asked=1)
    own, warm = counted(found, OWN), counted(found, WARM)

    assert own.folds == warm.folds >= 2
    assert (own.asked, warm.asked) == (1, 1)
    assert len(server.of("fold")) == 2
    first, second = (request.messages for request in server.of("fold"))
    assert [m["role"] for m in first] == ["system", "user"]
    assert len(second) > 4
    assert first[0]["content"] in second[-1]["content"], "the same instruction"
    assert (own.proposed, own.held, own.cites, own.real_cites) == (2, 1, 2, 1)
    assert (warm.proposed, warm.held, warm.cites, warm.real_cites) == (2, 1, 2, 1)
    assert own.dropped == warm.dropped == {"citation": 1, "no-evidence": 1}
    assert (own.fitting, warm.fitting) == (1, 1)
    assert warm.fold_prompt > own.fold_prompt
    assert warm.fold_computed < own.fold_computed
    assert warm.next_computed < 20 * warm.folds < own.next_computed, "only the new line, against the whole prompt"
    assert warm.after_computed < own.after_computed, "the system prompt is still there"

    asked = len(server.requests)
    assert await ask_both_ways(story, server.base_url, tmp_path, asked=1) == found
    assert len(server.requests) == asked, "answers are kept"


@pytest.mark.parametrize(
    ("answer", "rejection"),
    [
        ("I'm sorry, but I can't help with creating that record.", "refused"),
        ('*He pulls the rope.* "We are not there yet," says the pilot, and the sea answers him.', "continued_story"),
        (Script('{"memories": [', finish_reason="length"), "cut"),
        (Script.failure(401), "model-key"),
    ],
)
async def test_answers_that_come_to_nothing_are_counted(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, rejection: str
) -> None:
    monkeypatch.setattr(fold_ways, "_WINDOW", 1_024)
    server.answer = lambda body: answer
    found = await ask_both_ways(Story.model_validate(ENGLISH), server.base_url, tmp_path, asked=1)
    assert counted(found, OWN).rejected == {rejection: 1}
    assert counted(found, OWN).held == 0


# --- with the real server ------------------------------------------------------------------------------------------


async def test_a_fold_really_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    if not (CACHE / NAME).is_file():
        pytest.skip(f"the small model is not at {CACHE / NAME}")
    monkeypatch.setattr(fold, "_WORDS", 30)
    monkeypatch.setattr(
        fold,
        "_BUDGETS",
        {**fold._BUDGETS, "fold_trigger": 340, "fold_ceiling": 700, "fold_floor": 100, "fold_room": 150},
    )
    made = open_run("bench fold", tmp_path / "run", settings={})
    async with fold.served("small", KEEPING) as at:
        bench = fold.Bench(made, at, KEEPING, 48)
        writing = await bench.measured(WRITING, 0)
    assert bench.model == NAME.removesuffix(".gguf")
    assert writing.was_running
    assert writing.prompt > 400
    assert writing.computed < 150, "the cache in RAM has the story again"
