"""The words of turns and memories: kept in step with them, found in the languages, and gone with what is taken back."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, insert, text, update

from bot.memory.likeness import is_same
from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus, NewMemory
from bot.memory.recall import Findings, Found, indexed_words, typed_words
from bot.memory.turns import AuthorKind, Beat, BeatKind, Citation, TurnState
from bot.store import Store, findings, search
from bot.store.health import examine
from bot.store.migrate import MIGRATIONS
from bot.store.tables import findable, sessions, turns
from tests.store.tale import Tale, begin, condensed, event, later, never, render, rows, said
from tests.store.test_costs import _scans, _statements

# How SQLite's plans name a search of the full-text index for one word, of its list of words, and of the lines so found.
_BY_WORD = (
    "SCAN findable_index VIRTUAL TABLE INDEX 192:M1",
    "SCAN findable_terms VIRTUAL TABLE INDEX 1:",
    "SCAN hits:",
    "SCAN anon_",
)


async def _find(tale: Tale, typed: str, *, before: int | None = None) -> list[tuple[str, int]]:
    """What is found, as (kind, seq or number), the likeliest first."""
    found = await tale.store.find(tale.session_id, indexed_words(typed), before=before)
    return _short(found.lines)


async def _search(tale: Tale, typed: str) -> list[tuple[str, int]]:
    return _short(await tale.store.find_words(tale.session_id, typed_words(typed)))


def _short(lines: Iterable[Found]) -> list[tuple[str, int]]:
    return [
        ("turn", line.turn.seq) if line.turn else ("memory", line.memory.number if line.memory else 0) for line in lines
    ]


async def _words(store: Store) -> str:
    """All words that the index holds, of every session."""
    async with store._database.read() as connection:
        terms = await connection.scalars(text("SELECT term FROM findable_terms WHERE doc > 0"))
        return " ".join(terms)


@pytest.fixture
async def told(tale: Tale) -> Tale:
    """Six exchanges, of which a few say something."""
    await tale.player("My silver compass is broken.")
    await tale.reply("A watchmaker lives in Brine Street.")
    for number in range(4):
        await tale.player(f"Filler {number} about weather.")
        await tale.reply(f"Small talk {number}.")
    await tale.player("银钥匙挂在灯塔的炉子后面。")
    await tale.reply("銀の鍵は灯台のストーブの裏です。")
    return tale


async def test_turns_are_found_by_words_before_a_place(told: Tale) -> None:
    assert await _find(told, "silver compasses") == [("turn", 1)]
    assert await _find(told, "watchmaker", before=2) == []
    assert await _find(told, "watchmaker", before=3) == [("turn", 2)]
    assert await _find(told, "钥匙") == [("turn", 11)]
    assert await _find(told, "ストーブ") == [("turn", 12)]
    assert await _find(told, "octavia") == []
    assert await _search(told, "compa") == [("turn", 1)]
    assert await _search(told, "鍵") == [("turn", 12)]


async def test_counts_are_those_of_the_session_alone(store: Store) -> None:
    one, other = [await begin(store, channel_id=300 + number) for number in range(2)]
    for _ in range(3):
        await other.player("The compass!")
    await one.player("A compass?")

    found = await one.store.find(one.session_id, {"compas", "gone"})

    assert found.counts == {"compas": 1, "gone": 0}
    assert found.total == 1
    assert [line.turn.raw for line in found.lines if line.turn] == ["A compass?"]
    with pytest.raises(LookupError):
        await store.find(9_999, {"compas"})


async def test_thoughts_and_talk_out_of_character_are_not_indexed(tale: Tale) -> None:
    beats = (
        Beat(BeatKind.SPEECH, "Good evening.", "Mio"),
        Beat(BeatKind.THOUGHT, "The poison works.", "Mio"),
        Beat(BeatKind.OOC, "pizza arrived", "Mio"),
    )
    await tale.store.add_player_turn(tale.session_id, tale.message("x"), beats, 5, never())

    words = await _words(tale.store)
    assert "evening" in words
    assert "poison" not in words
    assert "pizza" not in words


async def test_an_edit_a_deletion_and_a_failed_reply_reach_the_index(told: Tale) -> None:
    (first,) = await told.store.turns(told.session_id, 1, 1)
    await told.store.edit_turn(first.id, "A golden astrolabe.", said("A golden astrolabe."), 5, later(), render)
    assert await _find(told, "compass") == []
    assert await _find(told, "astrolabe") == [("turn", 1)]

    await told.store.edit_turn(first.id, "((x))", (Beat(BeatKind.OOC, "x", "?"),), 0, later(), render)
    assert await _find(told, "astrolabe") == []

    message = told.message("Call the zeppelin.", message_id=77_001)
    await told.store.add_player_turn(told.session_id, message, said("Call the zeppelin."), 5, never())
    await told.store.delete_turns([77_001], later(), render)
    await told.player("Again?")
    reply = await told.reply("The gramophone plays.", deliver=False)
    await told.store.fail_reply(reply.id)

    assert await _find(told, "zeppelin gramophone") == []
    words = await _words(told.store)
    assert not {"compas", "astrolabe", "zeppelin", "gramophone"} & {term.split(":")[1] for term in words.split()}


async def test_a_deleted_word_is_in_no_file(told: Tale, tmp_path: Path) -> None:
    message = told.message("xylophonist99", message_id=77_002)
    await told.store.add_player_turn(told.session_id, message, said("xylophonist99"), 5, never())
    await told.exchanges(3)
    assert "xylophonist99" in await _words(told.store)

    await told.store.delete_turns([77_002], later(), render)
    await told.store.close()

    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"watchmaker" in files
    assert b"xylophonist99" not in files


async def test_memories_are_found_by_date_while_they_are_in_use_or_condensed(told: Tale) -> None:
    await told.chapter(1, 2, event("Rin repaired the sextant.", 1), event("Mio bought a sextant.", 2))
    assert sorted(await _find(told, "sextant")) == [("memory", 1), ("memory", 2)]
    (line, *_) = (await told.store.find(told.session_id, {"sextant"})).lines
    assert line.at in {turn.at for turn in await told.store.turns(told.session_id, 1, 2)}
    assert line.memory is not None
    assert line.memory.cites

    await told.synopsis([1], condensed("Instruments changed hands.", 1, 2))
    assert sorted(await _find(told, "sextant")) == [("memory", 1), ("memory", 2)]
    (summary,) = (await told.store.find(told.session_id, {"instrument"})).lines
    assert summary.at == max(turn.at for turn in await told.store.turns(told.session_id, 1, 2))

    (second,) = await told.store.turns(told.session_id, 2, 2)
    await told.store.edit_turn(second.id, "No.", said("No."), 3, later(), render)
    assert await told.statuses() == {1: "active", 2: "stale", 3: "stale"}
    assert await _find(told, "sextant instruments") == [("memory", 1)]

    await told.refold(1, event("Rin mended a barometer.", 1))
    assert await _find(told, "barometer") == [("memory", 4)]
    assert await _find(told, "sextant") == []


async def test_a_retracted_or_changed_memory_comes_back_in_no_form(told: Tale) -> None:
    await told.chapter(1, 4, event("Rin repaired the sextant.", 1), event("The harbour burnt.", 3))
    await told.synopsis([1], condensed("Rin fixed instruments.", 1))
    await told.synopsis([], condensed("Rin fixed everything.", 3))
    assert await _find(told, "sextant") == [("memory", 1)]

    await _correct(told, replace(await told.memory(4), status=MemoryStatus.RETRACTED, corrected=True))
    await _correct(told, replace(await told.memory(2), content=Content(MemoryKind.EVENT, "The pier stands.")))

    assert await _find(told, "sextant everything") == []
    assert await _find(told, "harbour burnt") == []
    assert await _search(told, "sextant") == []
    assert await _find(told, "pier") == [("memory", 2)]


async def test_a_turn_on_which_a_moderator_had_the_last_word_is_not_recalled_but_found_by_people(told: Tale) -> None:
    await told.chapter(1, 4, event("Mio has a compass.", 1))
    assert ("turn", 1) in await _find(told, "silver compass")

    await _correct(told, replace(await told.memory(1), status=MemoryStatus.RETRACTED, corrected=True))

    assert await _find(told, "silver compass") == []
    assert await _search(told, "silver compass") == [("turn", 1)]


async def test_of_a_secret_only_the_outward_side_is_found(told: Tale) -> None:
    secret = Content(MemoryKind.SECRET, "Rin smiles.", "Rin", actual="Rin smuggles opium.")
    await told.chapter(1, 2, NewMemory(secret, (Citation(1, 1),)))

    assert await _search(told, "smiles") == [("memory", 1)]
    assert await _search(told, "opium") == []


async def test_a_turn_has_its_first_message(told: Tale) -> None:
    reply = (await told.store.turns(told.session_id, 2, 2))[0]
    await told.store.tie_messages(reply.id, 1, [3, 2])

    (line,) = await told.store.find_words(told.session_id, ("watchmaker",))

    assert line.message_id == 2


async def test_without_the_index_the_same_is_found(told: Tale, monkeypatch: pytest.MonkeyPatch) -> None:
    await told.chapter(1, 2, event("Rin repaired the sextant.", 1))
    asked = ("silver compasses", "钥匙", "ストーブ", "octavia", "sextant", "filler weather", "the")
    typed = ("compa", "鍵", "sext", "silver watchmaker")

    async def all_of() -> list[Any]:
        found: list[Findings] = [await told.store.find(told.session_id, indexed_words(words)) for words in asked]
        people = [sorted(await _search(told, words)) for words in typed]
        return [*((f.counts, _short(f.lines)) for f in found), *people]

    by_index = await all_of()
    monkeypatch.setattr(search, "_has_index", lambda _: False)
    assert await all_of() == by_index
    assert by_index[0][1] == [("turn", 1)]


async def test_fifty_turns_at_once_are_all_indexed(store: Store) -> None:
    tale = await begin(store)
    await asyncio.gather(*(tale.player(f"Number{n} token{n}.") for n in range(50)))

    words = await _words(store)
    assert all(f"token{n}" in words for n in range(50))
    assert len(await rows(store, findable)) == 50


async def test_the_index_is_sound(told: Tale, url: str) -> None:
    (turn,) = await told.store.turns(told.session_id, 1, 1)
    await told.store.edit_turn(turn.id, "Other.", said("Other."), 3, later(), render)
    async with told.store._database.write() as connection:
        await connection.execute(text("INSERT INTO findable_index(findable_index, rank) VALUES ('integrity-check', 1)"))
    assert (await examine(url)).damage == ()


async def test_a_long_story_costs_a_look_up_no_more(store: Store) -> None:
    """20,000 turns: as many statements as in a short story, no table read as a whole, and few lines loaded."""
    tale = await begin(store)
    await tale.exchanges(3)
    asked = indexed_words("Where is the silver compass that the watchmaker of Brine Street sold?")
    with _statements(store) as short:
        await store.find(tale.session_id, asked, before=5)
    await _long_story(store, tale.session_id, 20_000)

    with _statements(store) as long:
        found = await store.find(tale.session_id, asked, before=19_900)

    assert len(long) <= len(short) + 7
    assert len(found.lines) == 40
    assert found.counts["brine"] == 200
    assert found.lines[0].turn is not None
    assert found.lines[0].turn.seq == 10_007
    steps = await _scans(store, long)
    assert len(steps) >= 4
    assert [step for step in steps if not step.startswith(_BY_WORD)] == []
    with _statements(store) as writing:
        await tale.player("And one more.")
    assert await _scans(store, writing) == []


async def _long_story(store: Store, session_id: int, count: int) -> None:
    def row(seq: int) -> dict[str, Any]:
        said_then = f"The weather {seq} is fine in Brine Street." if seq % 100 == 0 else f"The weather {seq} is fine."
        return {
            "session_id": session_id, "seq": seq, "author_kind": AuthorKind.PLAYER, "author_id": 1, "author_name": "Mio",
            "raw": said_then if seq != 10_007 else "A silver compass from the watchmaker!",
            "beats": said(said_then, "Mio"), "tokens": 5, "state": TurnState.KEPT, "at": later(seq), "revision": 1,
            "in_character": True, "delivered": True,
        }  # fmt: skip

    told = [row(seq) for seq in range(7, count + 1)]
    async with store._database.write() as connection:
        await connection.execute(insert(turns), told)
        await connection.execute(update(sessions).values(next_seq=count + 1))
        words = [
            {"session_id": session_id, "seq": r["seq"], "at": r["at"], "words": search._line(indexed_words(r["raw"]))}
            for r in told
        ]
        await connection.execute(insert(findable), words)


async def _correct(tale: Tale, changed: Memory) -> None:
    version = (await tale.memory(changed.number)).version
    assert await tale.store.save_correction(
        tale.session_id, version, changed, by="7", reason="wrong", at=later(60), render=render
    )


async def test_a_database_of_the_version_before_is_filled(told: Tale, url: str) -> None:
    store = told.store
    await told.chapter(1, 2, event("Rin repaired the sextant.", 1), event("Nothing of note.", 2), event("Gone.", 1))
    await told.synopsis([1], condensed("Instruments changed hands.", 1))
    await _correct(told, replace(await told.memory(2), status=MemoryStatus.RETRACTED, corrected=True))
    message = told.message("Call the zeppelin.", message_id=77_003)
    await store.add_player_turn(told.session_id, message, said("Call the zeppelin."), 5, never())
    await store.delete_turns([77_003], later(), render)
    before = {(r.seq, r.number, r.at, r.words) for r in await rows(store, findable)}
    async with store._database.write() as connection:
        await connection.run_sync(_to, "0001")
        names = set(await connection.scalars(text("SELECT name FROM sqlite_master")))
        assert not {name for name in names if name.startswith("findable")}
    await store.close()

    async with await Store.open(url) as again:
        assert {(r.seq, r.number, r.at, r.words) for r in await rows(again, findable)} == before
        tale = Tale(again, told.session_id, told.channel_id)
        assert await _find(tale, "silver compass") == [("turn", 1)]
        assert await _find(tale, "sextant") == [("memory", 1)]
        assert await _find(tale, "zeppelin note") == []
        assert len(before) == 12 + 3


def _to(connection: Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.downgrade(config, revision)


async def test_old_sqlite_is_scrubbed_by_hand_and_new_by_itself(told: Tale) -> None:
    async with told.store._database.read() as connection:
        options = {r.k: r.v for r in await connection.execute(text("SELECT k, v FROM findable_index_config"))}
    assert ("secure-delete" in options) is (sqlite3.sqlite_version_info >= (3, 42, 0))


async def test_every_loose_end_that_says_the_same_is_found_whether_it_is_open_or_tied(tale: Tale) -> None:
    lot = random.Random(7)
    words = "harbour lantern captain letter bells ferry market stolen hidden midnight 灯台の鍵 船長は誰".split()
    questions = [f"Who {' '.join(lot.sample(words, lot.randint(2, 6)))}?" for _ in range(60)]
    await tale.exchanges(4)
    ends = [NewMemory(Content(MemoryKind.LOOSE_END, text), (Citation(1, 1),)) for text in questions[:40]]
    await tale.chapter(1, 4, *ends)
    await tale.chapter(5, 6, resolved=dict.fromkeys(range(1, 20), 5))
    memory = await tale.store.memory(tale.session_id)
    same = 0
    for asked in questions:
        found = {m.number for m in await tale.store.ends_like(tale.session_id, asked)}
        wanted = {m.number for m in memory.memories if is_same(asked, m.content.text)}
        assert wanted <= found
        same += len(wanted)
    assert same > 40
    assert {m.status for m in memory.memories} == {MemoryStatus.ACTIVE, MemoryStatus.RESOLVED}


async def test_a_tied_loose_end_is_found_by_nobody_who_looks_for_words(told: Tale) -> None:
    await told.exchanges(2)
    end = NewMemory(Content(MemoryKind.LOOSE_END, "Who hid the zither?"), (Citation(9, 1),))
    first = (await told.store.memory(told.session_id)).folded_to + 1
    last = (await told.store.snapshot(told.session_id)).turns[-1].seq
    await told.chapter(first, last - 2, end)
    assert [kind for kind, _ in await _search(told, "zither")] == ["memory"]
    number = (await told.store.memory(told.session_id)).open_ends()[-1].number
    await told.chapter(last - 1, last, resolved={number: last})

    assert await _search(told, "zither") == []
    assert await _find(told, "Where is the zither?") == []
    assert [m.number for m in await told.store.ends_like(told.session_id, "Who hid the zither?")] == [number]


async def test_of_a_common_word_the_newest_lines_are_looked_at_and_a_rare_one_is_found_however_old(
    tale: Tale, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "_SEARCHED", 5)
    await tale.player("The bell and the zither.")
    for n in range(12):
        await tale.player(f"The bell, number{n}.")

    assert await _search(tale, "bell") == [("turn", seq) for seq in range(13, 8, -1)]
    assert (await _search(tale, "bell zither"))[0] == ("turn", 1)
