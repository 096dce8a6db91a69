"""The real command line, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import discord
import httpx
import pytest
from sqlalchemy import create_engine

from bot import __main__ as command_line
from bot.demo.process import Child
from bot.memory.prompt import Card
from bot.memory.story import Head, Place, Scope
from bot.settings import child_environment
from bot.store import Call, Store
from bot.store.health import DatabaseUnusable, explained
from tests.support.model_server import ModelServer, Script
from tests.support.wire import DiscordWorld, discord_world, eventually

ROOT = Path(__file__).resolve().parents[1]
START = datetime(2026, 4, 1, 12, tzinfo=UTC)
NOISE = ("Traceback", "was never", "Task was destroyed", "Unclosed", "ERROR", "WARNING", "Exception ignored")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to stop a process cleanly with")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    errors: str


async def kataribe(folder: Path, *arguments: str, **settings: str) -> Ended:
    """Run a command to its end, in a working directory without settings."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", *arguments),
        cwd=folder,
        env=child_environment({"PYTHONPATH": str(ROOT), **settings}),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await asyncio.wait_for(process.communicate(), 60)
    return Ended(process.returncode or 0, out.decode(), errors.decode())


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'story.db'}"


@asynccontextmanager
async def running(
    world: DiscordWorld, url: str, model: str, log: Path, *, token: str | None = None, **more: str
) -> AsyncIterator[Child]:
    """``kataribe run`` against the simulated Discord."""
    settings = {"DISCORD_TOKEN": token or world.server.token, "LLM_BASE_URL": model, "DATABASE_URL": url, **more}
    arguments = ["-m", "bot.demo.child", *world.server.child_arguments]
    bot = await Child.start("bot", arguments, errors_to=log, environment=child_environment(settings))
    try:
        yield bot
    finally:
        await bot.stop()


def said(log: Path) -> list[str]:
    """What the bot said besides its log."""
    return [line for line in log.read_text(encoding="utf-8").splitlines() if not line.startswith("20")]


def quiet(log: Path) -> bool:
    text = log.read_text(encoding="utf-8")
    assert not [noise for noise in NOISE if noise in text], text
    return True


async def test_without_settings_it_ends_with_a_line_for_each(tmp_path: Path) -> None:
    ended = await kataribe(tmp_path, "run", LLM_PARALLEL="none", DATABASE_URL="story.db")

    assert (ended.code, ended.out) == (1, "")
    lines = ended.errors.splitlines()
    named = sorted(line.split(":")[0] for line in lines[:-1])
    assert named == ["DATABASE_URL", "DISCORD_TOKEN", "LLM_BASE_URL", "LLM_PARALLEL"]
    assert ".env.example" in lines[-1]


async def test_an_unreachable_model_is_a_line(tmp_path: Path, url: str) -> None:
    ended = await kataribe(
        tmp_path,
        "run",
        DISCORD_TOKEN="a.b.c",
        LLM_BASE_URL="http://me:pass@127.0.0.1:9",
        DATABASE_URL=url,
    )

    assert (ended.code, ended.out) == (1, "")
    (line,) = ended.errors.splitlines()
    assert line.startswith("LLM_BASE_URL: no model server is ready at http://127.0.0.1:9/v1;")


async def test_a_refused_token_is_a_line(tmp_path: Path, url: str) -> None:
    log = tmp_path / "log"
    async with (
        ModelServer() as model,
        discord_world() as world,
        running(world, url, model.base_url, log, token="wrong") as bot,
    ):
        code = await asyncio.wait_for(bot.wait(), 30)

    assert code == 1
    assert said(tmp_path / "log") == ["DISCORD_TOKEN: Discord refuses this token; copy it again from the Bot page."]
    assert quiet(tmp_path / "log")


async def test_a_token_that_changed_after_the_login_is_a_line(tmp_path: Path, url: str) -> None:
    async with ModelServer() as model, discord_world() as world:
        world.server.gateway.token = "changed"
        async with running(world, url, model.base_url, tmp_path / "log") as bot:
            code = await asyncio.wait_for(bot.wait(), 30)

    assert code == 1
    assert said(tmp_path / "log") == ["DISCORD_TOKEN: Discord refuses this token; copy it again from the Bot page."]
    assert quiet(tmp_path / "log")


