"""``bench turn`` on stories of a few turns: everything runs, what is counted is exact, and growth is noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.engine import Engine
from bot.evals import turn
from bot.evals.turn import Cost, Costs, Story
from bot.memory.recall import Found

SIZES = (40, 80)


async def played(folder: Path) -> tuple[bool, dict[str, Any]]:
    fine = await turn.run(SIZES, as_json=True, out=folder, window=4_096, repeats=2)
    return fine, json.loads((folder / "result.json").read_text())


async def test_a_short_run_counts_goes_on_where_it_was_and_notices_what_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, first = await played(tmp_path)

    assert json.loads(capsys.readouterr().out) == first
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    figures = {(row["operation"], row["turns"]): row for row in first["medians"]}
    assert {name for name, _ in figures} == {"message", "memory show", "search", "fold"}
    assert all(row["queries"] > 3 and row["rows"] > 3 and row["bytes"] > 99 for row in figures.values())
    assert first["stories"]["80"]["turns"] > first["stories"]["40"]["turns"] >= 40
    assert first["stories"]["80"]["corrected"] == first["stories"]["40"]["corrected"] == 6
    assert first["stories"]["80"]["traits"] > 0
    for size in ("40", "80"):
        kinds = {name for name in first["stories"][size] if name.startswith("kind ")}
        assert kinds == {f"kind {kind}" for kind in ("claim", "event", "fact", "loose_end", "quote", "secret")}
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "stories").iterdir()}
    assert {path.name for path in kept} == {f"{size}.db" for size in SIZES}

    search = Engine.search

    async def growing(engine: Engine, session_id: int, text: str) -> tuple[Found, ...]:
        for _ in range((await engine.figures(session_id)).turns // 10):
            await engine.session(session_id)
        return await search(engine, session_id, text)

    monkeypatch.setattr(Engine, "search", growing)
    fine, second = await played(tmp_path)

    assert not fine
    assert any(what.startswith("search at 80 turns: other queries") for what in second["missed"])
    assert second["stories"] == first["stories"]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "stories").iterdir()} == kept, "nothing grew twice"


def costs(turns: int, **figures: int) -> Costs:
    usual = {"queries": 5, "rows": 10, "bytes": 100, "milliseconds": 10}
    return Costs("message", turns, tuple(Cost(**{**usual, **figures}) for _ in range(3)))


@pytest.mark.parametrize(
    ("figures", "missed"),
    [
        ({}, ""),
        ({"milliseconds": 12}, ""),
        ({"milliseconds": 13}, "message at 90 turns: 1.3 times the milliseconds at 9"),
        ({"rows": 13, "waited": 99}, ""),
        ({"bytes": 50}, ""),
        ({"bytes": 130}, "message at 90 turns: 1.3 times the bytes at 9"),
        ({"queries": 6}, "message at 90 turns: other queries than at 9"),
        ({"queries": 4}, "message at 90 turns: other queries than at 9"),
    ],
)
def test_what_may_not_grow_is_named(tmp_path: Path, figures: dict[str, int], missed: str) -> None:
    stories = [Story(turns, tmp_path) for turns in (9, 90)]

    found = turn._figures([costs(9), costs(90, **figures)], stories)["missed"]

    assert found == [missed] * bool(missed)
