"""The demo's page: simcord's preview, made into a live chat.

What it adds to simcord 3.2.1: it publishes whenever something changed (ephemeral edits raise no gateway event, so REST
is watched too), takes every click in turn instead of refusing it as stale or busy, follows the newest message, keeps
its lease, and shows typing in the channel's topic. Its address carries a secret and is on 127.0.0.1 only.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import simcord
from simcord.backend.access import can_access_message
from simcord.backend.cdn import CDN_BASE
from simcord.backend.errors import SetupError
from simcord.builders import ChannelHandle
from simcord.preview import Preview
from simcord.preview._pages import _Page

from bot.demo.errors import DemoError
from bot.demo.simulation import Simulation
from bot.demo.wire import WireRequest, WireServer
from bot.demo.world import avatar

SETTLES_WITHIN = 0.15
"""Seconds that changes are gathered before the page is published; the browser asks every 0.5 s."""
LEASE = 30 * 86_400.0
"""Seconds that a page in the background stays valid; simcord's own 600 are shorter than a pause for tea."""
TYPING_LASTS = 10.0
"""Seconds (https://discord.com/developers/docs/resources/channel#trigger-typing-indicator)."""
_AVATARS = "https://avatars.invalid"
_READS = ("GET", "HEAD")
_FOLLOWED = ("viewer", "send_message", "run_command")
"""Actions after which the page goes to the newest message, as Discord does."""


class LivePreview(Preview):
    """simcord's preview, with clicks taken one after the other and pages that follow the newest message."""

    _PAGE_LEASE_SECONDS = LEASE

    def __init__(
        self, env: Simulation, channel: ChannelHandle, viewers: Sequence[simcord.MemberActor], port: int
    ) -> None:
        super().__init__(
            env,
            channel,
            tuple(viewers),
            layout="channel",
            display="responsive",
            width=960,
            height=720,
            locale="en-US",
            timezone="UTC",
            presentation_time=None,
            assets={},
            port=port,
        )
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> LivePreview:
        try:
            await super().__aenter__()
        except SetupError as error:
            raise DemoError(f"the page cannot be shown: {error}") from error
        if self._python is not None:
            self._python.window_end_id = None
        return self

    def _initial_target(self, viewer: Any, channel_id: int) -> int | None:
        """The newest message: simcord itself would focus the bot's last own one."""
        messages = self.env.backend.messages.get(channel_id, {})
        visible = (each for each in messages.values() if can_access_message(self.env, channel_id, each, viewer))
        return max((each.id for each in visible), default=None)

    def _open_page(self, viewer_id: Any = None, target_id: Any = None) -> _Page:
        if self._python is not None:
            self._python.target_id = self._initial_target(self._python.viewer, self.channel.id)
        return super()._open_page(viewer_id, target_id)

    async def _action(self, context_id: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
        async with self._turn:
            page = self._pages.get(context_id or "")
            if page is not None and isinstance(body, dict) and "published_revision" in body:
                body["published_revision"] = page.revision
            result = await super()._action(context_id, body)
            if page is not None and page.id in self._pages and body.get("kind") in _FOLLOWED:
                page.window_end_id = None
                page.target_id = self._initial_target(page.viewer, page.channel_id)
                self._publish(page, reason="navigation")
            return result

    def take_avatars(self) -> None:
        """Give every webhook's message a picture that the page can show: simcord loads only those handed to it.

        What lies on the simulated CDN is handed over; a message that names no picture gets its author's initial.
        """
        for message in self.env.backend.messages[self.channel.id].values():
            address = message.author_avatar or ""
            if message.webhook_id is None or address.startswith(_AVATARS):
                continue
            blob = self.env.backend.cdn.get(address) if address else avatar(message.author_name or "?")
            if blob is not None:
                name = address.removeprefix(CDN_BASE) or f"/{quote(message.author_name or '?')}.png"
                message.author_avatar = _AVATARS + name
                self._explicit_assets[message.author_avatar] = (name.rpartition("/")[2], blob)

    async def publish(self) -> None:
        """Show the present state on every open page."""
        async with self._turn:
            self.take_avatars()
            self._advance_presentation_time()
            for page in tuple(self._pages.values()):
                if page.id in self._pages:
                    self._publish(page, reason="refresh")


class Typing:
    """Shows in the channel's topic who is typing: the page has no indicator of its own."""

    def __init__(self, simulation: Simulation, channel: ChannelHandle, changed: Callable[[], None]) -> None:
        self._backend = simulation.backend
        self._channel = self._backend.channels[channel.id]
        self._usual = self._channel.topic
        self._changed = changed
        self._timer: asyncio.TimerHandle | None = None

    def heard(self, event: str, payload: Mapping[str, Any]) -> None:
        """Take note of a gateway event."""
        if int(payload.get("channel_id") or 0) != self._channel.id:
            return
        if event == "TYPING_START" and int(payload["user_id"]) == self._backend.bot_user.id:
            self.stop()
            self._channel.topic = "✎ A reply is being written …"
            self._timer = asyncio.get_running_loop().call_later(TYPING_LASTS, self._ended)
        elif event == "MESSAGE_CREATE" and payload["author"].get("bot"):
            self.stop()

    def stop(self) -> None:
        """Back to the usual topic."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._channel.topic = self._usual

    def _ended(self) -> None:
        self.stop()
        self._changed()


class LivePage:
    """Keeps a `LivePreview` up to date. Made by `live_page`."""

    def __init__(self, preview: LivePreview, simulation: Simulation, on_change: Callable[[], None]) -> None:
        self.preview = preview
        self._simulation = simulation
        self._on_change = on_change
        self._changes = asyncio.Event()
        self._typing = Typing(simulation, preview.channel, self._changes.set)

    @property
    def url(self) -> str:
        return self.preview.url

    async def wait_closed(self) -> None:
        """Return when "End preview session" was chosen on the page, or the page was closed otherwise."""
        await self.preview.wait_closed()

    def heard(self, event: str, payload: Mapping[str, Any]) -> None:
        """Take note of a gateway event."""
        self._typing.heard(event, payload)
        self._changes.set()

    def seen(self, request: WireRequest) -> None:
        """Take note of a REST request."""
        if request.method not in _READS:
            self._changes.set()

    async def keep_current(self) -> None:
        """Publish after every change, until cancelled."""
        backend = self._simulation.backend
        while True:
            await self._changes.wait()
            await asyncio.sleep(SETTLES_WITHIN)
            self._changes.clear()
            backend.transcript.clear()
            backend.http_requests.clear()
            self._on_change()
            await self.preview.publish()

    def stop(self) -> None:
        self._typing.stop()


@contextlib.asynccontextmanager
async def live_page(
    simulation: Simulation,
    server: WireServer,
    channel: ChannelHandle,
    viewers: Sequence[simcord.MemberActor],
    *,
    port: int = 0,
    on_change: Callable[[], None] = lambda: None,
) -> AsyncIterator[LivePage]:
    """Serve the page for ``channel`` on 127.0.0.1; ``on_change`` is called before each publication."""
    async with LivePreview(simulation, channel, viewers, port) as preview:
        page = LivePage(preview, simulation, on_change)
        simulation.backend.subscribers.append(page.heard)
        server.observers.append(page.seen)
        try:
            yield page
        finally:
            page.stop()
            server.observers.remove(page.seen)
            simulation.backend.subscribers.remove(page.heard)
