"""The evaluation of recall: on a conversation whose truth is known the figures come out as they must, also after a kill."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from bot import __main__ as command_line
from bot.errors import KataribeError
from bot.evals import recall
from bot.evals.commands import _ARMS
from bot.evals.machinery import ModelGone
from bot.evals.recall import budgets_for_talk
from bot.evals.recall_arms import ARMS
from tests.demo.test_embedded import small_model_or_skip
from tests.evals.rememberers import PLACES, THINGS, UNKNOWN, Rememberer, event, sample, thing
from tests.support.model_server import ModelServer, Script

EXCHANGES = 20


def written(folder: Path, exchanges: int = EXCHANGES, **more: Any) -> Path:
    path = folder / "talk.json"
    path.write_text(json.dumps([{**sample(exchanges), **more}]), encoding="utf-8")
    return path


async def evaluated(path: Path, server: ModelServer, out: Path, **more: Any) -> dict[str, Any]:
    """The result of a run."""
    options: dict[str, Any] = {
        "conversation": path, "limit": None, "questions": None, "repeats": 1, "arms": list(ARMS), "model": server.base_url,
        "seed": 1, "trigger": 1_600, "as_json": True, "out": out,
    } | more  # fmt: skip
    assert await recall.run(**options)
    found: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return found


def mean(result: dict[str, Any], arm: str, grader: str = "model") -> float:
    value: float = result["arms"][arm]["recall"][grader]["mean"]
    return value


async def test_each_arm_recalls_what_it_must(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with ModelServer(window=4_096) as server:
        Rememberer().answers(server)
        result = await evaluated(written(tmp_path), server, tmp_path / "out")

    fold = result["folds"][0]
    assert fold["chapters"] >= 6
    assert fold["major_folds"] >= 1
    assert (fold["failed"], fold["given_up"], fold["turns_left_raw"], fold["turns_not_shown"]) == ({}, 0, 0, 0)
    assert fold["memories"]["fact"] == EXCHANGES

    # The ledger has every fact, the events have none of them, and a rewritten summary those of its last part.
    assert [mean(result, arm) for arm in ("nothing", "chapters", "ledger", "recall")] == [0.0, 0.0, 1.0, 1.0]
    last = server.of("reply")[-1].messages[-1]["content"].partition("The new part of the talk:")[2]
    kept = sum(thing(at) in last for at in range(EXCHANGES))
    assert 0 < kept < EXCHANGES / 2
    assert mean(result, "summary") == pytest.approx(kept / EXCHANGES)
    by_age = [share["mean"] for share in result["arms"]["summary"]["by_age"]["model"]]
    assert by_age[:3] == [0.0, 0.0, 0.0]
    assert by_age[-1] == pytest.approx(min(1.0, kept / (EXCHANGES / 5)))
    assert 0 < mean(result, "window") < 1
    assert [s["mean"] for s in result["arms"]["window"]["by_age"]["model"]][::4] == [0.0, 1.0]
    assert {mean(result, arm, "text") == mean(result, arm) for arm in ARMS} == {True}
    assert all(sum(s["answers"] for s in arm["by_age"]["model"]) == EXCHANGES for arm in result["arms"].values())

    # Nobody invents; the two graders agree on all that was answered.
    assert {arm["invented"]["mean"] for arm in result["arms"].values()} == {0.0}
    assert result["arms"]["nothing"]["declined"]["mean"] == 1.0
    assert result["agreement"]["share"] == 1.0
    assert result["agreement"]["both_wrong"] == result["agreement"]["only_model"] == 0
    assert result["not_as_asked"] == {}

    assert [arm["length"]["characters"] > 0 for arm in result["arms"].values()] == [False, *[True] * 6]
    wanted = re.findall(r"Write about (\d+) characters", "\n".join(r.prompt for r in server.of("reply")))
    assert set(wanted) == {f"{result['arms']['ledger']['length']['characters']:.0f}"}
    assert (tmp_path / "out" / "recall.png").read_bytes().startswith(b"\x89PNG")
    assert (result["model"], result["window"], result["kind"]) == ("scripted", 4_096, "LoCoMo")
    assert result["talks"]["known"]["player"] == "Ada"
    assert json.loads(capsys.readouterr().out) == result


async def test_folded_memory_and_no_raw_turn_is_what_an_answer_is_given(tmp_path: Path) -> None:
    async with ModelServer(window=4_096) as server:
        Rememberer().answers(server)
        await evaluated(written(tmp_path), server, tmp_path / "out", arms=["ledger", "recall"], questions=4)
        told = server.of("recall_answer")
        folds = server.of("fold")
    chatter = "The rain kept falling on the slates"
    assert any(chatter in fold.prompt for fold in folds)
    assert not any(chatter in request.messages[0]["content"] for request in told)
    assert len({fold.prompt for fold in folds}) == len(folds), "no stretch was folded twice"


async def test_what_is_invented_prose_and_unsaid_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with ModelServer(window=4_096) as server:
        Rememberer(invents=True, prose=THINGS[-1]).answers(server)
        server.queued["recall_answer"].append({"reply": "Oslo"})
        server.queued["recall_grade"].extend(["Yes, that is right.", "Hard to say."])
        result = await evaluated(written(tmp_path), server, tmp_path / "out", arms=["nothing", "ledger"], as_json=False)
    assert [result["arms"][arm]["invented"]["mean"] for arm in ("nothing", "ledger")] == [0.0, 1.0]
    assert result["not_as_asked"] == {
        "answers: JSON of another form": 1,
        "answers: prose where JSON was asked": 1,
        "grades: prose where JSON was asked": 2,
        "grades: no verdict": 1,
    }
    assert mean(result, "ledger") == 1.0
    assert result["arms"]["ledger"]["recall"]["model"]["answers"] == EXCHANGES - 1
    prose = next(a for a in result["answers"] if a["arm"] == "ledger" and THINGS[-1] in a["asked"])
    assert (prose["text"], prose["model"]) == (True, True)
    screen = capsys.readouterr().out
    assert "answers: prose where JSON was asked 1" in screen
    assert "By the age of the evidence, graded by plain text" in screen
    assert "Cohen's kappa" in screen
    assert "chapters + ledger" in screen
    assert UNKNOWN not in screen


async def test_bad_folds_are_drawn_again_and_counted(tmp_path: Path) -> None:
    async with ModelServer(window=4_096) as server:
        Rememberer().answers(server)
        server.folds.extend(["No JSON", Script('{"memories": [', finish_reason="length"), {"memories": []}, "x"])
        result = await evaluated(written(tmp_path), server, tmp_path / "out", arms=["ledger"], questions=2)
        draws = [(fold.prompt, fold.body["seed"]) for fold in server.of("fold")]
    fold = result["folds"][0]
    assert sum(fold["failed"].values()) >= 3
    assert {"fold: not_json", "fold: cut"} <= set(fold["failed"])
    assert fold["given_up"] == 1
    assert len(set(draws)) == len(draws), "each try is another draw"
    assert fold["turns_left_raw"] == 0


async def test_repeats_show_their_spread(tmp_path: Path) -> None:
    async with ModelServer(window=4_096) as server:
        model = Rememberer()
        model.answers(server)
        server.on["recall_grade"] = lambda body: {"right": body["seed"] == 0}
        result = await evaluated(
            written(tmp_path, 8), server, tmp_path / "out", arms=["ledger"], repeats=2, questions=3, trigger=600
        )
    share = result["arms"]["ledger"]["recall"]["model"]
    assert (share["mean"], share["low"], share["high"]) == (0.5, 0.0, 1.0)
    assert result["agreement"]["share"] == 0.5
    assert [fold["repeat"] for fold in result["folds"]] == [0, 1]
    assert len(result["answers"]) == 6


async def test_questions_are_made_once_where_none_came_along(tmp_path: Path) -> None:
    messages = []
    for at in range(8):
        for name, text in (("Ada", thing(at)), ("Bo", f"*{event(at)}*")):
            messages.append({"name": name, "is_user": name == "Ada", "mes": text, "send_date": 1_700_000_000 + at})
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(map(json.dumps, [{"user_name": "Ada"}, *messages])), encoding="utf-8")
    async with ModelServer(window=4_096) as server:
        Rememberer().answers(server)
        server.queued["recall_questions"].append({"questions": [{"question": "?", "answer": "x", "cites": [999]}, {}]})
        result = await evaluated(path, server, tmp_path / "out", arms=["window"], repeats=2, trigger=200)
        made = server.of("recall_questions")
    assert result["kind"] == "SillyTavern"
    assert result["bad_input"]["talk"] == {
        "questions made without evidence": 1,
        "questions without words or an answer": 1,
    }
    asked = {a["asked"] for a in result["answers"]}
    assert 0 < len(asked) <= 8
    assert len({request.prompt for request in made}) == len(made), "the second repeat asks the same questions"
    assert {a["right"] for a in result["answers"]} <= set(PLACES)
    assert result["arms"]["window"]["invented"]["mean"] is None


async def test_long_talks_are_cut_to_the_window_and_that_is_counted(tmp_path: Path) -> None:
    async with ModelServer(window=1_500) as server:
        Rememberer().answers(server)
        result = await evaluated(written(tmp_path), server, tmp_path / "out", arms=["window", "summary"], trigger=1_000)
    assert result["cut"]["window"] == {"sliding windows smaller than the trigger": 1}
    assert result["arms"]["window"]["length"]["tokens"] <= 600
    assert result["not_as_asked"] == {}


async def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path, options = written(tmp_path, 8), {"arms": ["summary", "ledger"], "questions": 4, "trigger": 600}
    async with ModelServer(window=4_096) as server:
        Rememberer().answers(server)
        whole = await evaluated(path, server, tmp_path / "whole", **options)
        needed = len(server.requests)
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "bot",
                "eval",
                "recall",
                str(path),
                "--arms",
                "summary",
                "ledger",
                "--repeats",
                "1",
            ),
            *("--questions", "4", "--trigger", "600", "--model", server.base_url, "--out", str(tmp_path / "killed")),
        )
        await server.arrived(needed + needed // 2)
        process.kill()
        await process.wait()
        before = len(server.requests)
        again = await evaluated(path, server, tmp_path / "killed", **options)
        asked = len(server.requests) - needed
    assert before - needed < needed
    assert needed <= asked <= needed + 2, "what was under way at the kill, a fold and a summary, is asked again"
    assert whole["arms"] == again["arms"]
    assert whole["answers"] == again["answers"]
    assert whole["folds"] == again["folds"]
    assert again["requests"]["kept"] >= before - needed - 2


async def test_a_dead_server_is_a_line_and_no_figures(tmp_path: Path) -> None:
    path = written(tmp_path, 8)
    async with ModelServer(window=4_096) as server:
        Rememberer().answers(server)
        server.on["recall_answer"] = lambda _: Script.failure(403, message="no")
        with pytest.raises(ModelGone, match="goes on where it was"):
            await evaluated(path, server, tmp_path / "out", arms=["nothing"])
        server.on_fold = lambda _: Script.failure(403, message="no")
        with pytest.raises(ModelGone, match="goes on where it was"):
            await evaluated(path, server, tmp_path / "out", arms=["ledger"], trigger=300)
    with pytest.raises(KataribeError, match="No model server answers"):
        await evaluated(path, server, tmp_path / "out")
    assert not (tmp_path / "out" / "result.json").exists()


def test_budgets_leave_room_for_eight_folds() -> None:
    profile = budgets_for_talk(8_192, 10**6, None)
    small = budgets_for_talk(8_192, 5_000, None)
    assert (profile.trigger, profile.room) == (3_750, 1_375)
    assert small.room == 5_000 // 11
    assert small.trigger / small.room == pytest.approx(profile.trigger / profile.room, rel=0.01)
    assert budgets_for_talk(8_192, 5_000, 1_000).room == round(1_375 * 1_000 / 3_750)
    assert budgets_for_talk(None, 10**6, None).trigger == 30_000


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--limit", "0"], "there is nothing to do"),
        (["--questions", "-1"], "there is nothing to do"),
        (["--repeats", "0"], "there is nothing to do"),
        (["--model", "large"], "neither small nor an address"),
    ],
)
def test_wrong_options_are_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    assert command_line.main(["eval", "recall", str(written(tmp_path)), "--model", "http://127.0.0.1:9/v1", *options])
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("trigger", [100, 8_000])
def test_a_trigger_that_fits_nothing_is_a_line(trigger: int) -> None:
    with pytest.raises(KataribeError, match=f"--trigger {trigger}"):
        budgets_for_talk(8_192, 5_000, trigger)


def test_the_command_line_names_all_arms() -> None:
    assert tuple(ARMS) == _ARMS


async def test_it_runs_with_the_small_model(tmp_path: Path) -> None:
    small_model_or_skip()
    path = written(tmp_path, 4)
    assert await recall.run(
        conversation=path, limit=1, questions=2, repeats=1, arms=["nothing", "window"], model="small", seed=1, trigger=200,
        as_json=True, out=tmp_path / "out",
    )  # fmt: skip
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert result["model"]
    assert len(result["answers"]) == 4
    assert (tmp_path / "out" / "recall.png").exists()
