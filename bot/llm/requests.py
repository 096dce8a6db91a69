"""What is asked of a model, and what comes back: plain types without behaviour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, Literal

from bot.memory.messages import Message, Picture


class Priority(IntEnum):
    """Who goes first when model slots are short; the smaller number does."""

    REPLY = 0
    MEMORY = 1
    OTHER = 2


class Purpose(StrEnum):
    """What a completion is for."""

    REPLY = "reply"
    FOLD = "fold"
    MAJOR_FOLD = "major_fold"
    AUDIT = "audit"
    JUDGE = "judge"
    PROBE = "probe"

    @property
    def priority(self) -> Priority:
        """A reply before any memory work, memory work before everything else."""
        if self is Purpose.REPLY:
            return Priority.REPLY
        return Priority.MEMORY if self in (Purpose.FOLD, Purpose.MAJOR_FOLD) else Priority.OTHER


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One completion to be made.

    ``max_tokens`` is a cap against endless answers. ``schema`` is a JSON schema; a server that cannot be held to
    one answers freely, so the prompt has to describe the form as well. ``session_id`` is for statistics only, and so are
    ``epoch`` and ``forced_cuts``, the session's when the prompt was laid out.
    ``on_text`` is called with every piece of text as it arrives. ``pictures`` are shown behind the last message, which is
    a user's, to a model that can see. ``check`` looks at a finished answer: it gives a short code of why the answer is of no use,
    or None. ``on_call`` is told of the call when it ended, in place of the client's.
    """

    messages: tuple[Message, ...]
    purpose: Purpose
    max_tokens: int
    schema: dict[str, Any] | None = None
    schema_name: str = "answer"
    temperature: float | None = None
    session_id: int | None = None
    on_text: Callable[[str], None] | None = None
    pictures: tuple[Picture, ...] = ()
    check: Callable[[Completion], str | None] | None = None
    epoch: int | None = None
    forced_cuts: int | None = None
    on_call: Callable[[ModelCall], object] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server reported them, None where it did not; ``cached_tokens`` are a part of the prompt's."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished answer. ``text`` is what the model wrote, byte for byte; ``milliseconds`` leaves out the queue.

    ``rejection`` is what the request's check said.
    """

    text: str
    finish_reason: str
    usage: Usage
    model: str
    milliseconds: int
    rejection: str | None = None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What the statistics keep of a call; exactly one of ``finish_reason`` and ``error`` is set.

    ``error`` is the code of a `UserError`. ``attempts`` counts the requests sent to the server, without the
    portions in which a long prompt was read before; what those computed is in ``usage``. ``interruptions`` counts how often a reply
    took the slot. ``milliseconds`` were spent with a slot or backing off, ``waited_milliseconds``
    in the queue. ``rejection`` is why a finished answer was of no use; ``epoch`` and ``forced_cuts`` are the request's.
    """

    purpose: Purpose
    session_id: int | None
    model: str
    usage: Usage
    finish_reason: str | None
    error: str | None
    attempts: int
    interruptions: int
    milliseconds: int
    waited_milliseconds: int
    rejection: str | None = None
    epoch: int | None = None
    forced_cuts: int | None = None


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is known of the server and its model.

    ``window`` is the number of tokens that one conversation may fill, answer included. ``json_schema`` is true until
    a schema was refused. ``slots`` is the number of prompts that a llama.cpp server works on at the same time. ``vision``
    says whether the model can see pictures; None while nobody knows.
    """

    model: str
    window: int | None
    json_schema: bool
    counts_tokens: bool
    cached_tokens: bool
    server: Literal["llama.cpp", "openai-compatible"]
    slots: int | None = None
    vision: bool | None = None
