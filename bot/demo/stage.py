"""Puts the demo together and keeps it going: the simulated Discord, the page, the model, and the bot beside them."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.demo import transcript
from bot.demo.embedded import EmbeddedModel
from bot.demo.errors import DemoError, EmbeddedModelError
from bot.demo.page import LivePage, live_page
from bot.demo.process import Child, stopped_at_exit
from bot.demo.simulation import Simulation
from bot.demo.wire import WireServer
from bot.demo.world import SeededMessage, World, actor, build

CONNECTS_WITHIN = 60.0
"""Seconds until a bot that does not connect is given up."""
SAVES_EVERY = 2.0
"""Seconds between two looks at whether the transcript has to be saved."""
MODEL_RESTARTS = 3

Seeder = Callable[[str, World], Awaitable[list[SeededMessage]]]


@dataclass(frozen=True, slots=True)
class Voice:
    """Who answers: what the page says of it (in a line above the channel, and at length), and the settings for the bot."""

    topic: str
    description: str
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Options:
    """What a run of the demo needs to know. ``bot`` are the arguments to Python that start the bot."""

    data: Path
    port: int = 0
    open_browser: bool = True
    reset: bool = False
    bot: Sequence[str] = ("-m", "bot.demo.child")

    @property
    def database(self) -> Path:
        return self.data / "kataribe.db"

    @property
    def database_url(self) -> str:
        return f"sqlite:///{self.database.as_posix()}"

    @property
    def transcript(self) -> Path:
        return self.data / "discord.json"

    @property
    def bot_log(self) -> Path:
        return self.data / "bot.log"


@contextlib.contextmanager
def only_one(data: Path) -> Iterator[None]:
    """Hold ``data`` for this process. Raises `DemoError` when another demo has it."""
    # A lock of SQLite's works alike on every platform, and ends with the process however that ends.
    held = sqlite3.connect(data / "running.lock", timeout=0, isolation_level=None)
    try:
        held.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        held.close()
        raise DemoError(
            f"another demo is running with {data}; stop it first, or name another folder (--data)"
        ) from error
    try:
        yield
    finally:
        held.close()


def _state_files(options: Options) -> list[Path]:
    database = options.database
    return [database, *(database.with_name(database.name + end) for end in ("-wal", "-shm")), options.transcript]


def prepare(options: Options) -> bool:
    """Make the data folder ready, and say whether the story is new to it.

    The bot's database and the transcript belong together: if one of them is missing, the other is set aside.
    """
    kept = [file for file in _state_files(options) if file.exists()]
    whole = options.database in kept and options.transcript in kept
    if whole and not options.reset:
        return False
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for file in kept:
        if options.reset:
            file.unlink()
        else:
            file.replace(file.with_name(f"{file.name}.{stamp}.old"))
    return True


class Keeper:
    """Saves the transcript after changes, but not at every one."""

    def __init__(self, simulation: Simulation, world: World, file: Path) -> None:
        self._simulation, self._world, self._file = simulation, world, file
        self._dirty = True

    def changed(self) -> None:
        self._dirty = True
        transcript.trim(self._simulation.backend, self._world)

    def save(self) -> None:
        """Write the transcript, if it changed."""
        if self._dirty:
            self._dirty = False
            transcript.save(self._simulation.backend, self._world, self._file)

    async def keep(self) -> None:
        """Save every now and then, until cancelled."""
        while True:
            await asyncio.sleep(SAVES_EVERY)
            self.save()


@contextlib.asynccontextmanager
async def _backed(simulation: Simulation, world: World, options: Options) -> AsyncIterator[Keeper]:
    keeper = Keeper(simulation, world, options.transcript)
    keeper.save()
    try:
        yield keeper
    finally:
        keeper.save()


@contextlib.asynccontextmanager
async def embedded_voice(server: EmbeddedModel, *, topic: str, description: str) -> AsyncIterator[Voice]:
    """The voice of a started ``server``, which is started again when it dies, and stopped at the end."""
    watch = asyncio.create_task(_restart(server))
    try:
        settings = {"LLM_BASE_URL": server.base_url, "LLM_API_KEY": server.api_key, "LLM_MODEL": server.name}
        yield Voice(topic, description, settings)
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        await server.stop()


async def _restart(server: EmbeddedModel) -> None:
    for _ in range(MODEL_RESTARTS):
        await server.wait()
        print("The embedded model stopped; starting it again.", flush=True)
        try:
            await server.start()
        except EmbeddedModelError as error:
            print(f"No model answers any more: {error}", flush=True)
            return


@contextlib.contextmanager
def _kept_going(*tasks: asyncio.Task[None]) -> Iterator[None]:
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"


def _bot_ended(code: int, options: Options) -> DemoError:
    return DemoError(
        f"the bot stopped (exit code {code}): {_last_line(options.bot_log)} (all of it: {options.bot_log})"
    )


async def _connected(server: WireServer, bot: Child, options: Options) -> None:
    deadline = time.monotonic() + CONNECTS_WITHIN
    while not server.gateway.connected:
        if not bot.running:
            raise _bot_ended(bot.process.returncode or 0, options)
        if time.monotonic() > deadline:
            raise DemoError(f"the bot did not connect within {CONNECTS_WITHIN:.0f} s; see {options.bot_log}")
        await asyncio.sleep(0.05)


async def _until_over(page: LivePage, bot: Child, options: Options, *tasks: asyncio.Task[None]) -> None:
    """Wait until the page is closed. Raises `DemoError` when something else ends the demo."""
    closed, death = asyncio.create_task(page.wait_closed()), asyncio.create_task(bot.wait())
    try:
        await asyncio.wait({closed, death, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        if closed.done():
            return
        if death.done():
            raise _bot_ended(death.result(), options)
        for task in tasks:
            if task.done() and (error := task.exception()) is not None:
                raise DemoError(f"the page failed: {error!r}") from error
    finally:
        closed.cancel()
        death.cancel()


async def show(
    options: Options,
    world: World,
    voice: Voice,
    *,
    environment: Callable[[Mapping[str, str]], Mapping[str, str]],
    seed: Seeder,
    greeting: str,
    announce: Callable[[str], None],
) -> None:
    """Run the demo until its page is closed or this task is cancelled. Raises `DemoError`.

    ``environment`` makes a child's environment out of the settings that it must have; ``greeting`` is what the channel
    says about the demo; ``announce`` gets the page's address once the bot is there.
    """
    fresh = prepare(options)
    story = await seed(options.database_url, world) if fresh else []
    simulation = Simulation()
    await simulation.start()
    backend = simulation.backend
    channel = build(simulation, world, topic=voice.topic)
    if fresh:
        transcript.place(backend, world, story)
    else:
        transcript.restore(backend, world, options.transcript)
    transcript.announce(backend, world, greeting)
    viewers = [actor(simulation, world, member) for member in world.members]
    async with contextlib.AsyncExitStack() as stack:
        keeper = await stack.enter_async_context(_backed(simulation, world, options))
        server = await stack.enter_async_context(WireServer(backend))
        page = await stack.enter_async_context(
            live_page(simulation, server, channel, viewers, port=options.port, on_change=keeper.changed)
        )
        settings = {"DISCORD_TOKEN": server.token, "DATABASE_URL": options.database_url, **voice.settings}
        options.bot_log.write_bytes(b"")
        bot = await Child.start(
            "bot",
            [*options.bot, *server.child_arguments],
            errors_to=options.bot_log,
            environment=environment(settings),
        )
        await stack.enter_async_context(stopped_at_exit(bot))
        tasks = (asyncio.create_task(page.keep_current()), asyncio.create_task(keeper.keep()))
        stack.enter_context(_kept_going(*tasks))
        await _connected(server, bot, options)
        announce(page.url)
        if options.open_browser:
            await asyncio.to_thread(webbrowser.open, page.url)
        await _until_over(page, bot, options, *tasks)
