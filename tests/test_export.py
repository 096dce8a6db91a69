from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bot.errors import DatabaseTooNew
from bot.export import as_json, as_markdown, export_session
from bot.memory.branches import Branch
from bot.memory.corrections import Correction, CorrectionKind, corrected
from bot.memory.lore import LoreBook, LoreEntry, Secondary
from bot.memory.manners import Marks, Mode, SessionManners
from bot.memory.memories import (
    Chapter,
    Content,
    Memory,
    MemoryKind,
    MemoryStatus,
    NewMemory,
    SessionMemory,
    Version,
)
from bot.memory.personas import Change
from bot.memory.prompt import Card
from bot.memory.story import Archive, Character, Place, Scope, Session
from bot.memory.turns import Author, AuthorKind, Beat, BeatKind, Citation, Telling, Turn, TurnState
from bot.store import Store
from bot.store.database import Database
from bot.store.health import DatabaseUnusable, Story, stories
from tests.store.tale import MIO, Tale, begin, event, later, loose_end, never, render, said
from tests.support.databases import lay

MODERATOR = 900_000_000_000_000_001
FIRST_MESSAGE = 69_999
MESSAGES = count(70_000)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'story.db'}"


@pytest.fixture
async def tale(url: str, tmp_path: Path) -> AsyncIterator[Tale]:
    """Two folded stretches with a lie that a moderator corrected, an end that was tied, and two turns since."""
    lay(tmp_path / "story.db")
    async with await Store.open(url, migrate=False) as store:
        tale = await begin(store)
        arrived = tale.message("I open the door.", message_id=FIRST_MESSAGE)
        await store.add_player_turn(tale.session_id, arrived, said("I open the door."), 10, never())
        await _reply(tale, "a", Beat(BeatKind.NARRATION, "Rin blocks the stairs.", "Rin"))
        await tale.chapter(
            1,
            2,
            event("Mio came to the lighthouse.", 1),
            loose_end("What is behind the stairs?", 2),
            NewMemory(Content(MemoryKind.FACT, "Rin has never been to sea."), (Citation(2, 1),)),
        )
        await tale.player("What is up there?", name="Mio\n# Rin")
        await _reply(
            tale,
            '{"beats": []}',
            Beat(BeatKind.SPEECH, "Only *rats*.", "Rin"),
            Beat(BeatKind.THOUGHT, "She must not find the boat.", "Rin"),
            Beat(BeatKind.SPEECH, "She lies!", "The parrot"),
        )
        await tale.chapter(
            3,
            4,
            NewMemory(Content(MemoryKind.CLAIM, "There are only rats.", "Rin", "Mio"), (Citation(4, 1),)),
            NewMemory(
                Content(MemoryKind.SECRET, "There are only rats.", "Rin", "Mio", "A boat is hidden."),
                (Citation(4, 1), Citation(4, 2)),
            ),
            NewMemory(Content(MemoryKind.QUOTE, "She lies!", "The parrot"), (Citation(4, 3),)),
            resolved={2: 4},
        )
        await _correct(tale, 3, CorrectionKind.SAID_NOT_TRUE, "she was lying")
        await tale.player("And then?")
        await tale.reply("Then nothing.")
        yield tale


async def _reply(tale: Tale, raw: str, *beats: Beat) -> None:
    begun = await tale.store.begin_reply(tale.session_id, later(2))
    assert begun is not None
    turn = await tale.store.finish_reply(begun.turn.id, Telling(raw, beats, 10, "stop", 500, 400, 10, "small"), never())
    await tale.store.tie_messages(turn.id, tale.channel_id, [next(MESSAGES)])


async def _correct(tale: Tale, number: int, kind: CorrectionKind, reason: str, text: str = "") -> None:
    detail = await tale.store.detail(tale.session_id, number)
    assert detail is not None
    correction = Correction(kind, MODERATOR, reason, text)
    changed = corrected(detail.memory, correction, speaker="Rin", history=detail.history)
    assert await tale.store.save_correction(
        tale.session_id,
        detail.memory.version,
        changed,
        by=str(MODERATOR),
        reason=reason,
        at=later(35),
        render=render,
    )


