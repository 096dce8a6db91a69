"""The demo: a simulated Discord in the browser, with the real bot connected to it.

    python -m bot.demo [--reset] [--port N] [--no-open] [--data DIR] [--model FILE.gguf]

Nothing leaves this machine, except to the model server that LLM_BASE_URL names.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import logging
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from pydantic import SecretStr

from bot.demo import stage
from bot.demo.embedded import EmbeddedModel
from bot.demo.errors import DemoError, EmbeddedModelError, ModelFileError
from bot.demo.model import small_model
from bot.demo.seed import seed
from bot.demo.stage import Options, Voice
from bot.demo.world import World, the_world
from bot.errors import KataribeError
from bot.settings import Settings, child_environment, load_settings

DATA = Path(__file__).resolve().parents[2] / ".cache" / "demo"
BETTER = "LLM_BASE_URL=http://127.0.0.1:8080/v1 make demo"
SMALL_BUDGETS = {
    "FOLD_TRIGGER": "3600",
    "FOLD_CEILING": "5200",
    "FOLD_FLOOR": "900",
    "FOLD_ROOM": "900",
    "FOLD_STRETCH": "2400",
    "FOLD_CHAPTERS_TOTAL": "1500",
    "FOLD_OUTPUT_TOKENS": "1024",
    "FOLD_DELAY_SECONDS": "5",
    "LLM_REPLY_TOKENS": "320",
}
"""Budgets, in tokens, with which folds happen within one visit, and which fit the small model's window of 8,192."""


def chosen(settings: Settings) -> dict[str, str]:
    """What the operator set, as environment variables; the token and the database are the demo's own."""
    own = {"discord_token", "database_url"}
    found: dict[str, str] = {}
    for name in settings.model_fields_set - own:
        value = getattr(settings, name)
        if value is not None:
            found[name.upper()] = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    return found


@contextlib.asynccontextmanager
async def _voice(settings: Settings, model: Path | None, data: Path) -> AsyncIterator[Voice]:
    if settings.llm_base_url is not None and model is None:
        name = settings.llm_model or "The model"
        yield Voice(f"{name} answers here", f"{name} at <{settings.llm_base_url}> answers here.", {})
        return
    try:
        file = model or await small_model(notice=functools.partial(print, flush=True))
        name = model.name if model else "SmolLM2-135M"
        kind = "" if model else " It is a very small model, which keeps the demo talking but cannot really write."
        topic = f"{name} answers here" + ("" if model else f", a toy · better: {BETTER}")
        description = f"{name} answers here.{kind} For a better one, start a model server and then the demo: `{BETTER}`"
        server = EmbeddedModel(file, log=data / "model.log", context=16_384, slots=2)
        await server.start()
    except (ModelFileError, EmbeddedModelError) as error:
        raise DemoError(f"{error}. With a model server of your own: {BETTER}") from error
    async with stage.embedded_voice(server, topic=topic, description=description) as voice:
        yield voice


def greeting(world: World, voice: Voice) -> str:
    """What the channel says about the demo."""
    players = " and ".join(member.name for member in world.players)
    return (
        "**This is Kataribe on a simulated Discord; only this computer sees it.**\n"
        f"{players} have played the story above. Write on as one of them, have a reply told anew with 🔁 below it, look at "
        "what the bot remembers with `/memory show`, and at what the character keeps about you with `/memory about-me`. "
        f"As **{world.moderator.name}**, a moderator, you can correct a memory. You choose who you are "
        "at the top of the page.\n"
        f"-# {voice.description}"
    )


def _stop_on_signals(task: asyncio.Task[None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, task.cancel)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(task.cancel))


def _announce(url: str) -> None:
    print(f"\nThe demo is at\n\n    {url}\n\nKeep the address to yourself. Ctrl+C ends the demo.", flush=True)


async def _run(options: Options, model: Path | None) -> None:
    options.data.mkdir(parents=True, exist_ok=True)
    with stage.only_one(options.data):
        demo = asyncio.create_task(_show(options, load_settings(), model))
        _stop_on_signals(demo)
        await asyncio.wait({demo})
        if not demo.cancelled():
            demo.result()


async def _show(options: Options, settings: Settings, model: Path | None) -> None:
    world = the_world()
    async with _voice(settings, model, options.data) as voice:
        # On the page a message has no menu: what can be done with a reply stands below it.
        defaults = {**SMALL_BUDGETS, "REPLY_REACTIONS": "true", **chosen(settings)}

        def environment(needed: Mapping[str, str]) -> Mapping[str, str]:
            return child_environment({**defaults, **needed})

        await stage.show(
            options,
            world,
            voice,
            environment=environment,
            seed=seed,
            greeting=greeting(world, voice),
            announce=_announce,
        )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bot.demo", description="Kataribe in your browser, with no account."
    )
    parser.add_argument("--reset", action="store_true", help="forget everything played here, and start over")
    parser.add_argument("--port", type=int, default=0, help="port of the page; 0, the default, takes a free one")
    parser.add_argument("--no-open", action="store_true", help="print the address only")
    parser.add_argument("--data", type=Path, default=DATA, help="folder for the demo's database and transcript")
    parser.add_argument("--model", type=Path, help="a GGUF file of your own, instead of the small model")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; what goes wrong is said in one line."""
    given = parse(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    options = Options(data=given.data.resolve(), port=given.port, open_browser=not given.no_open, reset=given.reset)
    try:
        asyncio.run(_run(options, given.model))
    except KataribeError as error:
        print(f"The demo ends: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
