from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.llm import ModelClient, ModelProfile, ModelRequest, Purpose
from bot.llm.profiles import server_root
from bot.memory.messages import Message
from tests.support.model_server import ModelServer, Script

Connect = Callable[..., ModelClient]

HELLO = ModelRequest((Message("user", "hello"),), Purpose.REPLY, 100)
FOLD = ModelRequest((Message("user", "hello"),), Purpose.FOLD, 100, schema={"type": "object"}, schema_name="fold")


async def test_llama_cpp_tells_everything(client: ModelClient) -> None:
    profile = await client.probe()
    assert profile == ModelProfile("scripted", 32_768, True, True, True, "llama.cpp", 1)
    assert client.profile == profile


async def test_the_first_call_asks_once(server: ModelServer, client: ModelClient) -> None:
    await asyncio.gather(*(client.complete(HELLO) for _ in range(3)))
    assert server.paths.count("/props") == 1
    assert client.profile.window == 32_768


@pytest.mark.parametrize(
    ("fields", "window"),
    [
        ({"context_length": 8192}, 8192),
        ({"max_model_len": 4096}, 4096),
        ({"context_window": 131_072}, 131_072),
        ({"meta": {"n_ctx_train": 2048}}, 2048),
        ({"max_model_len": 4096, "meta": {"n_ctx_train": 131_072}}, 4096),
        ({"context_length": "8192", "meta": None}, None),
        ({"context_length": 0}, None),
        ({}, None),
    ],
)
async def test_hosts_that_list_a_window(fields: dict[str, Any], window: int | None) -> None:
    async with (
        ModelServer(llama_cpp=False, tokenizer=False, model_fields=fields) as server,
        ModelClient(server.base_url) as client,
    ):
        assert await client.probe() == ModelProfile("scripted", window, True, False, False, "openai-compatible")


async def test_the_configured_model_is_looked_up_among_many(server: ModelServer, connect: Connect) -> None:
    server.llama_cpp = False
    server.model_fields = {"context_length": 1000}
    client = connect(model="other")
    assert (await client.probe()).model == "other"


async def test_a_server_that_is_not_there_keeps_what_was_known(server: ModelServer, client: ModelClient) -> None:
    known = await client.probe()
    await server.stop()
    assert await client.probe() == known


async def test_nothing_known_and_nothing_there(connect: Connect, server: ModelServer) -> None:
    await server.stop()
    client = connect(model="m")
    assert await client.probe() == ModelProfile("m", None, True, False, False, "openai-compatible")
    assert await client.count_tokens("hello") is None


async def test_a_window_that_is_no_longer_told_stays(server: ModelServer, client: ModelClient) -> None:
    await client.probe()
    server.window = None
    assert (await client.probe()).window == 32_768
    server.llama_cpp = False
    profile = await client.probe()
    assert (profile.window, profile.server) == (32_768, "openai-compatible")


async def test_a_server_restarted_with_another_window_is_seen(server: ModelServer, client: ModelClient) -> None:
    await client.probe()
    server.window, server.model = 4096, "smaller"
    profile = await client.probe()
    assert (profile.window, profile.model) == (4096, "smaller")


async def test_another_model_may_take_the_schema_again(server: ModelServer, client: ModelClient) -> None:
    server.json_schema = False
    server.on_fold = lambda body: {"memories": []}
    await client.complete(FOLD)
    same = await client.probe()
    assert not same.json_schema
    server.json_schema, server.model = True, "better"
    other = await client.probe()
    assert other.json_schema
    await client.complete(FOLD)
    assert "response_format" in server.requests[-1].body


async def test_a_loading_server_is_asked_again(server: ModelServer, connect: Connect) -> None:
    client = connect(sleep=lambda seconds: finish_loading(server))
    server.loading = True
    assert (await client.probe()).window == 131_072  # all that is listed while the model loads
    assert await client.count_tokens("a b") is None
    assert (await client.complete(HELLO)).text == "Answer 1."
    assert client.profile.window == 32_768
    assert await client.count_tokens("a b") == 3


async def finish_loading(server: ModelServer) -> None:
    server.loading = False


async def test_after_a_broken_connection_the_server_is_asked_again(server: ModelServer, connect: Connect) -> None:
    client = connect(sleep=lambda seconds: asyncio.sleep(0))
    await client.probe()
    server.replies.append(Script("x", reset_after=0))
    server.window = 2048
    await client.complete(HELLO)
    assert client.profile.window == 2048


# --- counting -----------------------------------------------------------------------------------------------------


async def test_tokens_are_counted_by_the_server(client: ModelClient) -> None:
    assert await client.count_tokens("Rin waits 橋で") == 6
    assert await client.count_tokens("") == 0
    assert client.profile.counts_tokens


async def test_counting_does_not_wait_behind_an_answer(server: ModelServer, client: ModelClient) -> None:
    hang = asyncio.Event()
    server.replies.append(Script("x", hang=hang))
    task = asyncio.create_task(client.complete(HELLO))
    await server.arrived(1)
    assert await client.count_tokens("one two") == 3
    hang.set()
    await task


async def test_a_missing_tokenizer_is_remembered_until_the_next_probe(server: ModelServer, client: ModelClient) -> None:
    await client.probe()
    server.tokenizer = False
    before = server.paths.count("/tokenize")
    assert [await client.count_tokens("x") for _ in range(3)] == [None] * 3
    assert server.paths.count("/tokenize") == before + 1
    server.tokenizer = True
    await client.probe()
    assert await client.count_tokens("x") == 1


async def test_a_tokenizer_out_of_reach_for_a_moment_is_not_forgotten(server: ModelServer, client: ModelClient) -> None:
    await client.probe()
    server.loading = True
    assert await client.count_tokens("x") is None
    server.loading = False
    assert await client.count_tokens("x") == 1


@pytest.mark.parametrize(
    ("base", "root"),
    [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080"),
        ("https://host.example/api/v1", "https://host.example/api"),
        ("https://api.host.example", "https://api.host.example"),
    ],
)
def test_the_root_of_a_server(base: str, root: str) -> None:
    assert server_root(base) == root
