"""A scripted model server on a loopback socket, in the manner of llama.cpp's.

::

    async with ModelServer() as server:
        server.replies.append("Rin smiles.")                    # the next answer to a reply
        server.on_fold = lambda body: {"memories": [...]}       # every fold; a dict becomes JSON
        server.replies.append(Script(status=429, headers={"Retry-After": "2"}))
        ...                                                     # base_url=server.base_url
        assert server.requests[0].messages[-1]["content"] == "Mio: hello"

A request's purpose is the name of its JSON schema ("fold", "major_fold", ...), and "reply" without one. For each
purpose the queued answers are used first, then its handler, then ``server.answer``; a reply with none of them gets a
stock sentence, anything else a 501.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from itertools import takewhile
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.support.model_script import Answer, Body, Handler, Portion, Recorded, Script, render, tokenize

__all__ = ["Answer", "Body", "Handler", "ModelServer", "Portion", "Recorded", "Script", "tokenize"]


class ModelServer:
    """The server; an asynchronous context manager.

    Args:
        window: tokens of one conversation; a longer prompt gets llama.cpp's 400. None: no limit, and not told.
        slots: how many prompts are kept; ``id_slot`` chooses one, else one that is like is taken, else the oldest.
        json_schema: whether ``response_format`` with a schema is accepted.
        unknown_fields: whether llama.cpp's own fields are accepted.
        tokenizer: whether ``/tokenize`` is there.
        llama_cpp: whether ``/props``, ``/apply-template`` and ``timings`` are there.
        portions: whether ``/completion`` is there.
        cache_ram: whether a prompt that leaves its slot is kept, and comes back when it is asked for again.
        vision: whether pictures are accepted, which ``/props`` tells. None: they are, and nothing is told.
        model: the name in ``/v1/models``; ``model_fields`` are added to its entry.
        api_key: demanded as a bearer token when given.

    All of these can be changed while the server runs. ``preamble`` is what the chat template puts before every conversation,
    ``milliseconds_per_token`` how long the server says that it evaluates one, ``keeps_prompts`` whether anything is cached, and
    ``tells_progress`` whether the server says how much of a portion is before it evaluates the rest. ``on_portion`` is awaited
    while a portion is evaluated.
    """

    def __init__(
        self,
        *,
        window: int | None = 32_768,
        slots: int = 1,
        json_schema: bool = True,
        unknown_fields: bool = True,
        tokenizer: bool = True,
        llama_cpp: bool = True,
        portions: bool = True,
        cache_ram: bool = False,
        vision: bool | None = None,
        model: str = "scripted",
        model_fields: Body | None = None,
        api_key: str | None = None,
    ) -> None:
        self.window = window
        self.json_schema = json_schema
        self.unknown_fields = unknown_fields
        self.tokenizer = tokenizer
        self.llama_cpp = llama_cpp
        self.reads_portions = portions
        self.cache_ram = cache_ram
        self.keeps_prompts = True
        self.tells_progress = True
        self.milliseconds_per_token = 0.001
        self.on_portion: Callable[[Portion], Awaitable[object]] | None = None
        self.vision = vision
        self.preamble = ""
        self.loading = False
        self.model = model
        self.model_fields = model_fields or {}
        self.api_key = api_key
        self.requests: list[Recorded] = []
        self.portions: list[Portion] = []
        self.paths: list[str] = []
        self.queued: defaultdict[str, deque[Answer]] = defaultdict(deque)
        self.on: dict[str, Handler] = {}
        self.answer: Handler | None = None
        self.purpose_of: Callable[[Body], str] = self._purpose_by_schema
        self._slots: list[list[str]] = [[] for _ in range(slots)]
        self._slot_used = [0] * slots
        self._kept: list[list[str]] = []
        self._uses = 0
        self._vocabulary: dict[str, int] = {}
        self._refused_purposes: dict[str, str] = {}
        self._news = asyncio.Condition()
        self._runner: web.AppRunner | None = None
        self.root = ""

    @property
    def base_url(self) -> str:
        """The address for a client, with ``/v1``."""
        return f"{self.root}/v1"

    @property
    def replies(self) -> deque[Answer]:
        """Answers to the coming replies."""
        return self.queued["reply"]

    @property
    def folds(self) -> deque[Answer]:
        """Answers to the coming folds."""
        return self.queued["fold"]

    @property
    def major_folds(self) -> deque[Answer]:
        """Answers to the coming major folds."""
        return self.queued["major_fold"]

    @property
    def on_reply(self) -> Handler | None:
        """Answers every reply for which none is queued."""
        return self.on.get("reply")

    @on_reply.setter
    def on_reply(self, handler: Handler) -> None:
        self.on["reply"] = handler

    @property
    def on_fold(self) -> Handler | None:
        """Answers every fold for which none is queued."""
        return self.on.get("fold")

    @on_fold.setter
    def on_fold(self, handler: Handler) -> None:
        self.on["fold"] = handler

    @property
    def on_major_fold(self) -> Handler | None:
        """Answers every major fold for which none is queued."""
        return self.on.get("major_fold")

    @on_major_fold.setter
    def on_major_fold(self, handler: Handler) -> None:
        self.on["major_fold"] = handler

    def of(self, purpose: str) -> list[Recorded]:
        """The requests of one purpose, in the order of arrival."""
        return [request for request in self.requests if request.purpose == purpose]

    async def arrived(self, count: int, purpose: str | None = None, seconds: float = 30.0) -> list[Recorded]:
        """Wait until ``count`` requests (of a purpose) have arrived since the start. Raises TimeoutError."""

        def requests() -> list[Recorded]:
            return self.requests if purpose is None else self.of(purpose)

        async with asyncio.timeout(seconds), self._news:
            await self._news.wait_for(lambda: len(requests()) >= count)
        return requests()

    def forget(self) -> None:
        """Empty all slots, as a restart does."""
        self._slots = [[] for _ in self._slots]
        self._kept.clear()

    async def __aenter__(self) -> Self:
        application = web.Application(client_max_size=64 * 2**20)
        application.router.add_post("/v1/chat/completions", self._chat)
        application.router.add_post("/completion", self._portion)
        application.router.add_get("/v1/models", self._models)
        application.router.add_get("/props", self._props)
        application.router.add_post("/tokenize", self._tokenize)
        application.router.add_post("/apply-template", self._apply_template)
        application.router.add_get("/health", self._health)
        application.middlewares.append(self._gate)
        self._runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.root = "http://{}:{}".format(*self._runner.addresses[0][:2])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # --- endpoints ------------------------------------------------------------------------------------------------

    @web.middleware
    async def _gate(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        self.paths.append(request.path)
        if self.api_key is not None and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            return _error(401, "authentication_error", "Invalid API Key")
        if self.loading and request.path != "/v1/models":
            return _error(503, "unavailable_error", "Loading model")
        return await handler(request)

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _models(self, request: web.Request) -> web.Response:
        entry: Body = {"id": self.model, "object": "model"}
        if self.llama_cpp:
            entry |= {"owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}
        return web.json_response({"object": "list", "data": [entry | self.model_fields]})

    async def _props(self, request: web.Request) -> web.Response:
        if not self.llama_cpp:
            raise web.HTTPNotFound
        return web.json_response(
            {
                "default_generation_settings": {"id": 0, **({} if self.window is None else {"n_ctx": self.window})},
                "total_slots": len(self._slots),
                "model_path": f"/models/{self.model}.gguf",
                **({} if self.vision is None else {"modalities": {"vision": self.vision}}),
            }
        )

    async def _tokenize(self, request: web.Request) -> web.Response:
        if not self.tokenizer:
            raise web.HTTPNotFound
        body = await request.json()
        known = self._vocabulary
        return web.json_response({"tokens": [known.setdefault(t, len(known)) for t in tokenize(body["content"])]})

    async def _apply_template(self, request: web.Request) -> web.Response:
        if not self.llama_cpp:
            raise web.HTTPNotFound
        body = await request.json()
        return web.json_response({"prompt": self.preamble + render(body["messages"])})

    async def _portion(self, request: web.Request) -> web.StreamResponse:
        """Evaluate the tokens of a prompt. llama.cpp says how many it has, evaluates, and then writes one token all the same."""
        body = await request.json()
        if not (self.llama_cpp and self.reads_portions):
            raise web.HTTPNotFound
        if (body["n_predict"], body["stream"], body["cache_prompt"]) != (0, True, True):
            raise web.HTTPBadRequest
        words = list(self._vocabulary)
        prompt = [words[number] for number in body["prompt"]]
        if self.window is not None and len(prompt) >= self.window:
            return _error(400, "exceed_context_size_error", "too long", n_prompt_tokens=len(prompt), n_ctx=self.window)
        slot, cached = self._choose_slot(None, prompt)
        portion = Portion("".join(prompt), len(prompt), cached)
        self.portions.append(portion)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Connection": "close"})
        await response.prepare(request)
        progress = {"total": len(prompt), "cache": cached, "processed": cached, "time_ms": 0}
        if self.tells_progress and body.get("return_progress"):
            await response.write(_event({"content": "", "stop": False, "prompt_progress": progress}))
        if self.on_portion is not None:
            await self.on_portion(portion)
        self._slots[slot] = prompt
        await response.write(_event({"content": "!", "stop": False, "tokens_predicted": 1}))
        milliseconds = portion.computed * self.milliseconds_per_token
        timings = {"cache_n": cached, "prompt_n": portion.computed, "prompt_ms": milliseconds, "predicted_n": 1}
        await response.write(_event({"timings": timings}))
        return response

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        record = Recorded(body, self.purpose_of(body), dict(request.headers), len(self.requests), _peer(request))
        async with self._news:
            self.requests.append(record)
            self._news.notify_all()
        try:
            return await self._respond(request, record)
        except (asyncio.CancelledError, ConnectionError):
            record.disconnected.set()
            raise
        finally:
            record.finished.set()

    # --- answers --------------------------------------------------------------------------------------------------

    def _purpose_by_schema(self, body: Body) -> str:
        """The schema's name; a request repeated without its refused schema keeps the purpose that it had."""
        form = body.get("response_format")
        if isinstance(form, dict) and form.get("type") == "json_schema":
            return str(form["json_schema"]["name"])
        return self._refused_purposes.get(json.dumps(body["messages"]), "reply")

    def _refusal(self, record: Recorded) -> web.Response | None:
        if not self.json_schema and "response_format" in record.body:
            self._refused_purposes[json.dumps(record.body["messages"])] = record.purpose
            return _error(400, "invalid_request_error", "This response_format type is unavailable now")
        if not self.unknown_fields and {"cache_prompt", "id_slot"} & set(record.body):
            self._refused_purposes[json.dumps(record.body["messages"])] = record.purpose
            return _error(400, "invalid_request_error", "Unrecognized request argument supplied: cache_prompt")
        if self.vision is False and record.pictures:
            return _error(500, "server_error", "image input is not supported")
        if self.window is not None and record.prompt_tokens >= self.window:
            message = f"request ({record.prompt_tokens} tokens) exceeds the available context size"
            counts = {"n_prompt_tokens": record.prompt_tokens, "n_ctx": self.window}
            return _error(400, "exceed_context_size_error", message, **counts)
        return None

    async def _answer(self, record: Recorded) -> Script:
        queue = self.queued[record.purpose]
        handler = self.on.get(record.purpose) or self.answer
        answer: Answer | Awaitable[Answer]
        if queue:
            answer = queue.popleft()
        elif handler is not None:
            answer = handler(record.body)
        elif record.purpose == "reply":
            answer = f"Answer {len(self.of('reply'))}."
        else:
            answer = Script.failure(501, message=f"no answer is scripted for {record.purpose}")
        settled = await answer if inspect.isawaitable(answer) else answer
        if isinstance(settled, Script):
            return settled
        return Script(settled if isinstance(settled, str) else json.dumps(settled, ensure_ascii=False))

    async def _respond(self, request: web.Request, record: Recorded) -> web.StreamResponse:
        prompt = tokenize(self.preamble + record.prompt)
        record.prompt_tokens = len(prompt)
        refusal = self._refusal(record)
        if refusal is not None:
            return refusal
        slot, record.cached_tokens = self._choose_slot(record.body.get("id_slot"), prompt)
        script = await self._answer(record)
        if script.status != 200 or script.body is not None:
            return _plain(script)
        pieces, finish_reason = _cut(script, record.body)
        self._slots[slot] = prompt + tokenize("".join(pieces))[:-1]  # the last one is written, and never read
        usage = self._usage(script, record, pieces)
        if not record.body.get("stream"):
            message = {"role": "assistant", "content": "".join(pieces)}
            choice = {"index": 0, "message": message, "finish_reason": finish_reason}
            return web.json_response({"object": "chat.completion", "choices": [choice], **usage})
        return await self._stream(request, record, script, pieces, finish_reason, usage)

    def _choose_slot(self, wanted: int | None, prompt: list[str]) -> tuple[int, int]:
        """The slot to use and how many tokens of the prompt it holds; the last token is always evaluated anew.

        As in llama.cpp, a slot whose prompt makes up more than a tenth of the new one is taken, else the oldest. With the cache in
        RAM a prompt that is about to lose more than its half is kept, and one of which at least a quarter is wanted comes back.
        """
        common = [_common(kept, prompt) for kept in self._slots]
        liked = [slot for slot, count in enumerate(common) if count > len(prompt) / 10]
        if wanted is not None:
            slot = wanted
        elif liked:
            slot = max(liked, key=lambda place: common[place])
        else:
            slot = min(range(len(self._slots)), key=lambda place: self._slot_used[place])
        if self.cache_ram and wanted is None and common[slot] < len(self._slots[slot]) / 2:
            self._restore(slot, prompt)
        self._uses += 1
        self._slot_used[slot] = self._uses
        if not self.keeps_prompts:
            return slot, 0
        return slot, min(_common(self._slots[slot], prompt), len(prompt) - 1)

    def _restore(self, slot: int, prompt: list[str]) -> None:
        self._kept.append(self._slots[slot])
        found = max(self._kept, key=lambda kept: _common(kept, prompt))
        if _common(found, prompt) >= len(found) / 4:
            self._kept.remove(found)
            self._slots[slot] = found

    def _usage(self, script: Script, record: Recorded, pieces: tuple[str, ...]) -> Body:
        if script.usage is None:
            return {}
        if "measured" not in script.usage:
            return {"usage": script.usage}
        completion = len(tokenize("".join(pieces)))
        usage: Body = {
            "prompt_tokens": record.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": record.prompt_tokens + completion,
        }
        if not self.llama_cpp:
            return {"usage": usage}
        usage["prompt_tokens_details"] = {"cached_tokens": record.cached_tokens}
        fresh = record.prompt_tokens - record.cached_tokens
        timings = {"cache_n": record.cached_tokens, "prompt_n": fresh, "predicted_n": completion}
        return {"usage": usage, "timings": timings}

    async def _stream(
        self,
        request: web.Request,
        record: Recorded,
        script: Script,
        pieces: tuple[str, ...],
        finish_reason: str | None,
        usage: Body,
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})

        async def wait(sent: int) -> None:
            if script.hang is not None and sent == script.hang_after:
                await script.hang.wait()

        await response.prepare(request)
        await response.write(_event({"choices": [_choice({"role": "assistant", "content": None})]}))
        if script.reasoning:
            await response.write(_event({"choices": [_choice({"reasoning_content": script.reasoning})]}))
        sent = 0
        while True:
            for piece in pieces:
                await wait(sent)
                if sent in (script.reset_after, script.close_after, script.garble_after):
                    return await _break_off(request, response, script, sent)
                await asyncio.sleep(script.pause)
                await response.write(_event({"choices": [_choice({"content": piece})]}))
                sent += 1
            if not script.endless:
                break
        await wait(sent)
        if sent in (script.reset_after, script.close_after, script.garble_after):
            return await _break_off(request, response, script, sent)
        if script.error is not None:
            await response.write(_event({"error": script.error}))
            return response
        if finish_reason is not None:
            await response.write(_event({"choices": [_choice({}, finish_reason)]}))
        if usage and record.body.get("stream_options", {}).get("include_usage"):
            await response.write(_event({"choices": [], **usage}))
        await response.write(b"data: [DONE]\n\n")
        return response


