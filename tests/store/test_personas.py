from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select

from bot.errors import Refused
from bot.memory.personas import Brackets, Change, Draft, Persona, Repertoire
from bot.memory.turns import Turn
from bot.store import Store
from bot.store.people_tables import active_personas, persona_labels, personas
from bot.store.personas import Imported, Saved, forget_personas, own_personas
from bot.store.tables import turns
from tests.store.tale import KAI, MIO, Tale, begin, never, rows, said

GUILD, OTHER = 10, 11
TAGS = (Brackets("mio:", ""), Brackets("「", "」"))


async def save(store: Store, name: str, *, by: int = MIO, guild: int | None = GUILD, most: int = 100) -> Persona:
    return (await store.save_persona(by, guild, Change(name), most=most)).now


async def speak(tale: Tale, name: str, persona: Persona | None, *, by: int = MIO) -> Turn:
    message = replace(tale.message("Hello.", by=by, name=name), persona_id=persona.id if persona else None)
    turn = await tale.store.add_player_turn(tale.session_id, message, said("Hello."), 10, never())
    assert turn is not None
    return turn


async def test_a_persona_comes_back_as_it_was_saved_and_is_active_there(store: Store) -> None:
    saved = await store.save_persona(MIO, GUILD, Change("Élodie", None, "Tall.", TAGS, "https://a/1.png"), most=3)

    mine = Persona(saved.now.id, MIO, "Élodie", "Tall.", TAGS, "https://a/1.png")
    assert saved == Saved(None, mine)
    assert await store.repertoire(MIO, GUILD) == Repertoire((mine,), mine)
    assert await store.repertoire(MIO, OTHER) == await store.repertoire(MIO, None) == Repertoire((mine,))
    assert await store.repertoire(KAI, GUILD) == Repertoire()
    assert await store.persona(mine.id) == mine
    assert await store.personas({mine.id, 999}) == {mine.id: mine}
    assert await store.personas(()) == {}


async def test_a_change_touches_only_what_it_names(store: Store) -> None:
    first = (await store.save_persona(MIO, GUILD, Change("Mio", None, "Tall.", TAGS, "https://a/1.png"), most=3)).now

    changed = await store.save_persona(MIO, OTHER, Change("MIO", "Mia", description="Short."), most=1)
    without = await store.save_persona(MIO, OTHER, Change("mia", brackets=()), most=1)

    assert changed == Saved(first, replace(first, name="Mia", description="Short."))
    assert without.now == replace(changed.now, brackets=())
    assert (await store.repertoire(MIO, OTHER)).active == without.now
    assert len(await rows(store, personas)) == 1


async def test_a_name_is_one_personas_among_those_of_a_player(store: Store) -> None:
    mio, kai = await save(store, "Mio"), await save(store, "Kai")
    await save(store, "Mio", by=KAI)

    with pytest.raises(Refused) as refused:
        await store.save_persona(MIO, GUILD, Change("Kai", "mio"), most=9)

    assert (refused.value.code, refused.value.fields) == ("persona-name-taken", {"name": "mio"})
    assert await store.repertoire(MIO, GUILD) == Repertoire((mio, kai), kai)


async def test_of_many_at_once_no_more_are_added_than_may_be(store: Store) -> None:
    saving = [store.save_persona(MIO, GUILD, Change(f"P{number}"), most=3) for number in range(6)]
    results = await asyncio.gather(*saving, return_exceptions=True)

    refused = [result for result in results if isinstance(result, Refused)]
    assert [error.code for error in refused] == ["persona-limit"] * 3
    assert len(await rows(store, personas)) == 3


async def test_which_one_is_active_is_a_matter_of_each_guild(store: Store) -> None:
    mio, kai = await save(store, "Mio", guild=None), await save(store, "Kai")
    await store.activate_persona(MIO, OTHER, mio.id)
    await store.activate_persona(MIO, GUILD, None)

    active = [(await store.repertoire(MIO, guild)).active for guild in (GUILD, OTHER, None)]
    assert active == [None, mio, mio]
    with pytest.raises(LookupError):
        await store.activate_persona(KAI, GUILD, kai.id)


