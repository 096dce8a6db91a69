"""One conversation, laid out as others lay it out, and what a prefix cache can reuse of each prompt.

What is played is our own way. The others are given the same messages and replies; their prompts are brought into the server's
tokens by the server, and what its cache can reuse is counted: the tokens that a prompt shares, from the first on, with the prompt
before it and its reply. Some of the prompts are really asked for, to compare the count with what the server says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, Final

import httpx

from bot.errors import KataribeError
from bot.evals.harbour import CARD, Exchange, add_row, read_rows
from bot.evals.machinery import Clock
from bot.memory.messages import Message

OURS: Final = "ours"
SLIDING: Final = "sliding window"
CLOCK: Final = "clock in the system prompt"
SUMMARY: Final = "summary in the system prompt"

FOLD, MAJOR_FOLD, FORCED_CUT, RESTARTED = "fold", "major fold", "forced cut", "restarted"
# What a template puts before an answer that is to come, and around it once it stands in the history.
_BOUNDARY: Final = 16


@dataclass(frozen=True, slots=True)
class Laid:
    """A prompt as one way lays it out, its recorded reply, and why it differs from the one before it, or empty."""

    turn: int
    messages: tuple[Message, ...]
    reply: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a prompt costs, in tokens: its length, how much of it the cache has, and how much is computed.

    ``before`` is the length of the prompt before it, all of which an unbroken one repeats.
    """

    turn: int
    prompt: int
    cached: int
    computed: int
    before: int
    cause: str = ""

    @property
    def broken(self) -> bool:
        """Whether it parts from the prompt before it."""
        return self.cached < self.before - _BOUNDARY


@dataclass(frozen=True, slots=True)
class Sample:
    """A prompt that was really asked for, after the one before it: the server's figures beside the count."""

    way: str
    turn: int
    prompt: int
    cached: int
    counted_prompt: int
    counted: int

    @property
    def difference(self) -> int:
        """By how many tokens count and server differ."""
        return max(abs(self.cached - self.counted), abs(self.prompt - self.counted_prompt))


def causes(exchanges: Sequence[Exchange]) -> tuple[str, ...]:
    """Why each prompt differs from the one before it, in our own way."""
    found = [""]
    for before, after in pairwise(exchanges):
        if after.restarted:
            found.append(RESTARTED)
        elif after.absorbed != before.absorbed:
            found.append(MAJOR_FOLD)
        elif after.head != before.head:
            found.append(FOLD)
        else:
            found.append(FORCED_CUT if after.raw_from != before.raw_from else "")
    return tuple(found[: len(exchanges)])


def measured(exchanges: Sequence[Exchange]) -> tuple[Cost, ...]:
    """What the server said of the prompts that were played."""
    before = [0, *(exchange.prompt for exchange in exchanges)]
    return tuple(
        Cost(e.turn, e.prompt, e.cached, e.computed, length, cause)
        for e, length, cause in zip(exchanges, before, causes(exchanges), strict=False)
    )


def ours(exchanges: Sequence[Exchange]) -> tuple[Laid, ...]:
    """Our own way, to count what was also measured."""
    return tuple(
        Laid(e.turn, e.messages, e.reply, "" if cause == RESTARTED else cause)
        for e, cause in zip(exchanges, causes(exchanges), strict=True)
    )


def with_clock(exchanges: Sequence[Exchange]) -> tuple[Laid, ...]:
    """Our own way with the time to the minute at the end of the system prompt."""
    clock = Clock()
    laid = []
    for one in ours(exchanges):
        at = clock.time + timedelta(minutes=one.turn + 1)
        system = f"{one.messages[0].content}\n\nIt is {at:%A, %d %B %Y, %H:%M}."
        messages = (Message("system", system), *one.messages[1:])
        laid.append(replace(one, messages=messages, cause=one.cause or CLOCK))
    return tuple(laid)


def with_summary(exchanges: Sequence[Exchange]) -> tuple[Laid, ...]:
    """Our own way with the memory at the end of the system prompt, written anew by each fold.

    Its text is that of our memory, so that its length is the same; that it was written anew shows from its first line on.
    """
    laid = []
    for one, exchange in zip(ours(exchanges), exchanges, strict=True):
        written = exchange.chapters + exchange.absorbed
        text = f"Summary {written}, of the story so far:\n{exchange.head}" if written else ""
        system = f"{one.messages[0].content}\n\n{text}".rstrip()
        laid.append(replace(one, messages=(Message("system", system), *one.messages[3:])))
    return tuple(laid)


