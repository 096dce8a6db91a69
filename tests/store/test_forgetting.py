"""Forgetting a person: nothing of their words in any table, index or byte of the file, and nothing of anybody else lost."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from bot.memory.memories import Content, MemoryKind, MemoryStatus, NewMemory
from bot.memory.people import JudgementKind
from bot.memory.personas import Brackets, Change, Persona
from bot.memory.policy import Stretch
from bot.memory.prompt import Card
from bot.memory.story import FoldKind, FoldState, Head, Place, Scope
from bot.memory.turns import Author, AuthorKind, Beat, BeatKind, Citation, Telling, Turn, TurnState
from bot.store import Call, Store
from bot.store.cast_tables import cast, heads, tails
from bot.store.own_data import OwnName
from bot.store.people_tables import (
    acquaintances,
    active_personas,
    exchanges,
    forgettings,
    former_texts,
    judgements,
    note_sources,
    notes,
    personas,
    strangers,
    trait_sources,
    traits,
)
from bot.store.tables import (
    characters,
    evidence,
    flags,
    memories,
    messages,
    metadata,
    sessions,
    tellings,
    turns,
    versions,
)
from tests.store.decided import EMPTIED, REMOVED
from tests.store.tale import KAI, MIO, START, Tale, begin, event, later, never, render, rows, said

# Each stands for one place that a person's words may reach.
WORDS = (
    "zanzibarquilt", "珊瑚礁図書館の鍵束", "quorvexlantern", "tailmarzipan", "notehalcyon", "traitsaffron", "formerobsidian",
    "flagwhisky", "reasonpericles", "claimverdigris", "secretcoriander", "versionbergamot", "synopsiscardamom",
    "deletedmarjoram", "failedtamarind", "personaturmeric", "bracketfennel", "pictureginger", "swipedanise",
    "asidejuniper", "asidesorrel", "importedsumac",
)  # fmt: skip
NAME, PERSONA = "Mioriko", "Sabelorchid"
DESCRIPTION = "A smith who salts the forge with personaturmeric."
QUOTED = "the moon owes me seven silver zanzibarquilt coins"


async def played(store: Store) -> Tale:
    """A story of Mio and Kai in which Mio's words stand in every place that there is."""
    tale = await begin(store)
    await tale.player(f"Listen: {QUOTED}. 珊瑚礁図書館の鍵束", name=NAME)
    await tale.player("I mend nets all winter.", by=KAI, name="Kai")
    reply = (
        Beat(BeatKind.NARRATION, "Rin lights the lamp.", "Rin"),
        Beat(BeatKind.SPEECH, "So the moon owes me seven silver zanzibarquilt coins, too.", "Rin"),
        Beat(BeatKind.THOUGHT, f"{NAME} has a quorvexlantern.", "Rin"),
        Beat(BeatKind.SPEECH, "Kai, your nets are torn.", "Rin"),
    )
    await answer(tale, reply, tail="tailmarzipan")
    await tale.player("It is gone deletedmarjoram", name=NAME)
    taken_back = (await newest_message(store)).message_id
    await tale.chapter(
        1,
        4,
        event("Rin lights the lamp.", 3),
        NewMemory(Content(MemoryKind.FACT, "zanzibarquilt coins", player_id=MIO), (Citation(1, 1),)),
        NewMemory(Content(MemoryKind.CLAIM, "claimverdigris", "Rin", NAME), (Citation(3, 2),)),
        NewMemory(Content(MemoryKind.SECRET, f"{NAME} smiles", "Rin", actual="secretcoriander"), (Citation(3, 4),)),
        event("Kai mends nets all winter.", 2),
        NewMemory(Content(MemoryKind.QUOTE, "Kai, your nets are torn.", "Rin"), (Citation(3, 4),)),
        event("The versionbergamot was lost.", 1),
        event("deletedmarjoram", 4),
    )
    await store.delete_turns([taken_back], later(3), render)
    await tale.synopsis((1,), _condensed("synopsiscardamom of coins and nets", 5, 7))
    await tale.player("The flood took my boat.", by=KAI, name="Kai")
    await tale.reply("*The tide turns.* “So it did.”")
    await tale.player("And now?", by=KAI, name="Kai")
    await store.fail_reply((await tale.reply(f"{NAME} has a failedtamarind.", deliver=False)).id)
    await correct(tale, 7, "Something else.", by=KAI, reason=f"reasonpericles said {NAME}")
    await correct(tale, 5, "Kai mends nets.", by=MIO, reason="reasonpericles")
    for by, why in ((MIO, "flagwhisky"), (KAI, f"{NAME} told me flagwhisky"), (KAI, "the nets are fine")):
        assert await store.add_flag(tale.session_id, 5, by=by, why=why, at=later(4), since=START, most=9)
    assert await store.dismiss_flag((await store.open_flags(guild_id=100))[-1].id, by=MIO, at=later(5))
    await told_otherwise(tale)
    async with store._database.write() as connection:
        newest = turns.c.session_id == tale.session_id, turns.c.seq == 9
        await connection.execute(update(turns).where(*newest).values(tail=f"{PERSONA} tailmarzipan", tail_tokens=3))
    await know(store, tale)
    return tale