async def exported(tale: Tale, url: str) -> dict[str, Any]:
    text = await export_session(url, tale.session_id, "json")
    assert text is not None
    document: dict[str, Any] = json.loads(text)
    return document


async def test_the_json_holds_the_whole_archive(tale: Tale, url: str) -> None:
    archive = await tale.store.archive(tale.session_id)
    assert archive is not None
    assert len(archive.turns) == 6
    assert len(archive.memory.memories) == 6

    document = await exported(tale, url)

    assert (document["format"], document["version"]) == ("kataribe-export", 1)
    # How often prompts began anew is no part of the story.
    assert read_back(document) == replace(archive, session=replace(archive.session, epoch=0))


async def tell_otherwise(tale: Tale) -> None:
    """A persona speaks; the reply is told three times; what came after it was left twice, and a chapter with it."""
    store = tale.store
    haru = (await store.save_persona(MIO, 10, Change("Haru"), most=9)).now
    message = replace(tale.message("Who goes there?", name="Haru"), persona_id=haru.id)
    assert await store.add_player_turn(tale.session_id, message, said("Who goes there?"), 10, never())
    reply = await tale.reply("I do.")
    for revision, text in enumerate(("Nobody.", "The wind."), start=1):
        assert await store.tell_anew(reply.id, revision, Telling(text, said(text, "Rin"), 9, "length"), never())
    assert await store.choose_telling(reply.id, 2)
    await tale.exchanges(2)
    await tale.chapter(5, 12, event("They talked.", 9))
    assert await store.rewind(tale.session_id, 10, by=MODERATOR, at=later(60), render=render)
    assert await store.rewind(tale.session_id, 8, by=MIO, at=later(61), render=render)


async def test_other_tellings_ways_that_were_left_and_the_whole_card_come_along(tale: Tale, url: str) -> None:
    before = await tale.store.archive(tale.session_id)
    assert before is not None
    entry = LoreEntry(("lamp",), "It burns oil.", secondary_keys=("oil",), secondary=Secondary.ALL)
    card = replace(
        before.session.character.card, personality="Gruff.", alternate_greetings=("Hm?",), book=LoreBook((entry,))
    )
    await tale.store.change_character(before.session.character.id, card, "", document="{}", adult=True)
    await tell_otherwise(tale)
    archive = await tale.store.archive(tale.session_id)
    assert archive is not None
    assert [len(found) for found in (archive.tellings, archive.aside, archive.branches)] == [1, 4, 2]

    document = await exported(tale, url)

    assert read_back(document) == replace(archive, session=replace(archive.session, epoch=0))
    assert document["turns"][6]["author"] == {"kind": "player", "id": str(MIO), "name": "Haru", "persona_id": 1}
    told = document["turns"][7]
    assert (told["telling"], told["raw"]) == (2, "Nobody.")
    assert [telling["raw"] for telling in told["tellings"]] == ["I do.", "Nobody.", "The wind."]
    assert [(branch["at_seq"], branch["by"], branch["turns"]) for branch in document["branches"]] == [
        (8, str(MIO), [9, 10]),
        (10, str(MODERATOR), [11, 12]),
    ]
    assert document["memories"][-1]["status"] == "aside"


async def test_the_document_tells_the_present_way_and_names_those_that_were_left(tale: Tale, url: str) -> None:
    await tell_otherwise(tale)

    text = await export_session(url, tale.session_id, "markdown")

    assert text is not None
    assert [word for word in ("They talked", "Question 1", "The wind", "I do") if word in text] == []
    assert "### 8 · Rin (character) · 2026-04-01 12:02 UTC\n\n> “Nobody.”" in text
    lines = text.splitlines()
    assert f"- **Haru**, played by a player ({MIO})" in lines
    left = lines[lines.index("## Set aside") + 2 :][:2]
    assert left == [
        "- turns 9 to 10, left on 2026-04-01 13:01 UTC: the story went on after turn 8",
        "- turns 11 to 12, left on 2026-04-01 13:00 UTC: the story went on after turn 10",
    ]


async def test_ids_of_discord_are_strings(tale: Tale, url: str) -> None:
    document = await exported(tale, url)

    assert document["session"]["channel_id"] == "100"
    assert document["turns"][0]["author"]["id"] == "1001"
    assert document["memories"][2]["history"][1]["by"] == str(MODERATOR)


