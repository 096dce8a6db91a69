from __future__ import annotations

import asyncio
from dataclasses import fields, replace

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from bot.errors import Refused
from bot.memory.lore import LoreBook, LoreEntry, Secondary
from bot.memory.prompt import Card
from bot.memory.story import Character, Head, Scope
from bot.store import Store
from bot.store.migrate import MIGRATIONS
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
    assert not await store.remove_character(removed.id, later(), stop_stories=False)
    assert await store.characters(SCOPE) == (removed,)
    assert await store.remove_character(removed.id, later(), stop_stories=True)

    assert await store.characters(SCOPE) == ()
    assert await store.character_named(SCOPE, CARD.name) is None
    again = await store.add_character(SCOPE, CARD, "", later())
    assert await store.characters(SCOPE) == (again,)
    left = await store.session(session.id)
    assert session.character == removed
    assert left == replace(session, running=False, stopped_at=later(), character=replace(removed, removed=True))
    assert await store.character(removed.id) is None
    assert await store.character(again.id) == again
    with pytest.raises(LookupError):
        await store.change_character(999, CARD, "", document="{}", adult=False)


async def test_the_stories_that_run_with_a_character_are_counted(store: Store) -> None:
    character = await store.add_character(SCOPE, CARD, "", START)
    assert await store.stories_of(character.id) == 0
    session, _ = await store.start_session(PLACE, character.id, "en", None, Head("", 0), START)
    assert await store.stories_of(character.id) == 1
    await store.stop_session(session.id, later())
    assert await store.stories_of(character.id) == 0
    assert await store.remove_character(character.id, later(), stop_stories=False)


BOOK = LoreBook(
    (
        LoreEntry(("lamp", "/li(ght|t)/i"), "Whale oil.\n灯", secondary_keys=("sea",), secondary=Secondary.NOT_ANY),
        LoreEntry((), "Always.", constant=True, before_card=True, order=3, priority=9, scan_depth=0),
        LoreEntry(("fog",), "Grey.", additional_keys=(("a", "b"), ("c",)), exclude_keys=("d",), after=2, every=3),
        LoreEntry((), "", enabled=False),
    ),
    name="Coast",
    scan_depth=7,
    token_budget=300,
    recursive=True,
)
WHOLE = Card(
    "Mio", "Keeps a lighthouse.", "Welcome!", "Mi", "calm", "a storm", "<START>\n{{user}}: hi", "Stay. {{original}}",
    "Be brief.", ("Second", "三つ目"), BOOK,
)  # fmt: skip


async def test_a_whole_card_comes_back_with_its_session_and_its_document_when_it_is_asked_for(store: Store) -> None:
    added = await store.add_character(SCOPE, WHOLE, "", START, document='{"spec": "札"}', adult=True)
    session, _ = await store.start_session(PLACE, added.id, "en", None, Head("", 0), START)

    assert (added.card, added.adult) == (WHOLE, True)
    assert session.character == added
    assert await store.characters(SCOPE) == (added,)
    assert await store.document(added.id) == '{"spec": "札"}'


async def test_every_field_of_a_card_is_written_down(store: Store) -> None:
    """Each field is looked at by another value than its usual one, so that none can be forgotten."""
    entry = LoreEntry(
        ("k",), "c", "n", False, True, 3, 4, True, True, True, ("s",), Secondary.ALL, (("a",),), ("x",), 5, 6, 7, True,
        False, False,
    )  # fmt: skip
    book = LoreBook((entry,), "b", 8, 9, True)
    card = replace(WHOLE, book=book)
    for whole, usual in ((card, Card("", "")), (book, LoreBook(())), (entry, LoreEntry((), ""))):
        assert [f.name for f in fields(whole) if getattr(whole, f.name) == getattr(usual, f.name)] == []

    assert (await store.add_character(SCOPE, card, "", START)).card == card


async def test_a_change_reaches_the_sessions_and_takes_no_name_of_another(store: Store) -> None:
    other = await store.add_character(SCOPE, CARD, "", START)
    added = await store.add_character(SCOPE, WHOLE, "", START, document="{}")
    session, _ = await store.start_session(PLACE, added.id, "en", None, Head("", 0), START)
    with pytest.raises(Refused, match="character-name-taken"):
        await store.change_character(added.id, replace(WHOLE, name="élodie"), "", document="{}", adult=False)
    shorter = replace(WHOLE, description="Left.", book=None)
    changed = await store.change_character(added.id, shorter, "https://example.com/b.png", document="[]", adult=True)

    assert changed == replace(added, card=shorter, avatar_url="https://example.com/b.png", adult=True)
    found = await store.session(session.id)
    assert found is not None
    assert found.character == changed
    assert await store.document(added.id) == "[]"
    assert await store.characters(SCOPE) == (changed, other)


async def test_a_character_from_before_cards_goes_on(url: str) -> None:
    def down(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "0006")

    async with await Store.open(url) as store:
        old = await store.add_character(SCOPE, CARD, "https://example.com/a.png", START)
        session, _ = await store.start_session(PLACE, old.id, "en", None, Head("", 0), START)
        async with store._database.write() as connection:
            await connection.run_sync(down)
            assert "card" not in {row.name for row in await connection.execute(text("PRAGMA table_info(characters)"))}
    async with await Store.open(url) as store:
        assert await store.characters(SCOPE) == (old,)
        found = await store.session(session.id)
        assert found is not None
        assert found.character == old
        assert await store.document(old.id) is None
        changed = await store.change_character(old.id, WHOLE, "", document="{}", adult=False)
        assert changed.card == WHOLE
