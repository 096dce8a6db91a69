"""Cards as people bring, look at, change and take them along; files are made by our own encoders."""

from __future__ import annotations

import asyncio
import json

import discord
import pytest
import simcord
from simcord.results import InteractionResult, ResponseMessage

from bot.cards.kinds import Kind
from bot.catalogue import Catalogue
from bot.errors import NotAllowed, Refused
from bot.memory.prompt import Card
from bot.memory.story import Character, Scope
from cogs._portraits import keep_portrait
from tests.cards.making import V2, V3, charx, encoded, picture, png_with, text_chunk
from tests.cogs.conftest import KEEPER, RIN, World, told

PNG = png_with(text_chunk("chara", encoded(V2)), text_chunk("ccv3", encoded(V3)))


def answer(result: InteractionResult) -> ResponseMessage:
    """The newest message that answered a command."""
    (newest,) = [*([result.response] if result.response else []), *result.followups][-1:]
    return newest


def embed(result: InteractionResult) -> discord.Embed:
    (found,) = answer(result).embeds
    return found


async def brought(world: World, data: bytes = PNG, name: str = "mio.png") -> InteractionResult:
    return await world.mio.slash(world.channel, "character import", file=(name, data))


async def characters(world: World) -> tuple[Character, ...]:
    return await world.characters.usable(Scope(world.guild.id, world.mio.id))


def restrict(world: World) -> None:
    """Mark the channel as age-restricted, which simcord's builders do not know."""
    channel = world.bot.get_channel(world.channel.id)
    assert isinstance(channel, discord.TextChannel)
    channel.nsfw = True


async def test_a_card_is_imported_with_its_picture_and_what_it_holds_is_told(world: World) -> None:
    result = await brought(world)

    say = world.bot.catalogue.text
    (made,) = await characters(world)
    (emoji,) = world.env.backend.application_emojis.values()
    assert made.card.name == "Mio"
    assert made.card.nickname == "Mi"
    assert made.scope == Scope(world.guild.id, world.mio.id)
    assert made.avatar_url == f"https://cdn.discordapp.com/emojis/{emoji.id}.png"
    assert answer(result).ephemeral
    assert embed(result).title == "Mio"
    assert (embed(result).description or "").splitlines() == [
        say("character-created", name="Mio"),
        "",
        say("character-holds", greetings=3, entries=1),
        "",
        f"**{say('character-creator-notes')}**",
        "Best at night.",
    ]


async def test_what_of_an_archive_is_not_kept_is_told(world: World) -> None:
    result = await brought(world, charx(V3, main=picture(), happy=picture(), sad=picture()), "mio.charx")

    (made,) = await characters(world)
    assert made.avatar_url != ""
    assert world.bot.catalogue.text("character-assets-left-out", count=2) in (embed(result).description or "")


async def test_a_card_without_its_picture_is_better_than_none(world: World) -> None:
    world.env.inject_error("POST", "/applications/*/emojis", status=500)

    result = await brought(world)

    (made,) = await characters(world)
    assert made.avatar_url == ""
    assert world.bot.catalogue.text("character-picture-left-out") in (embed(result).description or "")


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b'{"entries": {}}', "world.json", Kind.WORLD),
        (b'{"temperature": 1}', "preset.json", Kind.PRESET),
        (picture(), "mio.png", Kind.PICTURE),
        (b'{"name": "Mio", "firstMessage": "Hi"}', "mio.json", Kind.CAMEL),
        (b"Once upon a time", "mio.txt", Kind.TEXT),
        (json.dumps({**V2, "data": {}}).encode(), "mio.json", Kind.EMPTY),
        (b"\0" * (25 * 2**20 + 1), "mio.png", Kind.LARGE),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else "",
)
async def test_another_file_is_called_by_its_name_and_makes_no_character(
    world: World, data: bytes, name: str, kind: Kind
) -> None:
    result = await brought(world, data, name)

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text(kind.value)
    assert await characters(world) == ()
    assert world.env.backend.application_emojis == {}


def test_every_kind_of_file_has_its_words() -> None:
    catalogue = Catalogue()

    assert [kind for kind in Kind if kind.value not in catalogue] == []


async def test_a_taken_name_can_be_changed_while_importing(world: World) -> None:
    await brought(world)

    refused = await brought(world)
    simcord.assert_error(world.env, Refused)
    again = await world.mio.slash(world.channel, "character import", file=("mio.png", PNG), name="Nao")

    assert told(refused) == world.bot.catalogue.text("character-name-taken", name="Mio")
    assert embed(again).title == "Nao"
    assert [c.card.name for c in await characters(world)] == ["Mio", "Nao"]
    assert len(world.env.backend.application_emojis) == 2


