"""What a model server's cache can reuse: our own way and those of others, on a scripted server that counts exactly."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.errors import KataribeError
from bot.evals import layouts, prefix
from bot.evals.folders import Asked
from bot.evals.harbour import CARD, Exchange, Log, script
from bot.evals.layouts import CLOCK, FOLD, MAJOR_FOLD, OURS, SLIDING, SUMMARY, Server
from bot.memory.messages import Message
from tests.support.model_server import Body, ModelServer, tokenize

SMALL_MODEL = Path(__file__).parents[2] / ".cache" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
TURNS = 24
WORDS = ("lamp", "gull", "rope", "coin", "map", "stove", "tide", "salt", "fog", "kettle", "ferry", "wind")

Shown = dict[str, Any]


def folded(body: Body) -> dict[str, Any]:
    """The first beats of the stretch as they are."""
    beats = Asked.read(body["messages"][-1]["content"]).beats
    memories = [
        {"kind": "event", "text": text[:60], "cites": [str(cite)], "who": "", "to": "", "actual": ""}
        for cite, (_, __, text) in list(beats.items())[:3]
    ]
    return {"memories": memories, "opened": [], "resolved": []}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(window=2_000, slots=3) as running:
        chance = random.Random(3)
        running.on_reply = lambda _: json.dumps(
            {"beats": [{"kind": "speech", "speaker": "Isla", "text": " ".join(chance.choice(WORDS) for _ in range(9))}]}
        )
        running.on_fold = folded
        yield running


class Bench:
    """Runs the benchmark in one folder, and gives back whether it was well and what it printed."""

    def __init__(self, server: ModelServer, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.server = server
        self.folder = folder
        self._capsys = capsys

    async def run(self, **changes: Any) -> tuple[bool, Shown]:
        options: dict[str, Any] = {"turns": TURNS, "model": self.server.base_url, "sample": 3, "as_json": True}
        well = await prefix.run(**{**options, **changes}, out=self.folder)
        return well, json.loads(self._capsys.readouterr().out)

    @property
    def log(self) -> Path:
        return self.folder / "exchanges.jsonl"

    async def stop_at(self, replies: int) -> None:
        """Stop the run while this reply is being written; the server forgets."""
        never = asyncio.Event()
        scripted = self.server.on_reply
        assert scripted is not None

        async def hang(body: Body) -> Any:
            if len(self.server.of("reply")) == replies:
                await never.wait()
            return scripted(body)

        self.server.on_reply = hang
        running = asyncio.create_task(
            prefix.run(turns=TURNS, model=self.server.base_url, sample=0, as_json=True, out=self.folder)
        )
        await self.server.arrived(replies, "reply")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        self.server.on_reply = scripted
        self.server.forget()


@pytest.fixture
def bench(server: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(server, tmp_path / "run", capsys)


async def test_every_way_is_shown_with_what_it_costs(
    bench: Bench, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    well, found = await bench.run()

    replies = [r for r in server.of("reply") if r.body["max_tokens"] > 1]
    ours, sliding, clock, summary = (found["ways"][name] for name in (OURS, SLIDING, CLOCK, SUMMARY))
    assert [way["how"] for way in found["ways"].values()] == ["measured", "counted", "counted", "counted"]
    assert [(t[1], t[2]) for t in ours["turns"]] == [(r.prompt_tokens, r.cached_tokens) for r in replies]
    assert ours["prompt_tokens"] == sum(r.prompt_tokens for r in replies)
    work = sum(r.prompt_tokens - r.cached_tokens for r in server.requests if r.purpose != "reply")
    work += sum(p.computed for p in server.portions if p.computed > 1)  # one is evaluated anew even where all are there
    fresh = sum(r.prompt_tokens - r.cached_tokens for r in replies)
    assert (ours["computed_by_folds"], ours["computed"]) == (work, fresh + work)
    folds = {FOLD: found["folds"] - 1, MAJOR_FOLD: 1}
    assert ours["breaks"] == folds
    assert found["folds"] == 4
    assert found["ordinary_turns"] == TURNS - 1 - found["folds"]
    assert found["count_beside_measure"] == {"prompts": found["ordinary_turns"], "largest": 0, "mean": 0.0, "apart": 0}
    assert clock["breaks"] == {CLOCK: TURNS - 1 - found["folds"], **folds}
    assert summary["breaks"] == folds
    assert sliding["computed_by_folds"] == 0
    assert set(sliding["breaks"]) == {"the oldest turns dropped"}
    assert clock["factor_against_ours"] > sliding["factor_against_ours"] > 1
    for way in (sliding, clock, summary):
        assert way["asked"] == {"prompts": 3, "largest": 0, "mean": 0.0, "apart": 0}
    assert (bench.folder / "prefix.png").read_bytes().startswith(b"\x89PNG")

    (complaint,) = found["complaints"]
    assert complaint == f"{ours['reused_on_ordinary_turns']:.4f} reused on ordinary turns, less than 0.99"
    assert not well
    monkeypatch.setattr(prefix, "AIM", ours["reused_on_ordinary_turns"] - 0.001)
    well, found = await bench.run()
    assert found["complaints"] == []
    assert well


async def test_a_break_without_a_cause_is_noticed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix, "AIM", 0.5)
    played = iter(range(TURNS * 9))

    @contextmanager
    def planted(total: int, what: str) -> Iterator[Callable[[int], object]]:
        yield lambda count: bench.server.forget() if count and next(played) == 4 else None

    monkeypatch.setattr(prefix, "progress", planted)
    well, found = await bench.run()

    assert not well
    assert found["complaints"] == ["1 breaks without a cause"]
    (broken,) = (turn for turn in found["ways"][OURS]["turns"][1:] if turn[2] == 0)
    assert (broken[0], broken[4]) == (5, "")


async def test_a_run_that_was_stopped_goes_on_at_the_next_turn(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix, "AIM", 0.5)
    await bench.stop_at(14)
    with bench.log.open("a") as file:
        file.write('{"turn": 13, "mod')

    well, found = await bench.run()

    assert well
    turns = found["ways"][OURS]["turns"]
    assert [turn[0] for turn in turns] == list(range(TURNS))
    assert [(turn[0], turn[2]) for turn in turns if turn[4] == layouts.RESTARTED] == [(13, 0)]
    assert found["turns_after_a_restart"] == 1
    breaks = dict(found["ways"][OURS]["breaks"])
    assert breaks.pop(layouts.RESTARTED) == 1
    assert sum(breaks.values()) == found["folds"]
    said = [exchange.said for exchange in Log.read(bench.log).exchanges]
    assert said == [f"Mio: {text}" for text, _ in zip(script(), range(TURNS), strict=False)]

    asked = len(bench.server.requests)
    assert (await bench.run())[1]["ways"] == found["ways"]
    assert len(bench.server.requests) == asked


async def test_a_reply_that_was_committed_and_not_yet_noted_is_not_asked_for_again(bench: Bench) -> None:
    await bench.run(turns=6)
    lines = bench.log.read_text().splitlines(keepends=True)
    bench.log.write_text("".join(lines[:-1]))

    _, found = await bench.run(turns=8)

    assert bench.log.read_text().splitlines(keepends=True)[: len(lines)] == lines
    turns = found["ways"][OURS]["turns"]
    assert [turn[0] for turn in turns] == list(range(8))
    assert [turn[0] for turn in turns if turn[4] == layouts.RESTARTED] == [6]


async def test_another_model_in_the_same_folder_is_refused(bench: Bench, server: ModelServer) -> None:
    await bench.run(turns=2)
    server.model = "another"
    with pytest.raises(KataribeError, match="name another folder"):
        await bench.run(turns=3)


async def test_a_server_that_does_not_count_its_cache_is_refused(bench: Bench, server: ModelServer) -> None:
    server.llama_cpp = False
    with pytest.raises(KataribeError, match="does not say how much"):
        await bench.run(turns=2)


def exchange(turn: int, head: str = "nothing yet", *raw: str, chapters: int = 0) -> Exchange:
    memory = (Message("system", "card"), Message("user", head), Message("assistant", "understood"))
    turns = (Message("assistant" if n % 2 else "user", text) for n, text in enumerate(raw))
    return Exchange(turn, "m", (*memory, *turns), raw[-1], f"answer {turn}", 10, 5, 5, 0, chapters, 0, 1, turn)


TALE = (
    exchange(0, "nothing yet", "one"),
    exchange(1, "nothing yet", "one", "answer 0", "two"),
    exchange(2, "one and two", "two", "answer 1", "three", chapters=1),
)


def test_the_clock_stands_at_the_end_of_the_system_prompt() -> None:
    laid = layouts.with_clock(TALE)
    assert [one.messages[0].content for one in laid] == [
        f"card\n\nIt is Thursday, 01 January 2026, 00:0{minute}." for minute in (1, 2, 3)
    ]
    assert [one.messages[1:] for one in laid] == [one.messages[1:] for one in TALE]
    assert [one.cause for one in laid] == [CLOCK, CLOCK, FOLD]


def test_the_summary_stands_in_the_system_prompt_and_has_the_text_of_our_memory() -> None:
    laid = layouts.with_summary(TALE)
    systems = [one.messages[0].content for one in laid]
    assert systems == ["card", "card", "card\n\nSummary 1, of the story so far:\none and two"]
    assert [one.messages[1:] for one in laid] == [one.messages[3:] for one in TALE]
    assert [one.cause for one in laid] == ["", "", FOLD]


async def test_the_window_slides_when_the_budget_is_full() -> None:
    async def count(text: str) -> int:
        return len(tokenize(text))

    greeting = len(tokenize(CARD.first_message))
    laid = await layouts.sliding(TALE, greeting + 4, count)
    texts = [[message.content for message in one.messages] for one in laid]
    assert texts == [
        ["card", CARD.first_message, "one"],
        ["card", "one", "answer 0", "two"],
        ["card", "one", "answer 0", "two", "answer 1", "three"],
    ]
    assert [one.cause for one in laid] == ["", "the oldest turns dropped", ""]


async def test_a_prompt_reuses_what_it_shares_with_the_one_before_and_its_reply(server: ModelServer) -> None:
    async with httpx.AsyncClient(base_url=server.root, trust_env=False) as http:
        costs = await layouts.counted(Server(http), layouts.ours(TALE), lambda _: None)
    # <|system|>card<|end|> <|user|>nothing yet<|end|> <|assistant|>understood<|end|> <|user|>one<|end|> <|assistant|>
    first = 3 + 5 + 3 + 3 + 1
    assert [(cost.prompt, cost.cached, cost.broken) for cost in costs] == [
        (first, 0, False),
        (first + 8, first + 2, False),  # the answer is "answer", a space and a number that was never read
        (first + 10, 4, True),
    ]


async def test_the_real_small_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    if not SMALL_MODEL.is_file():
        pytest.skip(f"the small model is not at {SMALL_MODEL}")

    await prefix.run(turns=3, model="small", sample=1, as_json=False, out=tmp_path)

    shown = capsys.readouterr().out
    assert "SmolLM2" in shown
    found = json.loads((tmp_path / "result.json").read_text())
    assert found["exchanges"] + found["unanswered"] == 3
    assert found["ways"][CLOCK]["asked"]["largest"] <= 4
