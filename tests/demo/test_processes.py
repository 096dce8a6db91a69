"""The demo leaves no process behind, however it ends."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from pathlib import Path

import pytest

from bot.demo.errors import DemoError
from bot.demo.process import Child
from bot.demo.stage import Options, Voice, show
from bot.demo.world import the_world
from bot.settings import child_environment
from tests.support.processes import has_ended, is_running
from tests.support.stub_demo import running, seed

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


def bot_pid(data: Path) -> int:
    found = re.search(r"process (\d+)", (data / "bot.log").read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1])


@posix
async def test_the_bot_ends_with_the_demo(tmp_path: Path) -> None:
    async with running(tmp_path):
        pid = bot_pid(tmp_path)
        assert is_running(pid)
    assert not is_running(pid)


@posix
async def test_the_bot_ends_when_the_demo_is_killed(tmp_path: Path) -> None:
    demo = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.stub_demo", str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert demo.stdout is not None
    assert (await demo.stdout.readline()).startswith(b"http://127.0.0.1:")
    pid = bot_pid(tmp_path)
    demo.send_signal(signal.SIGKILL)
    await demo.wait()
    assert await has_ended(pid)


async def test_a_bot_that_cannot_start_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DemoError) as told:
        await show(
            Options(data=tmp_path, open_browser=False, bot=("-c", "raise SystemExit('it has no token')")),
            the_world(),
            Voice("", "", {}),
            environment=child_environment,
            seed=seed,
            greeting="hello",
            announce=lambda _: None,
        )
    assert "exit code 1" in str(told.value)
    assert "it has no token" in str(told.value)
    assert "\n" not in str(told.value)


@posix
async def test_a_child_that_does_not_listen_is_made_to_stop(tmp_path: Path) -> None:
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(99)"
    child = await Child.start("deaf", ["-c", script], errors_to=tmp_path / "log", piped=True)
    async for _ in child.lines():
        break
    assert await child.stop(grace=0.2) == -signal.SIGKILL
