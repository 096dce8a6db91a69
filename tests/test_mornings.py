"""05:00 by the clocks of a guild: which day's morning it is, when clocks change, and what wakes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import time_machine
from apscheduler.triggers.interval import IntervalTrigger

from bot.core import Core, now, open_core
from bot.jobs import Jobs, schedule, schedule_mornings
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope
from bot.memory.turns import PlayerMessage
from bot.time_zones import known_zones, morning_day, zone_name
from tests.support.judge import NOTES, be_honest
from tests.support.model_server import ModelServer
from tests.support.scene import CARD, MIO, Clock, settings_for

RUNS = "I run along the river every morning before work."


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        be_honest(running)
        yield running


@pytest.mark.parametrize(
    ("zone", "local", "day"),
    [
        ("UTC", "2026-03-01 04:59:59", "2026-02-28"),
        ("UTC", "2026-03-01 05:00", "2026-03-01"),
        ("UTC", "2026-03-01 23:59", "2026-03-01"),
        # Europe/Berlin goes from 02:00 to 03:00 on 29 March and from 03:00 to 02:00 on 25 October 2026.
        ("Europe/Berlin", "2026-03-29 04:59", "2026-03-28"),
        ("Europe/Berlin", "2026-03-29 05:00", "2026-03-29"),
        ("Europe/Berlin", "2026-10-25 04:59", "2026-10-24"),
        ("Europe/Berlin", "2026-10-25 05:00", "2026-10-25"),
        # America/New_York on 8 March and 1 November.
        ("America/New_York", "2026-03-08 04:59", "2026-03-07"),
        ("America/New_York", "2026-03-08 05:00", "2026-03-08"),
        ("America/New_York", "2026-11-01 04:59", "2026-10-31"),
        ("America/New_York", "2026-11-01 05:00", "2026-11-01"),
        ("Pacific/Kiritimati", "2026-03-01 05:00", "2026-03-01"),
        ("Asia/Kathmandu", "2026-03-01 05:00", "2026-03-01"),
    ],
)
def test_a_morning_begins_at_five_by_the_clock_on_the_wall(zone: str, local: str, day: str) -> None:
    moment = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)

    assert morning_day(moment, zone) == date.fromisoformat(day)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo", "UTC"])
def test_a_year_has_each_morning_once_whatever_the_clocks_do(zone: str) -> None:
    moments = [datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(minutes=30 * n) for n in range(2 * 24 * 365)]

    days = list(dict.fromkeys(morning_day(moment, zone) for moment in moments))

    assert days == [days[0] + timedelta(days=n) for n in range(len(days))]
    assert len(days) in (365, 366)


def test_zones_go_by_the_names_of_the_database_however_they_are_written() -> None:
    assert zone_name("europe/berlin") == "Europe/Berlin"
    assert zone_name("  America/New York ") == "America/New_York"
    assert zone_name("utc") == "UTC"
    assert [zone_name(name) for name in ("", "Europe", "Mars/Olympus", "../UTC", "localtime", "Factory")] == [None] * 6
    assert {"Europe/Berlin", "Asia/Tokyo"} <= set(known_zones())


async def exchange(core: Core, guild_id: int | None, *, at: datetime, card: Card = CARD) -> None:
    """One exchange with Mio, in a guild's own channel or in direct messages."""
    scope, channel = Scope(guild_id, MIO), 1_000 + (guild_id or 0)
    found = await core.engine.running_session(channel)
    if found is None:
        await core.characters.create(scope, card, "")
        found = (await core.engine.start_session(Place(guild_id, channel), scope, card.name, greeting=False)).session
    message_id = round(at.timestamp() * 1_000_000) * 10 + (guild_id or 0)
    await core.engine.hear(PlayerMessage(message_id, channel, MIO, "Mio", RUNS, at))
    reply = await core.engine.reply(found.id)
    assert reply is not None
    await core.engine.delivered(reply.turn.id, channel, [-message_id])


