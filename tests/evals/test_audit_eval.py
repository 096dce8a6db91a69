"""The audit of memories against their source: what is asked, what of the answers holds, and the exact figures."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot import __main__ as command_line
from bot.evals.archives import Told, load_export, story_of, told_of
from bot.evals.audit import run
from bot.evals.auditing import Fault, Work, fitted, judged, messages_of, schema_of, works_of
from bot.evals.machinery import ModelGone, settings_for
from bot.evals.playing import play
from bot.evals.stories import Story
from bot.export import export_session
from bot.memory.memories import Chapter, Content, Memory, MemoryKind, MemoryStatus, SessionMemory
from bot.memory.prompt import Card
from tests.evals.tales import ENGLISH, TALES
from tests.memory.builders import cites, memory, reply, said
from tests.support.model_server import ModelServer, Script

TURNS = (
    said(1, "Mio", "I hate raisins. Who took the key?"),
    reply(2, "Rin", ("speech", "The oven is pure silver."), ("thought", "I hid the key.")),
    said(3, "Mio", "((ooc: one moment))"),
    reply(4, "Rin", ("narration", "Rin drops a tray of burnt rolls."), ("speech", "I am fine.")),
    said(5, "Mio", "So where is the key?"),
    reply(6, "Rin", ("narration", "She puts the key upon the table."), ("speech", "I took it.")),
)
SILVER = memory(1, "The oven is made of silver.", MemoryKind.FACT, cited=("2.1",))
RAISINS = Memory(2, Content(MemoryKind.FACT, "Mio hates raisins.", player_id=11), cites=cites("1.1"), chapter=1)
KEY = memory(3, "Who took the key?", MemoryKind.LOOSE_END, cited=("1.2",))
TRAY = memory(4, "Rin drops a tray of burnt rolls.", cited=("4.1",))
CLAIM = memory(5, "She is fine.", MemoryKind.CLAIM, cited=("4.2",), speaker="Rin")
QUOTE = memory(6, "I am fine.", MemoryKind.QUOTE, cited=("4.2",), speaker="Rin")
SAD = memory(7, "Rin is sad about the rolls.", cited=("4.1",))
MEMORIES = (SILVER, RAISINS, KEY, TRAY, CLAIM, QUOTE, SAD)
TOLD = Told("tale", Card("Rin", ""), TURNS, SessionMemory((Chapter(1, 1, 4), Chapter(2, 5, 6)), MEMORIES))


def _verdict(number: object, fault: str, *cited: object, reason: object = "so it is") -> dict[str, object]:
    return {"memory": number, "reason": reason, "cites": list(cited), "fault": fault}


def test_a_chapter_is_asked_with_its_turns_and_its_ends_with_the_likeliest_later_ones() -> None:
    chapter, later = works_of(TOLD)
    assert ([m.number for m in chapter.memories], [t.seq for t in chapter.turns]) == ([*range(1, 8)], [1, 2, 3, 4])
    assert (later.later, later.memories, [t.seq for t in later.turns]) == (True, (KEY,), [5, 6])
    assert works_of(TOLD, limit=1) == [chapter], "the second chapter is not there"

    system, asked = messages_of(chapter, "en")
    assert "claim_as_fact" in system.content
    assert "[2.1 speech Rin] The oven is pure silver." in asked.content
    assert "#5 claim: Rin said: She is fine." in asked.content
    assert "still_open" in messages_of(later, "en")[0].content
    verdict = schema_of(later)["properties"]["verdicts"]
    assert verdict["items"]["properties"]["fault"] == {"enum": ["still_open"]}
    assert verdict["maxItems"] == 1


def test_what_moderators_settled_or_nobody_uses_is_not_asked_about() -> None:
    settled = memory(8, "The oven is rusty iron.", corrected=True, cited=("2.1",))
    gone = memory(9, "Rin sings.", status=MemoryStatus.RETRACTED, cited=("2.1",))
    under = memory(10, "Rin hid a key.", status=MemoryStatus.CONDENSED, cited=("2.2",))
    line = memory(11, "Things were hidden and dropped.", chapter=None, condenses=(4, 10))
    told = Told("tale", Card("Rin", ""), TURNS, SessionMemory((Chapter(1, 1, 4),), (TRAY, settled, gone, under, line)))
    chapter, synopsis = works_of(told)
    assert [m.number for m in chapter.memories] == [4, 10]
    assert ([m.number for m in synopsis.memories], [t.seq for t in synopsis.turns]) == ([11], [2, 4])
    assert synopsis.origins[11] == cites("2.2", "4.1")


def test_too_long_a_source_is_cut_to_what_is_cited_and_likeliest() -> None:
    work = works_of(TOLD)[0]
    assert fitted(work, 10_000) is work
    only = Work(1, (TRAY,), work.turns, work.origins)
    short = fitted(only, 25)
    assert ([t.seq for t in short.turns], short.shortened) == ([4], True)


@pytest.mark.parametrize(
    ("verdict", "falls"),
    [
        (_verdict(1, "claim_as_fact", "2.1"), None),
        (_verdict(7, "guessed_feeling", "4.1"), None),
        (_verdict(7, "not_in_source", "4.1", "2.2"), None),
        (_verdict(3, "still_open", "2.2"), None),
        ("prose", "malformed"),
        (_verdict("1", "claim_as_fact", "2.1"), "malformed"),
        (_verdict(True, "claim_as_fact", "2.1"), "malformed"),
        (_verdict(99, "claim_as_fact", "2.1"), "no such memory"),
        (_verdict(1, "dull", "2.1"), "no such fault"),
        (_verdict(1, "claim_as_fact"), "cites no line"),
        (_verdict(1, "claim_as_fact", "3.1"), "cites no line"),  # out of character
        (_verdict(1, "claim_as_fact", "2.9", "two", 7, None), "cites no line"),
        (_verdict(1, "claim_as_fact", "4.1"), "nobody says it there"),
        (_verdict(4, "claim_as_fact", "4.2"), "to the letter in its source"),
        (_verdict(5, "claim_as_fact", "4.2"), "states no fact"),
        (_verdict(2, "claim_as_fact", "1.1"), "a player's own fact"),
        (_verdict(1, "still_open", "4.1"), "not an open end"),
        (_verdict(3, "still_open", "1.1"), "not after it was opened"),
        (_verdict(5, "guessed_feeling", "4.2"), "states no fact"),
        (_verdict(6, "not_in_source", "4.2"), "to the letter in its source"),
    ],
)
def test_a_verdict_stands_unless_code_knows_better(verdict: object, falls: str | None) -> None:
    work = works_of(TOLD)[0]
    found = judged(work, {"verdicts": [verdict]})
    assert dict(found.dropped) == ({falls: 1} if falls else {})
    assert len(found.verdicts) == (falls is None)


def test_citations_of_nothing_are_counted_and_a_verdict_said_twice_is_one() -> None:
    found = judged(
        works_of(TOLD)[0],
        {"verdicts": [_verdict(1, "claim_as_fact", "2.1", "99.1", "x"), _verdict(1, "claim_as_fact", "2.1", reason=7)]},
    )
    (verdict,) = found.verdicts
    assert (verdict.fault, verdict.reason, verdict.cites) == (Fault.CLAIM_AS_FACT, "so it is", cites("2.1"))
    assert (found.uncited, dict(found.dropped)) == (2, {"said twice": 1})


# --- the whole run ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with its memory, folded truly, in which three lies were corrected."""
    folder = tmp_path_factory.mktemp("told")
    asyncio.run(play(Story.model_validate(ENGLISH), "truth", 1, folder))
    return folder / "story.db"


