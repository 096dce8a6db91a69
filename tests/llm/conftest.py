from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from bot.llm import ModelClient
from tests.support.model_server import ModelServer


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def connect(server: ModelServer) -> AsyncIterator[Callable[..., ModelClient]]:
    """Make clients of the scripted server; they are closed at the end."""
    async with AsyncExitStack() as stack:

        def make(**settings: Any) -> ModelClient:
            client = ModelClient(settings.pop("base_url", server.base_url), **{"timeout_seconds": 20.0, **settings})
            stack.push_async_callback(client.close)
            return client

        yield make


@pytest.fixture
def client(connect: Callable[..., ModelClient]) -> ModelClient:
    return connect()
