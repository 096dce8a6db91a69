"""Discord's limits on how fast messages are sent and edited, for the simulated one."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from dataclasses import dataclass, field

from bot.demo.wire import Fault
from bot.demo.wire_routes import Call


@dataclass(slots=True)
class Bucket(Fault):
    """Answers 429 when the messages of one webhook or channel are sent, edited or deleted more than ``most`` times in
    ``window`` seconds, each counted apart; it never tells how much is left, so that nobody slows down in time.
    """

    most: int = 5
    window: float = 5.0
    taken: defaultdict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque))

    def matches(self, call: Call) -> bool:
        """Whether this request is one too many; it is counted if not."""
        if call.method not in ("POST", "PATCH", "DELETE") or call.parts[0] not in ("webhooks", "channels"):
            return False
        now, recent = time.monotonic(), self.taken[f"{call.method} {call.parts[1]}"]
        while recent and now - recent[0] >= self.window:
            recent.popleft()
        if len(recent) >= self.most:
            return True
        recent.append(now)
        return False


def bucket(window: float) -> Bucket:
    """A limit of five in so many seconds."""
    body = {"message": "You are being rate limited.", "retry_after": window, "global": False}
    headers = {"Via": "1.1 google", "Retry-After": str(window)}
    return Bucket("*", "*", 429, 1_000_000, body, headers, window=window)
