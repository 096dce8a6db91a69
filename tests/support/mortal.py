"""The real bot, killed without warning at a named moment: ``python -m tests.support.mortal MOMENT --api … --gateway … --cdn …``.

A moment is ``before:METHOD`` or ``after:METHOD`` of the store; the first call of that method is the last thing the process does.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from bot.__main__ import main as run
from bot.demo.child import run_pointed
from bot.store import Store


def die_at(moment: str) -> None:
    """Arm the process."""
    when, _, name = moment.partition(":")
    method: Callable[..., Awaitable[Any]] = getattr(Store, name)

    @functools.wraps(method)
    async def last(*arguments: Any, **named: Any) -> Any:
        if when == "after":
            await method(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(Store, name, last)


if __name__ == "__main__":
    die_at(sys.argv[1])
    sys.exit(run_pointed(sys.argv[2:], lambda: run(["run"])))
