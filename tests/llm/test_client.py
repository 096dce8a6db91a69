from __future__ import annotations

import asyncio
import logging
import random
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
import time_machine

from bot.errors import GaveWay
from bot.llm import (
    Completion,
    ModelBusy,
    ModelCall,
    ModelClient,
    ModelRequest,
    ModelTimeout,
    ModelUnavailable,
    Priority,
    Purpose,
    Usage,
    WindowExceeded,
)
from bot.memory.messages import Message
from tests.support.model_server import ModelServer, Script, tokenize

Connect = Callable[..., ModelClient]

SCHEMA = {"type": "object", "properties": {"memories": {"type": "array"}}, "required": ["memories"]}


def reply(text: str = "Mio: hello", **fields: Any) -> ModelRequest:
    messages = (Message("system", "You are Rin."), Message("user", text))
    return ModelRequest(messages, fields.pop("purpose", Purpose.REPLY), fields.pop("max_tokens", 500), **fields)


def fold(text: str = "[1 player Mio] hello", **fields: Any) -> ModelRequest:
    return reply(text, purpose=Purpose.FOLD, schema=SCHEMA, schema_name="fold", **fields)


class Waits:
    """A sleep that only writes down how long it was asked to be."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


# --- an answer ----------------------------------------------------------------------------------------------------


async def test_an_answer_is_streamed_and_counted(server: ModelServer, client: ModelClient) -> None:
    text = "Rin smiles. 「橋で待つ」\n*She leaves.*"
    server.replies.append(text)
    heard: list[str] = []

    completion = await client.complete(reply(temperature=0.8, on_text=heard.append))

    assert completion.text == text
    assert completion.finish_reason == "stop"
    assert completion.model == "scripted"
    assert "".join(heard) == text
    assert len(heard) > 3
    (request,) = server.requests
    assert request.body == {
        "model": "scripted",
        "messages": [{"role": "system", "content": "You are Rin."}, {"role": "user", "content": "Mio: hello"}],
        "max_tokens": 500,
        "temperature": 0.8,
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_prompt": True,
    }
    assert completion.usage == Usage(request.prompt_tokens, 0, len(tokenize(text)))


async def test_the_cached_part_of_a_prompt_is_reported(server: ModelServer, client: ModelClient) -> None:
    server.replies.append("Good evening.")
    first = reply()
    await client.complete(first)
    grown = (*first.messages, Message("assistant", "Good evening."), Message("user", "Mio: and now?"))

    completion = await client.complete(ModelRequest(grown, Purpose.REPLY, 500))

    assert server.requests[1].prompt.startswith(server.requests[0].prompt)
    assert completion.usage.cached_tokens == server.requests[1].cached_tokens
    never_read = 1
    assert (
        completion.usage.cached_tokens == server.requests[0].prompt_tokens + len(tokenize("Good evening.")) - never_read
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 5}, Usage(9, 5, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 0}, Usage(9, 0, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(9, None, 2)),
        ({"prompt_tokens": "9", "completion_tokens": True}, Usage(None, None, None)),
        (None, Usage(None, None, None)),
    ],
)
async def test_token_counts_go_by_several_names(
    server: ModelServer, client: ModelClient, usage: dict[str, Any] | None, expected: Usage
) -> None:
    server.llama_cpp = False
    server.replies.append(Script("hi", usage=usage))
    assert (await client.complete(reply())).usage == expected
    assert client.profile.cached_tokens == (expected.cached_tokens is not None)


async def test_reasoning_is_left_out(server: ModelServer, client: ModelClient) -> None:
    server.replies.append(Script("Yes.", reasoning="The player asks whether..."))
    heard: list[str] = []
    assert (await client.complete(reply(on_text=heard.append))).text == "Yes."
    assert "".join(heard) == "Yes."


async def test_line_separators_within_a_text_survive(server: ModelServer, client: ModelClient) -> None:
    text = "one\u2028two\u0085three\x0cfour\r\nfive"
    server.replies.append(Script(text, pieces=(text,)))
    assert (await client.complete(reply())).text == text


@pytest.mark.parametrize("reason", ["length", "content_filter", "stop"])
async def test_the_finish_reason_is_read(server: ModelServer, client: ModelClient, reason: str) -> None:
    server.replies.append(Script("Rin sm", finish_reason=reason))
    assert (await client.complete(reply())).finish_reason == reason


async def test_the_cap_is_sent_and_its_effect_reported(server: ModelServer, client: ModelClient) -> None:
    server.replies.append("one two three four five six")
    completion = await client.complete(reply(max_tokens=5))
    assert (completion.text, completion.finish_reason) == ("one two three", "length")


async def test_a_schema_is_sent_with_its_name(server: ModelServer, client: ModelClient) -> None:
    server.folds.append({"memories": ["橋"]})
    completion = await client.complete(fold())
    assert completion.text == '{"memories": ["橋"]}'
    assert server.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "fold", "schema": SCHEMA, "strict": True},
    }


async def test_the_key_and_the_configured_model_are_sent(server: ModelServer, connect: Connect) -> None:
    server.api_key = "secret"
    completion = await connect(api_key="secret", model="bigger").complete(reply())
    assert completion.model == "bigger"
    assert server.requests[0].body["model"] == "bigger"


async def test_a_host_that_cannot_stream_is_understood(server: ModelServer, client: ModelClient) -> None:
    body = {
        "choices": [{"message": {"role": "assistant", "content": "Whole."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 1},
    }
    server.replies.append(Script(body=body))
    completion = await client.complete(reply())
    assert (completion.text, completion.finish_reason, completion.usage) == ("Whole.", "stop", Usage(4, None, 1))


# --- failures that stay -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "code", "detail"),
    [
        (Script.failure(401, "authentication_error"), "model-key", "status 401 authentication_error"),
        (Script.failure(403, "forbidden"), "model-key", "status 403 forbidden"),
        (Script.failure(404, "not_found"), "model-missing", "status 404 not_found"),
        (Script.failure(402, "payment"), "model-unavailable", "status 402 payment"),
        (Script.html(), "model-unavailable", "broken answer: content type text/html"),
        (Script.html(404), "model-missing", "status 404"),
        (Script(body="{not json"), "model-unavailable", "broken answer: no JSON"),
        (Script(body={"detail": "?"}), "model-unavailable", "broken answer: no completion"),
        (Script("Rin smiles.", close_after=1), "model-unavailable", "cut stream"),
        (Script("Rin smiles.", reset_after=1), "model-unavailable", "cut stream"),
        (Script("Rin smiles.", finish_reason=None), "model-unavailable", "cut stream"),
        (Script("Rin smiles.", garble_after=1), "model-unavailable", "broken answer: no JSON"),
        (
            Script("Rin smiles.", error={"code": 500, "type": "server_error"}),
            "model-unavailable",
            "status 500 server_error",
        ),
    ],
)
async def test_failures_that_stay_are_named_and_not_retried(
    server: ModelServer, connect: Connect, script: Script, code: str, detail: str
) -> None:
    waits = Waits()
    server.replies.append(script)
    with pytest.raises(ModelUnavailable) as caught:
        await connect(sleep=waits).complete(reply())
    assert (caught.value.code, caught.value.detail) == (code, detail)
    assert len(server.requests) == 1
    assert waits.seconds == []


async def test_a_prompt_beyond_the_window_is_told_with_its_size(server: ModelServer, client: ModelClient) -> None:
    await client.probe()
    server.window = 50  # restarted with a smaller one
    with pytest.raises(WindowExceeded) as caught:
        await client.complete(reply("a b " * 40))
    assert caught.value.code == "model-window"
    assert (caught.value.needed, caught.value.window) == (server.requests[0].prompt_tokens, 50)
    assert client.profile.window == 50
    assert client.profile.json_schema
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "error",
    [
        {"code": "context_length_exceeded", "type": "invalid_request_error", "message": "too long"},
        {"code": 400, "message": "This model's maximum context length is 8192 tokens, however you requested 9000"},
        {"message": "prompt is too long: 210000 tokens"},
    ],
)
async def test_other_hosts_words_for_the_window_are_known(
    server: ModelServer, client: ModelClient, error: dict[str, Any]
) -> None:
    server.folds.append(Script(status=400, body={"error": error}))
    with pytest.raises(WindowExceeded):
        await client.complete(fold())
    assert len(server.requests) == 1


async def test_what_players_wrote_is_in_no_error_and_no_log(
    server: ModelServer, client: ModelClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    secret = "the queen is a fox"
    server.answer = lambda body: Script.failure(400, "invalid_request_error", f"bad value: {secret}")
    server.replies.append(Script.failure(503, message=secret))
    with pytest.raises(ModelUnavailable) as caught:
        await client.complete(reply(secret))
    assert caught.value.detail == "status 400 invalid_request_error"
    assert "status 503" in caplog.text
    assert secret not in f"{caught.value!r} {caught.value} {caplog.text}"


# --- failures that pass -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_passing_failure_is_retried(server: ModelServer, connect: Connect, status: int) -> None:
    waits = Waits()
    server.replies.extend([Script.failure(status), Script.html(status), "At last."])
    completion = await connect(sleep=waits, rng=random.Random(4)).complete(reply())
    assert completion.text == "At last."
    assert len(server.requests) == 3
    rng = random.Random(4)
    assert waits.seconds == [rng.uniform(0, 0.5), rng.uniform(0, 1.0)]


async def test_retries_end(server: ModelServer, connect: Connect) -> None:
    waits = Waits()
    server.on_reply = lambda body: Script.failure(503, "unavailable_error")
    with pytest.raises(ModelUnavailable) as caught:
        await connect(sleep=waits, attempts=4).complete(reply())
    assert caught.value.detail == "status 503 unavailable_error"
    assert (len(server.requests), len(waits.seconds)) == (4, 3)


@pytest.mark.parametrize(
    "script",
    [
        Script("Rin smiles.", reset_after=0),
        Script("Rin smiles.", close_after=0),
        Script(error={"code": 503, "type": "unavailable_error"}),
        Script(reasoning="Hm.", reset_after=0),
    ],
)
async def test_a_break_before_the_first_text_is_retried(server: ModelServer, connect: Connect, script: Script) -> None:
    server.replies.extend([script, "Again."])
    heard: list[str] = []
    completion = await connect(sleep=Waits()).complete(reply(on_text=heard.append))
    assert completion.text == "Again."
    assert "".join(heard) == "Again."
    assert len(server.requests) == 2


async def test_a_server_that_comes_up_late_is_reached(server: ModelServer, connect: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    seconds: list[float] = []
    relays: list[asyncio.Server] = []

    async def start_then(delay: float) -> None:
        seconds.append(delay)
        relays.append(await relay_to(server, port))

    completion = await connect(base_url=f"http://127.0.0.1:{port}/v1", sleep=start_then).complete(reply())
    assert completion.text == "Answer 1."
    assert len(seconds) == 1
    relays[0].close()


async def relay_to(server: ModelServer, port: int) -> asyncio.Server:
    """Pass connections to a port on to the scripted server."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", int(server.root.rpartition(":")[2]))
        await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))

    return await asyncio.start_server(connected, "127.0.0.1", port)


