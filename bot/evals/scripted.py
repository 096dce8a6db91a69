"""A model server on this machine whose answers come from a function: the real client speaks to it over a real socket."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web

from bot.memory.tokens import MESSAGE_OVERHEAD, estimate

MODEL: Final = "scripted"

Answers = Callable[[str, str], str]
"""Given the purpose (the name of the schema that was asked for) and the newest message, the whole answer."""

_PIECES: Final = re.compile(r"\S+\s*|\s+")


@asynccontextmanager
async def scripted_model(answer: Answers) -> AsyncIterator[str]:
    """Serve completions by ``answer`` on a free port of the loopback address; yields the base address, with ``/v1``.

    An answer is streamed a word at a time, without waiting.
    """

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def complete(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        purpose = body.get("response_format", {}).get("json_schema", {}).get("name", "")
        text = answer(purpose, body["messages"][-1]["content"])
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in _PIECES.findall(text):
            await response.write(_event({"content": piece}, None))
        end = _event({}, "stop")
        if body.get("stream_options", {}).get("include_usage"):
            end += _usage([message["content"] for message in body["messages"]], text)
        await response.write(end + b"data: [DONE]\n\n")
        return response

    application = web.Application(client_max_size=16 * 2**20)
    application.router.add_get("/v1/models", models)
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def _usage(prompt: Sequence[str], text: str) -> bytes:
    """What was counted, by the table that the bot guesses by."""
    usage = {
        "prompt_tokens": sum(map(estimate, prompt)) + MESSAGE_OVERHEAD * len(prompt),
        "completion_tokens": estimate(text),
    }
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [], "usage": usage}).encode() + b"\n\n"


def _event(delta: dict[str, Any], finish_reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"
