"""The gateway of the simulated Discord: sessions that outlive their socket, replay, intents, member chunks."""

from __future__ import annotations

import asyncio
import copy
import json
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import discord
from aiohttp import WSMsgType, web
from simcord import intents as gates
from simcord.backend import Backend, serializers

REPLAYED = 1000
"""Events a session keeps for RESUME."""
SESSIONS_KEPT = 16
CHUNK = 1000
"""Members in one GUILD_MEMBERS_CHUNK (https://discord.com/developers/docs/events/gateway-events)."""
ACK_DELAY = 0.05
"""Seconds before a heartbeat is acknowledged: discord.py 2.7 notes the time of sending after it has sent, so that an
acknowledgement which is there at once is measured from the heartbeat before and logged as 41 s behind."""


class Op(IntEnum):
    """Gateway opcodes (https://discord.com/developers/docs/topics/opcodes-and-status-codes)."""

    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    RESUME = 6
    RECONNECT = 7
    REQUEST_MEMBERS = 8
    INVALID_SESSION = 9
    HELLO = 10
    HEARTBEAT_ACK = 11


class CloseCode(IntEnum):
    """The close codes that this gateway sends."""

    UNKNOWN_ERROR = 4000
    AUTHENTICATION_FAILED = 4004
    DISALLOWED_INTENTS = 4014


class Connection:
    """One socket with its own compression stream; what is pushed leaves in order."""

    def __init__(self, socket: web.WebSocketResponse, *, compressed: bool) -> None:
        self.socket = socket
        self._stream = zlib.compressobj() if compressed else None
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()

    def push(self, text: str) -> None:
        self._outgoing.put_nowait(text)

    def push_op(self, op: Op, data: Any = None) -> None:
        self.push(json.dumps({"op": op, "d": data, "s": None, "t": None}))

    async def pump(self) -> None:
        """Send what was pushed, until the socket is gone."""
        while True:
            text = await self._outgoing.get()
            try:
                if self._stream is None:
                    await self.socket.send_str(text)
                else:
                    packed = self._stream.compress(text.encode()) + self._stream.flush(zlib.Z_SYNC_FLUSH)
                    await self.socket.send_bytes(packed)
            except ConnectionError:
                return


@dataclass(slots=True, eq=False)
class Session:
    """One gateway session; it survives a dropped socket, so that RESUME can replay what was missed."""

    id: str
    intents: discord.Intents
    shard: tuple[int, int]
    sequence: int = 0
    log: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=REPLAYED))
    connection: Connection | None = None

    def dispatch(self, event: str, data: Any) -> None:
        self.sequence += 1
        text = json.dumps({"op": Op.DISPATCH, "t": event, "s": self.sequence, "d": data})
        self.log.append((self.sequence, text))
        if self.connection is not None:
            self.connection.push(text)

    def can_replay_after(self, sequence: int) -> bool:
        oldest = self.log[0][0] if self.log else self.sequence + 1
        return oldest - 1 <= sequence <= self.sequence


