"""What the doctor finds."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """How good a finding is."""

    GOOD = "✓"
    NOTE = "!"
    BAD = "✗"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; ``advice`` says what to do about it."""

    mark: Mark
    what: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.mark} {self.what}" + (f" → {self.advice}" if self.advice else "")


Findings = AsyncIterator[Finding]


def shown_address(url: str) -> str:
    """An address without the name and password that may stand in it."""
    return re.sub(r"(?<=://)[^/]*@", "", url)