async def told_otherwise(tale: Tale) -> None:
    """Mio plays somebody, in a reply that was told three times, and in turns that she rewound the story to before."""
    smith = await adopt(tale.store)
    await speak(tale, "The kiln is cold.", smith)
    swiped = f"The moon owes me seven silver zanzibarquilt coins, {NAME}, and a swipedanise."
    reply = await tale.reply(swiped)
    for beats in (said("Rin shrugs.", "Rin"), (*said("Rin hums.", "Rin"), *said(DESCRIPTION.lower(), "Rin"))):
        await retell(tale, reply.id, *beats)
    await tale.store.choose_telling(reply.id, 2)
    await speak(tale, "asidejuniper", smith)
    await tale.reply(f"“{PERSONA} has lost it.”")
    await tale.player("The boat is found.", by=KAI, name="Kai")
    await answer(tale, (*said(f"{PERSONA}!", "Rin"), *said("Kai found the boat.", "Rin")))
    await tale.chapter(
        5,
        14,
        NewMemory(Content(MemoryKind.QUOTE, "asidesorrel", PERSONA), (Citation(11, 1),)),
        event("Kai lost his boat.", 5),
        NewMemory(Content(MemoryKind.EVENT, "It is found."), (Citation(14, 2),)),
    )
    assert await tale.store.rewind(tale.session_id, 10, by=MIO, at=later(6), render=render)


async def accompanied(tale: Tale) -> None:
    """A second character knows of Mio what the first does."""
    made = await tale.store.add_character(Scope(100, KAI), Card("Brom", ""), "", START)
    of_it = {"session_id": tale.session_id, "character_id": made.id}
    text = {"text": f"{NAME} tailmarzipan", "tokens": 3}
    first = (await tale.store.turns(tale.session_id, 1, 1))[0].id
    async with tale.store._database.write() as connection:
        await connection.execute(insert(cast).values(**of_it, since=1, position=1))
        await connection.execute(insert(heads).values(**of_it, **text))
        await connection.execute(insert(tails).values(**of_it, **text, turn_id=first))


async def adopt(store: Store) -> Persona:
    """Mio's persona, the active one in the guild."""
    change = Change(PERSONA, None, DESCRIPTION, (Brackets("bracketfennel:", ""),), "https://a/pictureginger.png")
    return (await store.save_persona(MIO, 100, change, most=9)).now


async def speak(tale: Tale, text: str, persona: Persona) -> Turn:
    message = replace(tale.message(text, by=persona.player_id, name=persona.name), persona_id=persona.id)
    turn = await tale.store.add_player_turn(tale.session_id, message, said(text), 10, never())
    assert turn is not None
    return turn


async def retell(tale: Tale, turn_id: int, *beats: Beat) -> None:
    """Another telling of the newest reply."""
    (newest,) = await tale.store.recent_turns(tale.session_id, 1)
    raw = "\n".join(beat.text for beat in beats)
    assert await tale.store.tell_anew(turn_id, newest.revision, Telling(raw, beats, 30, "stop"), never())


async def play_alone(store: Store) -> None:
    """A character of Mio's direct messages, not played yet."""
    card = Card("Claimverdigris", "quorvexlantern", "zanzibarquilt", personality="secretcoriander")
    document = json.dumps({"data": {"name": "zanzibarquilt"}})
    await store.add_character(Scope(None, MIO), card, "https://a/pictureginger.png", START, document=document)


def _condensed(text: str, *numbers: int) -> NewMemory:
    return NewMemory(Content(MemoryKind.EVENT, text), condenses=numbers)


async def answer(tale: Tale, beats: tuple[Beat, ...], *, tail: str = "") -> None:
    """A reply of several beats, with what was put before the turns that it answers."""
    turn = await tale.reply("(raw) " + json.dumps([beat.text for beat in beats], ensure_ascii=False))
    async with tale.store._database.write() as connection:
        await connection.execute(update(turns).where(turns.c.id == turn.id).values(beats=beats))
        asked = update(turns).where(turns.c.session_id == tale.session_id, turns.c.seq == turn.seq - 1)
        await connection.execute(asked.values(tail=tail or None, tail_tokens=3))


async def newest_message(store: Store) -> Any:
    return (await rows(store, select(messages).order_by(messages.c.message_id.desc()).limit(1)))[0]


async def correct(tale: Tale, number: int, text: str, *, by: int, reason: str) -> None:
    """A moderator's new wording."""
    before = await tale.memory(number)
    changed = replace(before, content=replace(before.content, text=text), corrected=True)
    assert await tale.store.save_correction(
        tale.session_id, before.version, changed, by=str(by), reason=reason, at=later(5), render=render
    )


