"""A llama.cpp server in a process of its own, for when no other model is configured.

    python -m bot.demo.embedded MODEL.gguf [--context N] [--threads N] [--port N]

prints one line of JSON with its address and its random API key when it listens (or with ``error``), on 127.0.0.1 only,
and stops on SIGINT,
SIGTERM or when its standard input ends. It runs apart from the bot because its compiled code needs instructions (AVX2)
that not every processor has, and would take the bot down with it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from bot.demo.errors import EmbeddedModelError
from bot.demo.process import Child, when_parent_ends

LOADS_WITHIN = 120.0
"""Seconds until a model that does not answer is given up."""
_ILLEGAL_INSTRUCTION = {-int(getattr(signal, "SIGILL", 4)), 0xC000001D}
"""How the processes of POSIX and of Windows end at an instruction that the processor does not have."""
_UNAVAILABLE = 3


def spare_threads() -> int:
    """Threads for the model: one processor is left to the bot and the browser, and more than 4 bring little.

    llama.cpp's threads wait for each other by spinning. On two busy processors two of them wrote 37 tokens/s and one 62.
    """
    return max(1, min(4, (os.cpu_count() or 2) - 1))


def _read_line() -> str:
    # Byte by byte from the descriptor: a buffered reader would hold back the end that `when_parent_ends` waits for.
    return b"".join(iter(lambda: os.read(0, 1).strip(b"\n"), b"")).decode()


def _serve(options: argparse.Namespace) -> None:
    """Serve until told to stop. Raises ``RuntimeError`` for a missing or broken model and a busy port."""
    import xllamacpp

    key = _read_line() if options.key_on_stdin else secrets.token_urlsafe(24)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(options.model)
    parameters.model_alias = {options.model.stem}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = options.port
    parameters.api_keys = [key]
    parameters.n_ctx = options.context
    parameters.n_parallel = options.slots
    # What was interrupted frees its slot when its batch is read: with the usual 2,048 tokens a reply waits 7 s for a fold's
    # prompt, with 128 below 1 s, and a prompt of 1,500 tokens takes 7.5 s either way (135M, one processor).
    parameters.n_batch = parameters.n_ubatch = 128
    parameters.cpuparams.n_threads = options.threads
    parameters.cpuparams_batch.n_threads = options.threads
    parameters.n_gpu_layers = 0
    # A model this small repeats itself for ever without a penalty.
    parameters.sampling.penalty_repeat = 1.15
    parameters.sampling.dry_multiplier = 0.8
    parameters.cache_ram_mib = options.cache_ram
    parameters.offline = True
    parameters.ui = False
    parameters.endpoint_props = parameters.endpoint_slots = parameters.endpoint_metrics = True
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    when_parent_ends(stopping.set)
    server = xllamacpp.Server(parameters)
    print(
        json.dumps({"address": str(server.listening_address), **({} if options.key_on_stdin else {"api_key": key})}),
        flush=True,
    )
    while not stopping.wait(0.5):  # with a limit, so that Python runs its signal handlers on Windows too
        pass
    del server


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the model of the command line; the exit code says whether it could."""
    parser = argparse.ArgumentParser(prog="python -m bot.demo.embedded", description=__doc__.split("\n\n")[0])
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--context", type=int, default=8192, help="tokens in the window")
    parser.add_argument("--slots", type=int, default=1, help="requests at once; they share the window")
    parser.add_argument("--cache-ram", type=int, default=0, help="MiB of RAM for prompts that left their slot")
    parser.add_argument("--threads", type=int, default=spare_threads())
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--key-on-stdin", action="store_true", help="the API key is the first line of standard input")
    options = parser.parse_args(arguments)
    try:
        _serve(options)
    except ImportError as error:
        print(json.dumps({"error": f"the package xllamacpp cannot be loaded ({error})"}), flush=True)
        return _UNAVAILABLE
    except RuntimeError as error:
        print(json.dumps({"error": f"llama.cpp cannot serve {options.model.name} ({error})"}), flush=True)
        return 1
    return 0


class EmbeddedModel:
    """The embedded server as its parent sees it. An async context manager.

    Raises `EmbeddedModelError`, in one readable line, when the model cannot be served on this machine. ``log`` is the
    file that receives llama.cpp's own output; ``context`` is in tokens, shared by ``slots`` requests at once;
    ``threads`` are `spare_threads` unless given. ``cache_ram`` is in MiB; it is off unless given, because restoring prompts from
    RAM has been reported to mix conversations (ggml-org/llama.cpp issue 27148).
    """

    def __init__(
        self,
        model: Path,
        *,
        log: Path,
        context: int = 8192,
        slots: int = 1,
        threads: int | None = None,
        cache_ram: int = 0,
    ) -> None:
        self.model = model
        self.log = log
        self.context = context
        self.slots = slots
        self.threads = threads or spare_threads()
        self.cache_ram = cache_ram
        self.address = ""
        self.api_key = secrets.token_urlsafe(24)
        self._child: Child | None = None

    async def __aenter__(self) -> EmbeddedModel:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def name(self) -> str:
        """What the server calls its model."""
        return self.model.stem

    @property
    def alive(self) -> bool:
        return self._child is not None and self._child.running

    @property
    def base_url(self) -> str:
        """The address for an OpenAI-compatible client."""
        return f"{self.address}/v1"

    async def start(self) -> None:
        """Start the process and wait until it listens; a server that was started before keeps its address and key."""
        if not self.model.is_file():
            raise EmbeddedModelError(f"there is no model at {self.model}")
        port = self.address.rpartition(":")[2] or "0"
        given = {"context": self.context, "slots": self.slots, "threads": self.threads, "port": port}
        given["cache-ram"] = self.cache_ram
        options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
        arguments = ["-m", "bot.demo.embedded", str(self.model), "--key-on-stdin", *options]
        child = self._child = await Child.start("model", arguments, errors_to=self.log, piped=True)
        child.tell(self.api_key)  # not as an argument, which every list of processes shows
        try:
            said = await asyncio.wait_for(self._introduce(child), LOADS_WITHIN)
        except (TimeoutError, asyncio.CancelledError) as error:
            await asyncio.shield(child.stop(grace=2.0))
            if isinstance(error, TimeoutError):
                raise EmbeddedModelError(f"the embedded model did not load within {LOADS_WITHIN:.0f} s") from error
            raise
        if "address" not in said:
            await child.wait()
            raise EmbeddedModelError(said.get("error") or self._reason(child.process.returncode))
        self.address = said["address"]

    async def _introduce(self, child: Child) -> dict[str, str]:
        """Read what the server says of itself, past any line of llama.cpp's own."""
        async for line in child.lines():
            with contextlib.suppress(ValueError):
                said = json.loads(line)
                if isinstance(said, dict):
                    return {str(name): str(value) for name, value in said.items()}
        return {}

    def _reason(self, code: int | None) -> str:
        if code in _ILLEGAL_INSTRUCTION:
            return "this processor lacks instructions that the embedded model server needs (AVX2)"
        return f"the embedded model server ended at once (exit code {code}); see {self.log}"

    async def wait(self) -> int:
        """Return the exit code when the server has ended."""
        if self._child is None:
            raise EmbeddedModelError("the embedded model was not started")
        return await self._child.wait()

    async def stop(self) -> None:
        """Stop the server, if it runs."""
        if self._child is not None:
            await self._child.stop()


if __name__ == "__main__":
    sys.exit(main())