class Gateway:
    """Serves one `Backend` to any number of gateway sessions.

    ``approved_intents`` are the privileged intents granted in the developer portal (all, unless given): asking for
    more closes the socket with 4014. ``rewrite`` is applied to every payload before it leaves (CDN addresses).
    """

    def __init__(
        self,
        backend: Backend,
        *,
        token: str,
        address: Callable[[], str],
        rewrite: Callable[[Any], Any],
        approved_intents: discord.Intents | None = None,
        heartbeat_ms: int = 41_250,
    ) -> None:
        self.backend = backend
        self.token = token
        self.approved_intents = approved_intents or discord.Intents.all()
        self.heartbeat_ms = heartbeat_ms
        self.locale: str | None = None
        self.sessions: dict[str, Session] = {}
        self.connections: set[Connection] = set()
        self.identifies = 0
        self.resumes = 0
        self.invalidated = 0
        self.refused: list[int] = []
        self._address = address
        self._rewrite = rewrite
        self._timers: set[asyncio.TimerHandle] = set()
        backend.subscribers.append(self._emit)

    @property
    def connected(self) -> bool:
        """Whether a session has a socket at this moment."""
        return any(session.connection is not None for session in self.sessions.values())

    async def drop(self, code: int = CloseCode.UNKNOWN_ERROR) -> None:
        """Close every socket; the sessions stay resumable, and events go on to be recorded for them."""
        for session in self.sessions.values():
            session.connection = None
        for connection in list(self.connections):
            await connection.socket.close(code=code)

    def forget_sessions(self) -> None:
        """Forget every session: the next RESUME is answered with INVALID_SESSION."""
        self.sessions.clear()

    def ask_to_reconnect(self) -> None:
        """Send RECONNECT, as Discord does when a gateway node is taken down."""
        for connection in self.connections:
            connection.push_op(Op.RECONNECT)

    def close(self) -> None:
        """Stop listening to the backend."""
        for timer in self._timers:
            timer.cancel()
        if self._emit in self.backend.subscribers:
            self.backend.subscribers.remove(self._emit)

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one socket until it closes."""
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        connection = Connection(socket, compressed=request.query.get("compress") == "zlib-stream")
        self.connections.add(connection)
        pump = asyncio.create_task(connection.pump())
        connection.push_op(Op.HELLO, {"heartbeat_interval": self.heartbeat_ms})
        session: Session | None = None
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    session = await self._receive(connection, session, json.loads(message.data))
        finally:
            pump.cancel()
            self.connections.discard(connection)
            if session is not None and session.connection is connection:
                session.connection = None
        return socket

    async def _receive(
        self, connection: Connection, session: Session | None, message: Mapping[str, Any]
    ) -> Session | None:
        op: int = message["op"]
        data: Any = message.get("d")
        if op == Op.HEARTBEAT:
            self._later(ACK_DELAY, connection)
        elif op == Op.IDENTIFY:
            return await self._identify(connection, data)
        elif op == Op.RESUME:
            return await self._resume(connection, data)
        elif op == Op.REQUEST_MEMBERS and session is not None:
            self._send_members(session, data)
        return session

    def _later(self, seconds: float, connection: Connection) -> None:
        def acknowledge() -> None:
            self._timers.discard(timer)
            connection.push_op(Op.HEARTBEAT_ACK)

        timer = asyncio.get_running_loop().call_later(seconds, acknowledge)
        self._timers.add(timer)

    async def _refuse(self, connection: Connection, code: CloseCode) -> None:
        self.refused.append(int(code))
        await connection.socket.close(code=code)

    async def _identify(self, connection: Connection, data: Mapping[str, Any]) -> Session | None:
        if data["token"] != self.token:
            await self._refuse(connection, CloseCode.AUTHENTICATION_FAILED)
            return None
        intents = discord.Intents._from_value(data["intents"])
        if gates.missing_privileged_intents(intents, self.approved_intents):
            await self._refuse(connection, CloseCode.DISALLOWED_INTENTS)
            return None
        self.identifies += 1
        index, count = data.get("shard") or (0, 1)
        session = Session(f"session-{self.identifies}", intents, (index, count), connection=connection)
        self.sessions[session.id] = session
        for old in [each for each in self.sessions.values() if each.connection is None][:-SESSIONS_KEPT]:
            del self.sessions[old.id]
        self._welcome(session)
        return session

    async def _resume(self, connection: Connection, data: Mapping[str, Any]) -> Session | None:
        if data["token"] != self.token:
            await self._refuse(connection, CloseCode.AUTHENTICATION_FAILED)
            return None
        session, last = self.sessions.get(data["session_id"]), data["seq"] or 0
        if session is None or not session.can_replay_after(last):
            self.invalidated += 1
            connection.push_op(Op.INVALID_SESSION, False)
            return None
        self.resumes += 1
        session.connection = connection
        for sequence, text in list(session.log):
            if sequence > last:
                connection.push(text)
        session.dispatch("RESUMED", {})
        return session

    def _guilds(self, session: Session) -> list[Any]:
        index, count = session.shard
        return [guild for guild in self.backend.guilds.values() if (guild.id >> 22) % count == index]

    def _welcome(self, session: Session) -> None:
        guilds = self._guilds(session)
        ready = {
            "v": 10,
            "user": dict(serializers.user_payload(self.backend.bot_user)),
            "session_id": session.id,
            "shard": list(session.shard),
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
            "resume_gateway_url": self._address(),
            "application": {"id": str(self.backend.application_id), "flags": 0},
        }
        session.dispatch("READY", ready)
        for guild in guilds:
            self._deliver(session, "GUILD_CREATE", serializers.guild_create_payload(self.backend, guild))

    def _send_members(self, session: Session, data: Mapping[str, Any]) -> None:
        guild = self.backend.guilds.get(int(data["guild_id"]))
        if guild is None:
            return
        members, missing = list(guild.members.values()), []
        if data.get("user_ids"):
            asked = data["user_ids"] if isinstance(data["user_ids"], list) else [data["user_ids"]]
            wanted = {int(user_id) for user_id in asked}
            members = [member for member in members if member.user_id in wanted]
            missing = [str(user_id) for user_id in sorted(wanted - guild.members.keys())]
        elif data.get("query"):
            start = data["query"].lower()
            members = [member for member in members if self._name_starts(member, start)]
        members = members[: data.get("limit") or None]
        parts = [members[at : at + CHUNK] for at in range(0, len(members), CHUNK)] or [[]]
        for index, part in enumerate(parts):
            payload: dict[str, Any] = {
                "guild_id": str(guild.id),
                "members": [serializers.member_payload(self.backend, guild, member) for member in part],
                "chunk_index": index,
                "chunk_count": len(parts),
                "not_found": missing,
            }
            if data.get("nonce"):
                payload["nonce"] = data["nonce"]
            session.dispatch("GUILD_MEMBERS_CHUNK", self._rewrite(payload))

    def _name_starts(self, member: Any, start: str) -> bool:
        names = (self.backend.users[member.user_id].name, member.nick or "")
        return any(name.lower().startswith(start) for name in names)

    def _emit(self, event: str, payload: Mapping[str, Any]) -> None:
        for session in list(self.sessions.values()):
            self._deliver(session, event, payload)

    def _deliver(self, session: Session, event: str, payload: Mapping[str, Any]) -> None:
        own_id = payload.get("id") if event in ("GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE") else None
        guild_id = payload.get("guild_id") or own_id
        index, count = session.shard
        if ((int(guild_id) >> 22) % count if guild_id else 0) != index:
            return
        gate = gates.required_intent(event, payload)
        if gate is not None and not getattr(session.intents, gate):
            return
        data = copy.deepcopy(dict(payload))
        if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE") and not session.intents.message_content:
            gates.censor_message(data, self.backend.bot_user.id, backend=self.backend)
        elif event == "GUILD_CREATE":
            gates.prune_guild_create(data, session.intents, self.backend.bot_user.id)
        elif event == "INTERACTION_CREATE" and self.locale is not None:
            data["locale"] = self.locale
        session.dispatch(event, self._rewrite(data))
