"""The simulated Discord on a real loopback socket: REST, gateway and CDN for a bot in another process.

Behaviour (permissions, limits, interactions, payloads) is simcord's; this module and `gateway` are transport, with
faults that can be asked for. So discord.py's own HTTP client, rate limiter, multipart encoder, compression, heartbeat
and RESUME all run. Where simcord 3.2.1 differs from Discord on the way (webhooks in threads, webhooks owned by the
application), `wire_routes` mends it.
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import logging
import mimetypes
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import discord
from aiohttp import web
from simcord.backend import Backend
from simcord.backend.cdn import CDN_BASE
from simcord.backend.errors import BackendError
from simcord.http.router import RouteNotImplemented, UnsupportedField

from bot.demo.gateway import CloseCode, Gateway
from bot.demo.wire_routes import Call, Upload, answer, outgoing

log = logging.getLogger(__name__)

API = "/api/v10"
REQUESTS_KEPT = 5000
UPLOAD_LIMIT = 30 * 2**20
"""Bytes of one request; Discord's own limit is 25 MiB without boosts."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request that arrived, and the status that it was answered with."""

    method: str
    path: str
    json: Any
    query: Mapping[str, str]
    files: tuple[str, ...]
    status: int


@dataclass(slots=True)
class Fault:
    """What happens to the next ``times`` requests that match, instead of an answer or (``status`` None) before it."""

    method: str
    path: str
    status: int | None
    times: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def matches(self, call: Call) -> bool:
        return self.method in ("*", call.method) and fnmatch.fnmatch(call.path, self.path)