async def test_the_document_reads_from_cast_to_corrections(tale: Tale, url: str) -> None:
    text = await export_session(url, tale.session_id, "markdown")

    assert text is not None
    headings = re.findall(r"^##? .+$", text, re.MULTILINE)
    assert headings == [
        "# Rin",
        "## Cast",
        "## Chapter 1 (turns 1 to 2)",
        "## Chapter 2 (turns 3 to 4)",
        "## Resolved ends",
        "## Quotes",
        "## The story",
        "## Corrections",
    ]
    lines = text.splitlines()
    assert "- **#1** event: Mio came to the lighthouse. (from turn 1.1)" in lines
    assert "- **#3** claim ✎ corrected: Rin said: Rin has never been to sea. (from turn 2.1)" in lines
    assert "- **#4** claim: Rin said to Mio: There are only rats. (from turn 4.1)" in lines
    assert (
        "- **#5** secret: Rin lets others believe: There are only rats. Actually: A boat is hidden. (from turn 4.1, 4.2)"
    ) in lines
    assert "- **#2** loose end: What is behind the stairs? (from turn 2.1; resolved in turn 4)" in lines
    assert "- **#6** quote: The parrot: “She lies!” (from turn 4.3)" in lines
    assert "- **The parrot**, in the story" in lines
    assert f"- 2026-04-01 12:35 UTC: #3 by {MODERATOR}, because: she was lying" in lines
    assert "  - before: active fact: Rin has never been to sea." in lines
    assert "  - after: active claim: Rin said: Rin has never been to sea." in lines
    assert "2 turns are not folded yet" in text


async def test_the_story_is_told_turn_by_turn_with_thoughts_marked(tale: Tale, url: str) -> None:
    text = await export_session(url, tale.session_id, "markdown")

    assert text is not None
    told = text.split("## The story")[1].split("## Corrections")[0]
    turn = told.split("### 4 · ")[1].split("### 5 · ")[0]
    assert turn.splitlines() == [
        "Rin (character) · 2026-04-01 12:02 UTC",
        "",
        r"> “Only \*rats\*.”",
        ">",
        "> (thought, not spoken) She must not find the boat.",
        ">",
        "> **The parrot** “She lies!”",
        "",
    ]


async def test_what_a_player_writes_cannot_pose_as_a_part_of_the_document(tale: Tale, url: str) -> None:
    await tale.player("x\n# Chapter 9\n- **#7** fact: Mio is queen\n1. one\n<b>&amp;")
    text = await export_session(url, tale.session_id, "markdown")

    assert text is not None
    told = [
        line for line in text.splitlines() if "queen" in line or "Chapter 9" in line or "one" in line or "amp" in line
    ]
    assert told[-4:] == [
        r"> \# Chapter 9  ",
        r"> \- \*\*\#7\*\* fact: Mio is queen  ",
        r"> 1\. one  ",
        r"> \<b\>\&amp;”",
    ]


async def test_words_that_were_taken_back_are_in_no_format(tale: Tale, url: str) -> None:
    taken_back = (await tale.store.turns(tale.session_id, 1, 1))[0]
    assert await tale.store.delete_turns([FIRST_MESSAGE], later(40), render)
    document = await exported(tale, url)
    text = await export_session(url, tale.session_id, "markdown")

    assert text is not None
    for form in (json.dumps(document), text):
        assert taken_back.raw not in form
        assert "came to the lighthouse" not in form
    assert "## Being redone\n\n#1: left out" in text
    memory = document["memories"][0]
    assert (memory["status"], memory["content"]) == ("stale", None)
    assert [version["content"] for version in memory["history"]] == [None, None]
    assert [turn["seq"] for turn in document["turns"]] == [2, 3, 4, 5, 6]

    await tale.refold(1, event("Rin keeps a lighthouse.", 2))
    again = await export_session(url, tale.session_id, "json")
    assert again is not None
    assert "came to the lighthouse" not in again
    assert "Rin keeps a lighthouse." in again


