"""Long prompts of the background, read a portion at a time.

llama.cpp evaluates a prompt in batches of 2,048 tokens unless it was started with another number, and looks only between two of
them whether anybody still waits for the answer. On a processor that is many seconds, which a reply would wait. So the growing
beginnings of the prompt are sent first, each to be evaluated into the prompt cache and nothing else, and between two of them
whoever waits goes first.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, TypeVar

import httpx

from bot.llm.profiles import server_root
from bot.llm.requests import ModelProfile, Usage
from bot.llm.stream import BrokenStream, read_events

log = logging.getLogger(__name__)
T = TypeVar("T")

# A reply waits for half of it on average: a fiftieth of a reply that takes three seconds.
_SECONDS = 0.1
# Reading 620 tokens with a model of 135M on one processor took 5.1 s at once, and in portions of 8, 12, 16 or 32 tokens 7.6, 7.1,
# 7.4 and 7.7 s (the better of two each).
_LEAST_TOKENS = 8
# llama.cpp computes so many tokens at once unless it is told otherwise (--ubatch-size); more are not read any faster.
_MOST_HURRIED_TOKENS = 512
_SHORTEST_CHARACTERS = 256
# llama.cpp takes the slot whose prompt makes up more than a tenth of the new one, or more than --slot-prompt-similarity says, for
# which we advise 0.8 (bot/llm/form.py); else the one that was used longest ago. So a portion must not be large beside what was
# read, to find its slot again, nor the first one so small that the words which a chat template puts before every conversation are
# a tenth of it: it would take a story's slot.
_LIKEST_SHARE = 5
_FIRST_TOKENS = 80
_LEAST_LIKE_SHARE = 10
_WORDS_IN_COMMON = 4
_MISSING = frozenset({404, 405, 501})


class Lost(Exception):
    """The server no longer has what it read, because others were served meanwhile."""


class _Unusable(Exception):
    """The server did not answer as llama.cpp does."""


@dataclass(slots=True)
class Reading:
    """How far a prompt was read.

    ``begun`` is false until the prompt's ``tokens`` are asked for; there are none where it cannot be read in portions. The server
    is believed to have the first ``read`` of them. It was seen to have them in the slot number ``turn``; None: not since others
    may have been served. ``computed`` counts the tokens that it evaluated for portions, ``last`` those of the newest portion.
    ``first`` is the size of the first one.
    """

    begun: bool = False
    tokens: tuple[int, ...] = ()
    first: int = _LEAST_TOKENS
    read: int = 0
    computed: int = 0
    last: int = 0
    turn: int | None = None

    def counted(self, usage: Usage) -> Usage:
        """The figures of the whole: what the portions had evaluated was not cached before."""
        if usage.cached_tokens is None:
            return usage
        return replace(usage, cached_tokens=max(0, usage.cached_tokens - self.computed))


@dataclass(frozen=True, slots=True)
class _Portion:
    """What the server said of one: the tokens that it had and evaluated, and the time of that. None: it had too few."""

    cached: int
    computed: int | None
    seconds: float = 0.0


class Reader:
    """Has one server read; it remembers how fast that is, and what the server cannot do."""

    def __init__(self, http: httpx.AsyncClient, base_url: str) -> None:
        self._http = http
        self._root = server_root(base_url)
        self._missing = False
        self._speed: float | None = None
        self._newest: tuple[tuple[int, ...], int] = ((), 0)
        # The only slot lost what it had read to a reply: the server has no prompt cache in RAM.
        self._forgets = False

    async def begin(self, body: dict[str, Any], profile: ModelProfile, turn: int) -> Reading:
        """The reading of a completion's prompt; ``body`` is its request's, ``turn`` the number of the slot.

        Raises TimeoutError and cancellation, and nothing else.
        """
        messages = body["messages"]
        if self._missing or sum(len(message["content"]) for message in messages) < _SHORTEST_CHARACTERS:
            return Reading(begun=True)
        try:
            prompt = await self._post("/apply-template", body, "prompt", str)
            tokens = await self._tokens(prompt, profile.model)
            first = _LEAST_TOKENS
            if not _has_one_slot(profile):
                head = await self._tokens(prompt[: max(0, prompt.find(messages[0]["content"]))], profile.model)
                first = max(_FIRST_TOKENS, _LEAST_LIKE_SHARE * (len(head) + _WORDS_IN_COMMON))
        except _Unusable as error:
            log.info("the model server does not read in portions (%s)", error)
            return Reading(begun=True)
        if profile.window is not None and len(tokens) >= profile.window:
            return Reading(begun=True)
        reading = Reading(True, tokens, first)
        newest, newest_turn = self._newest
        if newest_turn + 1 == turn:  # asked for once more, or a fold after a fold
            reading.read = _common(newest, tokens)
        return reading

    async def read_on(self, reading: Reading, profile: ModelProfile, turn: int, seconds: float) -> bool:
        """Have a portion read; false when what is left is for the request itself. ``seconds`` are left for all of it.

        Raises Lost, TimeoutError and cancellation, and nothing else.
        """
        if not reading.tokens:
            return False
        seen, alone = reading.turn, reading.turn in (None, turn - 1)
        if not alone and self._forgets:
            self.doubt(reading)
            raise Lost
        size = self._size(reading, profile, seconds)
        left = len(reading.tokens) - reading.read
        if left <= size and (seen is not None or not reading.read):
            return False
        end = min(reading.read + size, len(reading.tokens) - 1)
        try:
            portion = await self._send(reading.tokens[:end], profile.model, least=reading.read - size)
        except _Unusable as error:
            log.info("the model server does not read in portions (%s)", error)
            reading.tokens = ()
            return False
        reading.turn = turn
        if portion.computed is None:
            reading.read = portion.cached
            if not alone:
                self._forgets = _has_one_slot(profile)
                self.doubt(reading)
                raise Lost
            if seen is not None:  # nobody else was there, so it would be lost each time
                reading.tokens = ()
            return seen is None
        reading.read = end
        if portion.computed > 1:  # the last token is evaluated anew even where all are cached
            reading.computed += portion.computed
        reading.last = size
        if portion.seconds > 0 and portion.computed >= min(size, _LEAST_TOKENS):
            self._speed = portion.computed / portion.seconds
        return True

    def doubt(self, reading: Reading) -> None:
        """Others may have been served since the newest portion."""
        reading.turn = None
        if self._forgets:
            reading.read = 0

    def has_read(self, reading: Reading, turn: int) -> None:
        """Note that the whole prompt was evaluated."""
        self._newest = reading.tokens, turn

    def _size(self, reading: Reading, profile: ModelProfile, seconds: float) -> int:
        """The tokens of the next portion: what takes a tenth of a second, or more where the prompt would not be read in time."""
        if reading.read < reading.first:
            return reading.first - reading.read
        speed = self._speed or 0.0
        size = int(speed * _SECONDS)
        if len(reading.tokens) - reading.read > speed * seconds / 2:
            size = max(size, min(2 * reading.last, _MOST_HURRIED_TOKENS))
        most = 4 * reading.read if _has_one_slot(profile) else reading.read // _LIKEST_SHARE
        return max(_LEAST_TOKENS, min(size, most))

    async def _tokens(self, text: str, model: str) -> tuple[int, ...]:
        """The tokens of a prompt as a completion has them."""
        body = {"model": model, "content": text, "add_special": True, "parse_special": True}
        return tuple(await self._post("/tokenize", body, "tokens", list))

    async def _post(self, path: str, body: dict[str, Any], name: str, kind: type[T]) -> T:
        """The field ``name`` of an answer."""
        try:
            response = await self._http.post(self._root + path, json=body)
            self._look_at(response)
            content = response.json()
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        except (httpx.HTTPError, ValueError) as error:
            raise _Unusable(f"{path}: {type(error).__name__}") from error
        value = content.get(name) if isinstance(content, dict) else None
        if not isinstance(value, kind):
            raise _Unusable(f"{path}: no {name}")
        return value

    def _look_at(self, response: httpx.Response) -> None:
        if response.status_code in _MISSING:
            self._missing = True
        if response.status_code != 200:
            raise _Unusable(f"status {response.status_code}")

    async def _send(self, tokens: tuple[int, ...], model: str, *, least: int) -> _Portion:
        """Have the beginning of a prompt evaluated, if the server still has the first ``least`` tokens of it.

        Tokens, not text: what is cut in the middle of a word has other tokens at the cut. Without samplers the one token that is
        written in spite of ``n_predict`` 0 costs nothing; the usual ones take 25 ms for it with 49,000 tokens to choose from.
        """
        body = {
            "model": model, "prompt": tokens, "n_predict": 0, "cache_prompt": True, "samplers": [],
            "stream": True, "return_progress": True, "response_fields": ["timings"],
        }  # fmt: skip
        timings: dict[str, Any] = {}
        head = {"Connection": "close"}  # as behind every stream of llama.cpp, see the client
        try:
            async with self._http.stream("POST", f"{self._root}/completion", json=body, headers=head) as response:
                self._look_at(response)
                async for event in read_events(response.aiter_bytes()):
                    progress = event.get("prompt_progress")
                    if progress is not None and progress["cache"] < least:  # it says so before it evaluates anything
                        return _Portion(progress["cache"], None)
                    timings = event.get("timings") or timings
            return _Portion(timings["cache_n"], timings["prompt_n"], timings["prompt_ms"] / 1000)
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        except (httpx.HTTPError, BrokenStream, KeyError, TypeError) as error:
            raise _Unusable(f"/completion: {type(error).__name__}") from error


def _has_one_slot(profile: ModelProfile) -> bool:
    return (profile.slots or 1) == 1


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
