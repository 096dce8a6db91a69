"""The evaluation of voices: with a character that loses its voice by the folds, and judges of all sorts, the figures are exact."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from bot import __main__ as command_line
from bot.evals.interview import Interview, Pair, judge_messages, moments, open_models
from bot.evals.machinery import ModelAt, ModelGone, settings_for
from bot.evals.playing import play
from bot.evals.runs import open_run
from bot.evals.stories import Story
from bot.evals.voice import outcome, run
from bot.evals.voice_wording import VOICE_WORDINGS
from bot.export import export_session
from bot.memory.prompt import Card
from tests.evals.tales import ENGLISH
from tests.support.model_server import ModelServer, Script

ROUGH, FLAT = "Arr, flour and thunder", "I am fine, thank you"


@pytest.fixture
def tale(tmp_path: Path) -> Path:
    path = tmp_path / "tale.json"
    path.write_text(json.dumps(ENGLISH, ensure_ascii=False), encoding="utf-8")
    return path


def _fold(body: dict[str, Any]) -> dict[str, Any]:
    lines = re.findall(r"^\[(\S+) narration [^\]]*\] (.*)$", body["messages"][-1]["content"], re.MULTILINE)
    events = [{"kind": "event", "text": text, "cites": [cite]} for cite, text in lines]
    return {"memories": events, "opened": [], "resolved": []}


def _major(body: dict[str, Any]) -> dict[str, Any]:
    events = re.findall(r"^#(\d+) (.*)$", body["messages"][-1]["content"], re.MULTILINE)
    numbers = [int(number) for number, _ in events]
    return {"events": [{"text": events[0][1], "condenses": numbers}]}


def _is_early(body: dict[str, Any]) -> bool:
    return any("The story is only beginning." in str(m["content"]) for m in body["messages"])


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    """In its own voice while it has no memory; the seed shows in the words, the question too."""
    what = ROUGH if _is_early(body) else FLAT
    text = f"{what}! ({body['seed']}) {body['messages'][-1]['content'][-20:]}"
    return {"beats": [{"kind": "speech", "speaker": "Tobias Wren", "text": text}]}


def _answers(body: dict[str, Any]) -> tuple[str, str]:
    (a, b) = re.findall(r"^Answer [AB]:\n(.*)$", body["messages"][-1]["content"], re.MULTILINE)
    return a, b


def _just(body: dict[str, Any]) -> dict[str, Any]:
    rough = [ROUGH in answer for answer in _answers(body)]
    return {"choice": "same" if rough[0] == rough[1] else "AB"[rough.index(True)]}


async def _voice(server: ModelServer, out: Path, story: Path | None, **options: Any) -> dict[str, Any]:
    server.on_fold, server.on_major_fold = _fold, _major
    server.on_reply = server.on.get("reply") or _reply
    given: dict[str, Any] = {"session": None, "questions": 2, "repeats": 1, "seed": 3, "limit": 14, "as_json": True}
    assert await run(**({"story": story, "model": server.base_url, "out": out} | given | options))
    result: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return result


async def test_a_lost_voice_is_heard_and_nothing_is_asked_twice(
    tale: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with ModelServer(model="all") as server:
        server.on["eval_voice"] = _just
        result = await _voice(server, tmp_path / "out", tale, questions=1, repeats=2)
        asked = len(server.requests)
        replies = server.of("reply")
        again = await _voice(server, tmp_path / "out", tale, questions=1, repeats=2, as_json=False)
        assert len(server.requests) == asked

    assert (result["what"], result["model"], result["judge"], result["seed"]) == ("eval voice", "all", "all", 3)
    after, control = result["outcomes"]["after"], result["outcomes"]["control"]
    assert after["counts"] == {"better": 0, "same": 0, "worse": 2, "disagree": 0}
    assert (after["pairs"], after["judged"], after["shares"]["worse"], after["share_of_a"]) == (2, 2, 1.0, 0.5)
    assert control["counts"] == {"better": 0, "same": 2, "worse": 0, "disagree": 0}
    assert (control["share_of_a"], control["identical"]) == (None, 0)
    assert result["before"]["chapters"] == 0
    assert result["after"]["chapters"] > 1
    assert result["after"]["raw turns"] <= result["before"]["raw turns"]
    assert (result["prose_replies"], result["replies_failed"], result["unjudged"]) == (0, {}, {})

    early, late = [r for r in replies if _is_early(r.body)], [r for r in replies if not _is_early(r.body)]
    assert [r.body["seed"] for r in early] == [3000, 3001, 3002, 3003]
    assert [r.body["seed"] for r in late] == [3000, 3002]
    question = VOICE_WORDINGS["en"].questions[0]
    assert all(question in early[0].messages[-1]["content"] for early in (early, late))
    assert all(str(r.body).count(question) == 1 for r in replies), "a question leaves no trace"

    assert {**again, "answers": None} == {**result, "answers": None}
    assert (result["answers"]["asked"], again["answers"]["asked"], again["answers"]["kept"]) == (asked, 0, asked)
    shown = capsys.readouterr().out
    assert "worse 2 (1.00)" in shown
    document = (tmp_path / "out" / "voice.md").read_text(encoding="utf-8")
    assert document.count("\n## ") == 4
    assert FLAT in document
    assert (tmp_path / "out" / "voice.png").read_bytes().startswith(b"\x89PNG")


async def test_a_judge_that_only_likes_what_stands_first_shows_as_such(tale: Path, tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.on["eval_voice"] = lambda _: {"choice": "A"}
        result = await _voice(server, tmp_path, tale, questions=1)
        judged = server.of("eval_voice")
    for kind in ("after", "control"):
        assert result["outcomes"][kind]["counts"] == {"better": 0, "same": 0, "worse": 0, "disagree": 1}
        assert result["outcomes"][kind]["share_of_a"] == 1.0
    assert _answers(judged[0].body) == _answers(judged[1].body)[::-1]
    asked = judged[0].messages[-1]["content"]
    assert "A village baker with a great many stories." in asked
    assert not re.search(r"before|after|fold", asked)


async def test_what_is_no_judgement_and_no_reply_is_counted(tale: Path, tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.replies.extend(["Plain prose it is.", Script("…", finish_reason="content_filter"), "And prose again."])
        server.queued["eval_voice"].extend(["Both are lovely, I could never choose.", {"choice": "C"}])
        server.on["eval_voice"] = _just
        result = await _voice(server, tmp_path, tale)
    # Of the first question the late answer never came; of its control no judgement is one.
    assert (result["prose_replies"], result["replies_failed"]) == (2, {"model-filtered": 1})
    assert result["unjudged"] == {"not_json": 2}
    control, after = result["outcomes"]["control"], result["outcomes"]["after"]
    assert (control["pairs"], control["judged"], after["pairs"], after["judged"]) == (2, 1, 1, 1)
    assert [pair["outcome"] for pair in result["pairs"]] == ["", "worse", "same"]


async def test_answers_that_are_the_same_need_no_judge(tale: Path, tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.on_reply = lambda _: {"beats": [{"kind": "speech", "speaker": "Tobias Wren", "text": ROUGH}]}
        result = await _voice(server, tmp_path, tale, questions=1)
        assert server.of("eval_voice") == []
    assert result["outcomes"]["after"]["counts"]["same"] == 1
    assert (result["outcomes"]["after"]["identical"], result["outcomes"]["after"]["share_of_a"]) == (1, None)


async def test_an_export_is_played_with_its_whole_card_by_the_models_of_the_settings(
    tmp_path: Path, database_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "export.json"
    document = json.loads(await database_of({**ENGLISH, "turns": ENGLISH["turns"][:14]}))
    document["character"]["card"]["personality"] = "Loud, warm, never tired of his own tales."
    path.write_text(json.dumps(document), encoding="utf-8")
    async with ModelServer(model="actor", api_key="one") as actor, ModelServer(model="scribe", api_key="two") as scribe:
        settings = {"LLM_BASE_URL": actor.base_url, "LLM_API_KEY": "one", "FOLDER_BASE_URL": scribe.base_url}
        for name, value in {**settings, "FOLDER_API_KEY": "two"}.items():
            monkeypatch.setenv(name, value)
        actor.on_reply = _reply
        scribe.on["eval_voice"] = _just
        result = await _voice(scribe, tmp_path / "out", path, questions=1, model="configured")
        assert {request.purpose for request in actor.requests} == {"reply"}
        assert {request.purpose for request in scribe.requests} >= {"fold", "eval_voice"}
        shown = [*actor.requests, *scribe.of("eval_voice")]
        assert all("never tired of his own tales" in str(request.body) for request in shown)
    assert (result["story"], result["model"], result["judge"]) == ("export", "actor", "scribe")
    assert result["outcomes"]["after"]["counts"]["worse"] == 1


@pytest.fixture
def database_of(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The export of a tale that was played."""

    async def text(told: dict[str, Any]) -> str:
        folder = tmp_path_factory.mktemp("played")
        await play(Story.model_validate(told), "truth", 1, folder)
        exported = await export_session(settings_for("", folder / "story.db", {}).database_url, 1, "json")
        assert exported
        return exported

    return text


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("A", "B", "worse"), ("B", "A", "better"), ("same", "same", "same"), ("A", "A", "disagree"),
        ("B", "B", "disagree"), ("A", "same", "disagree"), (None, "A", ""), ("A", None, ""),
    ],
)  # fmt: skip
def test_only_what_is_found_in_both_orders_counts(first: Any, second: Any, found: str) -> None:
    assert Pair("after", "Why?", 0, ("one", "two"), first, second).outcome == found