async def sliding(exchanges: Sequence[Exchange], budget: int, count: Callable[[str], Any]) -> tuple[Laid, ...]:
    """The system prompt and the newest raw turns that take no more than ``budget`` tokens, as ``count`` counts them."""
    said = [Message("assistant", CARD.first_message)]
    sizes = [await count(CARD.first_message)]
    laid, first = [], 0
    for exchange in exchanges:
        said.append(Message("user", exchange.said))
        sizes.append(await count(exchange.said))
        start = first
        while sum(sizes[first:]) > budget and first < len(said) - 1:
            first += 1
        cause = "the oldest turns dropped" if first > start else ""
        laid.append(Laid(exchange.turn, (exchange.messages[0], *said[first:]), exchange.reply, cause))
        said.append(Message("assistant", exchange.reply))
        sizes.append(await count(exchange.reply))
    return tuple(laid)


class Server:
    """A llama.cpp server, asked for its tokens and for prompts without an answer. ``http`` knows its root and its key."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def text(self, messages: Iterable[Message]) -> str:
        """A prompt as the server's chat template makes it. Raises KataribeError when the server has none to show."""
        made = await self._post("/apply-template", {"messages": _plain(messages)})
        return str(made["prompt"])

    async def tokens(self, text: str) -> list[int]:
        """The tokens of a text, its control marks included."""
        made = await self._post("/tokenize", {"content": text, "add_special": True, "parse_special": True})
        return [int(token) for token in made["tokens"]]

    async def size(self, text: str) -> int:
        """How many tokens a text has."""
        return len(await self.tokens(text))

    async def ask(self, messages: Iterable[Message]) -> tuple[int, int]:
        """Ask for a prompt in the first slot, for one token of an answer: its length, and how much the cache had."""
        body = {"messages": _plain(messages), "max_tokens": 1, "cache_prompt": True, "id_slot": 0}
        usage = (await self._post("/v1/chat/completions", body))["usage"]
        return int(usage["prompt_tokens"]), int(usage["prompt_tokens_details"]["cached_tokens"])

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        response = await self._http.post(path, json=body)
        if not response.is_success:
            raise KataribeError(
                f"{path}: the model server answered {response.status_code}; llama.cpp's is needed here."
            )
        found: dict[str, Any] = response.json()
        return found


async def counted(server: Server, laid: Sequence[Laid], advance: Callable[[int], object]) -> tuple[Cost, ...]:
    """What a cache of one slot can reuse of each prompt. The last token of a prompt is always computed, and so is the last
    of a reply, which was written but never read.
    """
    costs = []
    held: list[int] = []
    before = 0
    for one in laid:
        text = await server.text(one.messages)
        tokens = await server.tokens(text)
        cached = _reused(held, tokens)
        costs.append(Cost(one.turn, len(tokens), cached, len(tokens) - cached, before, one.cause))
        held, before = (await server.tokens(text + one.reply))[:-1], len(tokens)
        advance(1)
    return tuple(costs)


async def asked(
    server: Server, way: str, laid: Sequence[Laid], wanted: int, path: Path, advance: Callable[[int], object]
) -> tuple[Sample, ...]:
    """So many prompts of a way (0: all but the first), spread evenly, each really asked for after the one before it.

    The answers are kept in the file at ``path``, a JSON line each, and asked for once.
    """
    kept = {(row["way"], row["turn"]): Sample(**row) for row in read_rows(path)}
    samples = []
    warm = -1
    for place in _spread(len(laid), wanted):
        before, after = laid[place - 1], laid[place]
        sample = kept.get((way, after.turn))
        if sample is None:
            if warm != place - 1:
                await server.ask(before.messages)
            prompt, cached = await server.ask(after.messages)
            warm = place
            former = await server.tokens(await server.text(before.messages))
            tokens = await server.tokens(await server.text(after.messages))
            sample = Sample(way, after.turn, prompt, cached, len(tokens), _reused(former, tokens))
            add_row(path, asdict(sample))
        samples.append(sample)
        advance(1)
    return tuple(samples)


def asked_count(prompts: int, wanted: int) -> int:
    """How many of so many prompts are asked for when ``wanted`` are."""
    return len(_spread(prompts, wanted))


def _spread(prompts: int, wanted: int) -> list[int]:
    places = max(0, prompts - 1)
    if not wanted or wanted >= places:
        return list(range(1, prompts))
    return sorted({1 + round((number + 0.5) * places / wanted - 0.5) for number in range(wanted)})


def _reused(held: Sequence[int], tokens: Sequence[int]) -> int:
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(held, tokens, strict=False)))
    return min(common, len(tokens) - 1)


def _plain(messages: Iterable[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]
