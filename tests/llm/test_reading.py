"""Long prompts of the background are read in portions, and a reply goes first between two of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from bot.errors import GaveWay
from bot.llm import ModelCall, ModelClient, ModelRequest, ModelTimeout, Purpose, WindowExceeded
from bot.memory.messages import Message
from tests.support.model_server import ModelServer, Portion, Script

Connect = Callable[..., ModelClient]

CHAPTER: dict[str, Any] = {"memories": []}
SCHEMA = {"type": "object", "properties": {"memories": {"type": "array"}}, "required": ["memories"]}
LEAST = 8


def story(name: str, words: int) -> tuple[Message, ...]:
    return Message("system", f"You are {name}."), Message("user", " ".join(f"{name}{n}" for n in range(words)))


def reply(name: str = "Rin", words: int = 200) -> ModelRequest:
    return ModelRequest(story(name, words), Purpose.REPLY, 500)


def fold(name: str = "records", words: int = 500, **fields: Any) -> ModelRequest:
    return ModelRequest(story(name, words), Purpose.FOLD, 500, schema=SCHEMA, schema_name="fold", **fields)


class Waits:
    """A sleep that only writes down how long it was asked to be, and lets others go on."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


class Replying:
    """Asks for a reply while portions of those numbers are evaluated."""

    def __init__(self, server: ModelServer, client: ModelClient, at: set[int]) -> None:
        self._server = server
        self._client = client
        self._at = at
        self.tasks: list[asyncio.Task[Any]] = []
        server.on_portion = self

    async def __call__(self, portion: Portion) -> None:
        if len(self._server.portions) in self._at:
            self.tasks.append(asyncio.create_task(self._client.complete(reply())))
            while not self._client.queue.waiting:
                await asyncio.sleep(0)


@pytest.fixture
def calls() -> list[ModelCall]:
    return []


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def client(connect: Connect, server: ModelServer, calls: list[ModelCall], waits: Waits) -> ModelClient:
    server.on_fold = lambda body: CHAPTER
    server.milliseconds_per_token = 2.0
    return connect(on_call=calls.append, sleep=waits)


def folds(calls: list[ModelCall]) -> list[ModelCall]:
    return [call for call in calls if call.purpose is Purpose.FOLD]


async def test_a_fold_is_read_in_portions_that_are_computed_once(
    server: ModelServer, client: ModelClient, calls: list[ModelCall]
) -> None:
    await client.complete(fold())

    request, portions = server.requests[0], server.portions
    assert [p.tokens for p in portions] == sorted({p.tokens for p in portions})
    assert len(portions) > 10
    assert all(request.prompt.startswith(p.text) for p in portions)
    assert [p.cached for p in portions[1:]] == [p.tokens for p in portions[:-1]], (
        "each goes on where the last one ended"
    )
    assert request.cached_tokens == portions[-1].tokens >= request.prompt_tokens - 50
    assert (calls[0].usage.prompt_tokens, calls[0].usage.cached_tokens) == (request.prompt_tokens, 0)
    assert (calls[0].attempts, calls[0].interruptions) == (1, 0)


async def test_a_portion_takes_a_tenth_of_a_second(server: ModelServer, client: ModelClient) -> None:
    server.milliseconds_per_token = 1.0
    await client.complete(fold(words=2_000))
    sizes = [after.tokens - before.tokens for before, after in pairwise(server.portions)]
    assert (server.portions[0].tokens, set(sizes[3:])) == (LEAST, {100})

    server.portions.clear()
    server.milliseconds_per_token = 40.0
    await client.complete(fold("another", words=80))
    assert {after.tokens - before.tokens for before, after in pairwise(server.portions[1:])} == {LEAST}


async def test_what_is_read_within_a_tenth_of_a_second_is_sent_at_once(
    server: ModelServer, client: ModelClient
) -> None:
    server.milliseconds_per_token = 0.0001
    await client.complete(fold())
    before = len(server.portions)
    await client.complete(fold("another"))
    assert len(server.portions) == before + 4, "from 8 tokens to all 1,000, at most five times as many each time"


async def test_a_prompt_that_portions_would_not_finish_in_time_is_read_in_larger_ones(
    server: ModelServer, connect: Connect
) -> None:
    server.on_fold = lambda body: CHAPTER
    server.milliseconds_per_token = 40.0
    await connect(timeout_seconds=30.0).complete(fold(words=1_500))
    sizes = [after.tokens - before.tokens for before, after in pairwise(server.portions)]
    assert sizes == [16, 32, 64, 128, 256, 512, 512, 512, 512], "3,000 tokens would take 120 s"


async def test_what_needs_no_portions(server: ModelServer, client: ModelClient, connect: Connect) -> None:
    await client.complete(reply(words=500))
    await client.complete(fold(words=10))
    await client.complete(fold(on_text=lambda text: None))
    server.window = 900
    await client.probe()
    with pytest.raises(WindowExceeded):
        await client.complete(fold())
    server.window, server.llama_cpp = None, False
    await client.probe()
    await client.complete(fold())
    server.llama_cpp, server.unknown_fields = True, False
    plain = connect()
    await plain.complete(reply())
    await plain.complete(fold())
    assert server.portions == []
    assert "/completion" not in server.paths


