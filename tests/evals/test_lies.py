"""The evaluation of lies: what it finds with a folder that tells the truth, and with one that folds as badly as possible."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot import __main__ as command_line
from bot.evals.folders import AdversaryFolder, Asked, Book, Lie
from bot.evals.lies import Figures, measure, run
from bot.evals.machinery import ModelGone
from bot.evals.playing import Played, play
from bot.evals.stories import Story, StoryUnreadable, load_story
from bot.memory.corrections import CorrectionKind
from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus, SessionMemory
from bot.memory.turns import Citation
from tests.evals.tales import ENGLISH, TALES
from tests.support.model_server import ModelServer, Script


@pytest.fixture(params=sorted(TALES))
def story(request: pytest.FixtureRequest) -> Story:
    return Story.model_validate(TALES[request.param])


async def test_the_truth_is_kept_and_nothing_else(story: Story, tmp_path: Path) -> None:
    figures = measure(await play(story, "truth", 1, tmp_path))

    assert figures.misses("truth") == []
    assert (figures.player_facts_kept, figures.quotes_kept) == ((3, 3), (1, 1))
    assert (figures.ends_tied, figures.memories["loose_end"]) == (2, 1)
    assert (figures.lies_corrected, figures.lies_told_again) == (3, 6)
    assert figures.lies_kept_as_claims, "the lies that were told again are on record as said"
    assert figures.memories["secret"] == 1


@pytest.mark.parametrize("seed", [1, 2])
async def test_no_fold_however_bad_makes_a_lie_true(story: Story, tmp_path: Path, seed: int) -> None:
    figures = measure(await play(story, "adversary", seed, tmp_path))

    assert figures.misses("adversary") == []
    assert figures.secrets_shown == figures.ends_reopened == figures.ends_still_open == ()
    assert figures.quotes_altered == figures.player_facts_of_others == ()
    assert figures.hypotheticals_stored == figures.planted_stored == ()
    assert figures.thoughts_shown == 0
    assert figures.folds >= 8
    assert figures.major_folds >= 2
    assert {"citation", "not-open", "end-already-known"} <= set(figures.dropped)
    assert figures.lies_kept_as_claims


async def test_the_same_seed_gives_the_same_figures(tmp_path: Path) -> None:
    story = Story.model_validate(ENGLISH)
    outcomes = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        outcomes.append(measure(await play(story, "adversary", 3, tmp_path / name)))
    assert outcomes[0] == outcomes[1]


def _mark(played: Played, *memories: Memory) -> Figures:
    """The figures with some more memories than there are."""
    more = replace(played.memory, memories=(*played.memory.memories, *memories))
    return measure(replace(played, memory=more))


def _stored(kind: MemoryKind, text: str, cite: str = "2.1", **rest: Any) -> Memory:
    content = Content(kind, text, **rest)
    return Memory(900, content, cites=tuple(c for c in [Citation.parse(cite)] if c))


async def test_it_sees_what_is_wrong(tmp_path: Path) -> None:
    """A measure that always says nought would be no measure."""
    played = await play(Story.model_validate(ENGLISH), "truth", 1, tmp_path)
    assert measure(played).misses("truth") == []

    lie = _mark(played, _stored(MemoryKind.EVENT, "A wolf has bitten his left hand."))
    assert [(f.number, f.against) for f in lie.claims_as_fact] == [(900, "wolf")]
    returned = _mark(played, _stored(MemoryKind.FACT, "The oven is made of pure silver."))
    assert [f.against for f in returned.lies_returned] == ["silver"]
    shown = _mark(
        played, _stored(MemoryKind.SECRET, "It was a small goose.", actual="A wolf has bitten his left hand.")
    )
    assert [f.against for f in shown.secrets_shown] == ["hand"]
    quote = _mark(played, _stored(MemoryKind.QUOTE, "I will find your lost compass by dinner, miss.", "10.2"))
    assert [f.number for f in quote.quotes_altered] == [900]
    again = _mark(played, _stored(MemoryKind.LOOSE_END, "Who keeps knocking under the floor?"))
    assert (len(again.ends_reopened), [f.against for f in again.ends_still_open]) == (1, ["knocking"])
    dragon = _mark(played, _stored(MemoryKind.FACT, "A dragon lights the fire of the bakery."))
    assert [f.against for f in dragon.hypotheticals_stored] == ["dragon"]
    coins = _mark(played, _stored(MemoryKind.FACT, "Tobias promised Ada fifty coins yesterday."))
    assert [f.against for f in coins.planted_stored] == ["coins"]
    other = _mark(played, _stored(MemoryKind.FACT, "Ada hates raisins.", player_id=5))
    assert [f.number for f in other.player_facts_of_others] == [900]
    lost = replace(played, memory=SessionMemory(played.memory.chapters, ()))
    assert measure(lost).player_facts_kept == (0, 3)
    assert {"player_facts_kept", "quotes_kept"} <= set(measure(lost).misses("truth"))
    assert "folds" in replace(measure(played), folds=7).misses("adversary")


async def test_a_lie_that_stood_before_its_correction_did_not_return(tmp_path: Path) -> None:
    played = await play(Story.model_validate(ENGLISH), "truth", 1, tmp_path)
    lie = next(lie for lie in played.book.lies if lie.claim.id == "silver")
    own = played.memory.get(lie.numbers[0])
    assert own is not None
    assert own.corrected
    undone = replace(own, corrected=False, status=MemoryStatus.ACTIVE)
    figures = measure(replace(played, memory=played.memory.with_memory(undone)))
    assert [(f.number, f.against) for f in figures.lies_returned] == [(own.number, "silver")]


def test_the_adversary_keeps_to_the_form_of_an_answer() -> None:
    """An answer that is rejected as a whole would do no harm."""
    story = Story.model_validate(ENGLISH)
    lie = Lie(story.truth.claims[0], CorrectionKind.RETRACT, "")
    book = Book(
        story, (lie,), {f"{t.seq}.{p}": (Citation(t.seq, p),) for t in story.turns for p in range(1, len(t.beats) + 1)}
    )
    lines = [
        f"[{t.seq}.{p} {b.kind} {b.speaker}] {b.text}" for t in story.turns for p, b in enumerate(t.beats, start=1)
    ]
    asked = Asked.read("\n".join(["#7 Who keeps knocking under the floor?", *lines]))
    folder = AdversaryFolder(book, 1)

    answer = folder.fold(asked)

    texts = [text for m in answer["memories"] for text in (m["text"], m["actual"]) if text]
    assert 10 < len(answer["memories"]) <= 24
    assert len(set(texts)) > len(texts) / 2
    assert sum(map(len, texts)) < asked.length
    assert {"number": 7, "cites": ["16.1"]} in answer["resolved"]
    assert all(set(m) == {"kind", "text", "actual", "who", "to", "cites"} for m in answer["memories"])


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "tale.json"
    path.write_text(json.dumps(ENGLISH, ensure_ascii=False), encoding="utf-8")
    return path


def test_the_command_prints_a_table_or_json(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["eval", "lies", str(written)]) == 0
    table = capsys.readouterr().out
    assert "players' facts kept" in table
    assert "3 of 3" in table

    assert command_line.main(["eval", "lies", str(written), "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert (whole["what"], whole["settings"], whole["seed"]) == ("eval lies", {"folder": "truth"}, 1)
    (result,) = whole["stories"]
    assert (result["story"], result["model"]) == ("small-en", "scripted")
    assert result["claims_as_fact"] == []
    assert result["budgets"]["trigger"] > 0


def _speech_as_facts(body: dict[str, Any]) -> dict[str, Any]:
    asked = Asked.read(body["messages"][-1]["content"])
    said = [
        {"kind": "fact", "text": text, "cites": [str(c)]}
        for c, (kind, _, text) in asked.beats.items()
        if kind == "speech"
    ]
    return {"memories": said, "opened": [], "resolved": []}


async def _lies_by(server: ModelServer, path: Path, out: Path, **options: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "stories": [path],
        "folder": "truth",
        "model": server.base_url,
        "seed": 1,
        "as_json": True,
        "out": out,
    }
    assert await run(**(given | options))
    result: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return result


async def test_a_model_folds_and_is_asked_nothing_twice(written: Path, tmp_path: Path) -> None:
    async with ModelServer(model="summariser") as server:
        server.on_fold = _speech_as_facts
        first = await _lies_by(server, written, tmp_path / "out")
        assert {request.purpose for request in server.requests} == {"fold"}, "replies are the story's own"
        asked = len(server.requests)
        again = await _lies_by(server, written, tmp_path / "out")
        assert len(server.requests) == asked
        other = await _lies_by(server, written, tmp_path / "out", seed=2)
        assert [r.body["seed"] for r in server.requests] == [1] * asked + [2] * asked

    (story,) = first["stories"]
    assert (story["model"], first["seed"], first["settings"]) == ("summariser", 1, {"folder": "model"})
    assert (story["claims_as_fact"], story["player_facts_kept"]) == ([], [0, 3])
    assert story["memories"] == {"claim": story["memories"]["claim"]}
    assert first["answers"] == {"kept": 0, "asked": asked, "failed": 0}
    assert again["answers"] == {"kept": asked, "asked": 0, "failed": 0}
    assert again["stories"] == first["stories"] == other["stories"]


async def test_a_stopped_run_with_answers_of_no_use_goes_on_where_it_was(written: Path, tmp_path: Path) -> None:
    """Prose is no fold: it is tried again, and each try has an answer of its own, also when the run is repeated."""
    async with ModelServer() as server:
        server.folds.extend(["Once upon a time, far away, there was a baker who never lied."] * 2)
        server.on_fold = _speech_as_facts
        first = await _lies_by(server, written, tmp_path / "out")
        asked = len(server.requests)
        newest = max((tmp_path / "out" / "answers").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        newest.unlink()  # as if the run had been stopped before it
        again = await _lies_by(server, written, tmp_path / "out")
        assert len(server.requests) == asked + 1
    assert again["stories"] == first["stories"]


async def test_the_small_model_folds(tmp_path: Path, small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it says, and here it is cut short: every fold holds or is counted."""
    monkeypatch.setenv("FOLD_OUTPUT_TOKENS", "24")
    path = tmp_path / "tale.json"
    path.write_text(json.dumps({**ENGLISH, "turns": ENGLISH["turns"][:6], "truth": {}}), encoding="utf-8")
    options: dict[str, Any] = {"stories": [path], "folder": "truth", "model": small, "seed": 1, "as_json": True}
    assert await run(**options, out=tmp_path / "out")
    whole = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    (story,) = whole["stories"]
    assert story["model"].startswith("SmolLM2")
    assert whole["answers"]["asked"] > 0
    assert story["folds"] or story["folds_failed"]