async def waiting(core: Core, guild_id: int | None) -> int:
    """How many exchanges of a guild nobody has judged."""
    return sum(p.waiting for p in await core.store.portraits_of(MIO, guild_id, everywhere=False))


async def test_each_guild_has_its_morning_at_its_own_five(server: ModelServer, tmp_path: Path) -> None:
    zones = {1: "Asia/Tokyo", 2: "Europe/Berlin", 3: "America/New_York", 4: "Asia/Kathmandu", 5: None, None: None}
    utc = "2026-03-29 05:00"
    fives = {
        1: "2026-03-28 20:00",
        2: "2026-03-29 03:00",
        3: "2026-03-29 09:00",
        4: "2026-03-28 23:15",
        5: utc,
        None: utc,
    }
    clock = Clock(datetime(2026, 3, 28, 12, tzinfo=UTC))
    async with open_core(settings_for(server, tmp_path / "k.db"), clock=clock) as core:
        for guild_id, zone in zones.items():
            await exchange(core, guild_id, at=clock())
            if guild_id is not None:
                await core.moderation.set_time_zone(guild_id, zone)
        await core.judging.hold_mornings()
        await core.judging.run_due()
        for guild_id in zones:
            await exchange(core, guild_id, at=clock() + timedelta(minutes=1))
        held: dict[int | None, str] = {}
        for five in sorted({datetime.fromisoformat(f"{time}Z") for time in fives.values()}):
            for clock.time in (five - timedelta(seconds=1), five):
                await core.judging.hold_mornings()
                await core.judging.run_due()
                held |= {g: f"{clock():%Y-%m-%d %H:%M}" for g in zones if g not in held and not await waiting(core, g)}

    assert held == fives


@pytest.mark.parametrize(
    ("zone", "night", "five"),
    [
        ("Europe/Berlin", "2026-03-28 20:00", "2026-03-29 03:00"),
        ("Europe/Berlin", "2026-10-24 20:00", "2026-10-25 04:00"),
        ("America/New_York", "2026-03-07 20:00", "2026-03-08 09:00"),
        ("America/New_York", "2026-10-31 20:00", "2026-11-01 10:00"),
    ],
)
async def test_a_job_rings_at_five_by_the_clock_on_the_wall_when_the_clocks_change(
    server: ModelServer, tmp_path: Path, zone: str, night: str, five: str
) -> None:
    evening = datetime.fromisoformat(night).replace(tzinfo=UTC)
    morning = datetime.fromisoformat(five).replace(tzinfo=UTC)
    async with open_core(settings_for(server, tmp_path / "k.db"), clock=now) as core:
        with time_machine.travel(evening):
            await exchange(core, 1, at=now())
            await core.moderation.set_time_zone(1, zone)
            await core.judging.hold_mornings()
            await core.judging.run_due()
            await exchange(core, 1, at=now())
        with time_machine.travel(morning - timedelta(seconds=1), tick=False) as travel:
            jobs = await schedule(core.folder, core.judging, core.privacy)
            jobs.scheduler.wakeup()
            await core.judging.run_due()
            assert await waiting(core, 1) == 1
            travel.move_to(morning)
            jobs.scheduler.wakeup()
            await server.arrived(2, NOTES)
            await jobs.close()
            await core.judging.run_due()

        assert await waiting(core, 1) == 0
        assert len(server.of(NOTES)) == 2


async def test_a_bot_that_was_down_at_five_catches_up_exactly_once(server: ModelServer, tmp_path: Path) -> None:
    settings = settings_for(server, tmp_path / "k.db", default_time_zone="Asia/Tokyo")
    clock = Clock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    async with open_core(settings, clock=clock) as core:
        await core.judging.hold_mornings()
        await exchange(core, 1, at=clock())
    clock.pass_by(days=3)
    for _ in range(2):
        async with open_core(settings, clock=clock) as core:
            jobs = await schedule(core.folder, core.judging, core.privacy)
            await core.judging.run_due()
            await core.judging.hold_mornings()
            await core.judging.run_due()
            await jobs.close()
            assert await waiting(core, 1) == 0
            (portrait,) = await core.store.portraits_of(MIO, 1, everywhere=False)
            assert len(portrait.notes) == 1
        clock.pass_by(minutes=30)

    assert len(server.of(NOTES)) == 1


