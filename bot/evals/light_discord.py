"""A Discord on the loopback interface that is as light as can be: what a bot needs to hear messages and to answer by webhooks.

The demo's simulation keeps all that Discord knows and checks what is asked of it; with a thousand channels and hundreds of
messages a second it would be what is measured. This one answers without looking, and tells what arrived.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from aiohttp import WSMsgType, web

TOKEN: Final = "loopback.load.bench"
_API: Final = "/api/v10"
# The first second of 2015, from which Discord counts (https://discord.com/developers/docs/reference#snowflakes), in ms.
_EPOCH: Final = 1_420_070_400_000
# View channels, send messages, read the history, manage webhooks and messages, add reactions.
_PERMISSIONS: Final = str(1 << 10 | 1 << 11 | 1 << 16 | 1 << 29 | 1 << 13 | 1 << 6)
_HEARTBEAT: Final = 41_250
_BUCKET: Final = {
    "X-RateLimit-Limit": "50",
    "X-RateLimit-Remaining": "49",
    "X-RateLimit-Reset-After": "1.0",
}


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the bot that stands in a channel now, as it was sent or edited; ``by_webhook`` as a character."""

    message_id: int
    channel_id: int
    text: str
    by_webhook: bool


class LightDiscord:
    """Guilds of text channels, and members without faces. Made by `light_discord`.

    ``guilds`` are the channels of each guild. ``heard`` is told of what the bot says and edits, at once; ``requests`` counts
    what arrived, by method and route.
    """

    def __init__(self, guilds: Mapping[int, Sequence[int]], heard: Callable[[Said], None]) -> None:
        self.guilds = guilds
        self.requests: dict[str, int] = {}
        self.connected = asyncio.Event()
        self.port = 0
        self._heard = heard
        self._numbers = itertools.count()
        self._bot = {"id": str(self.snowflake()), "username": "bot", "discriminator": "0", "avatar": None, "bot": True}
        self._guild_of = {channel: guild for guild, channels in guilds.items() for channel in channels}
        self._hooks: dict[int, int] = {}
        self._messages: dict[int, Said] = {}
        self._sequence = 0
        self._socket: web.WebSocketResponse | None = None
        self._packer: Any = None
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()

    @property
    def arguments(self) -> list[str]:
        """What `bot.demo.child` has to be told."""
        base = f"127.0.0.1:{self.port}"
        return ["--api", f"http://{base}{_API}", "--gateway", f"ws://{base}/gateway", "--cdn", f"http://{base}/cdn"]

    def snowflake(self) -> int:
        """An id of this moment that no other is."""
        return (int(time.time() * 1000) - _EPOCH << 22) | (next(self._numbers) & 0x3FFFFF)

    def send(self, channel_id: int, author_id: int, name: str, text: str) -> int:
        """A person writes; the id of the message."""
        message_id = self.snowflake()
        self._create(
            message_id,
            channel_id,
            text,
            author={"id": str(author_id), "username": name.lower(), "global_name": name, "avatar": None, "discriminator": "0"},
            member={"roles": [], "joined_at": "2026-01-01T00:00:00+00:00", "deaf": False, "mute": False, "flags": 0},
        )  # fmt: skip
        return message_id

    def application(self) -> web.Application:
        """The routes."""
        application = web.Application(client_max_size=16 * 2**20)
        add = application.router.add_route
        add("GET", "/gateway", self._gateway)
        add("GET", _API + "/users/@me", self._me)
        add("GET", _API + "/oauth2/applications/@me", self._about)
        add("GET", _API + "/gateway/bot", self._address)
        add("PUT", _API + "/applications/{application}/commands", self._commands)
        add("GET", _API + "/channels/{channel}/webhooks", self._webhooks)
        add("POST", _API + "/channels/{channel}/webhooks", self._make_webhook)
        add("POST", _API + "/channels/{channel}/typing", self._typing)
        add("POST", _API + "/channels/{channel}/messages", self._say)
        add("DELETE", _API + "/channels/{channel}/messages/{message}", self._remove)
        add("POST", _API + "/webhooks/{hook}/{token}", self._say_by_webhook)
        add("PATCH", _API + "/webhooks/{hook}/{token}/messages/{message}", self._revise)
        add("DELETE", _API + "/webhooks/{hook}/{token}/messages/{message}", self._remove)
        return application

    def _create(self, message_id: int, channel_id: int, text: str, **more: Any) -> dict[str, Any]:
        """Tell the bot of a message, its own too, as Discord does."""
        message = {
            "id": str(message_id),
            "channel_id": str(channel_id),
            "content": text,
            "timestamp": datetime.now(UTC).isoformat(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "components": [],
            "pinned": False,
            "flags": 0,
            "type": 0,
            **more,
        }
        self._dispatch("MESSAGE_CREATE", {**message, "guild_id": str(self._guild_of[channel_id])})
        return message

    # The gateway

    async def _gateway(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        self._socket, self._packer = socket, zlib.compressobj()
        self._outgoing = asyncio.Queue()
        pump = asyncio.create_task(self._pump(socket))
        self._push(10, {"heartbeat_interval": _HEARTBEAT})
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._receive(json.loads(message.data))
        finally:
            pump.cancel()
            self._socket = None
        return socket

    async def _pump(self, socket: web.WebSocketResponse) -> None:
        while True:
            text = await self._outgoing.get()
            try:
                packed = self._packer.compress(text.encode()) + self._packer.flush(zlib.Z_SYNC_FLUSH)
                await socket.send_bytes(packed)
            except ConnectionError:
                return

    def _receive(self, message: dict[str, Any]) -> None:
        if message["op"] == 1:
            # Not at once: discord.py notes the time of a heartbeat after it has sent it.
            asyncio.get_running_loop().call_later(0.05, self._push, 11, None)
        elif message["op"] == 2:
            self._welcome()

    def _welcome(self) -> None:
        ready = {
            "v": 10,
            "user": self._bot,
            "session_id": "load",
            "guilds": [{"id": str(guild), "unavailable": True} for guild in self.guilds],
            "resume_gateway_url": f"ws://127.0.0.1:{self.port}/gateway",
            "application": {"id": self._bot["id"], "flags": 0},
        }
        self._dispatch("READY", ready)
        for guild_id, channels in self.guilds.items():
            self._dispatch("GUILD_CREATE", _guild(guild_id, channels, self._bot))
        self.connected.set()

    def _push(self, op: int, data: Any) -> None:
        self._outgoing.put_nowait(json.dumps({"op": op, "d": data, "s": None, "t": None}))

    def _dispatch(self, event: str, data: Any) -> None:
        self._sequence += 1
        self._outgoing.put_nowait(json.dumps({"op": 0, "t": event, "s": self._sequence, "d": data}))

    # REST

    async def _me(self, request: web.Request) -> web.Response:
        return self._answer(request, self._bot)

    async def _about(self, request: web.Request) -> web.Response:
        about = {
            "id": self._bot["id"], "name": "bot", "icon": None, "description": "", "bot_public": True,
            "bot_require_code_grant": False, "verify_key": "", "flags": 0, "owner": self._bot, "team": None,
        }  # fmt: skip
        return self._answer(request, about)

    async def _address(self, request: web.Request) -> web.Response:
        limit = {"total": 1000, "remaining": 999, "reset_after": 1, "max_concurrency": 1}
        url = f"ws://127.0.0.1:{self.port}/gateway"
        return self._answer(request, {"url": url, "shards": 1, "session_start_limit": limit})

    async def _commands(self, request: web.Request) -> web.Response:
        return self._answer(request, [])

    async def _webhooks(self, request: web.Request) -> web.Response:
        channel = int(request.match_info["channel"])
        known = [hook for hook, home in self._hooks.items() if home == channel]
        return self._answer(request, [self._hook(hook, channel) for hook in known])

    async def _make_webhook(self, request: web.Request) -> web.Response:
        channel, hook = int(request.match_info["channel"]), self.snowflake()
        self._hooks[hook] = channel
        return self._answer(request, self._hook(hook, channel))

    def _hook(self, hook: int, channel: int) -> dict[str, Any]:
        return {
            "id": str(hook), "type": 1, "guild_id": str(self._guild_of[channel]), "channel_id": str(channel),
            "user": self._bot, "name": "Kataribe", "avatar": None, "token": f"token-{hook}",
            "application_id": self._bot["id"],
        }  # fmt: skip

    async def _typing(self, request: web.Request) -> web.Response:
        return self._answer(request, None)

    async def _say(self, request: web.Request) -> web.Response:
        body = await request.json()
        channel = int(request.match_info["channel"])
        return self._answer(request, self._stand(channel, body["content"], by_webhook=False, author=self._bot))

    async def _say_by_webhook(self, request: web.Request) -> web.Response:
        body, hook = await request.json(), int(request.match_info["hook"])
        author = {
            "id": str(hook), "username": body.get("username", "Kataribe"), "avatar": None, "discriminator": "0000",
            "bot": True,
        }  # fmt: skip
        of = {"author": author, "webhook_id": str(hook), "application_id": self._bot["id"]}
        return self._answer(request, self._stand(self._hooks[hook], body["content"], by_webhook=True, **of))

    def _stand(self, channel: int, text: str, *, by_webhook: bool, **of: Any) -> dict[str, Any]:
        said = Said(self.snowflake(), channel, text, by_webhook)
        self._messages[said.message_id] = said
        self._heard(said)
        return self._create(said.message_id, channel, text, **of)

    async def _revise(self, request: web.Request) -> web.Response:
        body, hook = await request.json(), int(request.match_info["hook"])
        said = Said(int(request.match_info["message"]), self._hooks[hook], body["content"], by_webhook=True)
        self._messages[said.message_id] = said
        self._heard(said)
        author = {"id": str(hook), "username": "Kataribe", "avatar": None, "discriminator": "0000", "bot": True}
        message = {
            "id": str(said.message_id), "channel_id": str(said.channel_id), "content": said.text, "author": author,
            "webhook_id": str(hook), "timestamp": datetime.now(UTC).isoformat(),
            "edited_timestamp": datetime.now(UTC).isoformat(), "tts": False, "mention_everyone": False, "mentions": [],
            "mention_roles": [], "attachments": [], "embeds": [], "components": [], "pinned": False, "flags": 0, "type": 0,
        }  # fmt: skip
        self._dispatch("MESSAGE_UPDATE", {**message, "guild_id": str(self._guild_of[said.channel_id])})
        return self._answer(request, message)

    async def _remove(self, request: web.Request) -> web.Response:
        said = self._messages.pop(int(request.match_info["message"]), None)
        if said is not None:
            place = {"channel_id": str(said.channel_id), "guild_id": str(self._guild_of[said.channel_id])}
            self._dispatch("MESSAGE_DELETE", {"id": str(said.message_id), **place})
        return self._answer(request, None)

    @property
    def standing(self) -> list[Said]:
        """What of the bot's stands in the channels, in order."""
        return [self._messages[message_id] for message_id in sorted(self._messages)]

    def _answer(self, request: web.Request, payload: Any) -> web.Response:
        route = request.match_info.route.resource
        name = f"{request.method} {route.canonical.removeprefix(_API) if route else request.path}"
        self.requests[name] = self.requests.get(name, 0) + 1
        if payload is None:
            return web.Response(status=204, headers=_BUCKET)
        # discord.py parses a body only when this header is exactly "application/json", without a charset.
        headers = {"Content-Type": "application/json", "X-RateLimit-Bucket": name[:40], **_BUCKET}
        return web.Response(body=json.dumps(payload).encode(), headers=headers)


@asynccontextmanager
async def light_discord(
    guilds: Mapping[int, Sequence[int]], heard: Callable[[Said], None]
) -> AsyncIterator[LightDiscord]:
    """Serve guilds with these channels on a free port of the loopback address."""
    discord = LightDiscord(guilds, heard)
    runner = web.AppRunner(discord.application(), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        discord.port = int(runner.addresses[0][1])
        yield discord
    finally:
        await runner.cleanup()


def _guild(guild_id: int, channels: Sequence[int], bot: dict[str, Any]) -> dict[str, Any]:
    everyone = {
        "id": str(guild_id), "name": "@everyone", "color": 0, "hoist": False, "position": 0, "permissions": _PERMISSIONS,
        "managed": False, "mentionable": False, "flags": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
    }  # fmt: skip
    member = {
        "user": bot,
        "roles": [],
        "joined_at": "2026-01-01T00:00:00+00:00",
        "deaf": False,
        "mute": False,
        "flags": 0,
    }
    return {
        "id": str(guild_id), "name": f"guild {guild_id}", "owner_id": "1", "icon": None, "splash": None,
        "discovery_splash": None, "banner": None, "description": None, "afk_channel_id": None, "afk_timeout": 300,
        "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
        "premium_tier": 0, "premium_subscription_count": 0, "preferred_locale": "en-US", "system_channel_id": None,
        "system_channel_flags": 0, "rules_channel_id": None, "public_updates_channel_id": None, "vanity_url_code": None,
        "application_id": None, "max_members": 500_000, "features": [], "emojis": [], "stickers": [], "roles": [everyone],
        "member_count": 3, "large": False, "unavailable": False, "joined_at": "2026-01-01T00:00:00+00:00",
        "members": [member], "threads": [], "presences": [], "voice_states": [], "stage_instances": [],
        "guild_scheduled_events": [], "soundboard_sounds": [], "nsfw_level": 0,
        "channels": [
            {
                "id": str(channel), "type": 0, "name": f"channel-{channel}", "position": place, "parent_id": None,
                "permission_overwrites": [], "nsfw": False, "topic": None, "last_message_id": None,
                "rate_limit_per_user": 0, "flags": 0,
            }
            for place, channel in enumerate(channels)
        ],
    }  # fmt: skip
