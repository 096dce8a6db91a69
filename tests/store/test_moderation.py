"""Guild settings and reports: what is stored, bounded, decided once, and there after a migration."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from bot.memory.corrections import CorrectionKind
from bot.memory.memories import MemoryStatus
from bot.memory.moderation import Flag, FlagState, GuildSettings
from bot.store import Store
from bot.store.database import Database
from bot.store.migrate import MIGRATIONS
from bot.store.tables import flags
from tests.store.tale import KAI, MIO, PLACE, START, Tale, begin, event, later, render, rows

HOUR = timedelta(hours=1)


async def report(tale: Tale, *, number: int = 1, by: int = MIO, minutes: int = 60, most: int = 2) -> Flag | None:
    at = later(minutes)
    return await tale.store.add_flag(tale.session_id, number, by=by, why="A lie.", at=at, since=at - HOUR, most=most)


@pytest.fixture
async def told(tale: Tale) -> Tale:
    """A story with memory 1."""
    await tale.exchanges(1)
    await tale.chapter(1, 2, event("It rained.", 1))
    return tale


async def test_a_guild_without_settings_has_none(store: Store) -> None:
    assert await store.guild_settings(10) == GuildSettings(10)


async def test_settings_replace_the_former_ones_of_that_guild_alone(store: Store) -> None:
    await store.save_guild_settings(GuildSettings(10, 1, 2))
    await store.save_guild_settings(GuildSettings(11, 3, None))

    await store.save_guild_settings(GuildSettings(10, None, 2**62))

    assert await store.guild_settings(10) == GuildSettings(10, None, 2**62)
    assert await store.guild_settings(11) == GuildSettings(11, 3, None)


async def test_the_languages_that_guilds_chose_are_found_together(store: Store) -> None:
    assert await store.guild_languages() == {}

    await store.save_guild_settings(GuildSettings(10, language="ja"))
    await store.save_guild_settings(GuildSettings(11, 3))
    await store.save_guild_settings(GuildSettings(12, language="zh"))
    await store.save_guild_settings(GuildSettings(12))

    assert await store.guild_settings(10) == GuildSettings(10, language="ja")
    assert await store.guild_languages() == {10: "ja"}


async def test_a_report_is_kept_as_it_was_made(told: Tale) -> None:
    made = await report(told)

    assert made == Flag(1, told.session_id, 1, MIO, "A lie.", later(60))
    assert await told.store.flag(1) == made
    assert await told.store.flag(2) is None


async def test_a_player_reports_so_often_within_the_hour_and_others_still_may(told: Tale) -> None:
    assert await report(told, minutes=60)
    assert await report(told, minutes=61)
    assert await report(told, minutes=62) is None
    assert await report(told, minutes=62, by=KAI)
    assert await report(told, minutes=121)

    assert [(row.by, row.at) for row in await rows(told.store, flags)] == [
        (MIO, later(60)), (MIO, later(61)), (KAI, later(62)), (MIO, later(121)),
    ]  # fmt: skip


async def test_many_reports_at_once_do_not_pass_the_bound(told: Tale) -> None:
    made = await asyncio.gather(*(report(told) for _ in range(6)))

    assert sum(flag is not None for flag in made) == 2
    assert len(await rows(told.store, flags)) == 2


async def test_a_report_needs_its_memory(told: Tale) -> None:
    with pytest.raises(IntegrityError):
        await report(told, number=99)
    assert await rows(told.store, flags) == []


async def test_open_reports_are_those_of_the_guild(told: Tale) -> None:
    other = await begin(told.store, channel_id=200, name="Yuki")
    await other.exchanges(1)
    await other.chapter(1, 2, event("It snowed.", 1))
    for tale, by in ((told, MIO), (other, MIO), (told, KAI)):
        await report(tale, by=by)
    await told.store.dismiss_flag(1, by=7, at=later(70))

    found = await told.store.open_flags(guild_id=PLACE.channel_id)

    assert [flag.id for flag in found] == [3]
    assert [flag.id for flag in await told.store.open_flags(guild_id=200)] == [2]


async def test_of_two_who_dismiss_one_wins(told: Tale) -> None:
    await report(told)

    won = await asyncio.gather(*(told.store.dismiss_flag(1, by=by, at=later(70)) for by in (7, 8)))

    flag = await told.store.flag(1)
    assert flag is not None
    assert sorted(won) == [False, True]
    assert flag.decided_by == (7, 8)[won.index(True)]
    assert (flag.state, flag.correction, flag.decided_at) == (FlagState.DISMISSED, None, later(70))


@pytest.mark.parametrize("dismissed", [False, True])
async def test_a_correction_and_its_report_are_written_together_or_not_at_all(told: Tale, dismissed: bool) -> None:
    await report(told)
    if dismissed:
        await told.store.dismiss_flag(1, by=8, at=later(70))
    memory = await told.memory(1)
    retracted = type(memory)(1, memory.content, MemoryStatus.RETRACTED, memory.cites, version=2, corrected=True)

    saved = await told.store.save_correction(
        told.session_id, 1, retracted, by="7", reason="A lie.", at=later(71), render=render,
        answers=(1, CorrectionKind.RETRACT),
    )  # fmt: skip

    flag = await told.store.flag(1)
    assert flag is not None
    assert saved is not dismissed
    assert (await told.memory(1)).status is (MemoryStatus.ACTIVE if dismissed else MemoryStatus.RETRACTED)
    assert flag.state is (FlagState.DISMISSED if dismissed else FlagState.DONE)
    assert (flag.correction, flag.decided_by) == ((None, 8) if dismissed else (CorrectionKind.RETRACT, 7))


async def test_a_failed_correction_leaves_the_report_open(told: Tale) -> None:
    await report(told)
    memory = await told.memory(1)

    saved = await told.store.save_correction(
        told.session_id, 5, memory, by="7", reason="", at=later(71), render=render,
        answers=(1, CorrectionKind.RETRACT),
    )  # fmt: skip

    flag = await told.store.flag(1)
    assert flag is not None
    assert not saved
    assert flag.is_open


async def test_the_tables_come_beside_the_data_of_the_version_before(url: str) -> None:
    async def migrate(database: Database, step: str, target: str) -> None:
        def run(connection: Connection) -> None:
            config = Config()
            config.set_main_option("script_location", str(MIGRATIONS))
            config.attributes["connection"] = connection
            getattr(command, step)(config, target)

        async with database.write() as connection:
            await connection.run_sync(run)

    async with await Store.open(url) as store:
        tale = await begin(store)
        await tale.exchanges(2)
        await tale.chapter(1, 2, event("It rained.", 1))
        before = await store.memory(tale.session_id), await store.turns(tale.session_id, 1, 9)
        await migrate(store._database, "downgrade", "0002")
        async with store._database.read() as connection:
            left = await connection.scalar(
                text("SELECT count(*) FROM sqlite_master WHERE name IN ('flags', 'guild_settings')")
            )
    assert left == 0

    async with await Store.open(url) as store:
        assert (await store.memory(tale.session_id), await store.turns(tale.session_id, 1, 9)) == before
        made = await store.add_flag(tale.session_id, 1, by=MIO, why="A lie.", at=later(), since=START, most=1)
        await store.save_guild_settings(GuildSettings(10, 1, 2))
        assert await store.flag(1) == made
        assert await store.guild_settings(10) == GuildSettings(10, 1, 2)
