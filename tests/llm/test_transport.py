from __future__ import annotations

import asyncio
import gzip
import struct
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from socket import SO_LINGER, SOL_SOCKET

import httpx
import pytest

from bot.llm import ModelClient, ModelRequest, Purpose
from bot.llm.transport import AiohttpTransport
from bot.memory.messages import Message
from tests.support.model_server import ModelServer, Script

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

EVENTS = b"data: one\n\ndata: two\n\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(EVENTS), EVENTS)


@asynccontextmanager
async def answered(handle: Handle) -> AsyncIterator[str]:
    """A server that does with each connection as it is told; yields its address."""
    under_way: set[asyncio.StreamWriter] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        under_way.add(writer)
        await handle(reader, writer)

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        for writer in under_way:
            writer.close()


@asynccontextmanager
async def using(seconds: float = 20.0) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=AiohttpTransport(), timeout=seconds, trust_env=False) as http:
        yield http


async def request_in(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")


@pytest.mark.parametrize("is_reset", [False, True])
async def test_what_came_before_a_cut_is_delivered(is_reset: bool) -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_in(reader)
        if is_reset:
            writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        writer.write(CHUNKED)
        await asyncio.sleep(0.05 if is_reset else 0)  # a reset takes back what was not read yet
        writer.close()

    read = []
    async with answered(cut) as address, using() as http, http.stream("GET", address) as response:
        chunks = response.aiter_bytes()
        read.append(await anext(chunks))
        with pytest.raises((httpx.NetworkError, httpx.RemoteProtocolError)):
            read.append(await anext(chunks))
    assert read == [EVENTS]


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (b"", httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Le", httpx.RemoteProtocolError),
        (b"SSH-2.0-OpenSSH_9.6\r\n", httpx.RemoteProtocolError),
        (HEAD + b"Content-Length: 99\r\n\r\nhalf", httpx.RemoteProtocolError),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nno size\r\n", httpx.RemoteProtocolError),
    ],
)
async def test_what_is_no_response_is_an_error_of_httpx(sent: bytes, error: type[httpx.HTTPError]) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_in(reader)
        writer.write(sent)
        writer.close()

    async with answered(answer) as address, using() as http:
        with pytest.raises(error):
            await http.get(address)


async def test_nobody_listens() -> None:
    async with answered(lambda *_: asyncio.sleep(0)) as address:
        pass
    async with using() as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(address)


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "ftp://127.0.0.1/", "http:///v1"])
async def test_an_address_that_is_none(address: str) -> None:
    async with using() as http:
        with pytest.raises((httpx.UnsupportedProtocol, httpx.InvalidURL)):
            await http.get(address)


async def test_a_server_that_does_not_answer_times_out() -> None:
    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_in(reader)

    async with answered(listen) as address, using(0.2) as http:
        with pytest.raises(httpx.TimeoutException):
            await http.get(address)


async def test_a_server_that_falls_silent_times_out() -> None:
    async def fall_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_in(reader)
        writer.write(CHUNKED)

    async with answered(fall_silent) as address, using(0.2) as http:
        with pytest.raises(httpx.ReadTimeout):
            await http.get(address)


async def test_a_server_that_takes_no_request_times_out() -> None:
    async def refuse_to_read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]

    async with answered(refuse_to_read) as address, using(0.2) as http:
        with pytest.raises(httpx.TimeoutException):
            await http.post(address, content=b"-" * 2**25)


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again() -> None:
    closed = asyncio.Event()

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_in(reader)
        writer.write(HEAD + b"Content-Length: 4\r\n\r\nonce")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        closed.set()

    async with answered(answer_once) as address, using() as http:
        for _ in range(3):
            assert (await http.post(address, content=b"hello")).content == b"once"
            await closed.wait()
            closed.clear()
            await asyncio.sleep(0.05)


async def test_a_connection_is_used_again_by_one_request_at_a_time(
    server: ModelServer, connect: Callable[..., ModelClient]
) -> None:
    server.llama_cpp = False  # which closes each connection
    client = connect(parallel=120)
    request = ModelRequest((Message("user", "Mio: hello"),), Purpose.REPLY, 500)
    go_on = asyncio.Event()
    server.replies.extend(Script("Rin smiles.", hang=go_on) for _ in range(120))

    under_way = [asyncio.create_task(client.complete(request)) for _ in range(120)]
    await server.arrived(120)
    go_on.set()
    await asyncio.gather(*under_way)
    await client.complete(request)

    peers = [each.peer for each in server.requests]
    assert len(set(peers)) == 120
    assert peers[-1] in peers[:-1]


async def test_what_a_host_compressed_is_read() -> None:
    packed = gzip.compress(EVENTS)

    async def compress(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert b"gzip" in await request_in(reader)
        writer.write(HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed)

    async with answered(compress) as address, using() as http:
        assert (await http.get(address)).content == EVENTS


async def test_a_redirect_is_not_followed() -> None:
    async def send_elsewhere(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_in(reader)
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")

    async with answered(send_elsewhere) as address, using() as http:
        assert (await http.get(address)).status_code == 302


async def test_a_name_and_password_in_the_address_go_before_the_key(
    server: ModelServer, connect: Callable[..., ModelClient]
) -> None:
    address = server.base_url.replace("//", "//rin:light%20house@")
    client = connect(base_url=address, api_key="key")
    await client.complete(ModelRequest((Message("user", "Mio: hello"),), Purpose.REPLY, 500))
    assert server.requests[0].headers["Authorization"] == f"Basic {b64encode(b'rin:light house').decode()}"
    assert "/props" in server.paths
    assert client.profile.server == "llama.cpp"
