"""Answers are kept by content: nothing is asked twice, and nothing that is not whole is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from bot.errors import ModelUnavailable
from bot.evals.answers import Keeper, kept_answers
from bot.llm.client import ModelClient
from bot.llm.requests import Completion, ModelRequest, Purpose
from bot.memory.messages import Message
from tests.support.model_server import ModelServer, Script


async def ask(keeper: Keeper, text: str, timeout_seconds: float = 30) -> Completion:
    async with ModelClient(keeper.base_url, timeout_seconds=timeout_seconds, attempts=1) as client:
        return await client.complete(ModelRequest((Message("user", text),), Purpose.REPLY, max_tokens=50))


async def test_the_same_question_is_asked_once(tmp_path: Path) -> None:
    async with ModelServer(api_key="key") as server:
        server.replies.extend(["first", "second", "third"])
        async with kept_answers(server.base_url, tmp_path, api_key="key") as keeper:
            first, again, other = await ask(keeper, "one"), await ask(keeper, "one"), await ask(keeper, "two")
            assert (keeper.asked, keeper.kept, keeper.failed) == (2, 1, 0)
        async with kept_answers(server.base_url, tmp_path, api_key="key") as keeper:
            later = await ask(keeper, "one")
            assert (keeper.asked, keeper.kept) == (0, 1)
        async with kept_answers(server.base_url, tmp_path, api_key="key", repeat=1) as keeper:
            repeated = await ask(keeper, "one")
        assert [r.body["seed"] for r in server.requests] == [0, 0, 1]
    assert [first.text, again.text, other.text, later.text, repeated.text] == [
        "first",
        "first",
        "second",
        "first",
        "third",
    ]
    assert again.usage == first.usage
    assert first.usage.prompt_tokens


async def test_a_long_prompt_is_not_read_in_portions_for_an_answer_that_may_be_kept(tmp_path: Path) -> None:
    request = ModelRequest((Message("user", "It rains. " * 200),), Purpose.FOLD, max_tokens=50)
    async with ModelServer() as server:
        for _ in range(2):
            async with (
                kept_answers(server.base_url, tmp_path) as keeper,
                ModelClient(keeper.base_url, timeout_seconds=30) as client,
            ):
                assert (await client.complete(request)).text == "Answer 1."
        assert (server.portions, len(server.requests)) == ([], 1)


async def test_with_redraws_a_question_that_comes_again_is_another_draw(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.replies.extend([Script.failure(500), "first", "second", "third"])
        async with kept_answers(server.base_url, tmp_path, redraws=True) as keeper:
            with pytest.raises(ModelUnavailable):
                await ask(keeper, "one")
            assert [(await ask(keeper, "one")).text for _ in range(2)] == ["first", "second"]
        async with kept_answers(server.base_url, tmp_path, redraws=True) as keeper:
            assert [(await ask(keeper, "one")).text for _ in range(3)] == ["first", "second", "third"]
            assert (keeper.kept, keeper.asked) == (2, 1)
        seeds = [request.body["seed"] for request in server.requests]
    assert seeds[:2] == [0, 0], "what failed is no draw"
    assert len(set(seeds)) == 3


async def test_what_the_server_can_do_is_passed_on(tmp_path: Path) -> None:
    async with (
        ModelServer(window=12_345) as server,
        kept_answers(server.base_url, tmp_path) as keeper,
        ModelClient(keeper.base_url) as client,
    ):
        profile = await client.probe()
        counted = await client.count_tokens("one two three")
    assert (profile.window, profile.server, profile.model) == (12_345, "llama.cpp", "scripted")
    assert counted


async def test_a_refusal_is_passed_on_and_not_kept(tmp_path: Path) -> None:
    async with ModelServer() as server, kept_answers(server.base_url, tmp_path) as keeper:
        server.replies.extend([Script.failure(500), "well"])
        with pytest.raises(ModelUnavailable):
            await ask(keeper, "one")
        assert (await ask(keeper, "one")).text == "well"
        assert (keeper.asked, keeper.failed) == (1, 1)


@pytest.mark.parametrize(
    "broken",
    [
        Script("breaks off here", reset_after=1),
        Script("breaks off here", close_after=1),
        Script("breaks off here", error={"message": "out of memory", "code": 500}),
    ],
)
async def test_an_answer_that_breaks_off_is_not_kept(tmp_path: Path, broken: Script) -> None:
    async with ModelServer() as server, kept_answers(server.base_url, tmp_path) as keeper:
        server.replies.extend([broken, "well"])
        with pytest.raises(ModelUnavailable):
            await ask(keeper, "one")
        assert list(tmp_path.iterdir()) == []
        assert (await ask(keeper, "one")).text == "well"
        assert len(list(tmp_path.iterdir())) == 1


async def test_who_leaves_frees_the_server(tmp_path: Path) -> None:
    async with ModelServer() as server, kept_answers(server.base_url, tmp_path) as keeper:
        server.replies.extend([Script("slow", hang=asyncio.Event()), "well"])
        task = asyncio.create_task(ask(keeper, "one"))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await ask(keeper, "one")).text == "well"
        assert keeper.asked == 1


async def test_an_answer_is_kept_although_who_asked_leaves_at_its_end(tmp_path: Path) -> None:
    """The client is content with the end of the stream, and does not wait until the server closes it."""
    asked, closing = 0, asyncio.Event()

    async def complete(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        choice = '{"index": 0, "delta": {"content": "well"}, "finish_reason": "stop"}'
        await response.write(f'data: {{"choices": [{choice}]}}\n\ndata: [DONE]\n\n'.encode())
        await closing.wait()
        return response

    application = web.Application()
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        async with kept_answers(address, tmp_path) as keeper:
            assert (await ask(keeper, "one")).text == "well"
            async with asyncio.timeout(30):  # a hang is no pass
                while not list(tmp_path.glob("*.txt")):
                    await asyncio.sleep(0.01)
            assert (await ask(keeper, "one")).text == "well"
            assert (asked, keeper.asked, keeper.kept) == (1, 1, 1)
    finally:
        closing.set()
        await runner.cleanup()
