"""The command line: ``kataribe run``, ``migrate``, ``doctor``, ``sessions``, ``stats``, ``export``, ``import``, ``bench``,
``eval``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import discord

from bot import doctor, jobs, log, stats
from bot.catalogue import Catalogue
from bot.client import KataribeBot
from bot.core import Core, now, open_core
from bot.doctor.findings import shown_address
from bot.errors import KataribeError, SettingsError
from bot.evals import commands
from bot.export import export_session
from bot.importing import import_traits
from bot.metrics import serving
from bot.settings import Settings, load_settings
from bot.store import upgrade
from bot.store.health import explained, stories

_OK, _PROBLEM, _INTERRUPTED = 0, 1, 130
# How the gateway says that the token was made anew (https://discord.com/developers/docs/topics/opcodes-and-status-codes).
_AUTHENTICATION_FAILED = 4004
# Objects made; Python's own figure is 700. With that, looking for garbage was a twentieth of the work on a message.
_GARBAGE_LOOKED_FOR_AFTER = 10_000


class _Problem(KataribeError):
    """What only an operator can mend, in one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 well, 1 a problem that was told in a line, 2 wrong usage, 130 Ctrl+C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        code = command(options)
        sys.stdout.flush()
        return code
    except SettingsError as error:
        for line in error.lines:
            print(line, file=sys.stderr)
        print("Settings are read from the environment and from .env; .env.example explains each.", file=sys.stderr)
    except KataribeError as error:
        print(error, file=sys.stderr)
    except BrokenPipeError:
        # Whoever read the output has enough. https://docs.python.org/3/library/signal.html#note-on-sigpipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _INTERRUPTED
    return _PROBLEM


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kataribe", description="A Discord roleplay bot that remembers.")
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, what: str, command: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        sub = parsers.add_parser(name, help=what, description=what)
        sub.set_defaults(command=command)
        return sub

    add("run", "run the bot", _run)
    add("migrate", "bring the database up to date", _migrate)
    add("doctor", "check settings, database, model and Discord, and say what to do", _doctor)
    add("sessions", "list all stories with their numbers", _sessions)
    figures = add("stats", "count what was told, folded, corrected and spent; nobody's words", _stats)
    figures.add_argument("--json", action="store_true", dest="as_json", help="print the figures as JSON")
    export = add("export", "write a whole story with its memory", _export)
    export.add_argument("session", type=int, help="the number of the session, from kataribe sessions or /session info")
    export.add_argument("--format", choices=("markdown", "json"), default="markdown")
    export.add_argument("--output", type=Path, help="the file to write; standard output without it")
    importing = add("import", "take over what an older program kept", _import)
    importing.add_argument("what", choices=("traits",), help="traits: what a character keeps about a player")
    importing.add_argument("file", type=Path, metavar="FILE", help="a JSON list of strings, or of objects with figures")
    importing.add_argument("--character", required=True, metavar="ID|NAME", help="who keeps it")
    importing.add_argument("--player", required=True, type=int, metavar="ID", help="the Discord id of whom it is about")
    importing.add_argument("--guild", type=int, metavar="ID", help="for characters of the same name")
    importing.add_argument("--name", help="what the player is called; needed before the two have met")
    for name, what, fill in (
        ("bench", "measure what a story costs", commands.add_benchmarks),
        ("eval", "judge what becomes of a story, or of a person, in memory", commands.add_evaluations),
    ):
        fill(parsers.add_parser(name, help=what, description=what))
    return parser


def _configured(*, need: Sequence[str] = ()) -> Settings:
    settings = load_settings(need=need)
    secrets = (settings.discord_token, settings.llm_api_key, settings.folder_api_key)
    log.configure(settings.log_level, secrets=[s.get_secret_value() for s in secrets if s])
    return settings


def _run(_: argparse.Namespace) -> int:
    settings = _configured(need=("discord_token", "llm_base_url"))
    return asyncio.run(_until_told_to_stop(_serve(settings)))


async def _until_told_to_stop(work: Coroutine[Any, Any, None]) -> int:
    """Do the work to its end, or until SIGTERM (exit code 0) or SIGINT (130); it is cancelled, and cleans up."""
    task = asyncio.create_task(work)
    told: list[int] = []

    def stop(number: int) -> None:
        told.append(number)
        task.cancel()

    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers on its event loop
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop, number)
    try:
        await task
    except asyncio.CancelledError:
        if not told:
            raise
        return _INTERRUPTED if told[0] == signal.SIGINT else _OK
    return _OK


