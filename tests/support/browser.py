"""The demo's page in a headless Chromium, for tests; they are skipped, with the reason, where there is none."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from playwright.async_api import ConsoleMessage, Locator, Page, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE = 20.0
"""Seconds; reached in failing tests only."""


def chromium() -> str:
    """The path of a Chromium, or the test is skipped."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    return found


@dataclass(slots=True)
class ChatPage:
    """What a visitor does on the page."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    async def open(self, url: str) -> None:
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self._console(message))
        await self.page.goto(url)
        await self.page.locator("#channel-composer-input").wait_for(state="visible")
        await self.page.locator("#action-status", has_text="Viewport updated").wait_for()

    def _console(self, message: ConsoleMessage) -> None:
        # The page asks once more for pictures of a state that it has left behind.
        stale = message.location["url"].endswith("/favicon.ico") or "/api/assets/" in message.location["url"]
        if message.type == "error" and not stale:
            self.complaints.append(message.text)

    async def send(self, text: str) -> None:
        """Write a message and press Enter."""
        await self.page.locator("#channel-composer-input").click()
        await self.page.keyboard.type(text)
        await self.page.locator("#send-message:enabled").wait_for()
        await self.page.keyboard.press("Enter")

    async def begin_command(self, text: str) -> None:
        """Type a slash command and pick it; its options come next."""
        await self.page.locator("#channel-composer-input").click()
        await self.page.keyboard.type(text)
        await self.offered(text).first.wait_for()
        await self.page.keyboard.press("Enter")

    async def command(self, text: str) -> None:
        """Type a slash command, pick it, and send it."""
        await self.begin_command(text)
        await self.page.locator("#send-message").click()

    def offered(self, text: str = "") -> Locator:
        """The commands or choices that the composer offers."""
        return self.page.locator("[role=option]", has_text=text)

    async def text(self) -> str:
        """What the list of messages shows."""
        return await self.page.locator("#channel-message-list").inner_text()

    async def shows(self, text: str, *, within: float = PATIENCE) -> None:
        """Wait until ``text`` is shown; fail with what is shown instead."""
        deadline = time.monotonic() + within
        while text not in await self.text():
            if time.monotonic() > deadline:
                raise AssertionError(f"{text!r} is not shown within {within} s, but:\n{await self.text()}")
            await self.page.wait_for_timeout(50)

    async def press(self, label: str) -> None:
        """Press the newest button with this label."""
        buttons = self.page.locator("#channel-message-list").get_by_role("button", name=label, exact=True)
        await buttons.last.click()

    async def become(self, name: str) -> None:
        """Look at the channel as another person."""
        picker = self.page.locator("#viewer-picker")
        labels = await picker.locator("option").all_inner_texts()
        await picker.select_option(label=next(label for label in labels if name.lower() in label.lower()))


@contextlib.asynccontextmanager
async def chat_page(url: str, *, width: int = 1280, height: int = 860) -> AsyncIterator[ChatPage]:
    """Open the demo's address in a fresh browser."""
    path = chromium()
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=path, args=FLAGS)
        try:
            chat = ChatPage(await browser.new_page(viewport={"width": width, "height": height}))
            chat.page.set_default_timeout(PATIENCE * 1000)
            await chat.open(url)
            yield chat
        finally:
            await browser.close()
