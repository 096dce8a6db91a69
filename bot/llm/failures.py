"""What a failed request means: for the player, for the retry, and for the next request."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from bot.errors import ModelUnavailable, WindowExceeded

RETRIED_STATUS = frozenset({429, 500, 502, 503, 504})
_CODES = {401: "model-key", 403: "model-key", 404: "model-missing"}
_WINDOW_TYPES = frozenset({"exceed_context_size_error", "context_length_exceeded"})
_WINDOW_WORDS = re.compile(
    r"(maximum|model's|exceeds?\b.*) context (length|size|window)|maximum number of tokens|prompt is too long",
    re.IGNORECASE,
)
# llama.cpp without a projector answers 500, OpenRouter without a host that takes pictures 404.
_PICTURE_STATUS = frozenset({400, 404, 413, 415, 422, 500, 501})
_PICTURE_WORDS = re.compile(r"\bimages?\b|image_url|\bvision\b|multi-?modal|mmproj", re.IGNORECASE)


class Failed(Exception):
    """A request that failed. ``error`` is what the caller gets when it is not repeated.

    ``passing`` says that the same request may succeed later, not before ``retry_after`` seconds if that is known.
    ``parameter`` is the field that the server named as the culprit, and empty if it named none; it is None when the
    failure has nothing to do with the fields of the request. ``by_pictures`` says that it has to do with its pictures, if it
    had any.
    """

    def __init__(
        self,
        error: ModelUnavailable,
        *,
        passing: bool = False,
        retry_after: float | None = None,
        parameter: str | None = None,
        by_pictures: bool = False,
    ) -> None:
        super().__init__(error)
        self.error = error
        self.passing = passing
        self.retry_after = retry_after
        self.parameter = parameter
        self.by_pictures = by_pictures


@dataclass(frozen=True, slots=True)
class _Report:
    """The parts of an error body that the hosts have in common; the message may quote the prompt, so it stays here."""

    kind: str
    code: str
    message: str
    parameter: str
    needed: int | None
    window: int | None


def from_response(status: int, body: bytes, retry_after: str | None, now: datetime) -> Failed:
    """The meaning of an answer with an HTTP error; ``retry_after`` is the header."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    wait = seconds_to_wait(retry_after, now)
    return from_report(status, content if isinstance(content, dict) else {}, wait)


def from_report(status: int | None, content: dict[str, Any], retry_after: float | None = None) -> Failed:
    """The meaning of a JSON error, in a body or within a stream; in a stream the report brings its own status."""
    report = _read(content)
    if status is None:
        status = int(report.code) if report.code.isdecimal() and len(report.code) == 3 else 500
    if status in (400, 413, 422) and _is_about_window(report):
        return Failed(WindowExceeded(needed=report.needed, window=report.window))
    named = " ".join(part for part in (f"status {status}", report.kind) if part)
    error = ModelUnavailable(_CODES.get(status, "model-unavailable"), detail=named)
    return Failed(
        error,
        passing=status in RETRIED_STATUS,
        retry_after=retry_after,
        parameter=report.parameter if status in (400, 422) else None,
        by_pictures=status in _PICTURE_STATUS and _PICTURE_WORDS.search(report.message) is not None,
    )


def _read(content: dict[str, Any]) -> _Report:
    inner = content.get("error", content)
    if not isinstance(inner, dict):
        inner = {"message": inner}

    def word(key: str) -> str:
        value = inner.get(key)
        return str(value)[:2000] if isinstance(value, (str, int)) else ""

    def number(key: str) -> int | None:
        value = inner.get(key)
        return value if isinstance(value, int) else None

    kind = re.sub(r"[^\w.-]", "", word("type"))[:60]
    return _Report(kind, word("code"), word("message"), word("param"), number("n_prompt_tokens"), number("n_ctx"))


def _is_about_window(report: _Report) -> bool:
    return (
        report.kind in _WINDOW_TYPES or report.code in _WINDOW_TYPES or _WINDOW_WORDS.search(report.message) is not None
    )


def seconds_to_wait(header: str | None, now: datetime) -> float | None:
    """The seconds that a ``Retry-After`` header asks for, be it a number or an HTTP date; None if it says neither."""
    if header is None:
        return None
    if re.fullmatch(r"\s*\d{1,9}(\.\d+)?\s*", header):
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
