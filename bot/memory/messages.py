"""What a model is shown: chat messages with a role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message of a prompt."""

    role: Role
    content: str