def test_shares_are_of_the_judged_pairs() -> None:
    pairs = [
        Pair("after", "Why?", 0, ("one", "two"), "A", "B"),
        Pair("after", "Why?", 1, ("one", "two"), "A", "A"),
        Pair("after", "Why?", 2, ("one", "one"), "same", "same"),
        Pair("after", "Why?", 3, ("one", "two"), None, "A"),
    ]
    found = outcome(pairs)
    assert (found.pairs, found.judged, found.identical) == (4, 3, 1)
    assert found.shares == {"better": 0.0, "same": 0.333, "worse": 0.333, "disagree": 0.333}
    assert found.share_of_a == 0.75
    assert outcome([]).share_of_a is None


@pytest.mark.parametrize("language", sorted(VOICE_WORDINGS))
def test_each_language_asks_as_many_questions_and_tells_the_judge_whom_it_hears(language: Any) -> None:
    words = VOICE_WORDINGS[language]
    assert len(set(words.questions)) == 8
    card = Card("Rin", "A baker.", personality="Loud.", mes_example="Arr!")
    system, asked = judge_messages(card, words.questions[0], ("one", "two"), words)
    assert "Rin" in system.content
    assert "{" not in system.content + asked.content
    assert asked.content.index("Arr!") < asked.content.index(words.questions[0]) < asked.content.index("one")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Name either a file"),
        (["tale.json", "--session", "1"], "Name either a file"),
        (["tale.json", "--questions", "9"], "there are 1 to 8"),
        (["tale.json", "--repeats", "0"], "--repeats 0"),
        (["tale.json", "--limit", "1"], "no reply of a character"),
        (["tale.json"], "LLM_BASE_URL"),
        (["nowhere.json"], "cannot be read"),
    ],
)
async def test_what_cannot_be_asked_is_a_line(
    tale: Path, arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tale.parent)
    assert await asyncio.to_thread(command_line.main, ["eval", "voice", *arguments]) == 1
    assert says in capsys.readouterr().err


