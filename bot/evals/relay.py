"""Servers between a benchmark and a model: one that passes everything on and says how far a fold is, and one that keeps waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx
from aiohttp import web

from bot.evals.scripted import MODEL

_COMPLETIONS: Final = "/v1/chat/completions"
# A portion of a long prompt is sent here; only what is not a reply is read like that.
_PORTIONS: Final = "/completion"
_LARGEST_REQUEST: Final = 16 * 2**20
_REPLY: Final = "reply"


class Relay:
    """Passes on what is asked. ``reading`` is set when a fold was sent, be it the first portion of its prompt, and ``writing``
    when the first of its text came.

    ``read_seconds`` is the time between the two, of the newest fold that got so far; ``reply_began`` the time (monotonic) at
    which the newest reply had its first text.
    """

    def __init__(self, upstream: str, http: httpx.AsyncClient) -> None:
        self._root = upstream.rstrip("/").removesuffix("/v1")
        self._http = http
        self.base_url = ""
        self.reading = asyncio.Event()
        self.writing = asyncio.Event()
        self.read_seconds = 0.0
        self.reply_began = 0.0
        self._fold_began = 0.0

    def forget(self) -> None:
        """The next fold is another one."""
        self.reading.clear()
        self.writing.clear()

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """Pass on a completion, piece by piece."""
        body = await request.json()
        schema = body.get("response_format", {}).get("json_schema", {})
        is_reply = request.path == _COMPLETIONS and schema.get("name", _REPLY) == _REPLY
        if not is_reply and not self.reading.is_set():
            self._fold_began = time.monotonic()
            self.reading.set()
        async with self._http.stream("POST", self._root + request.path, json=body) as answer:
            headers = {"Content-Type": answer.headers.get("content-type", "application/octet-stream")}
            response = web.StreamResponse(status=answer.status_code, headers=headers)
            await response.prepare(request)
            has_text = False
            async for piece in answer.aiter_bytes():
                if not has_text and request.path == _COMPLETIONS and b'"content":"' in piece.replace(b": ", b":"):
                    has_text = True
                    self._has_begun(is_reply)
                await response.write(piece)
        await response.write_eof()
        return response

    def _has_begun(self, is_reply: bool) -> None:
        if is_reply:
            self.reply_began = time.monotonic()
        elif not self.writing.is_set():
            self.read_seconds = time.monotonic() - self._fold_began
            self.writing.set()

    async def pass_on(self, request: web.Request) -> web.Response:
        """Whatever else is asked."""
        answer = await self._http.request(
            request.method, f"{self._root}{request.path}", content=await request.read(),
            headers={"Content-Type": request.headers.get("content-type", "application/json")},
        )  # fmt: skip
        kind = answer.headers.get("content-type", "application/octet-stream")
        return web.Response(status=answer.status_code, body=answer.content, headers={"Content-Type": kind})


@asynccontextmanager
async def relay(upstream: str, api_key: str | None = None) -> AsyncIterator[Relay]:
    """A relay to the server at ``upstream`` (with its ``/v1``), on a free port of the loopback address."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    # A connection of its own for each request: a server that closes an idle one would fail a request.
    limits = httpx.Limits(max_keepalive_connections=0)
    # Who asks has the only timeout: the bot's own client.
    async with httpx.AsyncClient(headers=headers, timeout=None, limits=limits, trust_env=False) as http:  # noqa: S113
        passing = Relay(upstream, http)
        application = web.Application(client_max_size=_LARGEST_REQUEST)
        for path in (_COMPLETIONS, _PORTIONS):
            application.router.add_post(path, passing.complete)
        application.router.add_route("*", "/{path:.*}", passing.pass_on)
        async with _served(application) as address:
            passing.base_url = address
            yield passing


class Waiting:
    """A model that takes its time; ``asked`` is set when something was asked of it."""

    def __init__(self, pause: float | None) -> None:
        self._pause = pause
        self.base_url = ""
        self.asked = asyncio.Event()

    async def models(self, _: web.Request) -> web.Response:
        """It has a name."""
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """Say nothing, or a word at a time and never the last."""
        await request.read()
        self.asked.set()
        if self._pause is None:
            await asyncio.Event().wait()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        while True:
            await response.write(b'data: {"choices": [{"index": 0, "delta": {"content": " "}}]}\n\n')
            await asyncio.sleep(self._pause or 0.0)


@asynccontextmanager
async def waiting_model(pause: float | None) -> AsyncIterator[Waiting]:
    """A model server that never answers, or with ``pause`` writes a word after every so many seconds without an end."""
    model = Waiting(pause)
    application = web.Application()
    application.router.add_get("/v1/models", model.models)
    application.router.add_post(_COMPLETIONS, model.complete)
    async with _served(application) as address:
        model.base_url = address
        yield model


@asynccontextmanager
async def _served(application: web.Application) -> AsyncIterator[str]:
    # A client that leaves ends the request at the server behind it too.
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()
