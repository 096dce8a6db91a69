"""The use cases of who brings characters, on a real store and in a real story."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.cards.card import CardFields, created
from bot.characters import CardFile, Characters, Written
from bot.errors import NotAllowed, NotFound, Refused
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope
from bot.memory.turns import Author, AuthorKind
from tests.cards.making import V1, V2, V3, encoded, packed_chunk, png_with, text_chunk
from tests.support.model_server import ModelServer
from tests.support.scene import ALEX, CHANNEL, MIO, Scene, open_scene

SCOPE = Scope(1, 9)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def scene(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "k.db") as opened:
        yield opened


@pytest.fixture
def characters(scene: Scene) -> Characters:
    return scene.core.characters


def bytes_of(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


async def brought(characters: Characters, document: dict[str, Any]) -> CardFile:
    return await characters.read(bytes_of(document), "mio.json")


async def test_characters_are_unique_by_name_and_guarded(scene: Scene, characters: Characters) -> None:
    with pytest.raises(Refused, match="character-name-taken"):
        await characters.create(SCOPE, Card("RIN", ""), "")
    with pytest.raises(Refused, match="character-name-empty"):
        await characters.create(SCOPE, Card(" \u202e", "x"), "")
    with pytest.raises(NotAllowed, match="character-not-yours"):
        await characters.owned(SCOPE, "Rin", by=MIO, is_moderator=False)
    rin = await characters.owned(SCOPE, "rin", by=MIO, is_moderator=True)
    assert rin == await characters.owned(SCOPE, "Rin", by=9, is_moderator=False)
    with pytest.raises(Refused, match="character-in-use"):
        await characters.remove(rin)
    await scene.core.engine.stop_session(CHANNEL)
    await characters.remove(rin)
    assert await characters.usable(SCOPE) == ()
    assert (await scene.core.engine.readable_session(CHANNEL)).character.card.name == "Rin"
    with pytest.raises(NotFound, match="character-unknown"):
        await characters.named(SCOPE, "Rin")


async def test_a_removed_characters_stories_stop_and_cannot_go_on(scene: Scene, characters: Characters) -> None:
    await scene.exchange("Hello?", '"Aye."')
    await characters.remove(await characters.named(SCOPE, "Rin"), stop_stories=True)

    assert await scene.core.engine.running_session(CHANNEL) is None
    session = await scene.core.engine.readable_session(CHANNEL)
    assert [turn.raw for turn in await scene.core.store.turns(session.id, 1, 99)][-2:] == ["Hello?", '"Aye."']
    with pytest.raises(Refused, match="session-character-gone"):
        await scene.core.engine.resume_session(CHANNEL, session.id)


@pytest.mark.parametrize("document", [V1, V2, V3], ids=["V1", "V2", "V3"])
async def test_everything_in_a_card_comes_out_again(characters: Characters, document: dict[str, Any]) -> None:
    character = await characters.add(SCOPE, await brought(characters, document), "")
    spec: Written = "v3" if document is V3 else "v2"
    out = json.loads(await characters.written(character, "json", spec, None))

    if document is V1:
        assert {key: out["data"][key] for key in V1} == V1
    else:
        assert out == document
    assert (await characters.sheet(character)).fields == (await brought(characters, document)).card


async def test_a_card_is_told_to_the_model_and_its_creators_notes_are_not(
    server: ModelServer, characters: Characters, scene: Scene
) -> None:
    await characters.add(SCOPE, await brought(characters, V3), "")
    await scene.core.engine.stop_session(CHANNEL)
    started = await scene.core.engine.start_session(
        Place(1, CHANNEL), SCOPE, "Mio", greeting=True, number=2, player=author("Alex: the")
    )
    await scene.hear("Hello?")
    await scene.core.engine.reply(started.session.id)

    assert started.greeting is not None
    assert started.greeting.turn.raw == "Third 灯台"
    prompt = server.of("reply")[-1].prompt
    for part in ("Mi keeps the lighthouse.", "calm", "a storm", "Mi: hello", "Stay in character.", "Be brief."):
        assert part in prompt
    assert "Best at night." not in prompt
    assert "夜に" not in prompt
    assert "{{" not in prompt.replace('{"beats": [{"kind"', "")


async def test_a_greeting_is_said_to_the_player_who_begins(characters: Characters, scene: Scene) -> None:
    await characters.add(SCOPE, await brought(characters, V2), "")
    await scene.core.engine.stop_session(CHANNEL)
    place = Place(1, CHANNEL)
    with pytest.raises(Refused, match="character-no-such-greeting"):
        await scene.core.engine.start_session(place, SCOPE, "Mio", greeting=True, number=3)
    started = await scene.core.engine.start_session(place, SCOPE, "Mio", greeting=True, player=author("Alex\nKen: hi"))

    assert started.greeting is not None
    assert started.greeting.turn.raw == "The lamp is lit, Alex Ken hi."


async def test_who_was_greeted_by_name_and_never_wrote_can_be_forgotten_too(
    characters: Characters, scene: Scene
) -> None:
    card = CardFields("Mio", first_message="*She looks up.* “The lamp is lit, {{user}}.”")
    await characters.add(SCOPE, created(card), "")
    await scene.core.engine.stop_session(CHANNEL)
    place = Place(1, CHANNEL)
    started = await scene.core.engine.start_session(place, SCOPE, "Mio", greeting=True, player=author("Alexa"))
    await scene.hear("Hello.", by=MIO, name="Mio")

    await scene.core.privacy.forget(ALEX)
    await scene.core.privacy.run_due()

    greeting = await scene.core.store.turns(started.session.id, 1, 1)
    assert [turn.raw for turn in greeting] == ["*She looks up.*"]


def author(name: str) -> Author:
    return Author(AuthorKind.PLAYER, ALEX, name)


async def test_a_change_keeps_what_the_form_does_not_know(characters: Characters) -> None:
    document = {**V2, "data": {**V2["data"], "name": "Mio: keeper of the very last lighthouse on the coast"}}
    character = await characters.add(SCOPE, await brought(characters, document), "")
    texts = {"name": character.card.name, "description": "New.", "system_prompt": ""}
    changed = await characters.change(character, texts, avatar_url="https://example.com/a.png")
    out = json.loads(await characters.written(changed, "json", "v2", None))

    assert changed.card == replace(character.card, description="New.", system_prompt="")
    assert changed.avatar_url == "https://example.com/a.png"
    assert out == {**document, "data": {**document["data"], "description": "New.", "system_prompt": ""}}
    renamed = await characters.change(changed, {"name": "Nao"}, adult=True)
    assert (renamed.card.name, renamed.adult) == ("Nao", True)
    assert json.loads(await characters.written(renamed, "json", "v2", None))["data"]["name"] == "Nao"
    await characters.remove(renamed)
    with pytest.raises(NotFound, match="character-unknown"):
        await characters.change(renamed, {"description": "Too late."})


async def test_changes_at_the_same_moment_are_all_kept(characters: Characters) -> None:
    character = await characters.add(SCOPE, await brought(characters, V2), "")
    parts = ("description", "personality", "scenario", "mes_example", "creator_notes")
    await asyncio.gather(*(characters.change(character, {part: f"New {part}."}) for part in parts))
    sheet = await characters.sheet(await characters.named(SCOPE, "Mio"))

    assert [getattr(sheet.fields, part) for part in parts] == [f"New {part}." for part in parts]
    assert sheet.character.card.scenario == "New scenario."
    await asyncio.gather(
        characters.change(character, {"name": "Nao"}),
        characters.change(character, {}, adult=True),
        characters.change(character, {}, avatar_url="https://example.com/a.png"),
    )
    both = await characters.named(SCOPE, "Nao")
    assert (both.adult, both.avatar_url) == (True, "https://example.com/a.png")


async def test_a_character_from_before_cards_is_shown_changed_and_exported(
    scene: Scene, characters: Characters
) -> None:
    old = await scene.core.store.add_character(SCOPE, Card("Yuki", "A friend.", "Hi!"), "", scene.clock())
    sheet = await characters.sheet(old)
    changed = await characters.change(old, {"scenario": "A hill."})
    data = json.loads(await characters.written(changed, "json", "v3", None))["data"]

    assert sheet.fields == CardFields("Yuki", "A friend.", first_message="Hi!")
    assert (data["name"], data["first_mes"], data["scenario"]) == ("Yuki", "Hi!", "A hill.")


@pytest.mark.parametrize(("tags", "adult"), [(["sea", "NSFW"], True), (["成人向け"], True), (["sea"], False)])
async def test_a_card_for_adults_is_known_by_its_tags(characters: Characters, tags: list[str], adult: bool) -> None:
    document = {**V2, "data": {**V2["data"], "tags": tags}}

    assert (await characters.add(SCOPE, await brought(characters, document), "")).adult is adult


async def test_a_character_for_adults_stays_among_them(scene: Scene, characters: Characters) -> None:
    engine, place = scene.core.engine, Place(1, CHANNEL)
    await engine.stop_session(CHANNEL)
    await characters.create(SCOPE, Card("Ren", "A dealer."), "", adult=True)
    with pytest.raises(Refused, match="character-adult"):
        await engine.start_session(place, SCOPE, "Ren", greeting=False)
    session = (await engine.start_session(place, SCOPE, "Ren", greeting=False, for_adults=True)).session
    await engine.stop_session(CHANNEL)
    with pytest.raises(Refused, match="character-adult"):
        await engine.resume_session(CHANNEL, session.id)
    assert (await engine.resume_session(CHANNEL, session.id, for_adults=True)).id == session.id


async def test_a_card_that_leaves_no_room_for_a_story_is_refused_before_it_begins(
    scene: Scene, characters: Characters
) -> None:
    await scene.core.engine.stop_session(CHANNEL)
    await characters.create(SCOPE, Card("Epic", "A long, long tale. " * 20_000), "")
    with pytest.raises(Refused, match="character-too-long"):
        await scene.core.engine.start_session(Place(1, CHANNEL), SCOPE, "Epic", greeting=False)

    assert await scene.core.engine.running_session(CHANNEL) is None


async def test_a_card_that_says_too_much_is_not_kept(characters: Characters) -> None:
    entry = {"keys": ["lamp"], "content": "x" * 400_000}
    document = {**V2, "data": {**V2["data"], "character_book": {"entries": [entry] * 10}}}
    with pytest.raises(Refused, match="card-says-too-much"):
        await characters.add(SCOPE, await brought(characters, document), "")

    assert await characters.names(SCOPE) == ("Rin",)


ODD: dict[str, Any] = {**V2, "data": {**V2["data"], "character_book": None, "alternate_greetings": "Only one."}}


@pytest.mark.parametrize(
    "data",
    [bytes_of(ODD), png_with(packed_chunk("Chara", encoded(ODD))), png_with(text_chunk("CHARA", encoded(ODD)))],
    ids=["JSON", "zTXt", "tEXt"],
)
async def test_card_oddities_a_packed_chunk_no_book_and_a_greeting_that_is_a_string(
    characters: Characters, scene: Scene, data: bytes
) -> None:
    file = await characters.read(data, "mio.png")
    character = await characters.add(SCOPE, file, "")
    await scene.core.engine.stop_session(CHANNEL)
    started = await scene.core.engine.start_session(Place(1, CHANNEL), SCOPE, "Mio", greeting=True, number=1)

    assert character.card.book is None
    assert character.card.greetings == ("The lamp is lit, {{user}}.", "Only one.")
    assert started.greeting is not None
    assert started.greeting.text == "Only one."


@pytest.mark.parametrize("decorator", ["additional_keys", "exclude_keys"])
async def test_keys_of_decorators_count_as_what_a_card_says(characters: Characters, decorator: str) -> None:
    keys = ",".join(f"{number:0500}" for number in range(200))
    entry = {"keys": ["lamp"], "content": f"@@{decorator} {keys}\n" * 20 + "The lamp."}
    document = {**V2, "data": {**V2["data"], "character_book": {"entries": [entry] * 3}}}
    with pytest.raises(Refused, match="card-says-too-much"):
        await characters.add(SCOPE, await brought(characters, document), "")


async def test_of_an_entrys_decorators_only_the_first_are_followed(characters: Characters) -> None:
    lines = "".join(f"@@additional_keys k{number}\n" for number in range(50))
    entry = {"keys": ["lamp"], "content": f"{lines}The lamp."}
    document = {**V2, "data": {**V2["data"], "character_book": {"entries": [entry]}}}
    book = (await characters.add(SCOPE, await brought(characters, document), "")).card.book

    assert book is not None
    assert book.entries[0].additional_keys == tuple((f"k{number}",) for number in range(20))
    assert book.entries[0].content == "The lamp."


@pytest.mark.parametrize(("nickname", "told"), [("n" * 100_000, "n" * 32), ("Mi:\nKen", "Mi Ken"), (" \u202e", "")])
async def test_a_nickname_is_a_line_of_a_name(characters: Characters, nickname: str, told: str) -> None:
    document = {**V3, "data": {**V3["data"], "nickname": nickname}}
    character = await characters.add(SCOPE, await brought(characters, document), "")

    assert character.card.nickname == told
    assert json.loads(await characters.written(character, "json", "v3", None))["data"]["nickname"] == nickname


async def test_a_card_that_says_so_stays_for_adults(characters: Characters) -> None:
    document = {**V2, "data": {**V2["data"], "tags": ["sea", "NSFW"]}}
    character = await characters.add(SCOPE, await brought(characters, document), "")

    assert (await characters.change(character, {}, adult=False)).adult
    assert (await characters.named(SCOPE, "Mio")).adult


@pytest.mark.parametrize("name", ["Alexa", "ＡＬＥＸＡ", "Aya"])
async def test_a_character_does_not_take_the_name_of_somebody_who_plays_with_it(
    scene: Scene, characters: Characters, name: str
) -> None:
    await scene.core.personas.save(MIO, 1, "Aya")
    await scene.hear("Hello.")
    await scene.hear("Hello.", by=ALEX, name="Alexa")
    rin = await characters.named(SCOPE, "Rin")
    with pytest.raises(Refused, match="character-name-of-player"):
        await characters.change(rin, {"name": name})

    assert await characters.names(SCOPE) == ("Rin",)
    assert (await characters.change(rin, {"name": "Nao", "description": "New."})).card.name == "Nao"


async def test_lore_waits_for_its_number_of_replies(characters: Characters, scene: Scene) -> None:
    entries = [
        {"keys": ["door"], "content": "@@activate_only_after 2\nBehind the door lies a crown."},
        {"keys": ["door"], "content": "@@activate_only_every 2\nThe door creaks."},
    ]
    document = {**V2, "data": {**V2["data"], "character_book": {"entries": entries}}}
    await characters.add(SCOPE, await brought(characters, document), "")
    await scene.core.engine.stop_session(CHANNEL)
    started = await scene.core.engine.start_session(Place(1, CHANNEL), SCOPE, "Mio", greeting=True)
    scene.session = started.session
    for number in range(3):
        reply = await scene.exchange(f"The door, {number}!")
    told = [[line in prompt for line in ("a crown", "creaks")] for prompt in scene.prompts()]
    scene.server.replies.append('"Otherwise."')
    await scene.core.engine.retell(started.session.id, reply.turn.id)

    assert told == [[False, False], [True, True], [True, True]]
    assert scene.prompts()[-1] == scene.prompts()[-2]
    assert scene.prompts()[2].count("creaks") == 1