async def test_a_server_without_the_endpoint_is_asked_once(server: ModelServer, client: ModelClient) -> None:
    server.reads_portions = False
    for name in ("one", "two"):
        assert (await client.complete(fold(name))).finish_reason == "stop"
    assert [request.purpose for request in server.requests] == ["fold", "fold"]
    assert server.paths.count("/completion") == 1
    server.reads_portions, server.model = True, "another"
    await client.probe()
    await client.complete(fold("three"))
    assert server.portions


async def test_a_portion_that_fails_leaves_the_rest_to_the_request(server: ModelServer, client: ModelClient) -> None:
    async def fail(portion: Portion) -> None:
        if len(server.portions) == 3:
            raise ConnectionResetError

    server.on_portion = fail
    assert (await client.complete(fold())).finish_reason == "stop"
    assert len(server.portions) == 3
    await client.complete(fold("another"))
    assert len(server.portions) > 6, "it may have passed"


async def test_what_was_given_up_is_not_read_after_an_interruption_either(
    server: ModelServer, client: ModelClient
) -> None:
    async def fail(portion: Portion) -> None:
        if len(server.portions) == 3:
            raise ConnectionResetError

    server.on_portion = fail
    server.folds.extend([Script("{", hang=asyncio.Event()), CHAPTER])
    folding = asyncio.create_task(client.complete(fold()))
    await server.arrived(1, "fold")
    await client.complete(reply())
    await folding
    assert (len(server.portions), len(server.of("fold"))) == (3, 2)


# --- a reply comes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spare", ["prompt cache in RAM", "second slot"])
async def test_a_reply_goes_first_and_the_reading_goes_on_where_it_was(
    connect: Connect, waits: Waits, calls: list[ModelCall], spare: str
) -> None:
    async with ModelServer(cache_ram=spare != "second slot", slots=1 + (spare == "second slot")) as server:
        server.on_fold = lambda body: CHAPTER
        server.milliseconds_per_token = 2.0
        client = connect(base_url=server.base_url, on_call=calls.append, sleep=waits)
        await client.complete(reply())
        replying = Replying(server, client, {3, 5, 8, 9})

        await client.complete(fold())

        await asyncio.gather(*replying.tasks)
        assert len(replying.tasks) == 4, "more than interruptions are allowed"
        assert [request.purpose for request in server.requests] == ["reply"] * 5 + ["fold"]
        assert not any(request.disconnected.is_set() for request in server.requests)
        assert [p.cached for p in server.portions[1:]] == [p.tokens for p in server.portions[:-1]], "nothing was lost"
        assert all(r.cached_tokens == r.prompt_tokens - 1 for r in server.of("reply")[1:]), "nor of the story"
        [call] = folds(calls)
        assert (call.interruptions, call.attempts) == (0, 1)
        assert call.usage.cached_tokens == server.portions[0].cached
        assert set(waits.seconds) == {2.0}


async def test_the_first_portion_does_not_take_the_slot_of_a_story(connect: Connect) -> None:
    """As it would be if it were as short as what a chat template puts before every conversation."""
    async with ModelServer(slots=2) as server:
        server.preamble = "Cutting Knowledge Date: December 2023. Today Date: 26 Jul 2024. "
        server.on_fold = lambda body: CHAPTER
        client = connect(base_url=server.base_url)
        await client.complete(reply())
        await client.complete(fold())
        await client.complete(reply())
        first, second = server.of("reply")
        assert second.cached_tokens == second.prompt_tokens - 1 == first.prompt_tokens - 1
        # A slot is found by likeness: a server may ask for up to four fifths.
        assert all(p.cached / p.tokens > 0.8 for p in server.portions[1:])


async def test_a_bare_slot_loses_the_reading_and_the_fold_gives_way_at_last(
    server: ModelServer, client: ModelClient, waits: Waits, calls: list[ModelCall]
) -> None:
    """The first reply costs nothing yet: that the server forgets is seen when the reading is to go on."""
    replying = Replying(server, client, {3, 7, 11})
    with pytest.raises(GaveWay):
        await client.complete(fold())
    await asyncio.gather(*replying.tasks)
    assert [request.purpose for request in server.requests] == ["reply"] * 3
    assert [(call.error, call.interruptions) for call in folds(calls)] == [("model-gave-way", 3)]
    assert len(server.portions) == 11
    assert {2.0, 4.0} == set(waits.seconds)
    assert (client.queue.running, client.queue.waiting) == (0, 0)


