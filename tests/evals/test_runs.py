"""A run's record, and that figures of different code are never mixed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.errors import KataribeError
from bot.evals.runs import ResultsOfOtherCode, fingerprint, open_run


def test_a_result_says_how_it_came_to_be(tmp_path: Path) -> None:
    data = tmp_path / "story.json"
    data.write_text("{}", encoding="utf-8")
    run = open_run("eval lies", tmp_path / "out", settings={"folder": "truth"}, seed=3, inputs=[data])
    run.note(model="scripted")
    whole = run.save({"lies": 0})

    assert json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8")) == whole
    assert (whole["what"], whole["seed"], whole["model"], whole["lies"]) == ("eval lies", 3, "scripted", 0)
    assert whole["settings"] == {"folder": "truth"}
    assert whole["inputs"] == {str(data): "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}
    assert {"version", "commit", "code", "python", "system"} <= set(whole)
    assert run.picture("curve.png") == tmp_path / "out" / "curve.png"


def test_a_folder_without_a_name_bears_that_of_the_code(results: Path) -> None:
    assert open_run("bench turn", None, settings={}).folder == results / f"bench-turn-{fingerprint()}"


def test_the_same_code_goes_on_in_its_folder(tmp_path: Path) -> None:
    open_run("eval recall", tmp_path, settings={}).save({"first": 1})
    assert open_run("eval recall", tmp_path, settings={}).answers == tmp_path / "answers"


@pytest.mark.parametrize(("field", "value"), [("code", "0123456789abcdef"), ("what", "eval voice")])
def test_results_of_other_code_are_not_mixed_with(tmp_path: Path, field: str, value: str) -> None:
    open_run("eval recall", tmp_path, settings={})
    record = tmp_path / "record.json"
    record.write_text(json.dumps({**json.loads(record.read_text(encoding="utf-8")), field: value}), encoding="utf-8")
    with pytest.raises(ResultsOfOtherCode, match="--out") as caught:
        open_run("eval recall", tmp_path, settings={})
    assert value in str(caught.value)
    assert json.loads(record.read_text(encoding="utf-8"))[field] == value, "what was there stays"


@pytest.mark.parametrize("broken", ["", "[]", "{"])
def test_a_broken_record_is_refused_too(tmp_path: Path, broken: str) -> None:
    (tmp_path / "record.json").write_text(broken, encoding="utf-8")
    with pytest.raises(ResultsOfOtherCode):
        open_run("eval recall", tmp_path, settings={})


def test_a_folder_that_cannot_be_made_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(KataribeError, match="cannot be used for results"):
        open_run("eval recall", tmp_path / "file" / "out", settings={})
