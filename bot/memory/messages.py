"""What a model is shown: chat messages with a role, and pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A JPEG, and the words that say which it is. It is no part of a prompt's messages, and nothing keeps it."""

    jpeg: bytes = field(repr=False)
    caption: str