async def test_a_removed_persona_leaves_its_turns_and_its_id_is_not_given_again(tale: Tale) -> None:
    mio = await save(tale.store, "Mio")
    turn = await speak(tale, "Mio", mio)

    await tale.store.remove_persona(mio.id)
    again = await save(tale.store, "Mio")

    assert again.id != mio.id
    assert (await tale.store.turns(tale.session_id, 1, 9)) == (turn,)
    assert turn.author.persona_id == mio.id
    assert (await speak(tale, "Mio", again)).author.name == "Mio (2)"


async def test_an_import_adds_renews_and_leaves_out(store: Store) -> None:
    await store.save_persona(MIO, GUILD, Change("Mio", None, "Tall.", TAGS, "https://a/1.png"), most=9)
    await store.save_persona(MIO, GUILD, Change("Kai", None, "A thief."), most=9)
    new = (Brackets("[", "]"),)
    drafts = [Draft("mio", "", new), Draft("Rio", "Fast.", new), Draft("Kai", "A guard."), Draft("Leo")]

    done = await store.import_personas(MIO, drafts, most=3)

    assert done == Imported(("Rio",), ("mio", "Kai"), ("Leo",))
    known = (await store.repertoire(MIO, GUILD)).personas
    assert [(p.name, p.description, p.brackets, p.avatar_url) for p in known] == [
        ("Mio", "Tall.", new, "https://a/1.png"),
        ("Kai", "A guard.", (), ""),
        ("Rio", "Fast.", new, ""),
    ]


async def test_the_personas_of_a_story_are_told_apart_by_their_labels(tale: Tale) -> None:
    store = tale.store
    mio, rin = await save(store, "Mio"), await save(store, "Rin")
    mio_of_kai = await save(store, "Mio", by=KAI)
    told: list[tuple[str, Persona | None, int]] = [
        ("Alex", None, MIO),
        ("Alex", None, KAI),
        ("Mio", mio, MIO),
        ("Mio", mio_of_kai, KAI),
        # The character's name.
        ("Rin", rin, MIO),
        # A persona may be called as its own player (Kai is the second Alex), but not as another, nor as a sister.
        ("Alex", rin, MIO),
        ("alex", mio_of_kai, KAI),
        ("Mio", rin, MIO),
        # A player renamed to the name of somebody's persona, and of one of their own.
        ("Mio", None, 1003),
        ("Mio", None, MIO),
        ("Mio", mio, MIO),
    ]

    turns_told = [await speak(tale, name, persona, by=by) for name, persona, by in told]

    assert [turn.author.name for turn in turns_told] == [
        "Alex", "Alex (2)", "Mio", "Mio (2)", "Rin (2)", "Alex", "alex (2)", "Mio (3)", "Mio (4)", "Mio", "Mio",
    ]  # fmt: skip
    assert [turn.author.voice for turn in turns_told] == [(by, p.id if p else None) for _, p, by in told]
    assert all(turn.beats[0].speaker == turn.author.name for turn in turns_told)


async def test_labels_of_personas_in_another_story_do_not_count(tale: Tale) -> None:
    mio = await save(tale.store, "Mio", by=KAI)
    await speak(tale, "Mio", mio, by=KAI)

    assert (await speak(await begin(tale.store, channel_id=200), "Mio", None)).author.name == "Mio"


async def test_what_is_known_of_a_players_personas_is_handed_out_and_forgotten(tale: Tale) -> None:
    store = tale.store
    mio = (await store.save_persona(MIO, None, Change("Mio", None, "Tall.", TAGS, "https://a/1.png"), most=9)).now
    await store.activate_persona(MIO, GUILD, mio.id)
    spare = await save(store, "Spare", guild=OTHER)
    kais = await save(store, "Kai", by=KAI)
    for persona, by in ((mio, MIO), (kais, KAI)):
        await speak(tale, persona.name, persona, by=by)

    async with store._database.write() as connection:
        mine = await own_personas(connection, MIO)
        await forget_personas(connection, MIO)

    assert dict(mine) == {mio: (None, GUILD), spare: (OTHER,)}
    for table in (personas, active_personas, persona_labels):
        assert {row.player_id for row in await rows(store, table)} == {KAI}
    spoken_as = await rows(store, select(turns.c.author_name, turns.c.persona_id).order_by(turns.c.seq))
    assert [tuple(row) for row in spoken_as] == [("Mio", None), ("Kai", kais.id)]