async def test_a_server_that_is_gone_is_no_figure_and_the_run_goes_on_later(tale: Path, tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.on["eval_voice"] = _just
        server.on_reply = lambda body: _reply(body) if _is_early(body) else Script.failure(500)
        with pytest.raises(ModelGone, match="goes on where it was"):
            await _voice(server, tmp_path, tale, questions=1)
        asked = len(server.requests)
        server.on_reply = _reply
        result = await _voice(server, tmp_path, tale, questions=1)
        assert {request.purpose for request in server.requests[asked:]} == {"reply", "eval_voice"}, "folds were kept"
    assert result["outcomes"]["after"]["counts"]["worse"] == 1


async def test_a_story_that_is_never_folded_is_a_line(tale: Path, tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.on["eval_voice"] = _just
        with pytest.raises(Exception, match="too short"):
            await _voice(server, tmp_path, tale, limit=2)


async def test_the_small_model_plays_and_judges(tmp_path: Path, small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it says: every pair is judged or counted. So small a model takes minutes to fold; that is scripted here."""
    monkeypatch.setenv("LLM_REPLY_TOKENS", "48")
    story, card = (
        Story.model_validate({**ENGLISH, "turns": ENGLISH["turns"][:8]}),
        Card("Tobias Wren", "A village baker."),
    )
    async with ModelServer() as server, AsyncExitStack() as stack:
        server.on_fold, server.on_major_fold = _fold, _major
        before, after, settings = await moments(story, card, ModelAt(server.base_url), tmp_path, lambda _: None)
        models = await open_models(stack, small, open_run("eval voice", tmp_path / "out", settings={}), 1, 1)
        interview = Interview(story, card, settings, models, lambda _: None)
        pairs = await interview.pairs(VOICE_WORDINGS["en"].questions[0], before, after)
        assert models.client.profile.model.startswith("SmolLM2")
    judged = sum(bool(pair.outcome) for pair in pairs)
    assert len(pairs) == 2 or interview.failed
    assert judged == len(pairs) or interview.unjudged
