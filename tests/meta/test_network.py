"""No test can leave the machine: the guards of ``tests/conftest.py``."""

from __future__ import annotations

import asyncio
import socket

import httpx
import pytest

from tests.conftest import NetworkBlocked

# Reserved for documentation (RFC 5737 and RFC 2606): even without the guard nobody is disturbed.
ELSEWHERE = "192.0.2.1"
NAME_ELSEWHERE = "kataribe.example"


def test_a_socket_cannot_connect_elsewhere() -> None:
    with socket.socket() as sock:
        sock.settimeout(0.2)
        with pytest.raises(NetworkBlocked):
            sock.connect((ELSEWHERE, 80))
        with pytest.raises(NetworkBlocked):
            sock.connect_ex((ELSEWHERE, 80))


async def test_a_name_elsewhere_is_not_looked_up() -> None:
    with pytest.raises(NetworkBlocked):
        await asyncio.get_running_loop().getaddrinfo(NAME_ELSEWHERE, 80)
    async with httpx.AsyncClient(timeout=0.5) as client:
        with pytest.raises(NetworkBlocked):
            await client.get(f"http://{NAME_ELSEWHERE}/")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_can_be_reached(host: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"here")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection(host, port)
        assert await reader.read() == b"here"
        writer.close()
        await writer.wait_closed()