async def test_retry_after_is_honoured_in_seconds(server: ModelServer, connect: Connect) -> None:
    waits = Waits()
    server.replies.append(Script.failure(429, "rate_limit", Retry_After="7"))
    await connect(sleep=waits).complete(reply())
    assert waits.seconds == [7.0]


async def test_retry_after_is_honoured_as_a_date(server: ModelServer, connect: Connect) -> None:
    waits = Waits()
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    later = format_datetime(now + timedelta(seconds=9), usegmt=True)
    server.replies.append(Script.failure(503, Retry_After=later))
    with time_machine.travel(now, tick=False):
        await connect(sleep=waits).complete(reply())
    assert waits.seconds == [9.0]


@pytest.mark.parametrize("header", ["soon", "", "-3"])
async def test_an_unreadable_retry_after_means_the_usual_wait(
    server: ModelServer, connect: Connect, header: str
) -> None:
    waits = Waits()
    server.replies.append(Script.failure(429, Retry_After=header))
    await connect(sleep=waits, rng=random.Random(1)).complete(reply())
    assert waits.seconds == [random.Random(1).uniform(0, 0.5)]


async def test_a_retry_after_beyond_the_timeout_is_not_waited_for(server: ModelServer, connect: Connect) -> None:
    waits = Waits()
    server.replies.append(Script.failure(429, "rate_limit", Retry_After="3600"))
    with pytest.raises(ModelUnavailable) as caught:
        await connect(sleep=waits, timeout_seconds=20).complete(reply())
    assert caught.value.detail == "status 429 rate_limit"
    assert waits.seconds == []