async def test_mornings_are_scheduled_for_the_zones_in_use_and_no_others(server: ModelServer, tmp_path: Path) -> None:
    clock = Clock()
    async with open_core(settings_for(server, tmp_path / "k.db"), clock=clock) as core:
        jobs = Jobs()

        async def scheduled() -> set[str]:
            await schedule_mornings(jobs, core.judging)
            return {name.removeprefix("morning ") for name in jobs.names()}

        assert await scheduled() == set()
        for guild_id in (1, 2, 3):
            await exchange(core, guild_id, at=clock())
        assert await scheduled() == {"UTC"}
        await core.moderation.set_time_zone(1, "Asia/Tokyo")
        await core.moderation.set_time_zone(2, "Asia/Tokyo")
        assert await scheduled() == {"UTC", "Asia/Tokyo"}
        await core.moderation.set_time_zone(3, "Europe/Berlin")
        assert await scheduled() == {"Asia/Tokyo", "Europe/Berlin"}


async def test_a_zone_that_is_set_just_before_its_five_has_its_morning_that_day(
    server: ModelServer, tmp_path: Path
) -> None:
    clock = Clock(datetime(2026, 3, 1, 4, 30, tzinfo=UTC))
    async with open_core(settings_for(server, tmp_path / "k.db"), clock=clock) as core:
        await exchange(core, 1, at=clock())
        jobs = Jobs()
        await schedule_mornings(jobs, core.judging)
        await core.judging.run_due()
        clock.time = datetime(2026, 3, 1, 19, 58, tzinfo=UTC)
        await exchange(core, 1, at=clock())
        await core.moderation.set_time_zone(1, "Asia/Tokyo")
        clock.pass_by(minutes=4)
        await schedule_mornings(jobs, core.judging)
        await core.judging.run_due()
        assert await waiting(core, 1) == 0

        await exchange(core, 1, at=clock())
        await schedule_mornings(jobs, core.judging)
        await core.judging.run_due()
        assert await waiting(core, 1) == 1


async def test_a_zone_that_the_database_no_longer_knows_counts_as_none(server: ModelServer, tmp_path: Path) -> None:
    clock = Clock()
    async with open_core(settings_for(server, tmp_path / "k.db"), clock=clock) as core:
        await exchange(core, 1, at=clock())
        settings = await core.moderation.set_time_zone(1, "Asia/Tokyo")
        await core.store.save_guild_settings(replace(settings, time_zone="Atlantis/Central"))

        assert await core.judging.zones() == {"UTC"}
        await core.judging.hold_mornings()
        await core.judging.run_due()

        assert await waiting(core, 1) == 0


async def test_what_is_stopped_with_the_process_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    jobs, begun = Jobs(), asyncio.Event()
    ended: list[str] = []

    async def hangs() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("hangs")

    async def breaks() -> None:
        raise RuntimeError("broken")

    once = {"next_run_time": datetime.now(UTC)}
    jobs.add("breaks", breaks, IntervalTrigger(hours=1), **once)
    jobs.add("hangs", hangs, IntervalTrigger(hours=1), **once)
    jobs.scheduler.start()
    await begun.wait()
    await jobs.close()

    assert ended == ["hangs"]
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == ["the job breaks broke"]


async def test_what_an_earlier_process_left_due_is_looked_at_at_once(server: ModelServer, tmp_path: Path) -> None:
    async with open_core(settings_for(server, tmp_path / "k.db"), clock=now) as core:
        jobs = await schedule(core.folder, core.judging, core.privacy)
        due = {name for name in jobs.names() if jobs.scheduler.get_job(name).next_run_time <= now()}
        await jobs.close()

    assert due == {"folds", "judgements", "forgettings"}
