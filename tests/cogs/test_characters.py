"""``/character``: forms, pictures, lists."""

from __future__ import annotations

import io
from typing import Any

import simcord
from PIL import Image

from bot.errors import NotAllowed, NotFound, Refused
from bot.memory.prompt import Card
from bot.memory.story import Character, Scope
from tests.cogs.conftest import KEEPER, RIN, World, told

FORM = {"name": "Rin", "description": "A ferrywoman.", "first_message": "“Who is there?”"}


def picture(form: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (300, 200), "teal").save(out, form)
    return out.getvalue()


async def characters(world: World) -> tuple[Character, ...]:
    return await world.characters.usable(Scope(world.guild.id, world.mio.id))


async def test_a_character_is_created_by_a_form(world: World) -> None:
    form = await world.mio.slash(world.channel, "character create")
    result = await world.mio.submit_modal(form, FORM)

    (made,) = await characters(world)
    assert made.card == Card("Rin", "A ferrywoman.", "“Who is there?”")
    assert made.scope == Scope(world.guild.id, world.mio.id)
    assert made.avatar_url == ""
    assert result.ephemeral
    assert told(result) == world.bot.catalogue.text("character-created", name="Rin")


async def test_a_picture_becomes_an_emoji_of_the_application(world: World) -> None:
    form = await world.mio.slash(world.channel, "character create", picture=("rin.png", picture()))
    await world.mio.submit_modal(form, FORM)

    (made,) = await characters(world)
    (emoji,) = world.env.backend.application_emojis.values()
    upload: Any = next(r.json for r in world.env.http_requests if r.path.endswith("/emojis") and r.method == "POST")
    assert made.avatar_url == f"https://cdn.discordapp.com/emojis/{emoji.id}.png"
    assert upload["image"].startswith("data:image/png;base64,")
    assert len(upload["name"]) <= 32


async def test_without_the_upload_the_character_is_created_and_the_person_told(world: World) -> None:
    world.env.inject_error("POST", "/applications/*/emojis", status=500)

    form = await world.mio.slash(world.channel, "character create", picture=("rin.png", picture()))
    result = await world.mio.submit_modal(form, FORM)

    (made,) = await characters(world)
    assert made.avatar_url == ""
    text = world.bot.catalogue.text("character-created-without-picture", name="Rin")
    assert told(result) == text


async def test_a_file_that_is_no_picture_is_refused_in_words(world: World) -> None:
    form = await world.mio.slash(world.channel, "character create", picture=("rin.png", b"no picture"))
    result = await world.mio.submit_modal(form, FORM)

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("picture-unreadable")
    assert await characters(world) == ()
    assert world.env.backend.application_emojis == {}


async def test_too_large_a_picture_is_refused_before_the_form(world: World) -> None:
    result = await world.mio.slash(world.channel, "character create", picture=("rin.png", b"\0" * (8 * 2**20 + 1)))

    simcord.assert_error(world.env, Refused)
    assert result.modal is None
    assert told(result) == world.bot.catalogue.text("picture-too-large")


async def test_a_taken_name_leaves_no_picture_behind(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), RIN, "")

    form = await world.mio.slash(world.channel, "character create", picture=("rin.webp", picture("WEBP")))
    result = await world.mio.submit_modal(form, FORM)

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("character-name-taken", name="Rin")
    assert world.env.backend.application_emojis == {}
    assert len(await characters(world)) == 1


async def test_the_list_and_a_card_are_shown_to_the_person_alone(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), RIN, "https://cdn.discordapp.com/emojis/77.png")

    listed = await world.mio.slash(world.channel, "character list")
    shown = await world.mio.slash(world.channel, "character show", name="Rin")

    assert listed.response is not None
    assert shown.response is not None
    assert listed.ephemeral
    assert shown.ephemeral
    assert listed.response.embeds[0].description == "**Rin** A ferrywoman who guards a secret."
    say = world.bot.catalogue.text
    (card,) = shown.response.embeds
    assert card.title == "Rin"
    assert card.description == f"{RIN.description}\n\n{say('character-holds', greetings=1, entries=0)}"
    assert card.thumbnail.url == "https://cdn.discordapp.com/emojis/77.png"
    forward = shown.response.components[0]["components"][1]["custom_id"]
    await world.mio.click(shown.response, custom_id=forward)
    assert shown.response.embeds[0].description == RIN.first_message


async def test_an_empty_list_shows_the_way(world: World) -> None:
    result = await world.mio.slash(world.channel, "character list")

    assert result.response is not None
    assert "/character create" in (result.response.embeds[0].description or "")


async def test_names_are_offered_as_one_types(world: World) -> None:
    for name in ("Rin", "Marin", "Yuki"):
        await world.characters.create(Scope(world.guild.id, KEEPER), Card(name, ""), "")

    choices = await world.mio.autocomplete(world.channel, "character show", "name", "rin")

    assert sorted(choice["value"] for choice in choices) == ["Marin", "Rin"]


async def test_a_character_leaves_with_its_picture(world: World) -> None:
    form = await world.mio.slash(world.channel, "character create", picture=("rin.png", picture()))
    await world.mio.submit_modal(form, FORM)

    result = await world.mio.slash(world.channel, "character delete", name="Rin")

    assert told(result) == world.bot.catalogue.text("character-deleted", name="Rin")
    assert await characters(world) == ()
    assert world.env.backend.application_emojis == {}


async def test_only_its_creator_and_moderators_remove_a_character(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), RIN, "")

    refused = await world.mio.slash(world.channel, "character delete", name="Rin")
    simcord.assert_error(world.env, NotAllowed)
    still_there = await characters(world)
    await world.sora.slash(world.channel, "character delete", name="Rin")

    assert told(refused) == world.bot.catalogue.text("character-not-yours", name="Rin")
    assert len(still_there) == 1
    assert await characters(world) == ()


async def test_another_guild_knows_nothing_of_a_character(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), RIN, "")
    other = world.env.create_guild("Other")
    channel = other.create_text_channel("elsewhere")
    stranger = other.add_member(world.env.create_user("stranger"))

    result = await stranger.slash(channel, "character show", name="Rin")

    simcord.assert_error(world.env, NotFound)
    assert told(result) == world.bot.catalogue.text("character-unknown", name="Rin")