def test_a_moderators_own_words_stay_when_what_they_corrected_was_taken_back() -> None:
    old, new = Content(MemoryKind.FACT, "Mio's secret name is Ai."), Content(MemoryKind.FACT, "Mio has a secret name.")
    versions = (
        Version(1, old, MemoryStatus.ACTIVE, "fold", "", later(1)),
        Version(2, new, MemoryStatus.ACTIVE, str(MODERATOR), "too much", later(2)),
        Version(3, new, MemoryStatus.STALE, "deletion", "", later(3)),
        Version(4, new, MemoryStatus.ACTIVE, "fold", "", later(4)),
    )
    memory = Memory(1, new, chapter=1, version=4, corrected=True, cites=(Citation(1, 1),))
    archive = archive_of(SessionMemory((Chapter(1, 1, 2),), (memory,)), {1: versions})

    text, document = as_markdown(archive), json.loads(as_json(archive))

    assert "Ai" not in text
    assert "  - before: active fact: (left out: it may repeat a message that was taken back)" in text
    assert "  - after: active fact: Mio has a secret name." in text
    contents = [version["content"] and version["content"]["text"] for version in document["memories"][0]["history"]]
    assert contents == [None, new.text, new.text, new.text]


def test_the_synopsis_names_what_it_stands_for() -> None:
    content = Content(MemoryKind.EVENT, "They met.")
    old = Memory(1, content, MemoryStatus.CONDENSED, (Citation(1, 1),), chapter=1)
    new = Memory(2, replace(content, text="It began."), condenses=(1,))
    archive = archive_of(SessionMemory((Chapter(1, 1, 2, absorbed=True),), (old, new)), {})

    text = as_markdown(archive)

    assert "## Synopsis\n\n- **#2** event: It began. (stands for #1)" in text
    assert "## Condensed into the synopsis\n\n- **#1** event: They met. (from turn 1.1)" in text


def test_talk_out_of_character_and_japanese_speech_are_told_as_such() -> None:
    author = Author(AuthorKind.PLAYER, 1, "ミオ")
    beats = (Beat(BeatKind.SPEECH, "ただいま", "ミオ"), Beat(BeatKind.OOC, "be right back", "ミオ"))
    turn = Turn(1, 1, author, "「ただいま」((be right back))", beats, 9, TurnState.KEPT, later())
    archive = archive_of(SessionMemory(), {}, turn)
    japanese = replace(archive, session=replace(archive.session, language="ja"))

    text = as_markdown(japanese)

    assert "> 「ただいま」\n>\n> (out of character) be right back" in text


async def test_there_is_nothing_to_export_of_an_unknown_session(tale: Tale, url: str) -> None:
    assert await export_session(url, 77, "markdown") is None


async def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "nothing.db"

    with pytest.raises(DatabaseUnusable, match=r"no story in .*nothing\.db"):
        await export_session(f"sqlite+aiosqlite:///{missing}", 1, "json")

    assert not missing.exists()


async def test_a_newer_database_is_refused(tale: Tale, url: str) -> None:
    database = Database.at(url)
    async with database.write() as connection:
        await connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    await database.close()

    with pytest.raises(DatabaseTooNew, match="newer version"):
        await export_session(url, tale.session_id, "json")


async def test_all_stories_are_listed_with_their_numbers(tale: Tale, url: str) -> None:
    other = await begin(tale.store, channel_id=200, name="Kuro")
    await tale.store.stop_session(other.session_id, later(60))

    assert await stories(url) == (
        Story(tale.session_id, 100, 100, "Rin", running=True, turns=6, costs={}),
        Story(other.session_id, 200, 200, "Kuro", running=False, turns=0, costs={}),
    )


def archive_of(memory: SessionMemory, histories: dict[int, tuple[Version, ...]], *turns: Turn) -> Archive:
    character = Character(1, Scope(10, 20), Card("Rin", "A lighthouse keeper."), "", later(0))
    session = Session(1, Place(10, 100), character, "en", True, later(0), None, memory.folded_to, 0, 0, 0)
    return Archive(session, turns, memory, histories)