async def test_the_slot_is_free_while_a_fold_backs_off(server: ModelServer, connect: Connect) -> None:
    backing_off, go_on = asyncio.Event(), asyncio.Event()

    async def wait(seconds: float) -> None:
        backing_off.set()
        await go_on.wait()

    client = connect(sleep=wait)
    server.folds.extend([Script.failure(429), {"memories": []}])
    folding = asyncio.create_task(client.complete(fold()))
    await backing_off.wait()
    assert (await client.complete(reply())).text == "Answer 1."
    go_on.set()
    assert (await folding).text == '{"memories": []}'
    assert [request.purpose for request in server.requests] == ["fold", "reply", "fold"]


# --- the timeout and cancellation ---------------------------------------------------------------------------------


@pytest.mark.parametrize("hang_after", [0, 1])
async def test_a_hanging_server_is_given_up(server: ModelServer, connect: Connect, hang_after: int) -> None:
    server.replies.append(Script("Rin smiles.", hang=asyncio.Event(), hang_after=hang_after))
    with pytest.raises(ModelTimeout) as caught:
        await connect(timeout_seconds=0.4).complete(reply())
    assert caught.value.fields == {"seconds": 1}
    async with asyncio.timeout(30):
        await server.requests[0].disconnected.wait()
    assert len(server.requests) == 1


