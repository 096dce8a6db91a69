"""The evaluation of people: what it finds with a judge that proposes everything, and with a model."""

from __future__ import annotations

import asyncio
import json
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot import __main__ as command_line
from bot import judging
from bot.evals.dialogues import DialoguesUnreadable, Talks, load_talks
from bot.evals.judges import ScriptedJudge, of_oneself
from bot.evals.machinery import ModelGone
from bot.evals.people import PAUSE, QUIET, Figures, Played, measure, play, run
from tests.evals.talks import START, TALKS, records, written
from tests.support.model_server import ModelServer, Script


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Talks:
    return load_talks(written(tmp_path_factory.mktemp("talks")))


@pytest.fixture(scope="module")
def played(talks: Talks, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return asyncio.run(play(talks, tmp_path_factory.mktemp("played")))


@pytest.fixture
def figures(talks: Talks, played: Played) -> Figures:
    return measure(talks, played)


def test_every_exchange_is_judged_once(figures: Figures) -> None:
    # What the other says first answers nobody, and so does what nobody answers.
    replies = sum(a == "P" != b for talk in TALKS for (a, _), (b, _) in pairwise(talk))

    assert (figures.dialogues, figures.replies) == (len(TALKS), replies)
    assert figures.exchanges == {"judged": replies, "waiting": 0}
    assert figures.tries_failed == {}


def test_nothing_of_another_speaker_is_kept(figures: Figures, played: Played) -> None:
    assert figures.of_others == ()
    assert figures.misses() == []
    assert figures.notes["proposed wrongly"] > figures.notes["proposed rightly"] >= figures.notes["kept"] > 10
    assert {"no-evidence", "said-by-others", "guess"} <= set(figures.notes_dropped)
    assert {"not-shown", "of-the-day"} <= set(figures.traits_dropped)
    everything = [*played.notes, *(text for said in played.traits.values() for text in said)]
    for theirs in ("旭川", "飼っています", "抹茶", "消防士", "推理小説", "釣り", "ピアノ", "ドイツ語"):
        assert not [text for text in everything if theirs in text]
    assert any("ギター" in text for text in everything)


def test_traits_live_through_all_their_stages(figures: Figures) -> None:
    traits = figures.traits
    assert traits["new"] > 3
    for change in ("seen again", "dormant", "revived", "forgotten"):
        assert traits[change] > 0, change
    assert (traits["gone"], traits["left"]) == (traits["new"], 0)
    assert PAUSE.days > 60
    assert QUIET.days > 240


def test_the_persona_scores_what_was_found(figures: Figures) -> None:
    assert figures.persona_found == (3, 4)
    assert figures.traits_in_persona is not None
    assert 0 < figures.traits_in_persona[0] < figures.traits_in_persona[1] == figures.traits["new"]


async def test_the_same_dialogues_give_the_same_figures(talks: Talks, figures: Figures, tmp_path: Path) -> None:
    assert measure(talks, await play(talks, tmp_path)) == figures


def test_it_sees_what_is_wrong(talks: Talks, played: Played) -> None:
    """A measure that always says nought would be no measure."""
    wrong = deepcopy(played)
    wrong.notes.append("猫を三匹飼っています。")
    wrong.traits[901, START] = ["消防士として働いている"]
    figures = measure(talks, wrong)
    assert [(f.tier, f.text) for f in figures.of_others] == [
        ("note", "猫を三匹飼っています。"),
        ("trait", "消防士として働いている"),
    ]
    assert "of_others" in figures.misses()

    wrong.waiting = 1
    wrong.failed["refused"] = 1
    wrong.changes["new"] = 0
    assert measure(talks, wrong).misses() == ["of_others", "exchanges", "tries_failed", "traits"]


def test_what_both_said_is_nobody_elses(talks: Talks, played: Played) -> None:
    both = deepcopy(played)
    both.notes.append("映画を観るのが好きです。")
    assert measure(talks, both).of_others == ()


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("私は横浜に住んでいます。", True),
        ("納豆が苦手です。", True),
        ("昨日は映画を観ました。", True),
        ("I always run in the morning.", True),
        ("猫を飼っているんですか？", False),
        ("猫を飼っているんですね！", False),
        ("猫がお好きなんですか。", False),
        ("Qさんは旅行がお好きなのでしょう。", False),
        ("はい。", False),
    ],
)
def test_what_somebody_says_of_themselves(text: str, own: bool) -> None:
    assert list(of_oneself(text)) == ([text] if own else [])


