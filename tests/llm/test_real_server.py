"""The client against llama.cpp's own server with a model small enough for every machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from bot.demo.embedded import EmbeddedModel
from bot.llm import ModelCall, ModelClient, ModelRequest, ModelTimeout, ModelUnavailable, Purpose, WindowExceeded
from bot.memory.messages import Message, Picture

MODEL = Path(__file__).parents[2] / ".cache" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
WINDOW = 1024
SCHEMA = {
    "type": "object",
    "properties": {
        "memories": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string", "maxLength": 12}}
    },
    "required": ["memories"],
    "additionalProperties": False,
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedModel]:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    if not MODEL.is_file():
        pytest.skip(f"the small model is not at {MODEL}")
    log = tmp_path_factory.mktemp("embedded") / "model.log"
    async with EmbeddedModel(MODEL, log=log, context=WINDOW, threads=1) as model:
        yield model


@pytest_asyncio.fixture(loop_scope="module")
async def client(embedded: EmbeddedModel) -> AsyncIterator[ModelClient]:
    async with ModelClient(embedded.base_url, api_key=embedded.api_key, timeout_seconds=60) as client:
        yield client


def ask(*texts: str, max_tokens: int = 16, purpose: Purpose = Purpose.REPLY) -> ModelRequest:
    messages = tuple(Message("assistant" if number % 2 else "user", text) for number, text in enumerate(texts))
    return ModelRequest((Message("system", "You are Rin."), *messages), purpose, max_tokens, temperature=0.0)


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_what_the_server_says_of_itself(client: ModelClient) -> None:
    profile = await client.probe()
    assert (profile.model, profile.window, profile.server, profile.slots) == (MODEL.stem, WINDOW, "llama.cpp", 1)
    assert profile.counts_tokens
    assert await client.count_tokens("Rin waits at the bridge.") in range(5, 12)


async def test_an_answer_and_its_cached_prompt(client: ModelClient) -> None:
    question = "Tell me about the bridge over the river, please."
    heard: list[str] = []
    request = ask(question)
    first = await client.complete(ModelRequest(request.messages, Purpose.REPLY, 16, on_text=heard.append))
    assert first.finish_reason in ("stop", "length")
    assert "".join(heard) == first.text != ""
    assert first.usage.prompt_tokens is not None

    second = await client.complete(ask(question, first.text, "And then?"))

    assert second.usage.cached_tokens is not None
    assert second.usage.cached_tokens >= first.usage.prompt_tokens - 4


async def test_a_schema_is_kept_to(client: ModelClient) -> None:
    request = ask("Mio came to the bridge. Rin smiled.", max_tokens=120, purpose=Purpose.FOLD)
    completion = await client.complete(
        ModelRequest(request.messages, Purpose.FOLD, 200, schema=SCHEMA, schema_name="fold", temperature=0.0)
    )
    memories = json.loads(completion.text)["memories"]
    assert len(memories) == 2
    assert client.profile.json_schema


async def test_what_is_read_in_several_batches_is_counted_once(client: ModelClient) -> None:
    """A server that tells how far it is sends events without text before the first."""
    long = " ".join(f"On day {day} the ferry came home." for day in range(40))
    completion = await client.complete(ask(long, max_tokens=4, purpose=Purpose.FOLD))
    assert completion.usage.prompt_tokens is not None
    assert completion.usage.prompt_tokens > 256
    assert (completion.usage.completion_tokens, completion.text != "") == (4, True)


async def newest_task(model: EmbeddedModel) -> int:
    """The number of the newest task that the server began."""
    headers = {"Authorization": f"Bearer {model.api_key}"}
    async with httpx.AsyncClient(base_url=model.address, headers=headers, trust_env=False) as http:
        return max(int(slot.get("id_task", 0)) for slot in (await http.get("/slots")).json())


async def test_what_is_read_in_portions_is_counted_once(client: ModelClient) -> None:
    lines = " ".join(f"On day {day} the pilot counted {day * 3} ropes." for day in range(60))
    request = ModelRequest((Message("system", "Note it."), Message("user", lines)), Purpose.FOLD, 8, SCHEMA, "fold")
    first = await client.complete(request)
    second = await client.complete(request)

    assert first.usage.prompt_tokens is not None
    assert first.usage.prompt_tokens > 600
    assert first.usage.cached_tokens is not None
    assert first.usage.cached_tokens < 20, "what its own portions had read is no gain"
    assert second.usage.cached_tokens == first.usage.prompt_tokens - 1
    assert second.usage.prompt_tokens == first.usage.prompt_tokens


@pytest.mark.parametrize(("slots", "cache_ram"), [(1, 256), (2, 0)])
async def test_a_reply_in_the_middle_of_a_reading_costs_neither_its_place(
    tmp_path: Path, slots: int, cache_ram: int
) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    if not MODEL.is_file():
        pytest.skip(f"the small model is not at {MODEL}")
    lines = " ".join(f"On day {day} the pilot counted {day * 3} ropes." for day in range(60))
    folding = ModelRequest((Message("system", "Note it."), Message("user", lines)), Purpose.FOLD, 8, SCHEMA, "fold")
    replying = ask("At the harbour the ferry waits for the tide, and the keeper lights the lamp. Who comes aboard?")
    calls: list[ModelCall] = []
    async with (
        EmbeddedModel(
            MODEL, log=tmp_path / "model.log", context=slots * WINDOW, slots=slots, threads=1, cache_ram=cache_ram
        ) as model,
        ModelClient(model.base_url, api_key=model.api_key, timeout_seconds=120, on_call=calls.append) as client,
    ):
        first = await client.complete(replying)
        before = await newest_task(model)
        fold = asyncio.create_task(client.complete(folding))
        async with asyncio.timeout(60):
            while await newest_task(model) == before:
                await asyncio.sleep(0.01)
        second = await client.complete(replying)
        assert not fold.done()
        completion = await fold

    assert first.usage.prompt_tokens is not None
    assert second.usage.cached_tokens == first.usage.prompt_tokens - 1
    assert completion.usage.cached_tokens is not None
    assert completion.usage.cached_tokens < 20
    assert [(call.purpose, call.interruptions, call.attempts) for call in calls] == [
        (Purpose.REPLY, 0, 1), (Purpose.REPLY, 0, 1), (Purpose.FOLD, 0, 1),
    ]  # fmt: skip


async def test_the_window_is_guarded(client: ModelClient) -> None:
    with pytest.raises(WindowExceeded) as caught:
        await client.complete(ask("bridge " * (WINDOW + 100)))
    assert caught.value.window == WINDOW
    assert caught.value.needed is not None
    assert caught.value.needed > WINDOW


async def test_a_model_without_eyes_says_so_and_answers_without_the_picture(embedded: EmbeddedModel) -> None:
    request = replace(ask("What is this?"), pictures=(Picture(b"\xff\xd8", "[shows a picture: a.png]"),))
    async with ModelClient(embedded.base_url, api_key=embedded.api_key, timeout_seconds=60) as asking:
        assert (await asking.probe()).vision is False
    async with ModelClient(embedded.base_url, api_key=embedded.api_key, timeout_seconds=60, vision=True) as sure:
        assert (await sure.complete(request)).text
        assert sure.profile.vision is False


async def test_the_cap_ends_an_answer(client: ModelClient) -> None:
    completion = await client.complete(ask("Count from one to one hundred.", max_tokens=3))
    assert completion.finish_reason == "length"
    assert completion.usage.completion_tokens == 3


async def test_a_wrong_key_is_named(embedded: EmbeddedModel) -> None:
    async with ModelClient(embedded.base_url, api_key="wrong", timeout_seconds=60) as client:
        with pytest.raises(ModelUnavailable) as caught:
            await client.complete(ask("hello"))
    assert caught.value.code == "model-key"


async def test_hanging_up_frees_the_slot(embedded: EmbeddedModel, client: ModelClient) -> None:
    started = asyncio.Event()
    request = ask("Write a very long story about the sea.", max_tokens=900)
    endless = ModelRequest(request.messages, Purpose.REPLY, 900, on_text=lambda text: started.set())
    task = asyncio.create_task(client.complete(endless))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    headers = {"Authorization": f"Bearer {embedded.api_key}"}
    async with httpx.AsyncClient(base_url=embedded.address, headers=headers, trust_env=False) as http:
        async with asyncio.timeout(30):
            while any(slot["is_processing"] for slot in (await http.get("/slots")).json()):
                await asyncio.sleep(0.02)


async def test_the_timeout_ends_a_long_answer(embedded: EmbeddedModel) -> None:
    async with ModelClient(embedded.base_url, api_key=embedded.api_key, timeout_seconds=0.5) as client:
        with pytest.raises(ModelTimeout):
            await client.complete(ask("Write a very long story about the sea.", max_tokens=900))


async def test_a_prompt_restored_from_ram_is_the_story_that_was_saved(tmp_path: Path) -> None:
    """A canary: llama.cpp has been reported to restore another conversation's state (ggml-org/llama.cpp issue 27148)."""
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    if not MODEL.is_file():
        pytest.skip(f"the small model is not at {MODEL}")
    tales = [
        f"{opening} {' '.join(f'On day {day} {whom} counted {day * step} {what}.' for day in range(1, 9))} What now?"
        for opening, whom, step, what in (
            ("At the harbour.", "the pilot", 3, "ropes"),
            ("In the bakery.", "the cook", 7, "loaves"),
            ("On the moor.", "the shepherd", 5, "sheep"),
        )
    ]
    async with (
        EmbeddedModel(MODEL, log=tmp_path / "model.log", context=WINDOW, threads=1, cache_ram=256) as model,
        httpx.AsyncClient(
            base_url=model.address, headers={"Authorization": f"Bearer {model.api_key}"}, timeout=60, trust_env=False
        ) as http,
    ):

        async def ask_of(messages: list[dict[str, str]], *, anew: bool) -> tuple[str, int, int]:
            body = {"messages": messages, "max_tokens": 12, "temperature": 0, "cache_prompt": not anew}
            answer = (await http.post("/v1/chat/completions", json=body)).json()
            return (
                answer["choices"][0]["message"]["content"],
                answer["timings"]["cache_n"],
                answer["timings"]["prompt_n"],
            )

        stories = [[{"role": "user", "content": tale}] for tale in tales]
        firsts = [await ask_of(story, anew=False) for story in stories]
        for story, (said, _, _) in zip(stories, firsts, strict=True):
            story += [{"role": "assistant", "content": said}, {"role": "user", "content": "And who saw it?"}]
        restored = [await ask_of(story, anew=False) for story in stories]
        computed = [await ask_of(story, anew=True) for story in stories]

    for (_, _, size), (_, cached, _) in zip(firsts, restored, strict=True):
        assert cached >= size - 8, "the slot was another story's, and this one came back from RAM"
    assert [cached for _, cached, _ in computed] == [0, 0, 0]
    assert [text for text, _, _ in restored] == [text for text, _, _ in computed]