async def test_an_endless_answer_is_given_up(server: ModelServer, connect: Connect) -> None:
    server.replies.append(Script("and on ", endless=True, pause=0.005))
    client = connect(timeout_seconds=0.4)
    with pytest.raises(ModelTimeout):
        await client.complete(reply())
    async with asyncio.timeout(30):
        await server.requests[0].disconnected.wait()
    assert client.queue.running == 0


async def test_the_time_in_the_queue_is_not_part_of_the_timeout(server: ModelServer, connect: Connect) -> None:
    client = connect(timeout_seconds=0.5)
    async with client.queue.slot(Priority.REPLY):
        waiting = asyncio.create_task(client.complete(reply()))
        await asyncio.sleep(0.7)
        assert client.queue.waiting == 1
    assert (await waiting).text == "Answer 1."


async def test_a_cancelled_call_hangs_up_and_frees_the_slot(server: ModelServer, client: ModelClient) -> None:
    server.replies.append(Script("Rin smiles.", hang=asyncio.Event(), hang_after=1))
    started = asyncio.Event()
    task = asyncio.create_task(client.complete(reply(on_text=lambda text: started.set())))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(30):
        await server.requests[0].disconnected.wait()
    assert (client.queue.running, client.queue.waiting) == (0, 0)
    assert (await client.complete(reply())).text == "Answer 2."


