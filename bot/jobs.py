"""APScheduler wakes the background work; the rows say what is due."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.folder import Folder

# How soon after it is due a fold starts, at most; the look is one indexed query.
_EVERY: Final = timedelta(seconds=5)


def schedule(folder: Folder) -> AsyncIOScheduler:
    """The started scheduler. Late runs are made up for once, and none overlaps itself."""
    scheduler = AsyncIOScheduler(
        timezone="UTC", job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
    )
    scheduler.add_job(folder.wake, "interval", seconds=_EVERY.total_seconds(), id="folds")
    scheduler.start()
    return scheduler