def test_the_scripted_judge_proposes_what_both_say() -> None:
    """Proposals that are never made would prove nothing."""
    lines = ["[1 player P] 猫の動画が好きです。", "[2 speech 聞き手] 私は毎朝走っています。", "[3 player P] すごい！"]
    judge = ScriptedJudge()
    answers = [json.loads(judge.answer("judge_notes", "前\n\n" + "\n".join(lines)))["notes"] for _ in range(10)]

    of_person = [tuple(n["cites"]) for notes in answers for n in notes if "猫" in n["text"]]
    of_other = [tuple(n["cites"]) for notes in answers for n in notes if "走" in n["text"]]
    assert set(of_person) == {(1,), (2,), (9_999,)}
    assert set(of_other) == {(2,), (3,), (1,), (2, 3)}

    known = "今の記録:\n#1 猫の動画が好きです。\n\nメモ:\n#1 2026-04-01 猫の動画が好きです。\n#2 2026-04-01 昨日は寝ました。"
    traits = [json.loads(judge.answer("judge_traits", known)) for _ in range(3)]
    assert [len(t["new"]) for t in traits] == [2, 2, 1]
    assert [t["seen"][0]["trait"] for t in traits] == [9_999, 1, 9_999]
    assert [t["updates"] for t in traits][2] == [{"trait": 1, "text": "猫の動画が好きです。", "notes": [1]}]


