"""discord.py can be pointed at this machine, and at nothing else."""

from __future__ import annotations

import pytest
from discord.http import Route

from bot.demo.loopback import point_at, require_loopback


@pytest.mark.parametrize("address", ["http://127.0.0.1:80/api", "ws://localhost:1", "http://[::1]:3/cdn"])
def test_loopback_is_accepted(address: str) -> None:
    assert str(require_loopback(address)).startswith(address[:12])


@pytest.mark.parametrize(
    "address",
    [
        "https://discord.com/api/v10",
        "http://127.0.0.1.example.com",
        "http://10.0.0.1",
        "http://0.0.0.0:1",
        "nonsense",
        "",
    ],
)
def test_anything_else_is_refused_and_changes_nothing(address: str) -> None:
    before = Route.BASE
    with pytest.raises(ValueError, match="not a loopback address"):
        point_at(api="http://127.0.0.1:1/api/v10", gateway="ws://127.0.0.1:1", cdn=address)
    assert before == Route.BASE
