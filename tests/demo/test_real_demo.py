"""``make demo`` as a visitor meets it: the real bot, the real page, the sample story, and a model that answers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.demo.process import Child
from bot.demo.world import the_world
from bot.memory.memories import MemoryKind
from bot.settings import child_environment
from bot.store import Store
from tests.support.model_server import ModelServer

pytest.importorskip("playwright", reason="playwright is not installed")
from tests.support.browser import ChatPage, chat_page, chromium

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / ".cache" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
ANSWER = "First in my year, dear, with a distinction in Lurking."
LIE, SESSION = 7, 1


@asynccontextmanager
async def demo(data: Path, *arguments: str, **settings: str) -> AsyncIterator[str]:
    """The demo in a process of its own, and the page's address."""
    child = await Child.start(
        "demo",
        ["-u", "-m", "bot.demo", "--no-open", "--data", str(data), *arguments],
        errors_to=data.parent / "demo.log",
        environment=child_environment(settings),
        piped=True,
    )
    try:
        async with asyncio.timeout(90):
            async for line in child.lines():
                if found := re.search(r"http://127\S+#\S+", line.decode()):
                    break
            else:
                pytest.fail((data.parent / "demo.log").read_text(encoding="utf-8"))
        yield found[0]
    finally:
        # The demo ends as it does at Ctrl+C; its standard input is a terminal's, which it does not watch.
        if child.running:
            child.process.terminate()
        await child.stop()


async def correct_the_lie(chat: ChatPage) -> None:
    """As the moderator: pick the memory by its text, say what is wrong with it, and why."""
    await chat.become("Thandi")
    await chat.begin_command("/memory correct")
    await chat.page.keyboard.type("Zürich")
    await chat.offered(f"#{LIE}").first.click()
    await chat.offered("It was said, but it is not true").first.click()
    await chat.page.locator("#send-message").click()
    form = chat.page.locator("#modal-root")
    await form.locator("textarea, input").last.fill("It is a dog-grooming diploma.")
    await form.get_by_role("button", name="Submit").click()
    await chat.shows(f"Memory #{LIE} is corrected")


async def test_write_look_and_correct(tmp_path: Path) -> None:
    chromium()
    data = tmp_path / "demo"
    async with ModelServer() as server:
        server.on_reply = lambda _: f"*She straightens the frame.* “{ANSWER}” `It still has the poodle under the seal.`"
        async with demo(data, LLM_BASE_URL=server.base_url) as url, chat_page(url) as chat:
            await chat.shows("would one of you tell me who I am this morning?")
            await chat.become("Noor")
            await chat.send("What is that certificate?")
            await chat.shows(ANSWER)
            assert "poodle" not in await chat.text()
            await chat.command("/memory show")
            await chat.shows("Dorrit Pell passed out first in her year at the Zürich Institute of Vigilance")
            await correct_the_lie(chat)
            await chat.become("Gus")
            await chat.send("And who signed it?")
            await chat.page.wait_for_function("n => document.body.innerText.split(n).length > 2", arg=ANSWER)
        newest = server.of("reply")[-1].prompt
        assert "Dorrit Pell said: Dorrit Pell passed out first in her year" in newest
        assert "Noor: What is that certificate?" in newest

        async with demo(data, LLM_BASE_URL=server.base_url) as url, chat_page(url) as chat:
            await chat.shows("And who signed it?")
            await chat.become("Thandi")
            await chat.begin_command("/memory history")
            await chat.page.keyboard.type(str(LIE))
            await chat.offered(f"#{LIE}").first.click()
            await chat.page.locator("#send-message").click()
            await chat.shows("It is a dog-grooming diploma.")

        async with demo(data, "--reset", LLM_BASE_URL=server.base_url) as url, chat_page(url) as chat:
            await chat.shows("would one of you tell me who I am this morning?")
            assert "And who signed it?" not in await chat.text()

    async with await Store.open(f"sqlite+aiosqlite:///{(data / 'kataribe.db').as_posix()}", migrate=False) as store:
        lie = (await store.memory(SESSION)).get(LIE)
    assert lie is not None
    assert (lie.kind, lie.version) == (MemoryKind.FACT, 1), "the demo starts over with its lie"


@pytest.mark.skipif(not MODEL.is_file(), reason=f"no small model at {MODEL}; python -m bot.demo.model fetches it")
async def test_the_small_model_answers(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed here")
    chromium()
    data = tmp_path / "demo"
    async with demo(data, LLM_REPLY_TOKENS="120") as url, chat_page(url) as chat:
        await chat.shows("SmolLM2-135M answers here")
        await chat.become("Noor")
        await chat.send("Who are you this morning, Dorrit?")
        url = f"sqlite+aiosqlite:///{(data / 'kataribe.db').as_posix()}"
        async with asyncio.timeout(240), await Store.open(url, migrate=False) as store:
            while not (calls := await store.calls(SESSION)):
                await asyncio.sleep(0.5)
        assert calls[0].model == MODEL.stem
        assert (calls[0].prompt_tokens or 0) > 2_000
        assert (calls[0].completion_tokens or 0) > 0
        # So small a model may only think; then the players are told, and can try again.
        await chat.page.wait_for_function(
            "text => document.body.innerText.split(text)[1]?.match(/Dorrit Pell|Try again/)",
            arg="Who are you this morning, Dorrit?",
            timeout=200_000,
        )


async def test_the_sample_story_is_folded_with_one_lie_that_slipped_through(tmp_path: Path) -> None:
    from bot.demo.seed import seed

    url = f"sqlite+aiosqlite:///{(tmp_path / 'k.db').as_posix()}"
    messages = await seed(url, the_world())

    async with await Store.open(url, migrate=False) as store:
        memory = await store.memory(SESSION)
        snapshot = await store.snapshot(SESSION)
    assert [c.absorbed for c in memory.chapters] == [True, True, False, False, False]
    assert (memory.get(LIE) or memory.memories[0]).kind is MemoryKind.FACT
    assert {m.kind for m in memory.memories} == set(MemoryKind)
    assert len(messages) == 90
    assert "## Synopsis" in snapshot.memory_text
    assert snapshot.turns[0].seq == memory.folded_to + 1
