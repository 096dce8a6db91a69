"""Old records become traits: both forms of them, twice, and with whatever a hand may have written in."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import Row, connect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import __main__ as command_line
from bot.importing import Imported, ImportImpossible, import_traits, keyed, read_traits
from bot.memory.fading import DORMANT_FOR, STEP, aged
from bot.memory.people import Trait, TraitStatus
from bot.memory.prompt import Card
from bot.memory.story import Head, Place, Scope
from bot.memory.turns import Beat, BeatKind, PlayerMessage
from bot.store import Due, Store
from bot.store.database import Database
from bot.store.health import DatabaseUnusable
from bot.store.people_tables import acquaintances, forgettings, strangers
from tests.support.databases import lay

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONFIRMED = datetime(2026, 10, 1, 8, tzinfo=UTC)
MIO = 700_000_000_000_000_001
GUILD, OTHER_GUILD = 5, 6
NEVER = Due(lambda raw, memory: False, at=NOW)

STRINGS = ["猫が好き", "夜型の生活", "runs every morning"]
OBJECTS = [
    {
        "id": "5A1F0C52-8F5B-4E0B-9B0D-6A2A1D1C2B3A", "text": "猫が好き", "importance": 4, "matchCount": 7,
        "lastConfirmedAt": "2026-10-01T08:00:00Z", "isDormant": False,
    },
    {
        "id": "0E5C2D64-1E4D-4B5C-8A57-4C0F0B8B7A11", "text": "夜型の生活", "importance": 2, "matchCount": 1,
        # As Swift writes a date when it is not told otherwise.
        "lastConfirmedAt": (CONFIRMED - datetime(2001, 1, 1, tzinfo=UTC)).total_seconds(), "isDormant": True,
    },
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "stories.db"


@pytest.fixture
async def url(file: Path) -> str:
    """A database with Rin in two guilds and Ash in one; Mio has written to Ash."""
    url = lay(file)
    async with await Store.open(url, migrate=False) as store:
        for guild, name in ((GUILD, "Rin"), (OTHER_GUILD, "Rin"), (GUILD, "Ash")):
            await store.add_character(Scope(guild, 1), Card(name, ""), "", NOW)
        (ash,) = await store.characters_called("Ash", None)
        session, _ = await store.start_session(Place(GUILD, 2), ash.id, "en", None, Head("", 0), NOW)
        message = PlayerMessage(10, 2, MIO, "Mio", "Hello.", NOW)
        await store.add_player_turn(session.id, message, (Beat(BeatKind.SPEECH, "Hello.", "Mio"),), 2, NEVER)
    return url


def written(tmp_path: Path, value: object) -> Path:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def rows(file: Path, table: str = "traits") -> list[Row]:
    with closing(connect(file)) as database:
        database.row_factory = Row
        return database.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()


async def taken_over(url: str, path: Path, *, character: str = "Ash", **rest: Any) -> Imported:
    return await import_traits(url, path, character=character, player_id=MIO, now=NOW, **rest)


async def kept(url: str, sql: Any) -> None:
    """Write rows as other commands do."""
    database = Database.at(url)
    async with database.write() as connection:
        await connection.execute(sql)
    await database.close()


async def test_a_list_of_strings_becomes_traits(url: str, file: Path, tmp_path: Path) -> None:
    done = await taken_over(url, written(tmp_path, STRINGS))

    assert (done.new, done.known, done.remarks) == (3, 0, ())
    assert [row["text"] for row in rows(file)] == STRINGS
    assert {(row["importance"], row["matches"], row["dormant_at"]) for row in rows(file)} == {(2, 1, None)}
    (mio,) = rows(file, "acquaintances")
    assert (mio["character_id"], mio["player_id"], mio["name"], mio["remembered"]) == (done.character.id, MIO, "Mio", 1)


async def test_a_list_of_objects_keeps_its_figures(url: str, file: Path, tmp_path: Path) -> None:
    done = await taken_over(url, written(tmp_path, OBJECTS))

    assert (done.new, done.remarks) == (2, ())
    cats, nights = rows(file)
    assert (cats["text"], cats["importance"], cats["matches"], cats["dormant_at"]) == ("猫が好き", 4, 7, None)
    assert (nights["text"], nights["importance"], nights["matches"]) == ("夜型の生活", 0, 1)
    assert nights["dormant_at"] == cats["faded_at"] == "2026-11-30 12:00:00.000000"
    assert {row["confirmed_at"] for row in (cats, nights)} == {"2026-10-01 08:00:00.000000"}


async def test_said_twice_is_imported_once(url: str, file: Path, tmp_path: Path) -> None:
    path = written(tmp_path, [*STRINGS, "猫が好き"])
    first = await taken_over(url, path)
    again = await taken_over(url, path)
    with_figures = await taken_over(url, written(tmp_path, OBJECTS))

    assert [(d.new, d.known) for d in (first, again, with_figures)] == [(4, 0), (0, 4), (0, 2)]
    assert [row["text"] for row in rows(file)] == [*STRINGS, "猫が好き"], "a line that stands twice is two lines"
    assert len(rows(file, "acquaintances")) == 1


async def test_two_imports_at_once_are_one(url: str, file: Path, tmp_path: Path) -> None:
    path = written(tmp_path, STRINGS)
    done = await asyncio.gather(taken_over(url, path), taken_over(url, path))

    assert sorted(d.new for d in done) == [0, 3]
    assert len(rows(file)) == 3


async def test_what_was_kept_anyway_is_left_alone(url: str, file: Path, tmp_path: Path) -> None:
    await taken_over(url, written(tmp_path, STRINGS[:1]))
    with closing(connect(file)) as database, database:
        database.execute("UPDATE traits SET text = '犬が好き', importance = 5")
    done = await taken_over(url, written(tmp_path, STRINGS))

    assert (done.new, done.known) == (2, 1)
    assert (rows(file)[0]["text"], rows(file)[0]["importance"]) == ("犬が好き", 5)


def test_an_old_date_costs_no_line() -> None:
    """Decay goes on from the import: by its last confirmation the line would be gone the next morning."""
    long_ago = {**OBJECTS[0], "lastConfirmedAt": "2020-01-01T00:00:00Z", "importance": 1}
    asleep = {**OBJECTS[1], "lastConfirmedAt": "2020-01-01T00:00:00Z"}
    (trait, dormant), _ = read_traits(json.dumps([long_ago, asleep]).encode(), NOW)

    assert aged(trait, NOW + STEP - timedelta(days=1)) == trait
    assert (trait.status, dormant.status) == (TraitStatus.ACTIVE, TraitStatus.DORMANT)
    fading = aged(dormant, NOW + DORMANT_FOR - timedelta(days=1))
    assert fading is not None
    assert fading.status is TraitStatus.DORMANT


def one(**changes: Any) -> tuple[Trait, list[str]]:
    """The trait that an object becomes, and the remarks about it."""
    fields = {key: value for key, value in {**OBJECTS[0], **changes}.items() if value is not ...}
    (trait,), remarks = read_traits(json.dumps([fields]).encode(), NOW)
    return trait, [remark.what for remark in remarks]


@pytest.mark.parametrize(
    ("changes", "importance", "remark"),
    [
        ({"importance": 9}, 5, "importance is not from 1 to 5; 5 was taken"),
        ({"importance": -3}, 1, "importance is not from 1 to 5; 1 was taken"),
        ({"importance": 0}, 0, None),
        ({"importance": 3.0}, 3, None),
        ({"importance": "high"}, 2, "importance cannot be read; 2 was taken"),
        ({"importance": True}, 2, "importance cannot be read; 2 was taken"),
        ({"importance": 1e999}, 2, "importance cannot be read; 2 was taken"),
        ({"importance": ...}, 2, "importance is missing; 2 was taken"),
        ({"isDormant": True}, 0, None),
        ({"isDormant": "no"}, 4, "isDormant cannot be read; false was taken"),
        ({"isDormant": ...}, 4, "isDormant is missing; false was taken"),
    ],
)
def test_a_wrong_importance_has_a_default(changes: dict[str, Any], importance: int, remark: str | None) -> None:
    trait, remarks = one(**changes)
    assert (trait.importance, remarks) == (importance, [remark] if remark else [])
    assert (trait.status is TraitStatus.DORMANT) is (importance == 0)


@pytest.mark.parametrize(
    ("count", "matches", "remark"),
    [
        (0, 0, None),
        (-1, 0, "matchCount is not from 0 to 1000000; 0 was taken"),
        (10**40, 1_000_000, "matchCount is not from 0 to 1000000; 1000000 was taken"),
        (None, 1, "matchCount cannot be read; 1 was taken"),
        (..., 1, "matchCount is missing; 1 was taken"),
    ],
)
def test_a_wrong_match_count_has_a_default(count: Any, matches: int, remark: str | None) -> None:
    trait, remarks = one(matchCount=count)
    assert (trait.matches, remarks) == (matches, [remark] if remark else [])


@pytest.mark.parametrize(
    ("date", "at", "remark"),
    [
        ("2026-10-01T10:00:00+02:00", CONFIRMED, None),
        ("2026-10-01T08:00:00", CONFIRMED, None),
        ("2026-10-01", datetime(2026, 10, 1, tzinfo=UTC), None),
        (812_534_400, CONFIRMED, None),
        ("2099-01-01T00:00:00Z", NOW, "lastConfirmedAt is ahead; now was taken"),
        ("0001-01-01T00:00:00+14:00", NOW, "lastConfirmedAt cannot be read; now was taken"),
        ("last week", NOW, "lastConfirmedAt cannot be read; now was taken"),
        (-1e300, NOW, "lastConfirmedAt cannot be read; now was taken"),
        (float("nan"), NOW, "lastConfirmedAt cannot be read; now was taken"),
        (False, NOW, "lastConfirmedAt cannot be read; now was taken"),
        (..., NOW, "lastConfirmedAt is missing; now was taken"),
    ],
)
def test_a_wrong_date_has_a_default(date: Any, at: datetime, remark: str | None) -> None:
    trait, remarks = one(lastConfirmedAt=date)
    assert (trait.confirmed_at, remarks) == (at, [remark] if remark else [])
    assert trait.first_at == trait.confirmed_at
    assert trait.faded_at == NOW


def test_lines_of_any_form_are_kept_or_named() -> None:
    long = "an essay " * 5_000
    old = [
        long,
        "",
        " \n",
        None,
        42,
        ["cats", "dogs"],
        {"importance": 3},
        {**OBJECTS[0], "text": True},
        "two\nlines",
        "\0",
    ]
    traits, remarks = read_traits(json.dumps(old).encode(), NOW)

    assert [trait.text for trait in traits] == [
        long.strip(), "42", '["cats", "dogs"]', "true", "two lines", "\N{REPLACEMENT CHARACTER}",
    ]  # fmt: skip
    assert {remark.line: remark.what for remark in remarks} == {
        2: "it is empty and was left out",
        3: "it is empty and was left out",
        4: "it is empty and was left out",
        5: "it is no text and was kept as it is written",
        6: "it is no text and was kept as it is written",
        7: "it is empty and was left out",
        8: "it is no text and was kept as it is written",
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_encodings_of_json_are_read(encoding: str) -> None:
    traits, _ = read_traits(json.dumps(STRINGS, ensure_ascii=False).encode(encoding), NOW)
    assert [trait.text for trait in traits] == STRINGS


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["\ud800", "\0", "猫"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(["id", "text", "importance", "matchCount", "lastConfirmedAt", "isDormant"])


@given(st.lists(VALUES | st.dictionaries(FIELDS, VALUES), max_size=6))
def test_nothing_breaks_it_and_no_line_is_lost(old: list[object]) -> None:
    traits, remarks = read_traits(json.dumps(old).encode(), NOW)

    assert len(traits) + sum("left out" in remark.what for remark in remarks) == len(old)
    assert len(keyed(traits)) == len(traits)
    for trait in traits:
        trait.text.encode()
        assert trait.text
        assert 0 <= trait.importance <= 5
        assert (trait.importance == 0) is (trait.dormant_at is not None)
        assert trait.confirmed_at <= NOW


@pytest.mark.parametrize("content", [b"", b"{}", b'"cats"', b"[", b"\xff\xfe\x00", b"[" * 100_000, b"[" + b"9" * 5_000])
async def test_what_is_no_list_changes_nothing(url: str, file: Path, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "old.json"
    path.write_bytes(content)
    with pytest.raises(ImportImpossible, match="The file is no"):
        await taken_over(url, path)
    assert rows(file, "acquaintances") == []


async def test_a_character_is_named_by_number_or_by_name_and_guild(url: str, file: Path, tmp_path: Path) -> None:
    path = written(tmp_path, STRINGS)
    with pytest.raises(ImportImpossible, match=r"called rin: 1 \(in guild 5\), 2 \(in guild 6\); name its number"):
        await taken_over(url, path, character="rin", name="Mio")
    by_guild = await taken_over(url, path, character="RIN", guild_id=OTHER_GUILD, name="Mio")
    by_number = await taken_over(url, path, character="1", name="Mio\n# Rin")
    for character, guild_id in (("Nobody", None), ("Rin", 7), ("99", None), ("-1", None), ("²", None)):
        with pytest.raises(ImportImpossible, match="There is no character"):
            await taken_over(url, path, character=character, guild_id=guild_id)

    assert (by_guild.character.id, by_number.character.id) == (2, 1)
    assert by_number.player_name == "Mio # Rin"
    assert [row["character_id"] for row in rows(file, "acquaintances")] == [2, 1]


async def test_who_was_never_met_must_be_named(url: str, file: Path, tmp_path: Path) -> None:
    with pytest.raises(ImportImpossible, match="say with --name"):
        await taken_over(url, written(tmp_path, STRINGS), character="1")
    with pytest.raises(ImportImpossible, match="no Discord id"):
        await import_traits(url, written(tmp_path, STRINGS), character="1", player_id=2**70, now=NOW)
    assert rows(file, "acquaintances") == rows(file) == []


UNWELCOME = [
    strangers.insert().values(player_id=MIO, at=NOW),
    forgettings.insert().values(player_id=MIO, asked_at=NOW),
    acquaintances.insert().values(character_id=3, player_id=MIO, name="Mio", remembered=False),
]


@pytest.mark.parametrize("row", UNWELCOME)
async def test_who_does_not_want_it_is_not_remembered(url: str, file: Path, tmp_path: Path, row: Any) -> None:
    await kept(url, row)
    with pytest.raises(ImportImpossible, match="does not want to be remembered"):
        await taken_over(url, written(tmp_path, STRINGS))
    assert rows(file) == []


async def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="no story"):
        await taken_over(f"sqlite+aiosqlite:///{tmp_path / 'none.db'}", written(tmp_path, STRINGS))
    assert not (tmp_path / "none.db").exists()


async def test_the_command_reports_what_it_did(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, [*STRINGS, {"text": "likes tea"}, ""])
    arguments = ["import", "traits", str(path), "--character", "Ash", "--player", str(MIO)]

    assert await asyncio.to_thread(command_line.main, arguments) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Ash about Mio: 4 new, 0 imported before.",
        "line 4: isDormant is missing; false was taken",
        "line 4: importance is missing; 2 was taken",
        "line 4: matchCount is missing; 1 was taken",
        "line 4: lastConfirmedAt is missing; now was taken",
        "line 5: it is empty and was left out",
    ]
    assert await asyncio.to_thread(command_line.main, arguments) == 0
    assert capsys.readouterr().out.startswith("Ash about Mio: 0 new, 4 imported before.\n")
    assert await asyncio.to_thread(command_line.main, ["import", "traits", "nowhere.json", *arguments[3:]]) == 1
    assert capsys.readouterr().err == "nowhere.json cannot be read: No such file or directory.\n"
