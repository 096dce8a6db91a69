"""The demo with the small bot instead of the real one, in a process of its own: ``python -m tests.support.stub_demo DIR``."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from discord.utils import time_snowflake

from bot.demo import stage
from bot.demo.stage import Options, Voice
from bot.demo.world import SeededMessage, World, the_world
from bot.settings import child_environment

STUB = ("-m", "tests.support.stub_bot")
STORY = "Rain is going sideways across the rock."


async def seed(database_url: str, world: World) -> list[SeededMessage]:
    """A story of two messages."""
    await asyncio.to_thread(Path(database_url.partition("///")[2]).touch)
    began = datetime(2026, 2, 1, tzinfo=UTC)
    first, second = (began + timedelta(minutes=minutes) for minutes in (0, 3))
    noor = world.players[0]
    return [
        SeededMessage(time_snowflake(first), "Dorrit Pell", None, STORY, first),
        SeededMessage(time_snowflake(second), noor.name, noor.user_id, "I knock.", second),
    ]


@contextlib.asynccontextmanager
async def running(data: Path, *, thinks: float = 0.0) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """The demo with the small bot: its address, and its task."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    demo = asyncio.create_task(
        stage.show(
            Options(data=data, open_browser=False, bot=STUB),
            the_world(),
            Voice("A stub answers here.", "", {"STUB_THINKS": str(thinks)}),
            environment=child_environment,
            seed=seed,
            greeting="**This is a demo.**",
            announce=address.set_result,
        )
    )
    demo.add_done_callback(lambda _: address.done() or address.cancel())
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await address
        if demo.done():
            demo.result()
        yield address.result(), demo
    finally:
        demo.cancel()
        await asyncio.gather(demo, return_exceptions=True)


async def _main(data: Path) -> None:
    async with running(data) as (url, demo):
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        await demo


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
