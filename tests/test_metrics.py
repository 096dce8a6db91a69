"""The figures as Prometheus scrapes them, over a real socket."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.llm.requests import Priority
from bot.metrics import PortUnusable, serving
from bot.settings import Settings
from bot.store import Call
from tests.support.model_server import ModelServer
from tests.support.scene import Scene, open_scene

Samples = dict[tuple[str, frozenset[str]], float]


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with ModelServer() as server, open_scene(server, tmp_path / "story.db") as opened:
        yield opened


async def scraped(address: str) -> Samples:
    """What a scraper reads: each figure by its name and the values of its labels."""
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(address)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def figure(samples: Samples, name: str, *labels: str) -> float | None:
    return samples.get((f"kataribe_{name}", frozenset(labels)))


async def test_a_scrape_has_the_figures_that_the_operator_is_shown(scene: Scene) -> None:
    await scene.exchange("Who is there?")
    await scene.exchange("And now?")

    async with serving(scene.core.metrics, 0) as address:
        samples = await scraped(address)
    found = await scene.core.statistics.bot()

    assert address.startswith("http://127.0.0.1:")
    assert (figure(samples, "turns"), figure(samples, "replies")) == (5, 3)
    assert (figure(samples, "sessions", "running"), figure(samples, "players")) == (1, 1)
    (cost,) = found.figures.costs
    labels = "reply", cost.model
    assert figure(samples, "model_calls_total", *labels) == cost.calls == 2
    assert figure(samples, "model_tokens_total", *labels, "computed") == cost.computed > 0
    assert figure(samples, "model_tokens_total", *labels, "written") == cost.written > 0
    assert figure(samples, "answer_seconds", "reply", "median") == found.figures.answer_seconds["reply"].median
    assert figure(samples, "database_bytes") == found.database_bytes
    assert figure(samples, "forced_cuts_total") == 0
    assert figure(samples, "model_requests", "story", "waiting") == 0


async def test_a_fold_and_what_went_wrong_are_in_it(scene: Scene) -> None:
    await scene.exchange("Who is there?")
    await scene.core.store.record_calls(
        Call("fold", scene.session.id, "large", 500, 0, 9, "stop", 1, 5, scene.clock(), rejection="refused")
    )
    await scene.core.store.record_calls(
        Call("reply", None, "large", None, None, None, "model-busy", 0, 0, scene.clock())
    )

    async with serving(scene.core.metrics, 0) as address:
        samples = await scraped(address)

    assert figure(samples, "answers_rejected_total", "fold", "refused") == 1
    assert figure(samples, "requests_unanswered_total", "reply", "model-busy") == 1


async def test_the_page_about_figures_has_each_name_and_no_other(scene: Scene) -> None:
    await scene.exchange("Who is there?")
    async with serving(scene.core.metrics, 0) as address, httpx.AsyncClient(trust_env=False) as client:
        told = (await client.get(address)).text

    page = (Path(__file__).parents[1] / "docs/metrics.md").read_text(encoding="utf-8")
    assert set(re.findall("`(kataribe_[a-z_]+)`", page)) == set(re.findall("^# HELP ([a-z_]+) ", told, re.MULTILINE))


async def test_no_label_tells_of_a_story_a_place_or_a_person(scene: Scene) -> None:
    await scene.exchange("Who is there?")

    async with serving(scene.core.metrics, 0) as address:
        samples = await scraped(address)

    model = scene.core.model.profile.model
    known = {
        "all", "cached", "computed", "largest", "median", "ordinary", "reply", "running", "stopped", "story", "waiting",
        "written",
    }  # fmt: skip
    assert {value for _, labels in samples for value in labels} <= known | {model}


async def test_rows_are_counted_once_a_minute_at_most_and_queues_each_time(scene: Scene) -> None:
    async with serving(scene.core.metrics, 0) as address:
        first = await scraped(address)
        await scene.exchange("Who is there?")
        second = await scraped(address)
        async with scene.core.model.queue.slot(Priority.REPLY):
            scene.clock.pass_by(minutes=1)
            third = await scraped(address)

    assert [figure(samples, "turns") for samples in (first, second, third)] == [1, 1, 3]
    assert [figure(samples, "model_requests", "story", "running") for samples in (second, third)] == [0, 1]


async def test_a_counter_does_not_fall_when_a_story_is_deleted(scene: Scene) -> None:
    store, now = scene.core.store, scene.clock()
    for _ in range(3):
        await store.record_calls(Call("audit", scene.session.id, "m", 100, 0, 1, "stop", 1, 5, now))
    async with serving(scene.core.metrics, 0) as address:
        before = await scraped(address)
        await scene.core.privacy.guild_left(scene.session.place.guild_id or 0)
        scene.clock.pass_by(days=40)
        await scene.core.privacy.delete_departed()
        deleted = await scraped(address)
        await store.record_calls(Call("audit", None, "m", 100, 0, 1, "stop", 1, 5, now))
        scene.clock.pass_by(minutes=1)
        after = await scraped(address)

    totals = [figure(samples, "model_calls_total", "audit", "m") for samples in (before, deleted, after)]
    assert totals == [3, 3, 4]
    assert [figure(samples, "sessions", "running") for samples in (before, deleted)] == [1, 0]


async def test_a_port_in_use_is_a_sentence_for_the_operator(scene: Scene) -> None:
    async with serving(scene.core.metrics, 0) as address:
        port = int(address.split(":")[2].partition("/")[0])
        with pytest.raises(PortUnusable, match=rf"METRICS_PORT: port {port} of 127.0.0.1 .*another program uses it"):
            async with serving(scene.core.metrics, port):
                pass
        assert await scraped(address)


async def test_nothing_else_is_served(scene: Scene) -> None:
    async with serving(scene.core.metrics, 0) as address, httpx.AsyncClient(trust_env=False) as client:
        for path in ("/", "/metrics/1"):
            assert (await client.get(address.removesuffix("/metrics") + path)).status_code == 404
        assert (await client.post(address)).status_code == 405


def test_it_is_off_unless_it_is_set() -> None:
    assert Settings(_env_file=None).metrics_port is None