def _event(content: Body) -> bytes:
    whole = {"object": "chat.completion.chunk", "model": "scripted", **content}
    return b"data: " + json.dumps(whole, ensure_ascii=False).encode() + b"\n\n"


def _choice(delta: Body, finish_reason: str | None = None) -> Body:
    return {"index": 0, "delta": delta, "finish_reason": finish_reason}


def _error(status: int, kind: str, message: str, **fields: int) -> web.Response:
    return web.json_response({"error": {"code": status, "message": message, "type": kind, **fields}}, status=status)


def _plain(script: Script) -> web.Response:
    text = script.body if isinstance(script.body, str) else json.dumps(script.body or {})
    headers = {"Content-Type": "application/json", **script.headers}
    return web.Response(status=script.status, headers=headers, body=text.encode())


def _cut(script: Script, body: Body) -> tuple[tuple[str, ...], str | None]:
    """The pieces that fit the request's cap, and the finish reason that follows."""
    cap = body.get("max_tokens", body.get("max_completion_tokens"))
    pieces = script.split()
    tokens = tokenize("".join(pieces))
    if cap is None or len(tokens) <= cap or script.endless:
        return pieces, script.finish_reason
    return Script("".join(tokens[:cap])).split(), "length"


def _common(kept: list[str], prompt: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(kept, prompt, strict=False)))


async def _break_off(
    request: web.Request, response: web.StreamResponse, script: Script, sent: int
) -> web.StreamResponse:
    if sent == script.garble_after:
        await response.write(b'data: {"choices": [{"index": 0, "delta": {"cont\n\n')
    elif sent == script.reset_after and request.transport is not None:
        request.transport.abort()
    return response


def _peer(request: web.Request) -> object:
    return request.transport.get_extra_info("peername") if request.transport else None