async def _serve(settings: Settings) -> None:
    """Run the bot. Raises SettingsError, DatabaseTooNew and other errors of ours that say in a line what is wrong."""
    async with contextlib.AsyncExitStack() as stack:
        with explained(settings.database_url):
            core = await stack.enter_async_context(open_core(settings))
        _require_models(core, settings)
        # discord.py warns at each start that it cannot speak in voice channels, which is not wanted.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        catalogue = Catalogue(settings.default_language)
        bot = KataribeBot(
            core.engine,
            core.moderation,
            core.people,
            core.privacy,
            catalogue,
            characters=core.characters,
            rewinding=core.rewinding,
            personas=core.personas,
            manners=core.manners,
            statistics=core.statistics,
            stream_replies=settings.stream_replies,
            reply_reactions=settings.reply_reactions,
        )
        if settings.metrics_port is not None:
            await stack.enter_async_context(serving(core.metrics, settings.metrics_port))
        stack.push_async_callback(bot.close)
        core.folder.on_given_up = bot.fold_given_up
        background = await jobs.schedule(core.folder, core.judging, core.privacy)
        stack.push_async_callback(background.close)
        token = settings.discord_token.get_secret_value() if settings.discord_token else ""
        _spare_the_collector()
        await _connected(bot, token)


def _spare_the_collector() -> None:
    """What was built by now stays, and is not looked through for garbage again; nor is what a message makes, many times over."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE_LOOKED_FOR_AFTER)


def _require_models(core: Core, settings: Settings) -> None:
    if not core.model.reached:
        raise _Problem(_unreachable("LLM_BASE_URL", settings.llm_base_url))
    if not core.folder_model.reached:
        raise _Problem(_unreachable("FOLDER_BASE_URL", settings.folder_base_url or settings.llm_base_url))


def _unreachable(name: str, address: str | None) -> str:
    return (
        f"{name}: no model server is ready at {shown_address(address or '')}; start it, wait until it has loaded its model, "
        "or write the address of one that runs."
    )


async def _connected(bot: discord.Client, token: str) -> None:
    """Be connected to Discord for as long as it lets us."""
    try:
        await bot.start(token)
    except discord.LoginFailure as error:
        raise _Problem("DISCORD_TOKEN: Discord refuses this token; copy it again from the Bot page.") from error
    except discord.PrivilegedIntentsRequired as error:
        raise _Problem(
            "Discord does not send message texts to this bot: switch on the Message Content Intent on the Bot page of "
            "https://discord.com/developers/applications and start again."
        ) from error
    except discord.ConnectionClosed as error:
        if error.code == _AUTHENTICATION_FAILED:
            raise _Problem("DISCORD_TOKEN: Discord refuses this token; copy it again from the Bot page.") from error
        raise _Problem(f"Discord closed the connection for good, with code {error.code}.") from error
    except discord.HTTPException as error:
        raise _Problem(f"Discord refuses the login with status {error.status}; try again later.") from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise _Problem(f"Discord cannot be reached ({type(error).__name__}); is this machine online?") from error


def _migrate(_: argparse.Namespace) -> int:
    settings = _configured()
    with explained(settings.database_url):
        asyncio.run(upgrade(settings.database_url))
    print("The database is up to date.")
    return _OK


def _doctor(_: argparse.Namespace) -> int:
    return asyncio.run(doctor.examine())


def _sessions(_: argparse.Namespace) -> int:
    settings = _configured()
    found = asyncio.run(stories(settings.database_url))
    for story in found:
        state = "running" if story.running else "stopped"
        where = f"channel {story.channel_id}" + ("" if story.guild_id else " (direct message)")
        print(f"{story.id:>6}  {state}  {story.turns:>6} turns  {where}  {story.character}")
        if story.costs:
            print(
                "        tokens computed and written: " + ", ".join(f"{name} {n:,}" for name, n in story.costs.items())
            )
    if not found:
        print("There is no story yet; /session start begins one.")
    return _OK


def _stats(options: argparse.Namespace) -> int:
    settings = _configured()
    found = asyncio.run(stats.read(settings.database_url))
    print(stats.as_json(found) if options.as_json else stats.as_table(found))
    return _OK


def _export(options: argparse.Namespace) -> int:
    settings = _configured()
    with explained(settings.database_url):
        text = asyncio.run(export_session(settings.database_url, options.session, options.format))
    if text is None:
        raise _Problem(f"There is no session {options.session}; kataribe sessions lists all of them.")
    if options.output is None:
        sys.stdout.write(text)
        return _OK
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _Problem(f"{options.output} cannot be written: {error.strerror}.") from error
    return _OK


def _import(options: argparse.Namespace) -> int:
    settings = _configured()
    importing = import_traits(
        settings.database_url, options.file,
        character=options.character, player_id=options.player, guild_id=options.guild, name=options.name, now=now(),
    )  # fmt: skip
    with explained(settings.database_url):
        done = asyncio.run(importing)
    print(f"{done.character.card.name} about {done.player_name}: {done.new} new, {done.known} imported before.")
    for remark in done.remarks:
        print(remark)
    return _OK


if __name__ == "__main__":
    sys.exit(main())
