"""Answers of a model, kept on disk by the content of what was asked: a run that was stopped asks nothing twice.

It stands between the real client and the real server as a server of its own on the loopback address, so engine, folder and
graders are kept in the same way, and none of them knows.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from aiohttp import web

_COMPLETIONS: Final = "/v1/chat/completions"
_PORTIONS: Final = "/completion"
_LARGEST_REQUEST: Final = 64 * 2**20
# What of an answer's headers belongs to its content and not to the connection.
_CONTENT_TYPE: Final = "content-type"
# Between the seeds of two draws of the same question, so that none is that of a repeat.
_DRAWS_APART: Final = 1_000_003


@dataclass(slots=True)
class Keeper:
    """Where to ask, and how many answers were ``kept`` from an earlier time and how many ``asked`` anew; ``failed`` are those
    that the server did not give, or not to their end.
    """

    base_url: str = ""
    kept: int = 0
    asked: int = 0
    failed: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """The three figures by name."""
        return {"kept": self.kept, "asked": self.asked, "failed": self.failed}


@asynccontextmanager
async def kept_answers(
    upstream: str, folder: Path, *, api_key: str | None = None, repeat: int = 0, redraws: bool = False
) -> AsyncIterator[Keeper]:
    """Serve the completions of the server at ``upstream`` (with its ``/v1``), each asked for once and then from ``folder``.

    ``repeat`` tells repeats of the same question apart, and is sent as its seed. An answer is kept when it is whole. With
    ``redraws`` a question that comes again is another draw with a seed of its own, as for a fold that is tried again; a run
    that asks in the same order once more gets the same draws.
    """
    keeper = Keeper()
    proxy = _Proxy(upstream.rstrip("/").removesuffix("/v1"), folder, repeat, keeper, redraws=redraws)
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    # Who asks has the only timeout: the bot's own client.
    async with httpx.AsyncClient(headers=headers, timeout=None, trust_env=False) as http:  # noqa: S113
        proxy.http = http
        application = web.Application(client_max_size=_LARGEST_REQUEST)
        application.router.add_post(_COMPLETIONS, proxy.complete)
        application.router.add_post(_PORTIONS, proxy.refuse)
        application.router.add_route("*", "/{path:.*}", proxy.pass_on)
        # A client that leaves ends the request at the server too.
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1, handler_cancellation=True)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            keeper.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            yield keeper
        finally:
            await runner.cleanup()


class _Proxy:
    http: httpx.AsyncClient

    def __init__(self, root: str, folder: Path, repeat: int, keeper: Keeper, *, redraws: bool) -> None:
        self._root = root
        self._folder = folder
        self._repeat = repeat
        self._keeper = keeper
        self._redraws = redraws
        self._drawn: Counter[str] = Counter()
        folder.mkdir(parents=True, exist_ok=True)

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = {**await request.json(), "seed": self._repeat}
        question = _key(body)
        if self._redraws:
            body["seed"] += _DRAWS_APART * self._drawn[question]
        path = self._folder / f"{_key(body)}.txt"
        if path.exists():
            self._keeper.kept += 1
            self._drawn[question] += 1
            kind, _, text = path.read_bytes().partition(b"\n")
            return web.Response(body=text, headers={_CONTENT_TYPE: kind.decode()})
        try:
            return await self._asked(request, body, path)
        finally:
            self._drawn[question] += path.exists()

    async def _asked(self, request: web.Request, body: dict[str, Any], path: Path) -> web.StreamResponse:
        whole, kind = b"", ""
        try:
            async with self.http.stream("POST", self._root + _COMPLETIONS, json=body) as answer:
                kind = answer.headers.get(_CONTENT_TYPE, "application/octet-stream")
                response = web.StreamResponse(status=answer.status_code, headers={_CONTENT_TYPE: kind})
                if "retry-after" in answer.headers:
                    response.headers["Retry-After"] = answer.headers["retry-after"]
                await response.prepare(request)
                async for piece in answer.aiter_bytes():
                    whole += piece
                    await response.write(piece)
        except httpx.HTTPError:
            self._keeper.failed += 1
            if request.transport is not None:  # as the server did: break off
                request.transport.close()
            return web.Response(status=502)
        except asyncio.CancelledError:
            if _is_whole(whole):  # who asked has all there is to have, and left before the server closed
                self._keep(path, kind, whole)
            raise
        if answer.is_success and _is_whole(whole):
            self._keep(path, kind, whole)
        else:
            self._keeper.failed += 1
        await response.write_eof()
        return response

    def _keep(self, path: Path, kind: str, whole: bytes) -> None:
        self._keeper.asked += 1
        draft = path.with_suffix(".draft")
        draft.write_bytes(kind.encode() + b"\n" + whole)
        draft.replace(path)

    async def refuse(self, request: web.Request) -> web.Response:
        """The portions in which a long prompt is read: nobody waits for a reply here, and a kept answer needs no reading."""
        return web.Response(status=404)

    async def pass_on(self, request: web.Request) -> web.Response:
        """Whatever else is asked, such as the window or a count of tokens."""
        try:
            answer = await self.http.request(
                request.method, f"{self._root}{request.path}", content=await request.read(),
                headers={_CONTENT_TYPE: request.headers.get(_CONTENT_TYPE, "application/json")},
            )  # fmt: skip
        except httpx.HTTPError:
            return web.Response(status=503)
        kind = answer.headers.get(_CONTENT_TYPE, "application/octet-stream")
        return web.Response(status=answer.status_code, body=answer.content, headers={_CONTENT_TYPE: kind})


def _key(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _is_whole(answer: bytes) -> bool:
    """Whether it says why it ended, streamed or in one piece, and reports no error."""
    return b'"finish_reason":"' in answer.replace(b": ", b":") and b'"error":{' not in answer.replace(b": ", b":")