async def know(store: Store, tale: Tale) -> None:
    """What Rin keeps about Mio, and about Kai, who have each an exchange with her by now."""
    async with store._database.write() as connection:
        for player_id, words in ((MIO, "notehalcyon traitsaffron formerobsidian importedsumac"), (KAI, "a b c d")):
            note, trait, former, key = words.split()
            known = select(acquaintances.c.id).where(acquaintances.c.player_id == player_id)
            of = {"acquaintance_id": (await connection.execute(known)).scalar_one()}
            kept = {**of, "text": note, "at": START, "judged": False, "absorbed": False, "removed": False}
            note_id = (await connection.execute(insert(notes).values(kept).returning(notes.c.id))).scalar_one()
            held = {
                **of, "text": trait, "importance": 2, "matches": 1, "first_at": START, "confirmed_at": START,
                "faded_at": START, "hazy": False, "deleted": False, "imported": key,
            }  # fmt: skip
            trait_id = (await connection.execute(insert(traits).values(held).returning(traits.c.id))).scalar_one()
            cited = {"position": 0, "session_id": tale.session_id, "seq": 1 if player_id == MIO else 2, "beat": 1}
            await connection.execute(insert(note_sources).values(note_id=note_id, **cited))
            await connection.execute(insert(trait_sources).values(trait_id=trait_id, former=False, **cited))
            said_before = {"trait_id": trait_id, "position": 0, "text": former, "by": str(player_id), "until": START}
            await connection.execute(insert(former_texts).values(said_before))
            due = {"kind": JudgementKind.NOTES, "everything": True, "state": FoldState.DUE, "due_at": START}
            await connection.execute(insert(judgements).values(**of, **due, attempts=0, failures=0, error=""))


async def forget(store: Store, player_id: int = MIO) -> None:
    """All steps in order, as they are taken."""
    await store.ask_to_forget(player_id, later(60))
    await store.forget_traits(player_id)
    for session_id in await store.stories_with(player_id):
        await store.forget_in_story(session_id, player_id, later(60), render)
    await store.forget_person(player_id, later(60), asked_at=later(60))
    assert await store.finish_forgetting(player_id)


