"""Points discord.py at a Discord on the loopback interface, and at nothing else."""

from __future__ import annotations

import ipaddress

import yarl
from discord.asset import Asset
from discord.gateway import DiscordWebSocket
from discord.http import Route


def require_loopback(address: str) -> yarl.URL:
    """Return ``address`` as a URL.

    Raises ``ValueError`` when its host is not a loopback address: a bot token must never leave this machine by a typo.
    """
    url = yarl.URL(address)
    host = url.host or ""
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise ValueError(f"not a loopback address: {address}")
    return url


def point_at(*, api: str, gateway: str, cdn: str) -> None:
    """Make every discord.py client of this process use these three loopback addresses.

    ``api`` includes the version (``http://127.0.0.1:8000/api/v10``). Raises ``ValueError`` for any other host.
    """
    addresses = [str(require_loopback(address)).rstrip("/") for address in (api, gateway, cdn)]
    Route.BASE, Asset.BASE = addresses[0], addresses[2]
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(addresses[1])