def read_back(document: dict[str, Any]) -> Archive:
    """The archive that a JSON export was made of."""
    told, played = document["session"], document["character"]
    card = _card(played["card"])
    assert [played[name] for name in ("name", "description", "first_message")] == [
        card.name,
        card.description,
        card.first_message,
    ]
    character = Character(
        played["id"],
        Scope(_number(played["guild_id"]), int(played["owner_id"])),
        card,
        played["avatar_url"],
        datetime.fromisoformat(played["created_at"]),
        adult=played["adult"],
        removed=played["removed"],
    )
    manners = told["manners"]
    session = Session(
        told["id"],
        Place(_number(told["guild_id"]), int(told["channel_id"]), _number(told["parent_id"])),
        character,
        told["language"],
        told["running"],
        datetime.fromisoformat(told["started_at"]),
        datetime.fromisoformat(told["stopped_at"]) if told["stopped_at"] else None,
        **{name: told[name] for name in ("folded_to", "memory_tokens", "raw_from", "forced_cuts")},
        manners=SessionManners(Mode(manners["mode"]), manners["pause_seconds"], Marks(manners["marks"])),
    )
    chapters = tuple(Chapter(**chapter) for chapter in document["chapters"])
    memory = SessionMemory(chapters, tuple(_memory(fields) for fields in document["memories"]))
    histories = {
        fields["number"]: tuple(
            Version(
                version["version"],
                _content(version["content"]),
                MemoryStatus(version["status"]),
                version["by"],
                version["reason"],
                datetime.fromisoformat(version["at"]),
            )
            for version in fields["history"]
        )
        for fields in document["memories"]
    }
    tellings = {
        fields["id"]: (fields["telling"], tuple(_telling(one) for one in fields["tellings"]))
        for fields in (*document["turns"], *document["set_aside"])
        if "tellings" in fields
    }
    aside = tuple(_turn(fields) for fields in document["set_aside"])
    branches = tuple(_branch(fields, told["id"], aside) for fields in document["branches"])
    turns = tuple(_turn(fields) for fields in document["turns"])
    return Archive(session, turns, memory, histories, tellings, aside, branches)


def _card(fields: dict[str, Any]) -> Card:
    book = fields["book"] and LoreBook(
        **{**fields["book"], "entries": tuple(_entry(entry) for entry in fields["book"]["entries"])}
    )
    return Card(**{**fields, "alternate_greetings": tuple(fields["alternate_greetings"]), "book": book})


def _entry(fields: dict[str, Any]) -> LoreEntry:
    tuples = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return LoreEntry(**{**fields, **tuples, "secondary": Secondary(fields["secondary"])})


def _beats(fields: list[dict[str, str]]) -> tuple[Beat, ...]:
    return tuple(Beat(BeatKind(beat["kind"]), beat["text"], beat["speaker"]) for beat in fields)


def _telling(fields: dict[str, Any]) -> Telling:
    return Telling(**{**fields, "beats": _beats(fields["beats"])})


def _branch(fields: dict[str, Any], session_id: int, aside: tuple[Turn, ...]) -> Branch:
    turns = tuple(turn for turn in aside if turn.seq in fields["turns"])
    at = datetime.fromisoformat(fields["at"])
    return Branch(fields["id"], session_id, fields["at_seq"], int(fields["by"]), at, turns)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _content(fields: dict[str, Any]) -> Content:
    return Content(**{**fields, "kind": MemoryKind(fields["kind"]), "player_id": _number(fields["player_id"])})


def _memory(fields: dict[str, Any]) -> Memory:
    cites = [Citation.parse(text) for text in fields["cites"]]
    return Memory(
        fields["number"],
        _content(fields["content"]),
        MemoryStatus(fields["status"]),
        tuple(citation for citation in cites if citation),
        tuple(fields["condenses"]),
        *(fields[name] for name in ("chapter", "version", "corrected", "restates", "resolved_by")),
    )


def _turn(fields: dict[str, Any]) -> Turn:
    author = fields["author"]
    return Turn(
        fields["id"],
        fields["seq"],
        Author(AuthorKind(author["kind"]), int(author["id"]), author["name"], author["persona_id"]),
        fields["raw"],
        _beats(fields["beats"]),
        fields["tokens"],
        TurnState(fields["state"]),
        datetime.fromisoformat(fields["at"]).astimezone(UTC),
        fields["revision"],
    )
