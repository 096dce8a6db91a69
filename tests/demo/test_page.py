"""The demo's page in a real browser, with a small bot in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.stub_demo import STORY, running

pytest.importorskip("playwright", reason="playwright is not installed")
from tests.support.browser import ChatPage, chat_page, chromium


@contextlib.asynccontextmanager
async def visit(data: Path, *, thinks: float = 0.0) -> AsyncIterator[ChatPage]:
    chromium()
    async with running(data, thinks=thinks) as (url, _), chat_page(url) as chat:
        yield chat
        assert chat.complaints == []


async def test_a_visit(tmp_path: Path) -> None:
    """A story is there, a message is answered, and commands, pages, modals and another viewer work."""
    async with visit(tmp_path, thinks=1.0) as chat:
        await chat.shows(STORY)
        await chat.shows("This is a demo.")
        await chat.send("Good evening")
        await chat.page.get_by_text("A reply is being written").wait_for()
        await chat.send("and good night")
        await chat.shows("You said “Good evening”. I heard it.")
        await chat.shows("You said “and good night”. I heard it.")
        await chat.page.get_by_text("A stub answers here").first.wait_for()
        await chat.command("/memory show")
        await chat.shows("Fact number 1.")
        await chat.press("Next")
        await chat.shows("Fact number 4.")
        await chat.press("Correct")
        await chat.page.locator("#modal-root textarea").fill("the bridge is burnt")
        await chat.page.locator("#modal-root").get_by_role("button", name="Submit").click()
        await chat.shows("Corrected: the bridge is burnt")
        await chat.become("Gus")
        await chat.send("I am Gus")
        await chat.shows("You said “I am Gus”. I heard it.")
        assert "Fact number" not in await chat.text()
        await chat.press("Again")
        await chat.shows("again it is")


async def test_choices_are_offered_while_typing(tmp_path: Path) -> None:
    async with visit(tmp_path) as chat:
        await chat.shows(STORY)
        await chat.page.locator("#channel-composer-input").click()
        await chat.page.keyboard.type("/memory fix")
        await chat.offered("/memory fix").wait_for()
        await chat.page.keyboard.press("Enter")
        await chat.page.keyboard.type("7")
        await chat.offered("7. Fact number 7.").click()
        await chat.page.locator("#send-message").click()
        await chat.shows("fixing 7. Fact number 7.")


async def test_the_story_goes_on_in_the_next_run(tmp_path: Path) -> None:
    async with visit(tmp_path) as chat:
        await chat.send("Remember me")
        await chat.shows("You said “Remember me”. I heard it.")
    async with visit(tmp_path) as chat:
        await chat.shows("You said “Remember me”. I heard it.")
        shown = await chat.text()
        assert shown.count(STORY) == 1
        assert shown.count("This is a demo.") == 1
        await chat.press("Again")
        await chat.shows("again it is")


async def test_ending_the_session_on_the_page_ends_the_demo(tmp_path: Path) -> None:
    chromium()
    async with running(tmp_path) as (url, demo), chat_page(url) as chat:
        await chat.shows(STORY)
        await chat.page.locator("summary", has_text="More").click()
        await chat.page.get_by_role("button", name="End preview session").click()
        await asyncio.wait_for(demo, 30)