def _address(database: Path) -> str:
    return settings_for("", database, {}).database_url


@pytest.fixture
async def export(database: Path, tmp_path: Path) -> Path:
    text = await export_session(_address(database), 1, "json")
    assert text
    path = tmp_path / "export.json"
    path.write_text(text, encoding="utf-8")
    return path


def _records(body: dict[str, Any]) -> dict[int, tuple[str, str]]:
    asked = body["messages"][-1]["content"]
    return {int(n): (kind, text) for n, kind, text in re.findall(r"^#(\d+) (\w+): (.*)$", asked, re.MULTILINE)}


def _auditor(body: dict[str, Any]) -> dict[str, Any]:
    """Finds the bridge settled, ovens invented, and says of all that players tell that it is only a claim."""
    verdicts = []
    cited = body["response_format"]["json_schema"]["schema"]["properties"]["verdicts"]["items"]["properties"]["cites"]
    last = cited["items"]["enum"][-1]
    for number, (kind, text) in _records(body).items():
        if "bridge" in text and kind == "loose_end":
            verdicts.append(_verdict(number, "still_open", last))
        elif "oven" in text and kind == "event":
            verdicts.append(_verdict(number, "not_in_source", last))
        elif "Ada " in text and kind == "fact":
            verdicts.append(_verdict(number, "claim_as_fact", last))
    return {"verdicts": verdicts}