async def test_an_error_of_the_listener_hangs_up(server: ModelServer, client: ModelClient) -> None:
    def fail(text: str) -> None:
        raise ZeroDivisionError

    server.replies.append(Script("and on ", endless=True))
    with pytest.raises(ZeroDivisionError):
        await client.complete(reply(on_text=fail))
    async with asyncio.timeout(30):
        await server.requests[0].disconnected.wait()
    assert client.queue.running == 0


# --- who goes first -----------------------------------------------------------------------------------------------


async def test_replies_overtake_waiting_folds(server: ModelServer, client: ModelClient) -> None:
    hang = asyncio.Event()
    server.replies.append(Script("first", hang=hang))
    server.on_fold = lambda body: {"memories": []}
    tasks = [asyncio.create_task(client.complete(reply()))]
    await server.arrived(1)
    for request in (fold(), fold(), reply(), reply()):
        tasks.append(asyncio.create_task(client.complete(request)))
        await asyncio.sleep(0)
    hang.set()
    await asyncio.gather(*tasks)
    assert [request.purpose for request in server.requests] == ["reply", "reply", "reply", "fold", "fold"]


async def test_a_reply_does_not_wait_for_a_running_fold(server: ModelServer, connect: Connect) -> None:
    calls: list[ModelCall] = []
    client = connect(on_call=calls.append)
    server.folds.extend([Script("{", hang=asyncio.Event()), {"memories": []}])
    folding = asyncio.create_task(client.complete(fold()))
    await server.arrived(1)

    answer = await client.complete(reply())

    assert answer.text == "Answer 1."
    async with asyncio.timeout(30):
        await server.requests[0].disconnected.wait()
    assert (await folding).text == '{"memories": []}'
    assert [request.purpose for request in server.requests] == ["fold", "reply", "fold"]
    assert [(call.purpose, call.interruptions) for call in calls] == [(Purpose.REPLY, 0), (Purpose.FOLD, 1)]


async def test_only_what_may_be_interrupted_has_the_server_say_how_far_it_is(
    server: ModelServer, client: ModelClient
) -> None:
    server.on_fold = lambda body: {"memories": []}
    await client.complete(fold())
    await client.complete(reply())
    assert [request.body.get("return_progress") for request in server.requests] == [True, None]
    server.llama_cpp = False
    await client.probe()
    await client.complete(fold())
    assert "return_progress" not in server.requests[-1].body


async def test_a_fold_that_is_interrupted_a_third_time_gives_up(server: ModelServer, connect: Connect) -> None:
    calls: list[ModelCall] = []
    waits = Waits()
    client = connect(on_call=calls.append, sleep=waits)
    server.on_fold = lambda body: Script("{", hang=asyncio.Event())
    folding = asyncio.create_task(client.complete(fold()))
    for number in (1, 2, 3):
        await server.arrived(number, "fold")
        await client.complete(reply())

    with pytest.raises(GaveWay) as caught:
        await folding

    assert caught.value.code == "model-gave-way"
    assert [request.purpose for request in server.requests] == ["fold", "reply"] * 3
    assert [(call.error, call.interruptions) for call in calls if call.purpose is Purpose.FOLD] == [
        ("model-gave-way", 3)
    ]
    assert (client.queue.running, client.queue.waiting) == (0, 0)
    assert waits.seconds[0] == 2.0
    assert waits.seconds[-1] == 4.0


async def test_what_was_interrupted_waits_for_a_pause_between_replies(server: ModelServer, connect: Connect) -> None:
    written: list[asyncio.Event] = [asyncio.Event(), asyncio.Event()]
    replies: list[asyncio.Task[Completion]] = []
    seconds: list[float] = []

    async def sleep(wait: float) -> None:
        seconds.append(wait)
        if len(seconds) == 1:  # the reply that interrupted is still being written
            assert client.queue.has_replies
        elif len(seconds) == 2:  # it is done, and another comes and goes
            written[0].set()
            await asyncio.wait(replies)
            replies.append(asyncio.create_task(client.complete(reply())))
            await server.arrived(2, "reply")
            written[1].set()
            await asyncio.wait(replies)
        assert len(server.of("fold")) == 1

    client = connect(sleep=sleep)
    server.folds.extend([Script("{", hang=asyncio.Event()), {"memories": []}])
    server.replies.extend([Script("a", hang=written[0]), Script("b", hang=written[1])])
    folding = asyncio.create_task(client.complete(fold()))
    await server.arrived(1, "fold")
    replies.append(asyncio.create_task(client.complete(reply())))

    assert (await folding).text == '{"memories": []}'

    assert seconds == [2.0, 2.0, 2.0], "a window with a reply running, one in which another was asked for, a quiet one"
    assert [request.purpose for request in server.requests] == ["fold", "reply", "reply", "fold"]


