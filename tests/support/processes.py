"""Looks at other processes, for tests of how they end."""

from __future__ import annotations

import asyncio
import os


def is_running(pid: int) -> bool:
    """Whether there is such a process (POSIX)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def has_ended(pid: int, *, within: float = 15.0) -> bool:
    """Whether the process is gone after at most ``within`` seconds."""
    try:
        async with asyncio.timeout(within):
            while is_running(pid):
                await asyncio.sleep(0.05)
    except TimeoutError:
        return False
    return True
