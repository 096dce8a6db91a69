"""Reading a streamed chat completion: server-sent events into text, finish reason and token counts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from bot.llm.requests import Usage


class BrokenStream(Exception):
    """An event that is no JSON object."""


async def read_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """Yield the JSON object of every event until ``[DONE]`` or the end of the stream. Raises `BrokenStream`.

    Lines end at a line feed and nowhere else: a model may write U+2028 or U+0085, which `str.splitlines` would take
    for the end of a line in the middle of an event.
    """
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            data = _data(line)
            if data == b"[DONE]":
                return
            if data:
                yield parse_object(data)
    data = _data(rest)
    if data and data != b"[DONE]":
        yield parse_object(data)


def _data(line: bytes) -> bytes:
    """The payload of a line; llama.cpp has sent failures in a field named ``error`` as well as in ``data``."""
    name, _, value = line.strip().partition(b":")
    if name == b"error":
        return b'{"error":' + value + b"}"
    return value.strip() if name == b"data" else b""


def parse_object(data: bytes) -> dict[str, Any]:
    """Decode a JSON object. Raises `BrokenStream` for anything else."""
    try:
        value = from_json(data)
    except ValueError as error:
        raise BrokenStream("no JSON") from error
    if not isinstance(value, dict):
        raise BrokenStream("no JSON object")
    return value


@dataclass(slots=True)
class Answer:
    """What has arrived so far. ``error`` is set when the server reported a failure within the stream."""

    pieces: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    error: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def add(self, event: dict[str, Any]) -> str:
        """Take one event in and return the text it added; reasoning is left out."""
        if event.get("error"):
            self.error = event
            return ""
        if "usage" in event or "timings" in event:
            self.usage = read_usage(event, self.usage)
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return ""
        if isinstance(choice.get("finish_reason"), str):
            self.finish_reason = choice["finish_reason"]
        delta = choice.get("delta") or choice.get("message")
        text = delta.get("content") if isinstance(delta, dict) else None
        if not isinstance(text, str) or not text:
            return ""
        self.pieces.append(text)
        return text


def read_usage(event: dict[str, Any], before: Usage) -> Usage:
    """The token counts in an event, over those known ``before``.

    The cached count goes by several names: OpenAI's ``prompt_tokens_details.cached_tokens``, DeepSeek's
    ``prompt_cache_hit_tokens``, ``cached_tokens`` and ``cache_read_input_tokens`` of others, and ``cache_n`` in
    llama.cpp's ``timings``.
    """
    usage, timings = _mapping(event.get("usage")), _mapping(event.get("timings"))
    cached = (
        _count(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
        _count(usage.get("prompt_cache_hit_tokens")),
        _count(usage.get("cached_tokens")),
        _count(usage.get("cache_read_input_tokens")),
        _count(timings.get("cache_n")),
        before.cached_tokens,
    )
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    return Usage(
        prompt_tokens=before.prompt_tokens if prompt is None else prompt,
        cached_tokens=next((count for count in cached if count is not None), None),
        completion_tokens=before.completion_tokens if completion is None else completion,
    )


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