async def test_a_pause_is_waited_for_as_long_as_the_timeout_and_no_longer(
    server: ModelServer, connect: Connect
) -> None:
    waits = Waits()
    client = connect(timeout_seconds=21, sleep=waits)
    hang = asyncio.Event()
    server.folds.extend([Script("{", hang=asyncio.Event()), {"memories": []}])
    server.replies.append(Script("a", hang=hang))
    folding = asyncio.create_task(client.complete(fold()))
    await server.arrived(1, "fold")
    replying = asyncio.create_task(client.complete(reply()))
    await server.arrived(1, "reply")
    while client.queue.waiting == 0:  # the fold stands in the queue again, behind the reply
        await asyncio.sleep(0)
    assert waits.seconds == [2.0] * 10
    hang.set()
    await asyncio.gather(folding, replying)
    assert [request.purpose for request in server.requests] == ["fold", "reply", "fold"]


async def test_a_full_queue_refuses_a_reply_at_once(server: ModelServer, connect: Connect) -> None:
    calls: list[ModelCall] = []
    client = connect(waiting_replies=1, on_call=calls.append)
    hang = asyncio.Event()
    server.replies.append(Script("first", hang=hang))
    tasks = [asyncio.create_task(client.complete(reply())) for _ in range(2)]
    await server.arrived(1)
    with pytest.raises(ModelBusy):
        await client.complete(reply())
    assert [(call.error, call.attempts) for call in calls] == [("model-busy", 0)]
    hang.set()
    await asyncio.gather(*tasks)


async def test_parallel_requests_run_together(server: ModelServer, connect: Connect) -> None:
    client = connect(parallel=2)
    hang = asyncio.Event()
    server.replies.extend([Script("a", hang=hang), Script("b", hang=hang)])
    tasks = [asyncio.create_task(client.complete(reply())) for _ in range(3)]
    await server.arrived(2)
    assert (client.queue.running, client.queue.waiting) == (2, 1)
    hang.set()
    await asyncio.gather(*tasks)


# --- what a server refuses ----------------------------------------------------------------------------------------


async def test_a_refused_schema_is_left_out_from_then_on(server: ModelServer, client: ModelClient) -> None:
    server.json_schema = False
    server.on_fold = lambda body: {"memories": []}
    assert client.profile.json_schema
    first = await client.complete(fold())
    assert first.text == '{"memories": []}'
    learnt = client.profile
    assert not learnt.json_schema
    await client.complete(fold())
    assert ["response_format" in request.body for request in server.requests] == [True, False, False]


async def test_refused_cache_fields_do_not_cost_the_schema(server: ModelServer, client: ModelClient) -> None:
    server.unknown_fields = False
    await client.complete(reply())
    assert ["cache_prompt" in request.body for request in server.requests] == [True, False]
    assert client.profile.json_schema
    server.folds.append({"memories": []})
    await client.complete(fold())
    assert "response_format" in server.requests[2].body
    assert "cache_prompt" not in server.requests[2].body
    assert len(server.requests) == 3


async def test_a_refusal_that_has_other_reasons_teaches_nothing(server: ModelServer, client: ModelClient) -> None:
    server.on_fold = lambda body: Script.failure(422, "invalid_request_error")
    server.purpose_of = lambda body: "fold"
    with pytest.raises(ModelUnavailable):
        await client.complete(fold())
    assert [sorted({"response_format", "cache_prompt", "stream_options"} & set(r.body)) for r in server.requests] == [
        ["cache_prompt", "response_format", "stream_options"],
        ["stream_options"],
        [],
    ]
    assert client.profile.json_schema


