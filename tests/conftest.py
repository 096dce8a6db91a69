"""What holds for every test: no network but loopback, and none of the developer's own settings."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from bot.settings import Settings

# A slow machine is no failure.
hypothesis.settings.register_profile("kataribe", deadline=None)
hypothesis.settings.load_profile("kataribe")


# What starts processes, browsers or models takes longest.
FIRST = (
    "demo/test_real_demo.py",
    "test_kill.py",
    "demo",
    "llm/test_real_server.py",
    "evals",
    "test_main.py",
    "test_ledger.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that at the end no worker waits for one of them."""
    ranks = {Path(__file__).parent / name: rank for rank, name in enumerate(FIRST)}

    def rank(item: pytest.Item) -> int:
        return next((ranks[place] for place in (item.path, item.path.parent) if place in ranks), len(FIRST))

    items.sort(key=rank)


class NetworkBlocked(RuntimeError):
    """A test tried to leave the machine. Not an OSError, so that no code under test mistakes it for a broken line."""


def _is_loopback(host: object) -> bool:
    if host in (None, "", "localhost"):
        return True
    text = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


def _check_address(address: object) -> None:
    # Addresses of Unix sockets are plain strings.
    if isinstance(address, tuple) and not _is_loopback(address[0]):
        raise NetworkBlocked(f"a test tried to reach {address[0]}")


@pytest.fixture(scope="session", autouse=True)
def _only_loopback() -> Iterator[None]:
    """Let sockets reach nothing but this machine."""
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check_address(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check_address(address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        _check_address((host,))
        return getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    """Take the settings of whoever runs the tests out of the environment."""
    ours = {name.upper() for name in Settings.model_fields}
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.upper() in ours:
                patch.delenv(name)
        yield