def _reply(payload: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    # discord.py parses a body only when this header is exactly "application/json", without a charset.
    return web.Response(
        body=json.dumps(payload).encode(),
        status=status,
        headers={"Content-Type": "application/json", **(headers or {})},
    )


def _bucket(remaining: int, reset_after: float) -> dict[str, str]:
    return {
        "X-RateLimit-Bucket": "wire",
        "X-RateLimit-Limit": "50",
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset-After": str(reset_after),
        "X-RateLimit-Reset": str(time.time() + reset_after),
    }


class WireServer:
    """Serves a `Backend` on 127.0.0.1. An async context manager, or `start` and `stop`.

    ``token`` is what the bot has to log in with. ``requests`` is the log of what arrived, ``gaps`` what simcord could
    not answer; ``observers`` are called with each request after it was answered.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        token: str | None = None,
        approved_intents: discord.Intents | None = None,
        heartbeat_ms: int = 41_250,
    ) -> None:
        self.backend = backend
        self.token = token or f"loopback.{secrets.token_urlsafe(24)}"
        self.requests: deque[WireRequest] = deque(maxlen=REQUESTS_KEPT)
        self.gaps: list[str] = []
        self.observers: list[Callable[[WireRequest], None]] = []
        self.faults: list[Fault] = []
        self.port = 0
        self.gateway = Gateway(
            backend,
            token=self.token,
            address=lambda: self.gateway_address,
            rewrite=self._outgoing,
            approved_intents=approved_intents,
            heartbeat_ms=heartbeat_ms,
        )
        self._runner: web.AppRunner | None = None

    @property
    def api(self) -> str:
        """The address for discord.py's ``Route.BASE``."""
        return f"http://127.0.0.1:{self.port}{API}"

    @property
    def gateway_address(self) -> str:
        return f"ws://127.0.0.1:{self.port}/gateway"

    @property
    def cdn(self) -> str:
        return f"http://127.0.0.1:{self.port}/cdn"

    @property
    def child_arguments(self) -> list[str]:
        """The arguments that tell `bot.demo.child` where this server is."""
        return ["--api", self.api, "--gateway", self.gateway_address, "--cdn", self.cdn]

    async def __aenter__(self) -> WireServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        app = web.Application(client_max_size=UPLOAD_LIMIT)
        app.router.add_get("/gateway", self.gateway.handle)
        app.router.add_get("/cdn/{tail:.*}", self._serve_blob)
        app.router.add_route("*", API + "/{tail:.*}", self._rest)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Close every socket and stop listening."""
        self.gateway.close()
        await self.gateway.drop(1001)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # Faults -----------------------------------------------------------------------------------------------------

    def fail(self, method: str, path: str, *, status: int, times: int = 1, body: Any = None) -> None:
        """Answer the next ``times`` matching requests with ``status``. ``path`` may hold ``*``."""
        self.faults.append(Fault(method, path, status, times, {"message": "injected"} if body is None else body))

    def delay(self, method: str, path: str, *, seconds: float, times: int = 1) -> None:
        """Let the next ``times`` matching requests wait before they are carried out."""
        self.faults.append(Fault(method, path, None, times, seconds=seconds))

    def rate_limit(
        self, method: str, path: str, *, retry_after: float, times: int = 1, everywhere: bool = False
    ) -> None:
        """Answer the next ``times`` matching requests with 429; ``retry_after`` is in seconds.

        The ``Via`` header matters: without it discord.py takes a 429 for a ban by Cloudflare and gives up.
        """
        headers = {"Via": "1.1 google", "Retry-After": str(retry_after), **_bucket(0, retry_after)}
        if everywhere:
            headers["X-RateLimit-Global"] = "true"
        body = {"message": "You are being rate limited.", "retry_after": retry_after, "global": everywhere}
        self.faults.append(Fault(method, path, 429, times, body, headers))

    async def drop(self, code: int = CloseCode.UNKNOWN_ERROR) -> None:
        """Close the gateway's sockets; sessions stay resumable."""
        await self.gateway.drop(code)

    def sent(self, method: str, path: str) -> list[WireRequest]:
        """The requests so far with this method whose path matches the pattern, oldest first."""
        return [each for each in self.requests if each.method == method and fnmatch.fnmatch(each.path, path)]

    # Requests ---------------------------------------------------------------------------------------------------

    def _outgoing(self, payload: Any) -> Any:
        return outgoing(self.backend, payload, self.cdn)

    async def _serve_blob(self, request: web.Request) -> web.Response:
        blob = self.backend.cdn.get(f"{CDN_BASE}/{request.match_info['tail']}")
        if blob is None:
            return web.Response(status=404)
        kind = mimetypes.guess_type(request.path)[0] or "application/octet-stream"
        return web.Response(body=blob, content_type=kind)

    async def _rest(self, request: web.Request) -> web.Response:
        call = await self._read(request)
        fault = next((each for each in self.faults if each.matches(call)), None)
        if fault is not None:
            fault.times -= 1
            if fault.times <= 0:
                self.faults.remove(fault)
            await asyncio.sleep(fault.seconds)
        if fault is not None and fault.status is not None:
            reply = _reply(fault.body, fault.status, fault.headers)
        else:
            reply = self._answer(call, request.headers.get("Authorization"))
        names = tuple(upload.filename for upload in call.files)
        seen = WireRequest(call.method, call.path, call.json, call.query, names, reply.status)
        self.requests.append(seen)
        for observer in self.observers:
            observer(seen)
        return reply

    async def _read(self, request: web.Request) -> Call:
        body: Any = None
        uploads: list[Upload] = []
        if request.content_type == "multipart/form-data":
            body, uploads = await self._read_multipart(request)
        elif request.can_read_body:
            raw = await request.text()
            body = json.loads(self._incoming(raw)) if raw else None
        reason = request.headers.get("X-Audit-Log-Reason")
        return Call(
            method=request.method,
            path="/" + request.match_info["tail"],
            json=body,
            query=dict(request.query),
            files=uploads,
            reason=None if reason is None else unquote(reason),
        )

    def _incoming(self, text: str) -> str:
        return text.replace(self.cdn, CDN_BASE)

    async def _read_multipart(self, request: web.Request) -> tuple[Any, list[Upload]]:
        body: Any = None
        fields: dict[str, str] = {}
        uploads: list[Upload] = []
        for name, part in (await request.post()).items():
            if isinstance(part, web.FileField):
                uploads.append(Upload(part.filename, part.file.read()))
            elif name == "payload_json":
                body = json.loads(self._incoming(_text(part)))
            else:
                fields[name] = _text(part)
        body = body if body is not None else fields or None
        described = body.get("attachments") or [] if isinstance(body, dict) else []
        fresh = [each for each in described if str(each.get("id", "")).isdigit() and int(each["id"]) < len(uploads)]
        for each in fresh:
            uploads[int(each["id"])].description = each.get("description")
        return body, uploads

    def _answer(self, call: Call, authorization: str | None) -> web.Response:
        if call.needs_token and authorization != f"Bot {self.token}":
            return _reply({"message": "401: Unauthorized", "code": 0}, 401)
        if call.path in ("/gateway", "/gateway/bot"):
            limit = {"total": 1000, "remaining": 999, "reset_after": 1, "max_concurrency": 1}
            return _reply({"url": self.gateway_address, "shards": 1, "session_start_limit": limit})
        try:
            result = answer(self.backend, call)
        except (RouteNotImplemented, UnsupportedField, NotImplementedError) as error:
            return self._gap(call, error)
        except BackendError as error:
            return _reply(error.to_json(), error.status)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            log.exception("simcord failed at %s %s", call.method, call.path)
            return self._gap(call, error)
        headers = _bucket(49, 1.0)
        if result is None or call.wants_no_body(self.backend):
            return web.Response(status=204, headers=headers)
        return _reply(self._outgoing(result), headers=headers)

    def _gap(self, call: Call, error: Exception) -> web.Response:
        # 501 is not retried by discord.py, so that a gap shows at once.
        self.gaps.append(f"{call.method} {call.path}: {error}")
        return _reply({"message": f"not simulated: {error}", "code": 0}, 501)


def _text(part: object) -> str:
    return part.decode() if isinstance(part, (bytes, bytearray)) else str(part)