async def test_a_missing_intent_is_a_line(tmp_path: Path, url: str) -> None:
    granted = discord.Intents.all()
    granted.message_content = False
    log = tmp_path / "log"
    async with (
        ModelServer() as model,
        discord_world(approved_intents=granted) as world,
        running(world, url, model.base_url, log) as bot,
    ):
        code = await asyncio.wait_for(bot.wait(), 30)

    assert code == 1
    (line,) = said(tmp_path / "log")
    assert "switch on the Message Content Intent" in line
    assert quiet(tmp_path / "log")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_it_stops_cleanly_when_told_while_a_reply_is_written(
    tmp_path: Path, url: str, number: signal.Signals, code: int
) -> None:
    async with ModelServer() as model, discord_world() as world:
        model.replies.append(Script("Never.", hang=asyncio.Event()))
        alice = world.add_member("alice")
        session_id = await _begin(url, world)
        async with running(world, url, model.base_url, tmp_path / "log") as bot:
            await eventually(lambda: world.server.gateway.connected or not bot.running, within=30)
            await alice.send(world.channel, "Who are you?")
            (asked,) = await model.arrived(1, "reply", seconds=30)
            bot.process.send_signal(number)
            ended = await asyncio.wait_for(bot.wait(), 30)

    assert ended == code
    assert quiet(tmp_path / "log")
    assert asked.disconnected.is_set()
    with closing(sqlite3.connect(tmp_path / "story.db")) as rows:
        found = rows.execute("SELECT raw, state FROM turns WHERE session_id = ? ORDER BY seq", [session_id]).fetchall()
    assert found == [("Who are you?", "kept"), ("", "failed")]


async def test_it_stops_cleanly_while_it_waits_for_the_model_server(tmp_path: Path, url: str) -> None:
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server, discord_world() as world, running(world, url, address, tmp_path / "log") as bot:
        await asyncio.wait_for(asked.wait(), 30)
        bot.process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(bot.wait(), 30)

    assert code == 0
    assert quiet(tmp_path / "log")
    assert not world.server.requests


async def test_migrating_twice_is_harmless_and_the_story_can_be_listed_and_exported(tmp_path: Path, url: str) -> None:
    for _ in range(2):
        assert await kataribe(tmp_path, "migrate", DATABASE_URL=url) == Ended(0, "The database is up to date.\n", "")
    async with await Store.open(url, migrate=False) as store:
        character = await store.add_character(Scope(1, 2), Card("灯", "灯台守"), "", START)
        session, _ = await store.start_session(Place(1, 77), character.id, "ja", None, Head("", 0), START)
        for purpose, cached in (("reply", 800), ("audit", 0)):
            await store.record_calls(Call(purpose, session.id, "m", 1_000, cached, 30, "stop", 1, 5, START))

    listed = await kataribe(tmp_path, "sessions", DATABASE_URL=url, LANG="C", PYTHONUTF8="0")
    told = await kataribe(tmp_path, "export", str(session.id), DATABASE_URL=url, LANG="C", PYTHONUTF8="0")
    written = await kataribe(
        tmp_path, "export", str(session.id), "--format", "json", "--output", "story.json", DATABASE_URL=url
    )

    first, second = listed.out.splitlines()
    assert (listed.code, first.split()) == (0, ["1", "running", "0", "turns", "channel", "77", "灯"])
    assert second.strip() == "tokens computed and written: audit 1,030, reply 230"
    assert (told.code, told.out.splitlines()[0]) == (0, "# 灯")
    assert written == Ended(0, "", "")
    document = json.loads((tmp_path / "story.json").read_text(encoding="utf-8"))
    assert document["character"]["name"] == "灯"


async def test_a_port_for_metrics_that_is_in_use_is_a_line(tmp_path: Path, url: str) -> None:
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    async with taken, ModelServer() as model:
        ended = await kataribe(
            tmp_path, "run",
            DISCORD_TOKEN="a.b.c", LLM_BASE_URL=model.base_url, DATABASE_URL=url, METRICS_PORT=str(port),
        )  # fmt: skip

    assert (ended.code, ended.out) == (1, "")
    lines = [line for line in ended.errors.splitlines() if not line.startswith("20")]
    assert lines == [
        f"METRICS_PORT: port {port} of 127.0.0.1 cannot be used (another program uses it); write another, or none."
    ]


