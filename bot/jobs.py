"""APScheduler wakes the background work; the rows say what is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger

from bot.folder import Folder
from bot.judging import Judging
from bot.privacy import Privacy
from bot.time_zones import MORNING_HOUR

# How soon after it is due a fold or a judgement starts, at most; the look is one indexed query.
_EVERY: Final = timedelta(seconds=5)
# How soon a zone that a guild has set, or a first guild of a zone, has its morning.
_ZONES_EVERY: Final = timedelta(minutes=5)
# How soon a wish to be forgotten that could not be carried out at once is looked at again.
_WISHES_EVERY: Final = timedelta(minutes=1)
# A look a day would do, if no process ever ended before.
_DEPARTED_EVERY: Final = timedelta(hours=1)
_MORNING: Final = "morning "


async def schedule(folder: Folder, judging: Judging, privacy: Privacy) -> AsyncIOScheduler:
    """The started scheduler. Late runs are made up for once, and none overlaps itself.

    Mornings that passed while no process ran are held at once, and wishes to be forgotten are gone on with.
    """
    scheduler = AsyncIOScheduler(
        timezone="UTC", job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
    )
    scheduler.add_job(folder.wake, "interval", seconds=_EVERY.total_seconds(), id="folds")
    scheduler.add_job(judging.wake, "interval", seconds=_EVERY.total_seconds(), id="judgements")
    scheduler.add_job(
        schedule_mornings, "interval", seconds=_ZONES_EVERY.total_seconds(), args=[scheduler, judging], id="zones"
    )
    scheduler.add_job(
        privacy.run_due,
        "interval",
        seconds=_WISHES_EVERY.total_seconds(),
        next_run_time=datetime.now(UTC),
        id="forgettings",
    )
    scheduler.add_job(privacy.delete_departed, "interval", seconds=_DEPARTED_EVERY.total_seconds(), id="departed")
    await schedule_mornings(scheduler, judging)
    scheduler.start()
    await judging.hold_mornings()
    return scheduler


async def schedule_mornings(scheduler: AsyncIOScheduler, judging: Judging) -> None:
    """Have one job at 05:00 for each time zone in use, by the clocks there, and none for any other."""
    wanted = {_MORNING + zone: zone for zone in await judging.zones()}
    known = {job.id for job in scheduler.get_jobs() if job.id.startswith(_MORNING)}
    for job_id in known - wanted.keys():
        scheduler.remove_job(job_id)
    for job_id in wanted.keys() - known:
        zone = wanted[job_id]
        scheduler.add_job(
            judging.hold_mornings, CronTrigger(hour=MORNING_HOUR, timezone=ZoneInfo(zone)), args=[zone], id=job_id
        )