def test_the_command_prints_a_table_or_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, personas=False)
    assert command_line.main(["eval", "people", str(path), "--limit", "2"]) == 0
    shown = capsys.readouterr().out
    assert "P, 2 dialogues: judge scripted" in shown
    assert "unknown: no personas.json" in shown

    assert command_line.main(["eval", "people", str(path), "--limit", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["what"], result["person"]) == ("eval people", "P")
    assert result["settings"] == {"judge": "scripted", "limit": 2}
    assert result["of_others"] == []
    assert result["persona_found"] is None
    assert {"version", "commit", "python", "model"} <= set(result)


async def test_a_model_judges_and_is_asked_nothing_twice(tmp_path: Path) -> None:
    def notes(body: dict[str, Any]) -> dict[str, Any]:
        shown = body["messages"][-1]["content"].splitlines()
        own = [line for line in shown if " player P] " in line and "住んで" in line]
        return {"notes": [{"text": "横浜に住んでいる", "cites": [int(line[1 : line.index(" ")])]} for line in own]}

    async with ModelServer(model="judge") as server:
        server.on["judge_notes"] = notes
        server.on["judge_traits"] = lambda _: {
            "new": [{"text": "横浜に住んでいる", "notes": [1], "until": ""}], "seen": [], "updates": [],
        }  # fmt: skip
        results, asked = [], []
        for _ in range(2):
            options: dict[str, Any] = {"dialogues": written(tmp_path), "out": tmp_path / "out", "limit": None}
            assert await run(**options, model=server.base_url, seed=4, as_json=True)
            results.append(json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8")))
            asked.append(len(server.requests))
        assert {request.purpose for request in server.requests} == {"judge_notes", "judge_traits"}
        assert {request.body["seed"] % 1_000_003 for request in server.requests} == {4}

    first, again = results
    assert (first["model"], first["seed"], first["settings"]["judge"]) == ("judge", 4, "model")
    assert first["notes"]["kept"] > 0
    assert (first["traits"]["new"], first["traits"]["seen again"] > 0) == (1, True)
    assert (first["persona_found"], first["traits_in_persona"]) == ([1, 4], [1, 1])
    assert (first["answers"]["asked"], again["answers"]["asked"]) == (asked[0], 0)
    assert asked[0] == asked[1]
    assert {**again, "answers": None} == {**first, "answers": None}


async def test_a_server_that_is_gone_is_no_figure(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.on["judge_notes"] = lambda _: Script.failure(401)
        options: dict[str, Any] = {"dialogues": written(tmp_path), "out": tmp_path / "out", "limit": 2}
        with pytest.raises(ModelGone, match="goes on where it was"):
            await run(**options, model=server.base_url, seed=1, as_json=True)
    assert not (tmp_path / "out" / "result.json").exists()


async def test_the_small_model_judges(tmp_path: Path, small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it says, and here it is cut short: every judgement holds or is counted."""
    monkeypatch.setattr(judging, "_ANSWER_TOKENS", 24)
    said = [
        ("P", "I run by the river every morning."),
        ("{}", "So early!"),
        ("P", "I like the quiet."),
        ("{}", "I see."),
    ]
    two = [
        {
            "dialogue_id": other,
            "utterances": [
                {"interlocutor_id": who.format(other), "text": text, "timestamp": START.isoformat()}
                for who, text in said
            ],
        }
        for other in ("Q", "R")
    ]
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in two), encoding="utf-8")
    options: dict[str, Any] = {"dialogues": path, "out": tmp_path / "out", "limit": 1}
    assert await run(**options, model=small, seed=1, as_json=True)
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert result["model"].startswith("SmolLM2")
    assert result["answers"]["asked"] > 0
    assert result["notes"]["kept"] or result["notes_dropped"] or result["tries_failed"]


def test_a_model_that_judges_must_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["eval", "people", str(written(tmp_path)), "--model"]) == 1
    assert "LLM_BASE_URL" in capsys.readouterr().err


def test_dialogues_are_read_in_the_order_of_their_time(talks: Talks) -> None:
    assert talks.person == "P"
    assert [dialogue.id for dialogue in talks.dialogues] == [str(day) for day in range(len(TALKS))]
    times = [line.at for dialogue in talks.dialogues for line in dialogue.lines]
    assert times == sorted(times), "a line without a time stands after the one above it"
    assert times[0].isoformat() == "2026-04-01T20:00:00+09:00"


def _nobody(record: dict[str, Any]) -> None:
    record["utterances"] = [line for line in record["utterances"] if line["interlocutor_id"] != "P"]


def _no_start(record: dict[str, Any]) -> None:
    record["utterances"][0]["timestamp"] = "NaT"


def _no_time(record: dict[str, Any]) -> None:
    record["utterances"][0]["timestamp"] = "yesterday"


def _no_lines(record: dict[str, Any]) -> None:
    del record["utterances"]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_nobody, "0 speakers are in all of them"),
        (_no_start, "does not say when it began"),
        (_no_time, "yesterday is no time"),
        (_no_lines, "line 1 is no dialogue: utterances"),
    ],
)
def test_a_file_without_one_persons_dialogues_is_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Any, says: str
) -> None:
    spoilt = records()
    spoil(spoilt[0])
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in spoilt), encoding="utf-8")
    assert command_line.main(["eval", "people", str(path)]) == 1
    error = capsys.readouterr().err
    assert says in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("content", [None, b"", b"\xff\xff"])
def test_a_file_without_dialogues_is_a_line(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "none.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DialoguesUnreadable, match=r"cannot be read|holds no dialogue"):
        load_talks(path)


@pytest.mark.parametrize("limit", [0, -1])
def test_nothing_to_play_is_a_line(tmp_path: Path, limit: int) -> None:
    with pytest.raises(DialoguesUnreadable, match="nothing to play"):
        load_talks(written(tmp_path), limit)


def test_spoilt_personas_are_a_line(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "personas.json").write_text("[]", encoding="utf-8")
    with pytest.raises(DialoguesUnreadable, match="holds no personas"):
        load_talks(path)
