from __future__ import annotations

import asyncio

import pytest

from bot.errors import Refused
from bot.memory.prompt import Card
from bot.memory.story import Character, Head, Scope
from bot.store import Store
from bot.store.tables import characters
from tests.store.tale import PLACE, SCOPE, START, later, rows

CARD = Card("Élodie", "Keeps a lighthouse.", "Welcome!")


async def test_a_character_comes_back_as_it_was_added(store: Store) -> None:
    added = await store.add_character(SCOPE, CARD, "https://example.com/a.png", START)

    assert added == Character(added.id, SCOPE, CARD, "https://example.com/a.png", START)
    assert await store.characters(SCOPE) == (added,)
    assert await store.character_named(SCOPE, "éLODIE") == added
    assert await store.character_named(SCOPE, "Elodie") is None


async def test_a_name_is_taken_once_in_a_guild_whoever_asks(store: Store) -> None:
    await store.add_character(SCOPE, CARD, "", START)
    with pytest.raises(Refused) as refused:
        await store.add_character(Scope(SCOPE.guild_id, 999), Card("ÉLODIE", "Another."), "", START)

    assert (refused.value.code, refused.value.fields) == ("character-name-taken", {"name": "ÉLODIE"})
    assert len(await rows(store, characters)) == 1


async def test_a_name_is_taken_by_one_of_many_at_once(store: Store) -> None:
    adding = [store.add_character(SCOPE, CARD, "", START) for _ in range(10)]
    results = await asyncio.gather(*adding, return_exceptions=True)

    assert sum(isinstance(result, Character) for result in results) == 1
    assert sum(isinstance(result, Refused) for result in results) == 9


async def test_scopes_do_not_see_each_other(store: Store) -> None:
    scopes = (SCOPE, Scope(11, 20), Scope(None, 20), Scope(None, 21))
    added = [await store.add_character(scope, CARD, "", START) for scope in scopes]

    for scope, character in zip(scopes, added, strict=True):
        assert await store.characters(scope) == (character,)
    with pytest.raises(Refused):
        await store.add_character(Scope(None, 21), CARD, "", START)


async def test_a_removed_character_frees_its_name_and_keeps_its_sessions(store: Store) -> None:
    removed = await store.add_character(SCOPE, CARD, "", START)
    session, _ = await store.start_session(PLACE, removed.id, "en", None, Head("", 0), START)
    await store.remove_character(removed.id, later())

    assert await store.characters(SCOPE) == ()
    assert await store.character_named(SCOPE, CARD.name) is None
    again = await store.add_character(SCOPE, CARD, "", later())
    assert await store.characters(SCOPE) == (again,)
    assert await store.session(session.id) == session
    assert session.character == removed


async def test_a_character_is_in_use_while_a_session_of_it_runs(store: Store) -> None:
    character = await store.add_character(SCOPE, CARD, "", START)
    assert not await store.character_in_use(character.id)
    session, _ = await store.start_session(PLACE, character.id, "en", None, Head("", 0), START)
    assert await store.character_in_use(character.id)
    await store.stop_session(session.id, later())
    assert not await store.character_in_use(character.id)
