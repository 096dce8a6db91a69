"""How often a reply that is being written may be shown anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: between two looks at the draft until the first message, until it is sent without a whole sentence, between two
    edits, how much longer for each thousand characters, and at most.

    Discord lets a webhook edit about five times in five seconds, and discord.py waits where it does not
    (https://discord.com/developers/docs/topics/rate-limits); all threads of a channel share its webhook.
    """

    look: float = 0.25
    first: float = 1.5
    edits: float = 1.5
    slower: float = 0.5
    longest: float = 5.0

    def between(self, length: int) -> float:
        """Seconds until the next edit of a text of so many characters."""
        return min(self.edits + self.slower * length / 1_000, self.longest)


PACE: Final = Pace()