def forms(word: str) -> list[bytes]:
    """A word's bytes, as text, as UTF-16 and escaped in JSON."""
    return [word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be"), json.dumps(word).strip('"').encode()]


def found_in(folder: Path, *words: str) -> set[str]:
    """The words that stand in the database's files, the write-ahead log included."""
    files = b"\0".join(path.read_bytes() for path in sorted(folder.glob("story.db*")))
    return {word for word in words if any(form in files for form in forms(word))}


async def dump(store: Store) -> str:
    """All rows of all tables."""
    lines = []
    for table in metadata.sorted_tables:
        lines += [f"{table.name} {tuple(row)}" for row in await rows(store, table)]
    return "\n".join(lines)


async def test_not_a_byte_of_a_persons_words_is_left_in_the_files(store: Store, tmp_path: Path) -> None:
    await played(store)
    await play_alone(store)
    present = found_in(tmp_path, *WORDS, NAME, PERSONA)
    assert present == {*WORDS, NAME, PERSONA}

    await forget(store)

    assert found_in(tmp_path, *WORDS, NAME, PERSONA) == set(), "before VACUUM"
    table = await dump(store)
    assert [word for word in (*WORDS, NAME, PERSONA, str(MIO)) if word in table] == []
    with sqlite3.connect(tmp_path / "story.db") as connection:
        indexed = {row[0] for row in connection.execute("SELECT term FROM findable_terms")}
    connection.close()
    assert [term for term in indexed if any(word[:8] in term for word in WORDS)] == []
    assert "1:net" in indexed
    await store.close()
    with sqlite3.connect(tmp_path / "story.db") as connection:
        connection.execute("VACUUM")
    connection.close()
    assert found_in(tmp_path, *WORDS, NAME, PERSONA) == set(), "after VACUUM"


async def test_every_place_that_is_to_be_without_the_person_had_something_and_has_nothing(store: Store) -> None:
    tale = await played(store)
    await accompanied(tale)
    await play_alone(store)
    await store.ask_to_forget(MIO, later(60))
    carried = select(messages.c.message_id).join(turns).where(turns.c.author_id == MIO)
    ids = {MIO, *(row.message_id for row in await rows(store, carried))}
    (smith,) = await rows(store, personas)
    words = tuple(word[:8].lower() for word in (*WORDS, NAME, PERSONA, "The moon owes me", str(MIO)))

    async def tells(place: str) -> bool:
        table, _, name = place.partition(".")
        values = [row._mapping[name] for row in await rows(store, metadata.tables[table])]
        known = {smith.id} if name == "persona_id" else ids
        return any(value in known if isinstance(value, int) else _has(value, words) for value in values)

    assert [place for place in (*REMOVED, *EMPTIED) if not await tells(place)] == []
    await forget(store)
    assert [place for place in (*REMOVED, *EMPTIED) if await tells(place)] == []


def _has(value: object, words: Sequence[str]) -> bool:
    text = str(value).lower()
    return any(word in text for word in words)


async def test_what_others_wrote_and_what_is_remembered_of_them_stays(store: Store) -> None:
    tale = await played(store)

    await forget(store)

    kept = await store.turns(tale.session_id, 1, 99)
    assert [turn.raw for turn in kept if turn.author.is_player] == [
        "I mend nets all winter.",
        "The flood took my boat.",
        "And now?",
    ]
    assert [turn.raw for turn in kept if turn.seq in (6, 10)] == ["*The tide turns.* “So it did.”", "Rin shrugs."]
    cut = next(turn for turn in kept if turn.seq == 3)
    assert [beat.text for beat in cut.beats] == ["Rin lights the lamp.", "Kai, your nets are torn."]
    assert cut.raw == "*Rin lights the lamp.*\n“Kai, your nets are torn.”"
    assert (await tale.memory(5)).content.text == "Kai mends nets.", "what a line stood for besides is back"
    assert (await tale.memory(5)).is_active
    of_kai = [row for row in await rows(store, acquaintances) if row.player_id == KAI]
    assert len(of_kai) == 1
    assert [row.text for row in await rows(store, traits)] == ["b"]
    assert [row.text for row in await rows(store, notes)] == ["a"]
    assert {row.acquaintance_id for row in await rows(store, exchanges)} == {of_kai[0].id}
    assert len(await rows(store, judgements)) == 1
    assert [row.why for row in await rows(store, flags)] == ["", "the nets are fine"]
    assert await tale.head() == "[] 5:Kai mends nets."


async def test_citations_of_a_reply_that_was_cut_follow_their_beats(store: Store) -> None:
    await played(store)

    await forget(store)

    cited = select(evidence.c.number, evidence.c.beat).where(evidence.c.seq == 3).order_by(evidence.c.number)
    assert [tuple(row) for row in await rows(store, cited)] == [(1, 1), (4, 2), (6, 2)]


async def test_the_tellings_of_a_reply_are_cut_and_those_of_which_nothing_is_left_go(store: Store) -> None:
    tale = await played(store)
    (reply,) = await store.turns(tale.session_id, 10, 10)
    number, before = await store.tellings(reply.id)
    assert (number, len(before)) == (2, 3)

    await forget(store)

    number, left = await store.tellings(reply.id)
    assert (number, [telling.raw for telling in left]) == (1, ["Rin shrugs.", "“Rin hums.”"])
    assert [(telling.beats, telling.tokens) for telling in left] == [
        (said("Rin shrugs.", "Rin"), 30),
        (said("Rin hums.", "Rin"), 30 * len("“Rin hums.”") // len(before[2].raw)),
    ]
    again = await store.choose_telling(reply.id, 2)
    assert again is not None
    assert again.raw == "“Rin hums.”"


async def test_a_reply_of_which_one_telling_is_left_has_no_others(store: Store) -> None:
    tale = await begin(store)
    await tale.player("Hello.", name=NAME)
    await tale.player("Hello.", by=KAI, name="Kai")
    reply = await tale.reply(f"{NAME}, hello.")
    await retell(tale, reply.id, *said("Hello, Kai.", "Rin"))

    await forget(store)

    number, left = await store.tellings(reply.id)
    assert (number, [telling.raw for telling in left]) == (1, ["Hello, Kai."])
    assert await rows(store, tellings) == []
    assert [row.telling for row in await rows(store, turns)] == [None, None, None]


async def test_a_reply_whose_telling_in_the_story_is_gone_is_gone_with_all(store: Store) -> None:
    tale = await begin(store)
    await tale.player("Hello.", name=NAME)
    await tale.player("Hello.", by=KAI, name="Kai")
    reply = await tale.reply("Hello, Kai.")
    for text in ("Aye, Kai.", f"{NAME}, hello."):
        await retell(tale, reply.id, *said(text, "Rin"))

    await forget(store)

    assert await rows(store, tellings) == []
    assert [(row.raw, row.state) for row in await rows(store, turns)] == [
        ("", TurnState.DELETED),
        ("Hello.", TurnState.KEPT),
        ("", TurnState.DELETED),
    ]


async def test_of_two_personas_of_one_name_only_the_persons_own_goes(store: Store) -> None:
    tale = await begin(store)
    smith = await adopt(store)
    await speak(tale, "Hello.", smith)
    other = (await store.save_persona(KAI, 100, Change(PERSONA), most=9)).now
    await speak(tale, "Hello.", other)
    reply = await tale.reply(f"{PERSONA} (2), hello.")
    swiped = f"{PERSONA}, hello."
    await retell(tale, reply.id, *said(swiped, "Rin"), *said("Aye.", "Rin"))

    await forget(store)

    assert [turn.author.name for turn in await store.turns(tale.session_id, 1, 9)] == [f"{PERSONA} (2)", "Rin"]
    (kept,) = await store.turns(tale.session_id, reply.seq, reply.seq)
    assert [beat.text for beat in kept.beats] == ["Aye."]
    _, left = await store.tellings(reply.id)
    assert [telling.raw for telling in left] == [f"{PERSONA} (2), hello.", "“Aye.”"]


async def test_a_persona_that_was_greeted_and_never_spoke_is_forgotten(store: Store) -> None:
    smith = await adopt(store)
    character = await store.add_character(Scope(100, 20), Card("Rin", "A keeper."), "", START)
    greeting = f"Welcome, {PERSONA}.\nSit down."
    beats = (*said(f"Welcome, {PERSONA}.", "Rin"), *said("Sit down.", "Rin"))
    greeted = Author(AuthorKind.PLAYER, MIO, PERSONA, smith.id)
    session, _ = await store.start_session(
        Place(100, 100), character.id, "en", (greeting, beats, 9), Head("[] ", 0), START, greeted=greeted
    )
    await Tale(store, session.id).player("Hello.", by=KAI, name="Kai")

    await forget(store)

    assert [turn.raw for turn in await store.turns(session.id, 1, 9)] == ["“Sit down.”", "Hello."]


async def test_a_way_that_was_left_can_be_taken_up_again_without_the_person(store: Store) -> None:
    tale = await played(store)
    await forget(store)
    (branch,) = await store.branches(tale.session_id)
    assert (branch.by, [turn.seq for turn in branch.turns]) == (0, [13, 14])

    back = await store.take_up(tale.session_id, branch.id, by=KAI, at=later(70), render=render)

    assert back is not None
    assert [turn.raw for turn in back] == ["The boat is found.", "“Kai found the boat.”"]
    assert [(await tale.memory(number)).status for number in (10, 11, 12)] == [
        MemoryStatus.FORGOTTEN,
        MemoryStatus.ACTIVE,
        MemoryStatus.STALE,
    ]
    assert await tale.head() == "[2] 5:Kai mends nets. | 11:Kai lost his boat."
    planned = {(fold.kind, fold.chapter) for fold in await tale.open_folds()}
    assert planned == {(FoldKind.REFOLD, 1), (FoldKind.REFOLD, 2)}


async def test_a_chapter_with_lines_that_are_forgotten_is_folded_again_once_its_way_is_taken_up(store: Store) -> None:
    tale = await begin(store)
    await tale.player("Hello.", by=KAI, name="Kai")
    await tale.reply("Aye.")
    await tale.player("zanzibarquilt", name=NAME)
    await tale.player("Nets.", by=KAI, name="Kai")
    await tale.reply("Aye.")
    await tale.chapter(1, 2, event("Kai came.", 1))
    assert await tale.chapter(3, 5, event("zanzibarquilt and nets", 3, 4))
    branch = await store.rewind(tale.session_id, 2, by=KAI, at=later(50), render=render)
    assert branch

    await forget(store)
    assert await tale.open_folds() == (), "nothing of it is in sight"
    await store.take_up(tale.session_id, branch.id, by=KAI, at=later(70), render=render)

    assert [(fold.kind, fold.chapter) for fold in await tale.open_folds()] == [(FoldKind.REFOLD, 2)]
    assert await tale.statuses() == {1: "active", 2: "forgotten"}


async def test_a_forgotten_memory_is_empty_in_every_version_and_nothing_brings_it_back(store: Store) -> None:
    tale = await played(store)

    await forget(store)

    statuses = await tale.statuses()
    gone = [2, 3, 4, 7, 8, 9, 10]
    assert [number for number, status in statuses.items() if status == "forgotten"] == gone
    empty = select(versions).where(versions.c.number.in_(gone))
    for row in await rows(store, empty):
        assert (row.text, row.speaker, row.addressee, row.actual, row.player_id, row.reason) == (
            "",
            "",
            "",
            "",
            None,
            "",
        )
    assert await tale.refold(1, event("Kai mends nets in winter.", 2))
    assert [number for number, status in (await tale.statuses()).items() if status == "forgotten"] == gone
    assert (await tale.statuses())[1] == "replaced"


async def test_the_chapters_of_emptied_turns_are_to_be_folded_again(store: Store) -> None:
    tale = await played(store)

    await forget(store)

    planned = [(fold.kind, fold.chapter) for fold in await tale.open_folds()]
    assert planned == [(FoldKind.REFOLD, 1)]


async def test_who_only_rewound_a_story_is_not_named_there_any_more(store: Store) -> None:
    tale = await begin(store)
    await tale.player("Hello.", by=KAI, name="Kai")
    await tale.reply()
    assert await store.rewind(tale.session_id, 1, by=MIO, at=later(), render=render)

    await forget(store)

    assert [branch.by for branch in await store.branches(tale.session_id)] == [0]
    assert [turn.raw for turn in await store.turns(tale.session_id, 1, 9)] == ["Hello."]


async def test_a_moderators_corrections_stay_and_are_nobodys(store: Store) -> None:
    tale = await played(store)

    await forget(store)

    history = (await store.histories(tale.session_id, [5]))[5]
    assert [(v.by, v.reason) for v in history if v.by.isdigit()] == [("0", "")]
    assert str(MIO) not in {row.by for row in await rows(store, versions)}
    assert MIO not in {row.decided_by for row in await rows(store, flags)}


async def test_a_fold_that_read_the_old_words_is_not_committed(store: Store) -> None:
    tale = await begin(store)
    await tale.player("zanzibarquilt", name=NAME)
    await tale.player("My boat leaks.", by=KAI, name="Kai")
    await tale.reply()
    of_kai = await tale.revisions(2, 3)
    revisions = await tale.revisions(1, 3)

    await forget(store)

    for first, read in ((1, revisions), (2, of_kai)):
        assert (
            await store.commit_chapter(
                None, tale.session_id, Stretch(first, 3), read, [event("zanzibarquilt", first)], {},
                by="fold", at=later(61), render=render,
            )
            is None
        )  # fmt: skip
    assert await rows(store, memories) == []


async def test_what_a_model_wrote_beside_its_beats_goes_too(store: Store, tmp_path: Path) -> None:
    tale = await begin(store)
    await tale.player("Hello.", name=NAME)
    await tale.player("Hello.", by=KAI, name="Kai")
    turn = await tale.reply(f'{{"beats": [], "note": "{NAME}"}}')
    async with store._database.write() as connection:
        await connection.execute(update(turns).where(turns.c.id == turn.id).values(beats=said("Aye.", "Rin")))

    await forget(store)

    (kept,) = await store.turns(tale.session_id, turn.seq, turn.seq)
    assert (kept.raw, [beat.text for beat in kept.beats]) == ("“Aye.”", ["Aye."])
    assert found_in(tmp_path, NAME) == set()


async def test_a_story_in_which_nobody_else_ever_wrote_goes_whole(store: Store) -> None:
    tale = await begin(store)
    other = await begin(store, channel_id=200, name="Ana")
    await tale.player("zanzibarquilt", name=NAME)
    reply = await tale.reply()
    await retell(tale, reply.id, *said("No.", "Rin"))
    await tale.chapter(1, 2, event("zanzibarquilt", 1), event("Rin nods.", 2))
    await tale.synopsis((1,), _condensed("All of it.", 1, 2))
    await other.player("Hello.", by=KAI, name="Kai")
    await store.record_calls(Call("reply", tale.session_id, "small", 1, 0, 1, "stop", 1, 5, START))
    await speak(tale, "zanzibarquilt", await adopt(store))
    assert await store.rewind(tale.session_id, 2, by=MIO, at=later(), render=render)
    assert await store.add_flag(tale.session_id, 1, by=MIO, why="No.", at=START, since=START, most=9)
    await store.request_fold(tale.session_id, FoldKind.MAJOR, later())
    await accompanied(tale)
    hanging = [table for table in metadata.sorted_tables if "session_id" in table.columns]
    empty = [table for table in hanging if not await rows(store, table)]
    assert empty == [note_sources, trait_sources]

    await forget(store)

    assert [row.id for row in await rows(store, sessions)] == [other.session_id]
    for table in hanging:
        assert {row.session_id for row in await rows(store, table)} <= {other.session_id}, table.name
    for table in (messages, tellings):
        assert await rows(store, select(table).where(table.c.turn_id == reply.id)) == [], table.name
    assert len(await rows(store, characters)) == 3, "the characters are the guild's"


async def test_a_story_in_direct_messages_goes_with_its_character(store: Store) -> None:
    character = await store.add_character(Scope(None, MIO), Card("Vex", "quorvexlantern"), "", START)
    session, _ = await store.start_session(
        Place(None, 900), character.id, "en", ("Hi.", said("Hi.", "Vex"), 3), Head("[] ", 0), START
    )
    kept = await store.add_character(Scope(10, MIO), Card("Rin", "A keeper."), "", START)
    await Tale(store, session.id, 900).player("zanzibarquilt", name=NAME)

    await forget(store)

    assert await rows(store, sessions) == []
    assert [(row.id, row.owner_id) for row in await rows(store, characters)] == [(kept.id, 0)]


async def test_the_wish_not_to_be_remembered_stays(store: Store) -> None:
    tale = await played(store)
    async with store._database.write() as connection:
        await connection.execute(insert(strangers).values(player_id=MIO, at=START))
        await connection.execute(update(acquaintances).where(acquaintances.c.player_id == MIO).values(remembered=False))

    await forget(store)

    assert [row.player_id for row in await rows(store, strangers)] == [MIO]
    known = {row.player_id: (row.name, row.remembered) for row in await rows(store, acquaintances)}
    assert known == {MIO: ("", False), KAI: ("Kai", True)}
    assert tale.session_id


async def test_after_it_a_person_may_play_on_as_somebody_new(store: Store) -> None:
    tale = await played(store)
    await forget(store)

    turn = await tale.player("Hello again.", name=NAME)

    assert (turn.author.name, turn.state) == (NAME, TurnState.KEPT)
    assert await store.forgettings() == ()
    known = {last.session_id: last for last in await store.last_messages()}
    assert known[tale.session_id].since == later() + timedelta(milliseconds=1), "what they wrote is not caught up with"


async def test_what_others_wrote_while_the_bot_was_down_is_still_to_be_heard(store: Store) -> None:
    tale = await begin(store)
    await tale.player("Mio speaks.", name=NAME)
    await tale.player("Hello.", by=KAI, name="Kai")
    quiet = await begin(store, channel_id=200, name="Ana")
    await quiet.player("I am alone here.", by=KAI, name="Kai")

    await store.forget_in_story(tale.session_id, MIO, later(600), render)
    await store.forget_in_story(quiet.session_id, MIO, later(600), render)

    known = {last.session_id: last.since for last in await store.last_messages()}
    assert known == {tale.session_id: later() + timedelta(milliseconds=1), quiet.session_id: START}


STEPS = ("ask", "traits", "story", "person", "finish")


@pytest.mark.parametrize("last", range(len(STEPS)))
async def test_done_again_from_the_beginning_after_any_step_it_ends_the_same(
    store: Store, tmp_path: Path, last: int
) -> None:
    tale = await played(store)
    steps: dict[str, Callable[[], Awaitable[object]]] = {
        "ask": lambda: store.ask_to_forget(MIO, later(60)),
        "traits": lambda: store.forget_traits(MIO),
        "story": lambda: store.forget_in_story(tale.session_id, MIO, later(60), render),
        "person": lambda: store.forget_person(MIO, later(60), asked_at=later(60)),
        "finish": lambda: store.finish_forgetting(MIO),
    }
    for name in STEPS[: last + 1]:
        await steps[name]()
    assert (await rows(store, forgettings) == []) == (STEPS[last] == "finish")

    await forget(store)

    assert found_in(tmp_path, *WORDS, NAME, PERSONA) == set()
    assert await rows(store, forgettings) == []
    assert (await tale.memory(5)).content.text == "Kai mends nets."


async def test_asked_again_before_the_end_it_is_done_again(store: Store) -> None:
    tale = await played(store)
    await store.ask_to_forget(MIO, later(60))
    await store.forget_person(MIO, later(61), asked_at=later(60))
    assert await store.to_empty(MIO) is None

    await store.ask_to_forget(MIO, later(62))

    assert await store.to_empty(MIO) == later(62)
    assert await store.finish_forgetting(MIO)
    assert await store.forgettings() == (MIO,), "a wish is kept until the rows are empty"
    assert tale.session_id


async def test_asked_again_while_it_is_carried_out_the_second_wish_waits(store: Store) -> None:
    await played(store)
    await store.ask_to_forget(MIO, later(60))
    asked_at = await store.to_empty(MIO)
    assert asked_at == later(60)
    await store.ask_to_forget(MIO, later(61))

    await store.forget_person(MIO, later(62), asked_at=asked_at)

    assert await store.to_empty(MIO) == later(61)
    assert await store.finish_forgetting(MIO)
    assert await store.forgettings() == (MIO,)
    await store.forget_person(MIO, later(63), asked_at=later(61))
    assert await store.finish_forgetting(MIO)
    assert await store.forgettings() == ()


async def test_a_transaction_that_breaks_changes_nothing(store: Store) -> None:
    tale = await played(store)
    before = await dump(store)

    def breaks(_: object) -> Head:
        raise RuntimeError("the process ends here")

    with pytest.raises(RuntimeError):
        await store.forget_in_story(tale.session_id, MIO, later(60), breaks)

    assert await dump(store) == before


async def test_another_story_of_the_same_character_loses_its_tails_only(store: Store) -> None:
    tale = await played(store)
    character_id = (await rows(store, select(sessions.c.character_id)))[0].character_id
    session, _ = await store.start_session(Place(100, 300), character_id, "en", None, Head("[] ", 0), START)
    second = Tale(store, session.id, 300)
    await second.player("I am alone here.", by=KAI, name="Kai")
    await answer(second, said("Are you?", "Rin"), tail=f"{NAME}: traitsaffron")
    revisions = await second.revisions(1, 2)

    await forget(store)

    assert {row.tail for row in await rows(store, turns)} == {None}
    assert await second.revisions(1, 2) == revisions
    assert tale.session_id != second.session_id


async def test_in_another_story_of_the_same_character_lines_that_name_the_person_go(store: Store) -> None:
    tale = await played(store)
    character_id = (await rows(store, select(sessions.c.character_id)))[0].character_id
    second, third = [
        Tale(
            store, (await store.start_session(Place(100, c), character_id, "en", None, Head("[] ", 0), START))[0].id, c
        )
        for c in (300, 400)
    ]
    await second.player("Do you know her?", by=KAI, name="Kai")
    named = await second.reply(f"{NAME} is a nurse, yes.")
    await third.player("That is me.", by=KAI, name=NAME)
    of_kai = await third.reply(f"{NAME} is a fisherman, yes.")

    await forget(store)

    left = {row.id: row.raw for row in await rows(store, turns)}
    assert (left[named.id], left[of_kai.id]) == ("", f"{NAME} is a fisherman, yes.")
    assert tale.session_id


async def test_what_others_wrote_to_the_letter_is_no_trace(store: Store) -> None:
    tale = await begin(store)
    for by, name in ((MIO, NAME), (KAI, "Kai")):
        await tale.player("Good morning!", by=by, name=name)
    await tale.player("I am a nurse.", name=NAME)
    greeting = await tale.reply("Good morning! What a sky.")
    await tale.player("So it is.", by=KAI, name="Kai")
    telling = await tale.reply("I am a nurse, says she.")

    await forget(store)

    left = {row.id: row.raw for row in await rows(store, turns)}
    assert (left[greeting.id], left[telling.id]) == ("Good morning! What a sky.", "")


async def test_who_only_decided_reports_has_that_as_data_and_can_be_forgotten(store: Store) -> None:
    tale = await played(store)
    aki = 4242
    assert await store.dismiss_flag(2, by=aki, at=later(9))

    mine = await store.own_data(aki)
    await forget(store, aki)

    decided = {
        "session_id": tale.session_id,
        "number": 5,
        "state": "dismissed",
        "correction": None,
        "decided_at": later(9),
    }
    assert [row.values for row in mine.decisions] == [decided]
    assert (await store.own_data(aki)).decisions == ()
    assert [(row.id, row.decided_by) for row in await rows(store, flags) if row.state == "dismissed"] == [
        (2, 0),
        (3, MIO),
    ]
    assert len(await rows(store, acquaintances)) == 2


async def test_a_guild_that_removed_the_bot_is_deleted_and_no_other(store: Store) -> None:
    tale = await played(store)
    other = await begin(store, channel_id=200, name="Ana")
    await other.player("Hello.", by=KAI, name="Kai")
    async with store._database.write() as connection:
        await connection.execute(update(characters).values(avatar_url="https://a/lamp.png"))
    assert await store.pictures_of_guild(100) == (), "the bot is in it"
    await store.guild_left(100, later(1))
    await store.guild_left(100, later(9))

    assert await store.departed(later(0)) == ()
    assert await store.departed(later(1)) == (100,)
    assert await store.stories_of_guild(100) == (tale.session_id,)
    assert not await store.remove_guild(200), "the bot is in it"
    assert await store.pictures_of_guild(100) == ("https://a/lamp.png",)
    assert await store.pictures_of_guild(200) == ()
    assert await store.remove_story_of(100, tale.session_id)
    assert await store.remove_guild(100)

    assert [row.guild_id for row in await rows(store, characters)] == [200]
    assert [row.guild_id for row in await rows(store, sessions)] == [200]
    assert await rows(store, acquaintances) == []
    assert await rows(store, active_personas) == []
    assert [row.name for row in await rows(store, personas)] == [PERSONA], "a persona is its player's, in every guild"
    assert await store.departed(later(99) + timedelta(days=99)) == ()


async def test_departures_follow_the_guilds_that_the_bot_is_in(store: Store) -> None:
    await begin(store)
    await begin(store, channel_id=200, name="Ana")

    assert await store.reconcile_guilds([100], later(1)) == {200}
    assert await store.reconcile_guilds([100], later(2)) == set(), "the first time counts"
    assert await store.departed(later(1)) == (200,)
    assert await store.reconcile_guilds([100, 200], later(3)) == set()
    assert await store.departed(later(9)) == ()
    await store.guild_left(200, later(4))
    await store.guild_joined(200)
    assert await store.departed(later(9)) == ()


async def test_a_players_own_data_is_theirs_and_whole(store: Store) -> None:
    tale = await played(store)

    mine, of_kai = await store.own_data(MIO), await store.own_data(KAI)

    story = mine.stories[0]
    (smith,) = await rows(store, personas)
    assert [(turn.seq, turn.state, turn.author.persona_id) for turn, _ in story.turns] == [
        (1, TurnState.KEPT, None),
        (9, TurnState.KEPT, smith.id),
        (11, TurnState.ASIDE, smith.id),
    ]
    assert len(story.turns[0][1]) == 1
    assert story.names == (OwnName(NAME, NAME), OwnName(PERSONA, PERSONA, smith.id))
    assert [(persona.name, guild_ids) for persona, guild_ids in mine.personas] == [(PERSONA, (100,))]
    assert [(row.values["session_id"], row.values["at_seq"]) for row in mine.branches] == [(tale.session_id, 10)]
    assert (of_kai.personas, of_kai.branches) == ((), ())
    assert not story.is_alone
    assert {m.number for m in story.memories} == {2, 7, 8, 9, 10}
    assert [row.values["text"] for row in mine.kept[0].notes] == ["notehalcyon"]
    assert mine.kept[0].traits[0].former[0].text == "formerobsidian"
    assert mine.kept[0].waiting == len([row for row in await rows(store, exchanges) if row.acquaintance_id == 1])
    assert [row.values["why"] for row in mine.reports] == ["flagwhisky"]
    assert [row.values["number"] for row in mine.corrections] == [5]
    assert [turn.seq for turn, _ in of_kai.stories[0].turns] == [2, 5, 7, 13]
    assert [row.values["text"] for row in of_kai.kept[0].traits] == ["b"]
    assert MemoryStatus.FORGOTTEN not in {m.status for m in story.memories}
    assert tale.session_id == story.session.id
