"""Child processes that never outlive their parent, on every platform.

The parent holds the child's standard input open and seldom says anything on it. When it closes it, or dies in whatever way,
the child reads the end of the file and stops itself; signals are only the second means.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path

GRACE = 10.0
"""Seconds a child gets to stop by itself."""


def when_parent_ends(stop: Callable[[], None], *, grace: float = GRACE) -> None:
    """Call ``stop`` in a thread when standard input ends; leave the process by force after ``grace`` seconds."""

    def watch() -> None:
        # os.read, not sys.stdin: a daemon thread that holds the lock of sys.stdin breaks the interpreter's shutdown.
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        stop()
        forced = threading.Timer(grace, os._exit, (1,))
        forced.daemon = True
        forced.start()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def interrupt_main_thread() -> None:
    """Make the main thread stop as if by Ctrl+C or ``kill``, even when it waits in a system call."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)
        return
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGTERM)


class Child:
    """A running child process. Made by `Child.start`."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self.process = process
        self.name = name

    @classmethod
    async def start(
        cls,
        name: str,
        arguments: Sequence[str],
        *,
        errors_to: Path,
        environment: Mapping[str, str] | None = None,
        piped: bool = False,
    ) -> Child:
        """Start ``python`` with ``arguments``; what it writes goes to the file ``errors_to``.

        ``environment`` is the child's whole environment, or None for this process's own. With ``piped`` its standard
        output is read by the caller. The child is in a session of its own, so that Ctrl+C in the terminal reaches the
        parent only.
        """
        apart: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # exists on Windows only
        with errors_to.open("ab") as errors:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE if piped else errors,
                stderr=errors,
                env=None if environment is None else dict(environment),
                start_new_session=sys.platform != "win32",
                creationflags=apart,
            )
        return cls(process, name)

    @property
    def running(self) -> bool:
        return self.process.returncode is None

    def tell(self, line: str) -> None:
        """Write one line to its standard input."""
        if self.process.stdin is not None:
            self.process.stdin.write(f"{line}\n".encode())

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of its standard output, when it was started with ``piped``."""
        if self.process.stdout is not None:
            async for line in self.process.stdout:
                yield line

    async def wait(self) -> int:
        """Return the exit code when the child has ended."""
        return await self.process.wait()

    async def stop(self, *, grace: float = GRACE) -> int:
        """Ask the child to stop, insist after ``grace`` seconds, and return its exit code."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        for insist in (self.process.terminate, self.process.kill):
            try:
                return await asyncio.wait_for(self.process.wait(), grace)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    insist()
        return await self.process.wait()


@contextlib.asynccontextmanager
async def stopped_at_exit(child: Child) -> AsyncIterator[Child]:
    """The child, stopped when the block is left."""
    try:
        yield child
    finally:
        await asyncio.shield(child.stop())
