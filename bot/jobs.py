"""APScheduler wakes the background work; the rows say what is due."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot.folder import Folder
from bot.judging import Judging
from bot.privacy import Privacy
from bot.tasks import Tasks
from bot.time_zones import MORNING_HOUR

log = logging.getLogger(__name__)

# How soon after it is due a fold or a judgement starts, at most; the look is one indexed query.
_EVERY: Final = timedelta(seconds=5)
# How soon a zone that a guild has set, or a first guild of a zone, has its morning.
_ZONES_EVERY: Final = timedelta(minutes=5)
# How soon a wish to be forgotten that could not be carried out at once is looked at again.
_WISHES_EVERY: Final = timedelta(minutes=1)
# A look a day would do, if no process ever ended before.
_DEPARTED_EVERY: Final = timedelta(hours=1)
_MORNING: Final = "morning "


class Jobs:
    """Work by name and time. Late runs are made up for once, and none overlaps itself.

    Each run is a task of its own: one that is stopped with the process is no error, which APScheduler would make of it.
    """

    def __init__(self) -> None:
        self.scheduler = AsyncIOScheduler(
            timezone="UTC", job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )
        self._tasks = Tasks()

    def names(self) -> frozenset[str]:
        """What is scheduled."""
        return frozenset(job.id for job in self.scheduler.get_jobs())

    def add(self, name: str, work: Callable[[], Awaitable[object]], trigger: BaseTrigger, **when: Any) -> None:
        """Schedule work; ``when`` goes to APScheduler."""
        self.scheduler.add_job(self._start, trigger, args=[name, work], id=name, **when)

    def remove(self, name: str) -> None:
        """Schedule it no more."""
        self.scheduler.remove_job(name)

    async def close(self) -> None:
        """Stop it all; what was under way is taken up by the next process."""
        if self.scheduler.running:
            self.scheduler.shutdown(wait=False)
        await self._tasks.close()

    async def _start(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        self._tasks.begin(name, partial(self._run, name, work), name=name)

    async def _run(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except Exception:  # its next run may go well, and the others must not stop
            log.exception("the job %s broke", name)


async def schedule(folder: Folder, judging: Judging, privacy: Privacy) -> Jobs:
    """The started jobs.

    Mornings that passed while no process ran are held at once, and what an earlier process left undone is gone on with: folds,
    judgements, and wishes to be forgotten.
    """
    jobs = Jobs()
    now = datetime.now(UTC)

    async def zones() -> None:
        await schedule_mornings(jobs, judging)

    jobs.add("folds", folder.wake, _every(_EVERY), next_run_time=now)
    jobs.add("judgements", judging.wake, _every(_EVERY), next_run_time=now)
    jobs.add("zones", zones, _every(_ZONES_EVERY))
    jobs.add("forgettings", privacy.run_due, _every(_WISHES_EVERY), next_run_time=now)
    jobs.add("departed", privacy.delete_departed, _every(_DEPARTED_EVERY))
    await zones()
    jobs.scheduler.start()
    return jobs


async def schedule_mornings(jobs: Jobs, judging: Judging) -> None:
    """Have one job at 05:00 for each time zone in use, by the clocks there, and none for any other.

    The morning of a zone that is new is held at once: its last 05:00 may have been a moment ago.
    """
    wanted = {_MORNING + zone: zone for zone in await judging.zones()}
    known = {name for name in jobs.names() if name.startswith(_MORNING)}
    for name in known - wanted.keys():
        jobs.remove(name)
    for name in wanted.keys() - known:
        jobs.add(
            name, _morning_of(judging, wanted[name]), CronTrigger(hour=MORNING_HOUR, timezone=ZoneInfo(wanted[name]))
        )
        await judging.hold_mornings(wanted[name])


def _every(step: timedelta) -> BaseTrigger:
    return IntervalTrigger(seconds=int(step.total_seconds()), timezone=UTC)


def _morning_of(judging: Judging, zone: str) -> Callable[[], Awaitable[None]]:
    async def morning() -> None:
        await judging.hold_mornings(zone)

    return morning