async def test_the_running_bot_serves_its_figures(tmp_path: Path, url: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    async with (
        ModelServer() as model,
        discord_world() as world,
        running(world, url, model.base_url, log, METRICS_PORT=str(port)) as bot,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        await eventually(lambda: world.server.gateway.connected or not bot.running, within=30)
        answer = await client.get(f"http://127.0.0.1:{port}/metrics")
        bot.process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(bot.wait(), 30)

    assert (answer.status_code, code) == (200, 0)
    assert "kataribe_players 0.0" in answer.text.splitlines()
    assert quiet(log)


async def test_the_figures_are_shown_while_the_database_is_open(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.chdir(tmp_path)
    assert await asyncio.to_thread(command_line.main, ["stats"]) == 1
    absent = capsys.readouterr()
    async with await Store.open(url) as store:
        character = await store.add_character(Scope(1, 2), Card("灯", "灯台守"), "", START)
        session, _ = await store.start_session(Place(1, 77), character.id, "ja", None, Head("", 0), START)
        await store.record_calls(
            Call("reply", session.id, "m", 1_000, 800, 30, "stop", 1, 5, START, epoch=0, forced_cuts=0)
        )
        await store.record_calls(Call("fold", session.id, "m", 9_000, 0, 30, "stop", 1, 5, START, rejection="refused"))

        assert await asyncio.to_thread(command_line.main, ["stats"]) == 0
        shown = capsys.readouterr()
        assert await asyncio.to_thread(command_line.main, ["stats", "--json"]) == 0
        figures = json.loads(capsys.readouterr().out)

    assert absent.out == ""
    assert "there is no story in" in absent.err
    assert shown.err == ""
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert "running 1" in lines
    assert "prompt tokens reused 80.0% of 1,000" in lines
    assert "fold answers of no use refused 1" in lines
    assert "reply m 1 200 800 30 0 0" in lines
    assert "灯" not in shown.out
    assert (figures["running"], figures["players"]) == (1, 0)
    assert figures["figures"]["reuse"] == {"prompt": 1_000, "cached": 800, "share": 0.8}
    assert figures["figures"]["rejected"] == {"fold": {"refused": 1}}


async def test_an_unknown_session_and_a_folder_that_is_not_there_are_lines(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with await Store.open(url) as store:
        character = await store.add_character(Scope(1, 2), Card("Rin", ""), "", START)
        await store.start_session(Place(1, 77), character.id, "en", None, Head("", 0), START)
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.chdir(tmp_path)

    unknown = await asyncio.to_thread(command_line.main, ["export", "9"])
    misplaced = await asyncio.to_thread(command_line.main, ["export", "1", "--output", "no/such/folder.md"])

    assert (unknown, misplaced) == (1, 1)
    assert capsys.readouterr().err.splitlines() == [
        "There is no session 9; kataribe sessions lists all of them.",
        "no/such/folder.md cannot be written: No such file or directory.",
    ]


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("sqlite+aiosqlite:////no/such/folder/story.db", "there is no folder /no/such/folder; make it"),
        ("postgresql+nosuch://me:pass@127.0.0.1/story", "a database or driver that SQLAlchemy does not know"),
        ("sqlite+aiosqlite:///diary.txt", "diary.txt is no SQLite database"),
        ("sqlite+aiosqlite:///folder", "folder is a folder; write the path of a file in it"),
    ],
)
def test_a_database_that_cannot_be_used_is_a_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: str,
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", address)
    (tmp_path / "diary.txt").write_text("Dear diary, " * 100)
    (tmp_path / "folder").mkdir()

    assert command_line.main(["migrate"]) == 1

    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("DATABASE_URL: ")
    assert line in told
    assert "pass" not in told


def test_a_locked_database_is_explained(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'story.db'}", connect_args={"timeout": 0})
    with closing(sqlite3.connect(tmp_path / "story.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with (
            pytest.raises(DatabaseUnusable, match=r"another program holds .*story\.db locked"),
            explained(f"sqlite+aiosqlite:///{tmp_path / 'story.db'}"),
            engine.begin() as connection,
        ):
            connection.exec_driver_sql("CREATE TABLE x (y)")
    engine.dispose()


def test_a_database_that_may_only_be_read_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "story.db"
    with closing(sqlite3.connect(file)) as made:
        made.execute("CREATE TABLE x (y)")
    engine = create_engine(f"sqlite:///file:{file}?mode=ro&uri=true")
    with (
        pytest.raises(DatabaseUnusable, match=r"story\.db cannot be written; give this user the right"),
        explained(f"sqlite+aiosqlite:///{file}"),
        engine.begin() as connection,
    ):
        connection.exec_driver_sql("INSERT INTO x VALUES (1)")
    engine.dispose()


async def test_a_reader_that_has_enough_is_no_error(tmp_path: Path, url: str) -> None:
    async with await Store.open(url) as store:
        character = await store.add_character(Scope(1, 2), Card("Rin", ""), "", START)
        await store.start_session(Place(1, 77), character.id, "en", None, Head("", 0), START)
    reader, writer = os.pipe()
    os.close(reader)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "export", "1"),
        env=child_environment({"DATABASE_URL": url}),
        cwd=ROOT,
        stdout=writer,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(writer)

    _, errors = await asyncio.wait_for(process.communicate(), 60)

    assert (process.returncode, errors) == (1, b"")


async def _begin(url: str, world: DiscordWorld) -> int:
    """A story that runs in the world's channel."""
    async with await Store.open(url) as store:
        character = await store.add_character(Scope(world.guild.id, 2), Card("Rin", "A ferrywoman."), "", START)
        place = Place(world.guild.id, world.channel.id)
        session, _ = await store.start_session(place, character.id, "en", None, Head("", 0), START)
    return session.id
