"""``/persona``, and players who speak as somebody: what stands in the rows, and what the model reads."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import discord
import pytest
import simcord
from PIL import Image
from simcord.results import InteractionResult

from bot.errors import NotFound, Refused
from bot.memory.personas import Brackets, Persona
from bot.memory.story import Place, Scope
from bot.memory.turns import Turn
from tests.cogs.conftest import RIN, World, told

TUPPERS = {
    "tuppers": [
        {
            "name": "Mio",
            "description": "A ferrywoman.",
            "brackets": ["mio:", ""],
            "avatar_url": "https://example.invalid/a",
        },
        {"name": None, "brackets": ["x:", ""]},
        {"name": "Kai", "brackets": ["[", "]"]},
    ]
}


def picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (30, 20), "teal").save(out, "PNG")
    return out.getvalue()


def page(result: InteractionResult) -> discord.Embed:
    """The embed of the one answer."""
    (embed,) = [e for answer in [result.response, *result.followups] if answer is not None for e in answer.embeds]
    return embed


async def known(world: World) -> tuple[Persona, ...]:
    return (await world.personas.repertoire(world.mio.id, world.guild.id)).personas


async def active(world: World) -> str | None:
    found = (await world.personas.repertoire(world.mio.id, world.guild.id)).active
    return found.name if found else None


def spoken(turns: Sequence[Turn]) -> list[tuple[str, str]]:
    """What players said, by label."""
    return [(turn.author.name, turn.raw) for turn in turns if turn.author.is_player]


async def test_a_persona_is_set_with_its_picture_and_spoken_as(world: World) -> None:
    session = await world.begin()

    result = await world.mio.slash(
        world.channel, "persona set",
        name="Haru", description="A young guard.", brackets="haru: text", picture=("h.png", picture()),
    )  # fmt: skip
    await world.mio.send(world.channel, "Who goes there?")

    (haru,) = await known(world)
    (emoji,) = world.env.backend.application_emojis.values()
    address = f"https://cdn.discordapp.com/emojis/{emoji.id}.png"
    assert haru == Persona(haru.id, world.mio.id, "Haru", "A young guard.", (Brackets("haru:", ""),), address)
    assert result.ephemeral
    assert told(result) == world.bot.catalogue.text("persona-created", name="Haru")
    assert page(result).thumbnail.url == address
    (turn, _) = await world.turns(session)
    assert (turn.author.id, turn.author.persona_id, turn.author.name) == (world.mio.id, haru.id, "Haru")
    assert "Haru: Who goes there?" in world.server.of("reply")[0].prompt


async def test_brackets_speak_as_their_persona_for_one_message_and_an_edit_keeps_it(world: World) -> None:
    session = await world.begin()
    for name, brackets in (("Haru", "haru: text"), ("Kai", "[text]")):
        await world.mio.slash(world.channel, "persona set", name=name, brackets=brackets)
    await world.mio.slash(world.channel, "persona clear")

    sent = await world.mio.send(world.channel, "Haru: hello\nthere")
    await world.mio.send(world.channel, "[good evening]")
    await world.mio.send(world.channel, "Back to me.")
    await world.mio.edit(sent, "haru: farewell")
    await world.mio.edit(sent, "[farewell]")
    bracketed = spoken(await world.turns(session))
    await world.mio.edit(sent, "haru: farewell")

    assert bracketed == [("Haru", "[farewell]"), ("Kai", "good evening"), ("Mio", "Back to me.")]
    assert spoken(await world.turns(session))[0] == ("Haru", "farewell")
    assert "Haru: hello\n    there" in world.server.of("reply")[0].prompt


async def test_an_edit_that_only_repeats_the_message_changes_nothing(world: World) -> None:
    session = await world.begin()
    await world.mio.slash(world.channel, "persona set", name="Haru", brackets="haru: text")
    sent = await world.mio.send(world.channel, "haru: hello")
    before = await world.turns(session)

    await world.mio.edit(sent, "haru:  hello")

    assert await world.turns(session) == before
    assert before[0].revision == 1


async def test_two_players_of_one_name_and_their_personas_are_told_apart(world: World) -> None:
    session = await world.begin()
    twin = world.guild.add_member(world.env.create_user("twin", global_name="Mio"))
    await world.mio.slash(world.channel, "persona set", name="Rin", brackets="r: text")
    await twin.slash(world.channel, "persona set", name="Mio", brackets="m: text")
    for player in (world.mio, twin):
        await player.slash(world.channel, "persona clear")

    for player, text in ((world.mio, "One."), (twin, "Two."), (world.mio, "r: Three."), (twin, "m: Four.")):
        await player.send(world.channel, text)

    said = spoken(await world.turns(session))
    assert said == [("Mio", "One."), ("Mio (2)", "Two."), ("Rin (2)", "Three."), ("Mio (2)", "Four.")]
    assert "Rin (2): Three." in world.server.of("reply")[-1].prompt


async def test_one_persona_after_another_is_used_renamed_and_removed(world: World) -> None:
    session = await world.begin()
    await world.mio.slash(world.channel, "persona set", name="Haru", picture=("h.png", picture()))
    await world.mio.slash(world.channel, "persona set", name="Kai")

    used = await world.mio.slash(world.channel, "persona use", name="haru")
    await world.mio.send(world.channel, "One.")
    renamed = await world.mio.slash(world.channel, "persona set", name="haru", new_name="Hana")
    await world.mio.send(world.channel, "Two.")
    shown = await world.mio.slash(world.channel, "persona show")
    listed = await world.mio.slash(world.channel, "persona list")
    deleted = await world.mio.slash(world.channel, "persona delete", name="Hana")
    await world.mio.send(world.channel, "Three.")

    say = world.bot.catalogue.text
    assert told(used) == say("persona-used", name="Haru")
    assert told(renamed) == say("persona-changed", name="Hana")
    assert page(shown).title == "Hana"
    assert page(listed).description == "▶ **Hana**\n**Kai**"
    assert told(deleted) == say("persona-deleted", name="Hana")
    assert all(result.ephemeral for result in (used, renamed, shown, listed, deleted))
    assert spoken(await world.turns(session)) == [("Haru", "One."), ("Hana", "Two."), ("Mio", "Three.")]
    assert [persona.name for persona in await known(world)] == ["Kai"]
    assert world.env.backend.application_emojis == {}


async def test_a_new_picture_takes_the_place_of_the_old_one(world: World) -> None:
    await world.mio.slash(world.channel, "persona set", name="Haru", picture=("h.png", picture()))
    (old,) = world.env.backend.application_emojis
    await world.mio.slash(world.channel, "persona set", name="Haru", picture=("h.png", picture()))

    (new,) = world.env.backend.application_emojis
    (haru,) = await known(world)
    assert new != old
    assert str(new) in haru.avatar_url


async def test_what_cannot_be_kept_leaves_no_picture_behind(world: World) -> None:
    result = await world.mio.slash(
        world.channel, "persona set", name="Haru", brackets="haru", picture=("h.png", picture())
    )

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("persona-brackets-unclear")
    assert world.env.backend.application_emojis == {}
    assert await known(world) == ()


async def test_without_the_upload_the_persona_is_kept_and_the_person_told(world: World) -> None:
    world.env.inject_error("POST", "/applications/*/emojis", status=500)

    result = await world.mio.slash(world.channel, "persona set", name="Haru", picture=("h.png", picture()))

    (haru,) = await known(world)
    assert haru.avatar_url == ""
    assert world.bot.catalogue.text("persona-without-picture") in told(result)


async def test_personas_are_their_players_alone_in_every_guild(world: World) -> None:
    traveller = world.env.create_user("traveller")
    at_home = world.guild.add_member(traveller)
    other = world.env.create_guild("Other")
    channel = other.create_text_channel("elsewhere")
    abroad = other.add_member(traveller)
    await at_home.slash(world.channel, "persona set", name="Haru")

    stranger = await world.sora.slash(world.channel, "persona show", name="Haru")
    simcord.assert_error(world.env, NotFound)
    here = await abroad.slash(channel, "persona show", name="Haru")
    nobody = await abroad.slash(channel, "persona show")
    simcord.assert_error(world.env, NotFound)
    choices = await at_home.autocomplete(world.channel, "persona use", "name", "ha")

    assert told(stranger) == world.bot.catalogue.text("persona-unknown", name="Haru")
    assert page(here).title == "Haru"
    assert told(nobody) == world.bot.catalogue.text("persona-none")
    assert [choice["value"] for choice in choices] == ["Haru"]
    assert await world.sora.autocomplete(world.channel, "persona use", "name", "") == []


async def test_in_direct_messages_another_persona_may_be_active(world: World) -> None:
    home = world.mio.user.dm_channel
    await world.characters.create(Scope(None, world.mio.id), RIN, "")
    scope = Scope(None, world.mio.id)
    started = await world.engine.start_session(Place(None, home.id), scope, "Rin", greeting=False)
    await world.mio.slash(world.channel, "persona set", name="Haru")

    await world.mio.user.send_dm("One.")
    await world.mio.user.slash("persona set", name="Kai")
    await world.mio.user.send_dm("Two.")

    assert spoken(await world.turns(started.session)) == [("Mio", "One."), ("Kai", "Two.")]
    assert await active(world) == "Haru"


async def test_an_export_is_taken_over_and_each_wrong_entry_named(world: World) -> None:
    session = await world.begin()
    data = json.dumps(TUPPERS).encode()

    result = await world.mio.slash(world.channel, "persona import", file=("tuppers.json", data))
    await world.mio.send(world.channel, "[hello]")

    say = world.bot.catalogue.text
    report = page(result)
    assert result.ephemeral
    assert report.title == say("persona-import-title", program="Tupperbox")
    assert (report.description or "").split("\n") == [
        say("persona-import-done", added=2, updated=0),
        say("persona-import-pictures"),
        "",
        say("persona-import-wrong", count=1),
        f"- {say('persona-entry', number=2)}: {say('persona-wrong-name')}",
    ]
    assert [(p.name, p.description, p.avatar_url) for p in await known(world)] == [
        ("Mio", "A ferrywoman.", ""),
        ("Kai", "", ""),
    ]
    assert await active(world) is None, "an import changes nobody's part"
    assert spoken(await world.turns(session)) == [("Kai", "hello")]
    assert not any("example.invalid" in request.path for request in world.env.http_requests)


async def test_of_an_export_that_is_too_long_the_rest_is_named(world: World) -> None:
    entries = [{"name": f"P{number:03}", "proxy_tags": []} for number in range(102)]

    result = await world.mio.slash(
        world.channel, "persona import", file=("system.json", json.dumps({"members": entries}).encode())
    )
    pages = await world.mio.slash(world.channel, "persona list")

    text = world.bot.catalogue.text("persona-import-full", count=2, names="P100, P101")
    assert text in (page(result).description or "")
    assert len(await known(world)) == 100
    assert (page(pages).description or "").split("\n")[0] == "**P000**"


@pytest.mark.parametrize(
    ("data", "code", "fields"),
    [
        (b'{\n"members": [\n{"name": Mio}]}', "persona-file-broken", {"line": 3, "column": 10}),
        (b"{}", "persona-file-other", {}),
    ],
)
async def test_a_file_that_is_no_export_is_refused_with_the_line(
    world: World, data: bytes, code: str, fields: dict[str, int]
) -> None:
    result = await world.mio.slash(world.channel, "persona import", file=("members.json", data))

    simcord.assert_error(world.env, Refused)
    assert result.ephemeral
    assert told(result) == world.bot.catalogue.text(code, **fields)
    assert await known(world) == ()
