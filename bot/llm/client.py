"""The client of a model server: any that speaks OpenAI's chat completions, llama.cpp's first of all."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any, Self

import httpx
from pydantic_core import to_json

from bot.errors import GaveWay, ModelTimeout, ModelUnavailable, UserError, WindowExceeded
from bot.llm import profiles
from bot.llm.failures import Failed, from_report, from_response
from bot.llm.form import Form, build_body
from bot.llm.queue import Slot, SlotQueue
from bot.llm.reading import Lost, Reader, Reading
from bot.llm.requests import Completion, ModelCall, ModelProfile, ModelRequest, Priority
from bot.llm.stream import Answer, BrokenStream, parse_object, read_events
from bot.llm.transport import AiohttpTransport

log = logging.getLogger(__name__)

OnCall = Callable[[ModelCall], object]

_FIRST_DELAY_SECONDS = 0.5
# A request that was interrupted more often than this is too long for the pauses between replies.
_INTERRUPTIONS = 2
_FIRST_QUIET_SECONDS = 2.0
_LONGEST_ERROR_BYTES = 65_536
_END_SECONDS = 0.5


class _Interrupted(Exception):
    """A reply needs the slot."""


@dataclass(slots=True)
class _Progress:
    """How far one call has come; ``waited`` in the queue and ``spent`` outside of it are seconds."""

    attempts: int = 0
    failures: int = 0
    interruptions: int = 0
    waited: float = 0.0
    spent: float = 0.0
    answer: Answer = field(default_factory=Answer)
    reading: Reading = field(default_factory=Reading)


def _expire(limit: asyncio.Timeout) -> None:
    if not limit.expired():
        limit.reschedule(asyncio.get_running_loop().time())


class ModelClient:
    """Completions, one at a time per slot, replies first.

    Args:
        base_url: where ``/chat/completions`` is found, as in ``http://127.0.0.1:8080/v1``.
        api_key: sent as a bearer token.
        model: the name to ask for; None takes the first that the server lists.
        timeout_seconds: the one timeout of the chain. It rules each connect, read and write, and a whole call with
            its retries, counted from the moment a slot is held; the time in the queue is not part of it.
        parallel: how many requests run at the same time.
        waiting_replies: how many replies may wait before the next one is refused with `ModelBusy`.
        vision: whether the model can see pictures; None asks the server, and tries it once where that does not know.
        attempts: how often a request is sent when the server fails in a way that passes.
        on_call: told of every call that ended, well or not, and awaited if it returns an awaitable; cancelled calls
            are not reported, and those of a request with an ``on_call`` of its own are reported to that alone.
        rng, sleep: the source of jitter and the way to wait, in seconds.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        model: str | None = None,
        timeout_seconds: float = 300.0,
        parallel: int = 1,
        waiting_replies: int = 20,
        vision: bool | None = None,
        attempts: int = 3,
        on_call: OnCall | None = None,
        rng: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._model = model
        self._timeout = timeout_seconds
        self._vision = vision
        self._attempts = attempts
        self._on_call = on_call
        self._rng = rng or random.SystemRandom()
        self._sleep = sleep
        self._queue = SlotQueue(parallel, waiting_replies)
        self._form = Form()
        self._profile = profiles.unknown_profile(model)
        self._probed = False
        self._probing = asyncio.Lock()
        self._transport = AiohttpTransport()
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else None,
            timeout=timeout_seconds,
            trust_env=False,
            transport=self._transport,
        )
        self._completions = httpx.URL(f"{self._base_url}/chat/completions")
        self._reader = Reader(self._http, self._base_url)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections; a request that still runs fails."""
        await self._http.aclose()

    @property
    def profile(self) -> ModelProfile:
        """What is known of the server by now."""
        return self._profile

    @property
    def reached(self) -> bool:
        """Whether the server answered when it was asked last."""
        return self._probed

    @property
    def queue(self) -> SlotQueue:
        """The queue, for its figures."""
        return self._queue

    async def probe(self) -> ModelProfile:
        """Ask the server again what it can do. A window known before stays when the server no longer tells one.

        Raises nothing but cancellation: of a server that cannot be reached, the last known profile is returned.
        """
        async with self._probing:
            await self._ask()
        return self._profile

    async def _ask(self) -> None:
        found = await profiles.probe(
            self._http, self._base_url, model=self._model, before=self._profile, vision=self._vision
        )
        before, self._profile, self._probed = self._profile, found.profile, found.reached
        if (before.server, before.model) != (found.profile.server, found.profile.model):
            self._form = Form()
            self._reader = Reader(self._http, self._base_url)

    async def count_tokens(self, text: str) -> int | None:
        """The tokens of ``text`` as the server counts them, None when it cannot or does not answer now.

        Never waits in the queue and raises nothing but cancellation. That a server has no tokenizer is remembered
        until the next probe.
        """
        if self._probed and not self._profile.counts_tokens:
            return None
        try:
            count = await profiles.count_tokens(self._http, self._base_url, text, definite=True)
        except profiles.NoTokenizer:
            self._profile = replace(self._profile, counts_tokens=False)
            return None
        if count is not None:
            self._profile = replace(self._profile, counts_tokens=True)
        return count

    async def complete(self, request: ModelRequest) -> Completion:
        """Have one answer written, streamed.

        The server's prompt fields that it refuses with a 400 (a schema, the prompt cache, token counts) are left out
        and the request is sent again at once; what was then accepted is remembered. So is that a server refused pictures: it
        is asked again without them. Failures that pass (no connection,
        a reset, 429, 500, 502, 503, 504) are retried as long as no text has arrived, after a random wait that
        doubles, or the one in ``Retry-After`` if the timeout leaves room for it. The slot is free while waiting. A
        reply that finds all slots taken interrupts a background request, however often. That one starts again when no reply
        was asked for or written for two seconds, then for four; the third time it gives up, so that less can be asked for.
        A llama.cpp server is given a long background prompt in portions, and a reply goes first between two of them.
        What the request's check says of the answer is in the answer, and on record.

        Raises:
            ModelBusy: too many replies wait.
            GaveWay: a background request was interrupted three times.
            ModelTimeout: the answer was not complete within the timeout.
            WindowExceeded: the prompt is longer than the window.
            ModelUnavailable: anything else, a stream without a finish reason included (``detail="cut stream"``).
        """
        progress = _Progress()
        try:
            completion = await self._persist(request, progress)
        except UserError as error:
            await self._report(request, progress, error=error.code)
            raise
        if request.check is not None:
            completion = replace(completion, rejection=request.check(completion))
        await self._report(request, progress, completion)
        return completion

    async def _persist(self, request: ModelRequest, progress: _Progress) -> Completion:
        """Repeat until there is an answer or a failure that stays."""
        clock = asyncio.get_running_loop().time
        priority, arrival = request.purpose.priority, None
        background = priority is not Priority.REPLY and request.on_text is None
        while True:
            queued = clock()
            try:
                async with self._queue.slot(
                    priority, arrival, interruptible=background, session_id=request.session_id
                ) as slot:
                    progress.waited += clock() - queued
                    arrival = slot.arrival
                    completion = await self._attempt(request, slot, progress)
                if completion is not None:
                    return completion
                if slot.interrupted:
                    await self._quiet(_FIRST_QUIET_SECONDS)
            except _Interrupted:
                progress.interruptions += 1
                progress.spent = 0.0
                self._reader.doubt(progress.reading)
                if progress.interruptions > _INTERRUPTIONS:
                    raise GaveWay(times=progress.interruptions) from None
                await self._quiet(_FIRST_QUIET_SECONDS * 2 ** (progress.interruptions - 1))
            except Failed as failure:
                self._reader.doubt(progress.reading)
                await self._back_off(failure, progress)

    async def _quiet(self, seconds: float) -> None:
        """Wait until no reply was asked for or written for so many seconds, though no longer than the timeout.

        What is interrupted again has cost the server its work, and maybe a story its place in the prompt cache.
        """
        for _ in range(max(1, int(self._timeout / seconds))):
            asked = self._queue.replies_asked
            await self._sleep(seconds)
            if self._queue.has_room or (self._queue.replies_asked == asked and not self._queue.has_replies):
                return

    async def _attempt(self, request: ModelRequest, slot: Slot, progress: _Progress) -> Completion | None:
        """Use a slot within the time that is left. None: only a portion of the prompt was read."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self._timeout - progress.spent) as limit:
                async with self._probing:
                    if not self._probed:
                        await self._ask()
                if await self._read_on(request, slot, progress):
                    return None
                if slot.interrupted:
                    raise _Interrupted
                slot.on_interrupt = partial(_expire, limit)
                answer = await self._send_shown(request, progress)
                self._reader.has_read(progress.reading, slot.number)
                answer.usage = progress.reading.counted(answer.usage)
        except Lost:
            raise _Interrupted from None
        except TimeoutError as error:
            if slot.on_interrupt is not None and slot.interrupted:
                raise _Interrupted from None
            raise ModelTimeout(seconds=max(1, round(self._timeout))) from error
        finally:
            slot.on_interrupt = None
            progress.spent += loop.time() - began
        return Completion(
            text=answer.text,
            finish_reason=answer.finish_reason or "",
            usage=answer.usage,
            model=self._profile.model,
            milliseconds=round(progress.spent * 1000),
        )

    async def _read_on(self, request: ModelRequest, slot: Slot, progress: _Progress) -> bool:
        """Have a portion of a long prompt read, where a reply might have to wait for the whole; whether one was."""
        if not slot.interruptible or request.pictures or self._profile.server != "llama.cpp" or not self._form.cache:
            return False
        if not progress.reading.begun:
            body = build_body(request, self._profile, self._form)
            progress.reading = await self._reader.begin(body, self._profile, slot.number)
        left = self._timeout - progress.spent
        return await self._reader.read_on(progress.reading, self._profile, slot.number, left)

    async def _send_shown(self, request: ModelRequest, progress: _Progress) -> Answer:
        """Send with its pictures, and without them where the model cannot see."""
        blind = replace(request, pictures=())
        if not request.pictures or self._profile.vision is False:
            return await self._send_simplified(blind, progress)
        try:
            return await self._send_simplified(request, progress)
        except Failed as failure:
            if progress.answer.pieces or (failure.parameter is None and not failure.by_pictures):
                raise
            log.info("the model server refused a picture (%s)", failure.error.detail)
        answer = await self._send_simplified(blind, progress)
        self._profile = replace(self._profile, vision=False)
        return answer

    async def _send_simplified(self, request: ModelRequest, progress: _Progress) -> Answer:
        """Send, with fewer optional fields each time the server refuses them."""
        before = form = self._form
        while True:
            body = build_body(request, self._profile, form)
            try:
                answer = await self._send(body, request, progress)
            except Failed as failure:
                is_sight = bool(request.pictures) and failure.by_pictures
                simpler = None if failure.parameter is None or is_sight else form.simpler(body, failure.parameter)
                if simpler is None:
                    raise
                log.info("the model server refused a request (%s), trying %s", failure.error.detail, simpler)
                form = simpler
                continue
            if form is not before:  # what was learnt meanwhile by a request at the same time is kept otherwise
                self._form = form
            cached = self._profile.cached_tokens or answer.usage.cached_tokens is not None
            schema = self._profile.json_schema and form.schema
            self._profile = replace(self._profile, json_schema=schema, cached_tokens=cached)
            return answer

    async def _send(self, body: dict[str, Any], request: ModelRequest, progress: _Progress) -> Answer:
        """One HTTP request. Leaving it early closes the connection, at which llama.cpp frees the slot."""
        progress.attempts += 1
        headers = {**self._http.headers, "Content-Type": "application/json"}
        if self._profile.server == "llama.cpp":
            # It closes the connection behind a stream without saying so: of 100 requests that followed at once, 8 were lost.
            headers["Connection"] = "close"
        answer = progress.answer = Answer()
        try:
            sent = httpx.Request(
                "POST",
                self._completions,
                headers=headers,
                content=to_json(body),
                extensions={"timeout": self._http.timeout.as_dict()},
            )
            async with contextlib.aclosing(await self._transport.handle_async_request(sent)) as response:
                if response.status_code != 200:
                    raise await self._refusal(response)
                await self._receive(response, request, answer)
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            self._probed = False
            detail = "cut stream" if answer.pieces else f"connection: {type(error).__name__}"
            raise Failed(ModelUnavailable(detail=detail), passing=not answer.pieces) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Failed(ModelUnavailable(detail=f"request: {type(error).__name__}")) from error
        except BrokenStream as error:
            raise Failed(ModelUnavailable(detail=f"broken answer: {error}")) from error
        if answer.error is not None:
            failure = from_report(None, answer.error)
            failure.passing = failure.passing and not answer.pieces
            raise self._noted(failure)
        if answer.finish_reason is None:
            raise Failed(ModelUnavailable(detail="cut stream"), passing=not answer.pieces)
        return answer

    async def _receive(self, response: httpx.Response, request: ModelRequest, answer: Answer) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json":  # a host that cannot stream and answers in one piece
            event = parse_object(await response.aread())
            if "choices" not in event and not event.get("error"):
                raise BrokenStream("no completion")
            self._pass_on(answer.add(event), request)
            return
        if kind != "text/event-stream":
            raise BrokenStream(f"content type {kind[:60] or 'missing'}")
        chunks = response.aiter_bytes()
        async for event in read_events(chunks):
            self._pass_on(answer.add(event), request)
            if answer.error is not None:
                return
        # Read to its end, which comes at once, a response leaves its connection to the next request.
        with contextlib.suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(_END_SECONDS):
                async for _ in chunks:
                    pass

    @staticmethod
    def _pass_on(text: str, request: ModelRequest) -> None:
        if text and request.on_text is not None:
            request.on_text(text)

    async def _refusal(self, response: httpx.Response) -> Failed:
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _LONGEST_ERROR_BYTES:
                break
        failure = from_response(response.status_code, body, response.headers.get("retry-after"), datetime.now(UTC))
        if response.status_code == 503:  # llama.cpp while it loads a model, perhaps another one
            self._probed = False
        return self._noted(failure)

    def _noted(self, failure: Failed) -> Failed:
        """Keep the window that a refusal tells: the server may have been restarted with a smaller one."""
        if isinstance(failure.error, WindowExceeded) and failure.error.window:
            self._profile = replace(self._profile, window=failure.error.window)
        return failure

    async def _back_off(self, failure: Failed, progress: _Progress) -> None:
        """Wait before the next attempt, or raise the failure when there is none."""
        progress.failures += 1
        longest = _FIRST_DELAY_SECONDS * 2 ** (progress.failures - 1)
        delay = self._rng.uniform(0, longest) if failure.retry_after is None else failure.retry_after
        left = self._timeout - progress.spent
        if not failure.passing or progress.failures >= self._attempts or delay >= left:
            raise failure.error from failure
        log.info("the model server failed (%s), trying again in %.1f s", failure.error.detail, delay)
        progress.spent += delay
        await self._sleep(delay)

    async def _report(
        self,
        request: ModelRequest,
        progress: _Progress,
        completion: Completion | None = None,
        *,
        error: str | None = None,
    ) -> None:
        on_call = request.on_call or self._on_call
        if on_call is None:
            return
        call = ModelCall(
            purpose=request.purpose,
            session_id=request.session_id,
            model=self._profile.model,
            usage=progress.answer.usage,
            finish_reason=completion.finish_reason if completion else None,
            error=error,
            attempts=progress.attempts,
            interruptions=progress.interruptions,
            milliseconds=round(progress.spent * 1000),
            waited_milliseconds=round(progress.waited * 1000),
            rejection=completion.rejection if completion else None,
            epoch=request.epoch,
            forced_cuts=request.forced_cuts,
        )
        try:
            outcome = on_call(call)
            if inspect.isawaitable(outcome):
                await outcome
        except Exception:  # statistics must not cost a player the answer
            log.exception("the record of a model call was lost")