async def _audit(server: ModelServer, out: Path, *stories: Path, **options: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"session": None, "seed": 1, "limit": None, "as_json": True}
    assert await run(stories=stories, model=server.base_url, out=out, **(given | options))
    result: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return result


async def test_an_export_is_audited_with_exact_figures_and_nothing_is_asked_twice(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = load_export(export)
    ovens = [m for m in told.memory.memories if "rusty iron" in m.content.text]
    assert [(m.kind, m.status, m.chapter) for m in ovens] == [("event", "condensed", 2), ("event", "active", None)]

    async with ModelServer(model="auditor") as server:
        server.on["eval_audit"] = _auditor
        result = await _audit(server, tmp_path / "out", export)
        asked = len(server.requests)
        again = await _audit(server, tmp_path / "out", export, as_json=False)
        assert len(server.requests) == asked, "the answers were kept"

    (story,) = result["stories"]
    assert (result["what"], result["model"], result["seed"]) == ("eval audit", "auditor", 1)
    assert story["faults"] == {"claim_as_fact": 0, "still_open": 1, "guessed_feeling": 0, "not_in_source": 2}
    checked = [m for m in told.memory.memories if m.status in ("active", "condensed") and not m.corrected]
    assert (story["memories"], story["unchecked"], story["settled_by_moderators"]) == (len(checked), 0, 3)
    assert story["per_100"]["still_open"] == round(100 / len(checked), 1)
    assert story["dropped"] == {"a player's own fact": 3, "not after it was opened": 1}
    assert (story["open_ends"], story["unanswered"], story["requests"]) == (1, {}, asked)
    assert again["stories"] == result["stories"]
    assert again["answers"] == {"kept": asked, "asked": 0, "failed": 0}

    oven, bridge, synopsis = story["findings"]
    assert (oven["fault"], oven["memory"], oven["chapter"], synopsis["chapter"]) == ("not_in_source", 8, 2, None)
    assert oven["text"] == "The oven is rusty iron patched with a tin."
    rusty = {"kind": "narration", "speaker": "Tobias Wren", "text": "It is rusty iron, patched with a flattened tin."}
    assert oven["source"] == [{"cite": "4.2", **rusty}]
    assert [line["cite"] for line in synopsis["source"]] == ["4.2", "16.1"]
    assert (bridge["fault"], bridge["cited"][0]["text"]) == ("still_open", "To maps, then, and to honest ovens.")

    shown = capsys.readouterr().out
    assert "not in the source" in shown
    document = (tmp_path / "out" / "audit.md").read_text(encoding="utf-8")
    assert document.count("- [ ] ") == 3
    assert "It is rusty iron, patched with a flattened tin." in document
    assert (tmp_path / "out" / "audit.png").read_bytes().startswith(b"\x89PNG")


async def test_prose_and_cut_answers_are_counted_and_their_memories_are_not(export: Path, tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.queued["eval_audit"].extend(["The records look fine to me, all of them.", '{"verdicts": [{"mem'])
        server.on["eval_audit"] = _auditor
        result = await _audit(server, tmp_path, export)
        unchecked = {number for request in server.requests[:2] for number in _records(request.body)}
    (story,) = result["stories"]
    assert story["unanswered"] == {"not_json": 2}
    assert story["unchecked"] == len(unchecked)


async def test_a_server_that_is_gone_is_no_figure_and_the_run_goes_on_later(export: Path, tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.queued["eval_audit"].extend([{"verdicts": []}, *[Script.failure(500)] * 3])
        server.on["eval_audit"] = _auditor
        with pytest.raises(ModelGone, match="goes on where it was"):
            await _audit(server, tmp_path, export)
        assert not (tmp_path / "result.json").exists()
        result = await _audit(server, tmp_path, export)
    assert result["answers"]["kept"] == 1
    assert result["answers"]["asked"] == result["stories"][0]["requests"] - 1


async def test_a_session_of_the_database_is_only_read(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    monkeypatch.setenv("DATABASE_URL", _address(database))
    async with ModelServer() as server:
        server.on["eval_audit"] = _auditor
        result = await _audit(server, tmp_path, session=1, limit=2)
    (story,) = result["stories"]
    assert (story["story"], story["chapters"]) == ("session 1", 2)
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before


async def test_a_story_is_played_and_folded_by_the_model(tmp_path: Path) -> None:
    path = tmp_path / "tale.json"
    path.write_text(json.dumps(TALES["ja"], ensure_ascii=False), encoding="utf-8")

    def fold(body: dict[str, Any]) -> dict[str, Any]:
        lines = re.findall(r"^\[(\S+) narration [^\]]*\] (.*)$", body["messages"][-1]["content"], re.MULTILINE)
        return {
            "memories": [{"kind": "event", "text": text, "cites": [cite]} for cite, text in lines],
            "opened": [], "resolved": [],
        }  # fmt: skip

    def find_first(body: dict[str, Any]) -> dict[str, Any]:
        number, cite = min(_records(body)), body["messages"][-1]["content"].split("[")[1].split()[0]
        return {"verdicts": [_verdict(number, "guessed_feeling", cite)]}

    async with ModelServer(model="both") as server:
        server.on_fold = fold
        server.on["eval_audit"] = find_first
        result = await _audit(server, tmp_path / "out", path, limit=2)
        asked = len(server.requests)
        assert {request.purpose for request in server.requests} == {"fold", "eval_audit"}
        again = await _audit(server, tmp_path / "out", path, limit=2)
        assert len(server.requests) == asked
    (story,) = result["stories"]
    assert (story["chapters"], story["dropped"]) == (2, {"to the letter in its source": 2})
    assert story["memories"] > 0
    assert again["stories"] == result["stories"]


async def test_what_is_odd_in_an_export_is_counted(export: Path, tmp_path: Path) -> None:
    document = json.loads(export.read_text(encoding="utf-8"))
    document["turns"].append(document["turns"][0])
    document["memories"].append(document["memories"][0])
    document["memories"][0]["cites"] = ["x", 7, "9999.1", "1.1"]
    document["memories"][1]["chapter"] = 99
    told = told_of(json.dumps(document).encode(), "odd")
    assert dict(told.oddities) == {
        "turns told twice": 1, "memories told twice": 1, "citations that are none": 2,
        "citations of what is not there": 1, "memories of a chapter that is not there": 1,
    }  # fmt: skip
    assert told.memory.memories[0].cites == cites("1.1")
    assert told.card.name == "Tobias Wren"

    story = story_of(told)
    assert (story.language, story.players[0].name, story.turns[0].by_player) == ("en", "Ada Brook", "1001")
    assert [beat.kind for beat in story.turns[1].beats] == ["narration", "speech", "thought", "narration"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "http://127.0.0.1:9/v1"], "name a file"),
        (["export.json"], "LLM_BASE_URL"),
        (["export.json", "--limit", "0", "--model", "small"], "nothing to audit"),
        (["export.json", "--model", "large"], "neither small nor an address"),
        (["nowhere.json"], "cannot be read"),
        (["odd.json"], "no export of version 1: version"),
    ],
)
async def test_what_cannot_be_audited_is_a_line(
    export: Path, arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(export.parent)
    Path("odd.json").write_text('{"format": "kataribe-export", "version": 2}', encoding="utf-8")
    assert await asyncio.to_thread(command_line.main, ["eval", "audit", *arguments]) == 1
    error = capsys.readouterr().err
    assert says in error


async def test_the_small_model_audits(export: Path, tmp_path: Path, small: str) -> None:
    """Whatever it says: every request is answered or counted."""
    document = json.loads(export.read_text(encoding="utf-8"))
    document["chapters"] = document["chapters"][:1]
    document["memories"] = [m for m in document["memories"] if m["chapter"] == 1 and not m["corrected"]][:1]
    document["turns"] = document["turns"][:3]
    export.write_text(json.dumps(document), encoding="utf-8")
    assert await run(
        stories=[export], session=None, model=small, seed=1, limit=None, as_json=True, out=tmp_path / "out"
    )
    whole = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    (story,) = whole["stories"]
    assert whole["model"].startswith("SmolLM2")
    assert story["requests"] == 1
    assert story["memories"] + story["unchecked"] == 1
