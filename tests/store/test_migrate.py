from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

from bot.errors import DatabaseTooNew
from bot.store import Call, Store, upgrade
from bot.store.database import Database
from bot.store.migrate import MIGRATIONS
from bot.store.search import is_of_index
from bot.store.tables import findable, metadata
from tests.store.tale import START, begin, event, loose_end, rows


def _differences(connection: Connection) -> list[Any]:
    options = {"compare_type": True, "compare_server_default": True, "include_name": _is_ours}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, metadata))


def _is_ours(name: str | None, kind: str, _: object) -> bool:
    return kind != "table" or not is_of_index(name)


def _names(connection: Connection) -> dict[str, set[Any]]:
    """The named indexes and constraints of each table."""
    inspector = inspect(connection)
    return {
        table: {item["name"] for item in inspector.get_indexes(table)}
        | {item["name"] for item in inspector.get_unique_constraints(table)}
        | {item["name"] for item in inspector.get_foreign_keys(table)}
        | {inspector.get_pk_constraint(table)["name"]}
        for table in inspector.get_table_names()
        if table != "alembic_version" and not is_of_index(table)
    }


async def test_the_migrations_build_what_the_tables_say(store: Store, tmp_path: Path) -> None:
    async with store._database.read() as connection:
        assert await connection.run_sync(_differences) == []
        migrated = await connection.run_sync(_names)
    directly = Database.at(f"sqlite+aiosqlite:///{tmp_path / 'direct.db'}")
    async with directly.write() as connection:
        await connection.run_sync(metadata.create_all)
        assert migrated == await connection.run_sync(_names)
    await directly.close()


async def test_the_comparison_sees_a_difference(store: Store) -> None:
    async with store._database.write() as connection:
        await connection.execute(text("ALTER TABLE webhooks ADD COLUMN colour TEXT"))
        assert len(await connection.run_sync(_differences)) == 1


async def test_the_working_directory_does_not_matter(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await upgrade(url)

    async with await Store.open(url, migrate=False) as store:
        assert await store.own_webhooks() == frozenset()


async def test_opening_again_changes_nothing_and_loses_nothing(url: str) -> None:
    async with await Store.open(url) as store:
        await store.add_webhook(1, 2)
    async with await Store.open(url) as store:
        assert await store.own_webhooks() == {2}


async def test_two_processes_may_migrate_at_once(url: str) -> None:
    await asyncio.gather(upgrade(url), upgrade(url), upgrade(url))

    async with await Store.open(url, migrate=False) as store:
        await store.add_webhook(1, 2)
        assert await store.own_webhooks() == {2}


async def test_a_newer_database_is_refused_and_left_alone(url: str) -> None:
    async with await Store.open(url) as store:
        await store.add_webhook(1, 2)
        async with store._database.write() as connection:
            await connection.execute(text("UPDATE alembic_version SET version_num = 'from_the_future'"))

    with pytest.raises(DatabaseTooNew, match=r"newer version of Kataribe \(its schema is from_the_future\)"):
        await Store.open(url)
    async with await Store.open(url, migrate=False) as store:
        assert await store.own_webhooks() == {2}
        async with store._database.read() as connection:
            assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == "from_the_future"


async def test_the_way_back_leaves_no_table(store: Store) -> None:
    def down(connection: Connection) -> list[str]:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        return inspect(connection).get_table_names()

    async with store._database.write() as connection:
        assert await connection.run_sync(down) == ["alembic_version"]


async def test_a_story_of_the_version_before_tails_goes_on(url: str) -> None:
    def down(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "0003")

    async with await Store.open(url) as store:
        tale = await begin(store)
        await tale.exchanges(2)
        before = await store.snapshot(tale.session_id)
        async with store._database.write() as connection:
            await connection.run_sync(down)

    async with await Store.open(url) as store:
        assert await store.snapshot(tale.session_id) == before
        await replace(tale, store=store).exchanges(1)
        assert [turn.seq for turn in (await store.snapshot(tale.session_id)).turns] == [1, 2, 3, 4, 5, 6]


async def test_requests_of_the_version_before_statistics_are_kept(url: str) -> None:
    def down(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "0012")

    async with await Store.open(url) as store:
        tale = await begin(store)
        await store.record_calls(Call("reply", tale.session_id, "small", 900, 850, 40, "stop", 1, 1_250, START))
        before = await store.calls(None)
        async with store._database.write() as connection:
            await connection.run_sync(down)

    async with await Store.open(url) as store:
        assert await store.calls(None) == before
        await store.record_calls(Call(
            "reply", tale.session_id, "small", 950, 900, 40, "stop", 1, 1_250, START,
            waited_milliseconds=20, interruptions=0, epoch=0, forced_cuts=0,
        ))  # fmt: skip
        story = await store.story_figures(tale.session_id)
        assert (story.figures.reuse.prompt, story.figures.ordinary.prompt, len(story.points)) == (1_850, 0, 1)


async def test_loose_ends_of_the_version_before_are_found_by_their_words(url: str) -> None:
    def down(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "0013")

    async with await Store.open(url) as store:
        tale = await begin(store)
        await tale.exchanges(4)
        await tale.chapter(
            1, 4, loose_end("Who rang the bell?", 1), loose_end("Where is the key?", 1), event("Rain.", 1)
        )
        await tale.chapter(5, 6, resolved={1: 5})
        before = await rows(store, findable)
        async with store._database.write() as connection:
            await connection.run_sync(down)
        old = await rows(store, findable)

    async with await Store.open(url) as store:
        found = [
            await store.ends_like(tale.session_id, text) for text in ("Who rang the old bell?", "Where is the key?")
        ]
        assert [[m.number for m in ends] for ends in found] == [[1], [2]]
        after = await rows(store, findable)
    assert not [row for row in old if ":" in row.words]
    assert [row.number for row in old if row.number is not None] == [2, 3], "a tied one was not found at all"
    assert sorted((row.seq or 0, row.number or 0, row.words) for row in after) == sorted(
        (row.seq or 0, row.number or 0, row.words) for row in before
    )
