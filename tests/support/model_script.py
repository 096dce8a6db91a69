"""What a scripted model server answers, and what it keeps of a request."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Script:
    """One answer, with everything that can go wrong in it.

    ``status``, ``headers`` and ``body`` (JSON when it is no string) make a plain HTTP answer, unless the status is 200
    and there is no body. ``hang`` is waited for before the first piece of text, or after ``hang_after`` pieces. After
    ``reset_after`` pieces the connection is reset; after ``close_after`` pieces it is closed in an orderly way without
    a finish reason; after ``garble_after`` pieces half a JSON event is sent and the stream ended. ``endless`` repeats
    the text until the client goes. ``pause`` is the time before each piece, in seconds. ``error`` is sent as an event
    in place of the end. ``usage`` replaces the usage object of the last chunk; None leaves usage and timings out.
    """

    text: str = ""
    finish_reason: str | None = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | Body | None = None
    reasoning: str = ""
    pieces: tuple[str, ...] | None = None
    hang: asyncio.Event | None = None
    hang_after: int = 0
    reset_after: int | None = None
    close_after: int | None = None
    garble_after: int | None = None
    endless: bool = False
    pause: float = 0.0
    error: Body | None = None
    usage: Body | None = field(default_factory=lambda: {"measured": True})

    def __post_init__(self) -> None:
        if self.endless and not self.split():
            raise ValueError("an endless answer needs a text to repeat")

    @classmethod
    def failure(cls, status: int, kind: str = "server_error", message: str = "failed", **headers: str) -> Script:
        """An HTTP error in OpenAI's form; ``Retry_After="2"`` becomes the header ``Retry-After``."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status=status, headers=named, body={"error": {"code": status, "message": message, "type": kind}})

    @classmethod
    def html(cls, status: int = 200) -> Script:
        """A web page where a completion was expected, as from a proxy or a wrong address."""
        page = "<!doctype html><title>Bad gateway</title>"
        return cls(status=status, headers={"Content-Type": "text/html"}, body=page)

    def split(self) -> tuple[str, ...]:
        """The pieces in which the text is streamed: about a word each, three characters where no spaces are."""
        if self.pieces is not None:
            return self.pieces
        return tuple(re.findall(r"\s*[!-~]+|[^!-~]{1,3}", self.text))


Answer = str | Body | list[Any] | Script
Handler = Callable[[Body], Answer | Awaitable[Answer]]


@dataclass(slots=True, eq=False)
class Recorded:
    """A request as it arrived; ``prompt_tokens`` and ``cached_tokens`` as the server counted them.

    ``arrival`` counts all requests; ``peer`` is the other end of the connection. ``finished`` is set when the handler is
    through, ``disconnected`` when the client went away before.
    """

    body: Body
    purpose: str
    headers: Mapping[str, str]
    arrival: int
    peer: object = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The chat messages, each with ``role`` and ``content``: of one with pictures, the words that stand before them."""
        return [{**message, "content": _parts(message)[0]["text"]} for message in self.body["messages"]]

    @property
    def pictures(self) -> list[tuple[str, bytes]]:
        """The pictures with their captions, wherever they stand."""
        parts = [part for message in self.body["messages"] for part in _parts(message)[1:]]
        head = "data:image/jpeg;base64,"
        return [
            (words["text"].strip("\n"), base64.b64decode(picture["image_url"]["url"].removeprefix(head), validate=True))
            for words, picture in zip(parts[::2], parts[1::2], strict=True)
        ]

    @property
    def prompt(self) -> str:
        """The whole prompt as one text, roles included: for prefixes and for "is it in there"."""
        return render(self.messages)


@dataclass(frozen=True, slots=True)
class Portion:
    """The beginning of a prompt that was to be evaluated and no more: its text, its tokens, and how many were cached."""

    text: str
    tokens: int
    cached: int

    @property
    def computed(self) -> int:
        """The tokens that the server did not have."""
        return self.tokens - self.cached


def _parts(message: Body) -> list[Body]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def render(messages: list[dict[str, str]]) -> str:
    """A chat template."""
    return "".join(f"<|{message['role']}|>{message['content']}<|end|>" for message in messages) + "<|assistant|>"


def tokenize(text: str) -> list[str]:
    """Split into the server's tokens: a control mark, a word of ASCII, a run of spaces, or one other character."""
    return re.findall(r"<\|\w+\|>|[A-Za-z0-9]+|\s+|.", text, re.DOTALL)