async def test_on_a_bare_slot_the_reading_begins_anew(
    server: ModelServer, client: ModelClient, calls: list[ModelCall]
) -> None:
    replying = Replying(server, client, {6})
    await client.complete(fold())
    await asyncio.gather(*replying.tasks)
    broken = server.portions[6]
    assert broken.cached < 10 < broken.tokens, "it was to go on where it was, and the server had nothing of it"
    again = server.portions[7:]
    assert again[0].tokens <= 2 * LEAST
    assert [p.cached for p in again[1:]] == [p.tokens for p in again[:-1]]
    assert [call.interruptions for call in folds(calls)] == [1]
    assert server.requests[-1].cached_tokens == again[-1].tokens


async def test_a_server_that_keeps_nothing_is_sent_the_request_as_it_is(
    server: ModelServer, client: ModelClient, calls: list[ModelCall]
) -> None:
    server.keeps_prompts = False
    await client.complete(fold())
    assert [p.tokens for p in server.portions] == [8, 40, 90, 140], "the fourth is broken off"
    assert (server.requests[-1].cached_tokens, folds(calls)[0].interruptions) == (0, 0)


async def test_a_server_that_does_not_say_how_far_it_is_reads_again_what_it_lost(
    server: ModelServer, client: ModelClient, calls: list[ModelCall]
) -> None:
    server.tells_progress = False
    replying = Replying(server, client, {6})
    await client.complete(fold())
    await asyncio.gather(*replying.tasks)
    before, lost = server.portions[5:7]
    assert lost.computed > before.tokens
    assert all(p.cached == q.tokens for q, p in pairwise(server.portions[6:]))
    assert (folds(calls)[0].interruptions, folds(calls)[0].usage.cached_tokens) == (0, 0)


async def test_a_fold_that_is_written_gives_way_as_before(
    server: ModelServer, client: ModelClient, calls: list[ModelCall]
) -> None:
    """On a bare slot it is read again from its beginning, and each interruption counts once."""
    server.folds.extend([Script("{", hang=asyncio.Event(), hang_after=1), CHAPTER])
    folding = asyncio.create_task(client.complete(fold()))
    await server.arrived(1, "fold")
    first = len(server.portions)
    await client.complete(reply())
    await folding
    assert [request.purpose for request in server.requests] == ["fold", "reply", "fold"]
    assert [call.interruptions for call in folds(calls)] == [1]
    again = server.portions[first + 1 :]
    assert again[0].computed <= 2 * LEAST
    assert server.requests[-1].cached_tokens == again[-1].tokens


# --- once more, and ends ------------------------------------------------------------------------------------------


async def test_what_is_asked_once_more_is_not_read_again(
    server: ModelServer, client: ModelClient, calls: list[ModelCall]
) -> None:
    await client.complete(fold())
    server.portions.clear()
    await client.complete(fold())
    assert [p.computed for p in server.portions] == [1], "only whether it is still there was asked"
    first, second = folds(calls)
    assert second.usage.cached_tokens == (first.usage.prompt_tokens or 0) - 1


async def test_one_timeout_rules_the_reading_too(server: ModelServer, connect: Connect, calls: list[ModelCall]) -> None:
    async def hang(portion: Portion) -> None:
        await asyncio.Event().wait()

    server.on_portion = hang
    client = connect(timeout_seconds=0.3, on_call=calls.append)
    with pytest.raises(ModelTimeout):
        await client.complete(fold())
    assert [(call.error, call.attempts) for call in calls] == [("model-timeout", 0)]
    assert (client.queue.running, client.queue.waiting, server.requests) == (0, 0, [])


async def test_a_cancelled_reading_hangs_up_and_frees_the_slot(server: ModelServer, client: ModelClient) -> None:
    begun, left = asyncio.Event(), asyncio.Event()

    async def hang(portion: Portion) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    server.on_portion = hang
    task = asyncio.create_task(client.complete(fold()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(30):
        await left.wait()
    assert (client.queue.running, client.queue.waiting, server.requests) == (0, 0, [])


@pytest.mark.parametrize(("slots", "parallel"), [(1, 1), (2, 1), (4, 4)])
async def test_many_at_once_all_come_to_an_end(connect: Connect, waits: Waits, slots: int, parallel: int) -> None:
    calls: list[ModelCall] = []
    async with ModelServer(slots=slots, cache_ram=True) as server:
        server.on_fold = lambda body: CHAPTER
        server.milliseconds_per_token = 2.0
        client = connect(base_url=server.base_url, parallel=parallel, on_call=calls.append, sleep=waits)
        folding = [asyncio.create_task(client.complete(fold(f"records{n % 2} ", 200))) for n in range(6)]
        for number in range(20):
            await asyncio.gather(client.complete(reply(f"Rin{number % 3} ")), asyncio.sleep(0.005))
        ended = await asyncio.gather(*folding, return_exceptions=True)

    assert all(not isinstance(outcome, Exception) or isinstance(outcome, GaveWay) for outcome in ended)
    assert (len(calls), client.queue.running, client.queue.waiting) == (26, 0, 0)
    assert all(0 <= (call.usage.cached_tokens or 0) <= (call.usage.prompt_tokens or 0) for call in calls)
    assert not any(call.interruptions for call in calls if call.purpose is Purpose.REPLY)