async def test_a_server_that_is_gone_is_no_figure(written: Path, tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.on_fold = lambda _: Script.failure(401)
        with pytest.raises(ModelGone, match="goes on where it was"):
            await _lies_by(server, written, tmp_path / "out")
    assert not (tmp_path / "out" / "result.json").exists()


def test_a_model_that_folds_must_be_named(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["eval", "lies", str(written), "--model"]) == 1
    assert "LLM_BASE_URL" in capsys.readouterr().err


def test_a_model_and_a_script_do_not_fold_together(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.main(["eval", "lies", str(written), "--folder", "adversary", "--model", "small"])
    assert "not allowed with" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"turns": []}, "needs a card, a player and turns"),
        ({"turns": "none"}, "turns"),
        ({"truth": {"facts": [{"id": "f", "text": "x", "evidence": ["99.1"]}]}}, "99.1"),
        ({"truth": {"facts": [{"id": "f", "text": "x", "evidence": ["one"]}]}}, "one"),
    ],
)
def test_a_file_that_is_no_story_is_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], says: str
) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({**ENGLISH, **change}), encoding="utf-8")
    assert command_line.main(["eval", "lies", str(path)]) == 1
    error = capsys.readouterr().err
    assert says in error
    assert len(error.splitlines()) == 1


def test_a_file_that_is_not_there_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(StoryUnreadable, match="cannot be read"):
        load_story(tmp_path / "nowhere.json")
