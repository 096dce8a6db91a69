"""What httpx speaks to a model server through: aiohttp, which discord.py brings along.

httpx's own transport is written in Python; a streamed answer took three times the processor time of aiohttp's parser in C
(1.8 ms against 0.6 for 38 events).
"""

from __future__ import annotations

import asyncio
import io
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

import aiohttp
import httpx

# A connection is kept so long for the next request, in seconds: httpx's own figure, and llama.cpp's.
_KEPT: Final = 5.0
# Bytes; aiohttp warns that writing more of them in one go may hold up the event loop, as a picture would.
_AT_ONCE: Final = 2**20


@cache
def _certificates() -> ssl.SSLContext:
    # Reading them is slow, and they are the same for every client.
    return httpx.create_ssl_context(trust_env=False)


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Any number of connections; each is used again when its response was read to the end, and closed at once when it is left.

    What goes wrong raises the errors of httpx. A response has to begin within the time for writing, in seconds, and ``connect`` and
    ``read`` hold beside that.
    """

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; its response is read as it arrives."""
        if self._session is None:  # aiohttp asks for a running event loop
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEPT, ssl=_certificates()),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            )
        headers = request.headers
        if request.url.userinfo:  # aiohttp makes the same header of it, and refuses both
            headers = httpx.Headers(headers)
            headers.pop("Authorization", None)
        content = await request.aread() or None
        limits = request.extensions.get("timeout", {})
        with _errors_of_httpx():
            async with asyncio.timeout(limits.get("write")):
                response = await self._session.request(
                    request.method,
                    str(request.url),
                    headers=headers.multi_items(),
                    data=io.BytesIO(content) if content and len(content) > _AT_ONCE else content,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(sock_connect=limits.get("connect"), sock_read=limits.get("read")),
                )
        return httpx.Response(response.status, headers=response.raw_headers, stream=_Body(response), request=request)

    async def aclose(self) -> None:
        """Close all connections; a request that still runs fails."""
        if self._session is not None:
            await self._session.close()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            while chunk := await self._response.content.readany():
                yield chunk

    async def aclose(self) -> None:
        self._response.close()


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    try:
        yield
    except aiohttp.ConnectionTimeoutError as error:
        raise httpx.ConnectTimeout(str(error)) from error
    except TimeoutError as error:
        raise httpx.ReadTimeout(str(error)) from error
    except aiohttp.ClientConnectorError as error:
        raise httpx.ConnectError(str(error)) from error
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
        raise httpx.UnsupportedProtocol(str(error)) from error
    except aiohttp.ClientOSError as error:
        raise httpx.ReadError(str(error)) from error
    except aiohttp.ClientError as error:
        raise httpx.RemoteProtocolError(str(error)) from error