@pytest.mark.parametrize(("form", "version"), [("json", "v3"), ("png", "v2")])
async def test_a_card_goes_out_as_it_came_in(world: World, form: str, version: str) -> None:
    await brought(world)

    result = await world.mio.slash(world.channel, "character export", name="Mio", format=form, version=version)

    (file,) = answer(result).attachments
    data = await file.read()
    read = await world.characters.read(data, file.filename)
    assert file.filename == f"Mio.{form}"
    assert answer(result).ephemeral
    assert read.spec == version
    assert read.raw["data"] == (V3["data"] if form == "json" else {**read.raw["data"], **V2["data"], **V3["data"]})
    assert (read.picture is not None) is (form == "png")


async def test_only_its_creator_and_moderators_take_a_card_along_or_change_it(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), RIN, "")
    for command in ("export", "edit"):
        refused = await world.mio.slash(world.channel, f"character {command}", name="Rin")

        simcord.assert_error(world.env, NotAllowed)
        assert told(refused) == world.bot.catalogue.text("character-not-yours", name="Rin")
        assert refused.modal is None
    allowed = await world.sora.slash(world.channel, "character export", name="Rin")

    assert [file.filename for file in answer(allowed).attachments] == ["Rin.png"]


async def test_a_card_is_leafed_through(world: World) -> None:
    await brought(world)

    result = await world.mio.slash(world.channel, "character show", name="Mio")
    seen = [embed(result)]
    for _ in range(9):
        forward = answer(result).components[0]["components"][1]
        if forward.get("disabled"):
            break
        await world.mio.click(answer(result), custom_id=forward["custom_id"])
        seen.append(embed(result))

    say = world.bot.catalogue.text
    assert answer(result).ephemeral
    assert [page.title for page in seen] == [
        "Mio",
        *(f"Mio · {say(f'form-character-{part}')}" for part in ("personality", "scenario", "first-message")),
        *(f"Mio · {say('character-greeting', number=number)}" for number in (1, 2)),
        *(f"Mio · {say(f'form-character-{part}')}" for part in ("mes-example", "system-prompt")),
        f"Mio · {say('form-character-post-history-instructions')}",
        f"Mio · {say('character-creator-notes')} (someone)",
    ]
    assert (seen[0].description or "").startswith("{{char}} keeps the lighthouse.")
    assert seen[-1].description == "Best at night."


async def test_a_form_changes_what_it_shows_and_nothing_else(world: World) -> None:
    await brought(world)
    (before,) = await characters(world)

    form = await world.mio.slash(
        world.channel, "character edit", name="Mio", part="how", picture=("new.png", picture()), adult=True
    )
    result = await world.mio.submit_modal(form, {"nickname": "Mimi", "system_prompt": ""})

    (changed,) = await characters(world)
    (emoji,) = world.env.backend.application_emojis.values()
    assert told(result) == world.bot.catalogue.text("character-edited", name="Mio")
    assert (changed.card.nickname, changed.card.system_prompt) == ("Mimi", "")
    assert (changed.card.description, changed.card.book) == (before.card.description, before.card.book)
    assert changed.adult
    assert changed.avatar_url == f"https://cdn.discordapp.com/emojis/{emoji.id}.png" != before.avatar_url


async def test_two_forms_that_are_open_at_once_do_not_undo_each_other(world: World) -> None:
    await brought(world)
    shown = ("name", "description", "personality", "scenario")
    before = {**{field: V3["data"][field] for field in shown}, "first_message": V3["data"]["first_mes"]}
    forms = [await person.slash(world.channel, "character edit", name="Mio") for person in (world.mio, world.sora)]

    await world.mio.submit_modal(forms[0], {**before, "description": "A diver."})
    await world.sora.submit_modal(forms[1], {**before, "personality": "restless"})

    (changed,) = await characters(world)
    assert (changed.card.description, changed.card.personality) == ("A diver.", "restless")
    assert changed.card.first_message == V3["data"]["first_mes"]


async def test_a_text_too_long_for_a_form_stays_and_is_named(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, world.mio.id), Card("Rin", "x" * 4_001, "Hi!"), "")

    form = await world.mio.slash(world.channel, "character edit", name="Rin")
    result = await world.mio.submit_modal(form, {"name": "Nao", "scenario": "A storm."})

    (changed,) = await characters(world)
    say = world.bot.catalogue.text
    assert (changed.card.name, changed.card.scenario, len(changed.card.description)) == ("Nao", "A storm.", 4_001)
    assert say("character-edited-left-out", fields=say("form-character-description")) in told(result)