@pytest.mark.parametrize(
    ("parameter", "left_out", "put_in"),
    [("max_tokens", "max_tokens", "max_completion_tokens"), ("temperature", "temperature", "max_tokens")],
)
async def test_a_parameter_refused_by_name_is_left_out(
    server: ModelServer, client: ModelClient, parameter: str, left_out: str, put_in: str
) -> None:
    error = {"type": "invalid_request_error", "code": "unsupported_parameter", "param": parameter}
    server.replies.append(Script(status=400, body={"error": error}))
    await client.complete(reply(temperature=1.0))
    await client.complete(reply(temperature=1.0))
    assert [left_out in request.body for request in server.requests] == [True, False, False]
    assert all(put_in in request.body for request in server.requests[1:])
    assert all("cache_prompt" in request.body for request in server.requests)


# --- the prompt cache of llama.cpp ------------------------------------------------------------------------------


async def test_the_choice_of_a_slot_is_left_to_the_server(connect: Connect) -> None:
    async with ModelServer(slots=2) as server:
        client = connect(base_url=server.base_url)
        server.on_fold = lambda body: {"memories": []}
        for request in (reply("Mio: a b c"), fold("other words altogether"), reply("Mio: a b c d")):
            await client.complete(request)
        assert [request.body["cache_prompt"] for request in server.requests] == [True] * 3
        assert not any("id_slot" in request.body for request in server.requests)


async def test_other_servers_get_no_fields_of_llama_cpp(server: ModelServer, client: ModelClient) -> None:
    server.llama_cpp = False
    server.on_fold = lambda body: {"memories": []}
    await client.complete(fold())
    assert not {"cache_prompt", "id_slot"} & set(server.requests[0].body)
    assert client.profile.server == "openai-compatible"


# --- statistics ---------------------------------------------------------------------------------------------------


async def test_every_call_is_reported(server: ModelServer, connect: Connect) -> None:
    calls: list[ModelCall] = []

    async def keep(call: ModelCall) -> None:
        calls.append(call)

    client = connect(on_call=keep, sleep=Waits())
    server.replies.extend([Script.failure(500), "Fine.", Script("Rin sm", close_after=1)])
    completion = await client.complete(reply(session_id=7))
    with pytest.raises(ModelUnavailable):
        await client.complete(reply(session_id=8))

    good, bad = calls
    assert (good.purpose, good.session_id, good.model) == (Purpose.REPLY, 7, "scripted")
    assert (good.finish_reason, good.error, good.attempts) == ("stop", None, 2)
    assert (good.usage, good.milliseconds) == (completion.usage, completion.milliseconds)
    assert (bad.session_id, bad.finish_reason, bad.error, bad.attempts) == (8, None, "model-unavailable", 1)


async def test_a_request_that_keeps_its_own_record_is_reported_to_it_alone(
    server: ModelServer, connect: Connect
) -> None:
    ours: list[ModelCall] = []
    own: list[ModelCall] = []
    client = connect(on_call=ours.append)
    await client.complete(reply(session_id=7, on_call=own.append))
    server.replies.append(Script.failure(401))
    with pytest.raises(ModelUnavailable):
        await client.complete(reply(session_id=8, on_call=own.append))
    await client.complete(reply(session_id=9))

    assert [(call.session_id, call.error) for call in own] == [(7, None), (8, "model-key")]
    assert [call.session_id for call in ours] == [9]


async def test_a_failing_record_costs_no_answer(
    server: ModelServer, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(call: ModelCall) -> None:
        raise ZeroDivisionError

    assert (await connect(on_call=fail).complete(reply())).text == "Answer 1."
    assert "the record of a model call was lost" in caplog.text