async def test_who_plays_in_stories_leaves_only_after_a_second_thought(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, world.mio.id), RIN, "")
    session = await world.begin()
    await world.mio.send(world.channel, "Hello?")

    asked = await world.mio.slash(world.channel, "character delete", name="Rin")
    still = await characters(world)
    done = await world.mio.click(answer(asked), label=world.bot.catalogue.text("character-delete-button"))
    await world.mio.send(world.channel, "Are you still there?")

    assert told(asked) == world.bot.catalogue.text("character-delete-sure", name="Rin", stories=1)
    assert answer(asked).ephemeral
    assert [c.card.name for c in still] == ["Rin"]
    assert world.bot.catalogue.text("character-deleted", name="Rin") in told(done)
    assert await characters(world) == ()
    assert await world.engine.running_session(world.channel.id) is None
    assert (await world.engine.readable_session(world.channel.id)).id == session.id
    assert await world.raws(session) == ["Hello?", "Answer 1."]


async def test_the_greetings_of_a_card_are_offered_and_the_chosen_one_opens_the_story(world: World) -> None:
    await brought(world)

    choices = await world.mio.autocomplete(world.channel, "session start", "greeting", "", character="Mio")
    found = await world.mio.autocomplete(world.channel, "session start", "greeting", "灯台", character="Mio")
    nobody = await world.mio.autocomplete(world.channel, "session start", "greeting", "", character="Nobody")
    await world.mio.slash(world.channel, "session start", character="Mio", greeting=found[0]["value"])

    assert [(choice["name"], choice["value"]) for choice in choices] == [
        ("1 · The lamp is lit, Mio.", "0"),
        ("2 · Second", "1"),
        ("3 · Third 灯台", "2"),
        (world.bot.catalogue.text("character-greeting-none"), "none"),
    ]
    assert nobody == []
    assert world.said() == [("Mio", "Third 灯台")]


async def test_a_greeting_that_is_none_of_them_starts_nothing(world: World) -> None:
    await brought(world)
    for greeting in ("7", "Third", "-1"):
        result = await world.mio.slash(world.channel, "session start", character="Mio", greeting=greeting)

        simcord.assert_error(world.env, Refused)
        assert told(result) == world.bot.catalogue.text("character-no-such-greeting", name="Mio")
    assert await world.engine.stories(world.channel.id) == ()


async def test_a_character_for_adults_plays_and_is_shown_in_age_restricted_channels_alone(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), RIN, "", adult=True)

    refused = [
        await world.mio.slash(world.channel, "session start", character="Rin"),
        await world.mio.slash(world.channel, "character show", name="Rin"),
    ]
    simcord.assert_error(world.env, Refused)
    listed = await world.mio.slash(world.channel, "character list")
    restrict(world)
    await world.mio.slash(world.channel, "session start", character="Rin", greeting="none")
    session = await world.engine.running_session(world.channel.id)

    assert {told(result) for result in refused} == {world.bot.catalogue.text("character-adult", name="Rin")}
    assert embed(listed).description == "**Rin** 🔞"
    assert session is not None
    assert embed(await world.mio.slash(world.channel, "character show", name="Rin")).title == "Rin"


async def test_a_thread_is_as_restricted_as_its_channel(world: World) -> None:
    await world.characters.create(Scope(world.guild.id, KEEPER), RIN, "", adult=True)
    world.env.backend.create_thread(world.channel.id, "a side story", world.mio.id)
    thread = world.channel.threads[0]

    refused = await world.mio.slash(thread, "session start", character="Rin")
    simcord.assert_error(world.env, Refused)
    restrict(world)
    await world.mio.slash(thread, "session start", character="Rin", greeting="none")

    assert told(refused) == world.bot.catalogue.text("character-adult", name="Rin")
    assert await world.engine.running_session(thread.id) is not None


async def test_a_person_plays_their_own_for_adults_in_direct_messages(world: World) -> None:
    await world.characters.create(Scope(None, world.mio.id), RIN, "", adult=True)

    await world.mio.user.slash("session start", character="Rin", greeting="none")

    assert await world.engine.running_session(world.mio.user.dm_channel.id) is not None


async def test_a_character_falls_silent_where_it_may_no_longer_be_played(world: World) -> None:
    session = await world.begin()
    await world.mio.send(world.channel, "Hello?")
    await world.characters.change(session.character, {}, adult=True)

    await world.mio.send(world.channel, "And now?")

    refused = world.bot.catalogue.text("character-adult", name="Rin")
    assert [text for _, text in world.said()] == ["Hello?", "Answer 1.", "And now?", refused]
    assert await world.raws(session) == ["Hello?", "Answer 1.", "And now?"]
    restrict(world)
    await world.mio.send(world.channel, "And now?")
    assert await world.raws(session) == ["Hello?", "Answer 1.", "And now?", "And now?", "Answer 2."]


async def test_portraits_and_pictures_are_decoded_one_at_a_time(world: World) -> None:
    async with world.bot.lock("picture", 0):
        keeping = asyncio.create_task(keep_portrait(world.bot, picture(), 1))
        await asyncio.wait({keeping}, timeout=0.3)
        assert not keeping.done()

    assert await keeping
