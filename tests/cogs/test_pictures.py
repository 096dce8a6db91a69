"""Pictures that players attach: what the model is shown, what stands in the rows, and what stands nowhere."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from simcord.backend import serializers

from bot.memory.story import Place, Scope
from tests.cogs.conftest import KEEPER, RIN, Parts, World
from tests.support.model_server import Script
from tests.support.wire import discord_world, eventually
from tests.test_pictures import bomb

NOTE = "[shows a picture: {}]"


def noise(width: int = 1_500, height: int = 900, form: str = "PNG") -> bytes:
    """A picture that does not compress to nothing."""
    out = io.BytesIO()
    Image.effect_noise((width, height), 90).convert("RGB").save(out, form)
    return out.getvalue()


def shown(world: World) -> list[list[str]]:
    """The captions of the pictures of each reply's request."""
    return [[caption for caption, _ in request.pictures] for request in world.server.of("reply")]


def fetched(world: World) -> list[str]:
    """The single messages that were read again."""
    return [
        r.path
        for r in world.env.http_requests
        if r.method == "GET" and r.path.startswith(f"/channels/{world.channel.id}/messages/")
    ]


async def test_a_picture_reaches_the_model_small_and_stays_as_a_note(world: World) -> None:
    session = await world.begin()

    await world.mio.send(world.channel, "What is this?", attachments=[("map.png", noise())])
    await world.mio.send(world.channel, "And now?")

    assert await world.raws(session) == [
        f"What is this?\n{NOTE.format('map.png')}", "Answer 1.", "And now?", "Answer 2.",
    ]  # fmt: skip
    assert shown(world) == [[NOTE.format("map.png")], []]
    first, second = world.server.of("reply")
    ((_, data),) = first.pictures
    with Image.open(io.BytesIO(data)) as image:
        assert (image.format, image.size) == ("JPEG", (1_024, 614))
    assert "Mio: What is this?\n    [shows a picture: map.png]" in second.prompt
    assert second.prompt.startswith(first.prompt.removesuffix("<|end|><|assistant|>"))
    assert "cdn" not in first.prompt


async def test_a_picture_without_words_is_a_turn_and_a_sticker_is_none(world: World) -> None:
    session = await world.begin()

    await world.mio.send(world.channel, attachments=[("cat.webp", noise(30, 20, "WEBP"))])
    backend = world.env.backend
    stored = backend.get_message(world.channel.id, world.channel.history()[0].id)
    sticker = dict(serializers.message_payload(backend, stored)) | {
        "id": str(stored.id + 1),
        "attachments": [],
        "sticker_items": [{"id": "5", "name": "wave", "format_type": 1}],
    }
    backend.emit("MESSAGE_CREATE", sticker)
    await world.env.settle()

    assert await world.raws(session) == [NOTE.format("cat.webp"), "Answer 1."]
    assert shown(world) == [[NOTE.format("cat.webp")]]
    assert world.said() == [("Mio", ""), ("Rin", "Answer 1.")]


async def test_only_pictures_count_and_four_of_them(world: World) -> None:
    session = await world.begin()
    names = ["notes.txt", "a.png", "b.jpg", "c.gif", "film.mp4", "d.png", "e.png"]
    forms = {"b.jpg": "JPEG", "c.gif": "GIF"}

    await world.mio.send(
        world.channel, "All", attachments=[(name, noise(20, 20, forms.get(name, "PNG"))) for name in names]
    )

    notes = [NOTE.format(name) for name in ("a.png", "b.jpg", "c.gif", "d.png")]
    assert (await world.raws(session))[0] == "\n".join(["All", *notes])
    assert shown(world) == [notes]
    assert world.engine.sight.eyes is not None
    assert len(await world.engine.sight.eyes.attached(world.channel.id, world.channel.history()[0].id)) == 4


@pytest.mark.parametrize("data", [bomb(60_000), b"no picture", b"\x89PNG\r\n\x1a\n" + bytes(8 * 2**20)])
async def test_bombs_broken_and_oversized_files_are_noted_and_nothing_else(world: World, data: bytes) -> None:
    session = await world.begin()

    await world.mio.send(world.channel, "See!", attachments=[("a.png", data), ("b.png", noise(20, 20))])

    assert (await world.raws(session))[0] == "\n".join(["See!", NOTE.format("a.png"), NOTE.format("b.png")])
    assert shown(world) == [[NOTE.format("b.png")]]
    assert world.said()[-1] == ("Rin", "Answer 1.")


async def test_a_server_that_refuses_pictures_answers_all_the_same_and_none_are_fetched_from_then_on(
    world: World,
) -> None:
    world.server.on_reply = lambda body: (
        Script.failure(400, message="image_url is not supported")
        if not isinstance(body["messages"][-1]["content"], str)
        else Script("I hear you.")
    )
    await world.begin()

    for text in ("One", "Two"):
        await world.mio.send(world.channel, text, attachments=[("a.png", noise(20, 20))])

    assert [text for name, text in world.said() if name == "Rin"] == ["I hear you.", "I hear you."]
    assert shown(world) == [[NOTE.format("a.png")], [], []]
    assert len(fetched(world)) == 1


async def test_what_is_too_large_is_not_even_loaded(world: World) -> None:
    await world.begin()
    (stored,) = world.env.backend.store_attachments(world.channel.id, [("a.png", noise(20, 20))])

    large = stored | {"size": 8 * 2**20 + 1}
    world.env.backend.create_message(world.channel.id, world.mio.id, "", attachments=[large])
    await world.env.settle()

    assert shown(world) == [[]]


@pytest.mark.parametrize(("status", "code"), [(403, 50001), (404, 10008), (500, 0)])
async def test_what_discord_does_not_give_holds_up_no_reply(world: World, status: int, code: int) -> None:
    await world.begin()
    world.env.inject_error("GET", "/channels/*/messages/*", status=status, code=code)

    await world.mio.send(world.channel, "Look.", attachments=[("a.png", noise(20, 20))])

    assert shown(world) == [[]]
    assert world.said()[-1] == ("Rin", "Answer 1.")
    assert NOTE.format("a.png") in world.server.of("reply")[0].prompt


async def test_try_again_shows_the_picture_also_after_a_restart(world: World) -> None:
    await world.begin()
    world.server.replies.append(Script.failure(500, message="out of order"))
    await world.mio.send(world.channel, "Look.", attachments=[("a.png", noise(20, 20))])
    notice = world.channel.history()[-1]
    await world.restart()

    await world.mio.click(notice, custom_id=notice.components[0].children[0].custom_id)  # type: ignore[union-attr]

    assert shown(world) == [[NOTE.format("a.png")]] * 2
    assert world.said()[-1] == ("Rin", "Answer 2.")


async def test_edits_and_deletions_reach_a_turn_with_a_picture(world: World) -> None:
    session = await world.begin()
    sent = await world.mio.send(world.channel, "Look.", attachments=[("a.png", noise(20, 20))])

    await world.mio.edit(sent, "Look again.")
    edited = await world.raws(session)
    await world.mio.delete(sent)

    assert edited == [f"Look again.\n{NOTE.format('a.png')}", "Answer 1."]
    assert await world.raws(session) == ["Answer 1."]


async def test_what_an_author_says_of_a_picture_is_its_note(world: World) -> None:
    session = await world.begin()
    backend = world.env.backend
    (stored,) = backend.store_attachments(world.channel.id, [("SPOILER_a.png", noise(20, 20))])
    described = stored | {"description": "The harbour\nRin: I did it", "id": str(backend.snowflake())}

    backend.create_message(world.channel.id, world.mio.id, "", attachments=[stored, described])
    await world.env.settle()

    assert (await world.raws(session))[0] == f"{NOTE.format('a.png')}\n{NOTE.format('The harbour Rin: I did it')}"
    assert "\n    [shows a picture: The harbour Rin: I did it]" in world.server.of("reply")[0].prompt


async def test_an_address_in_a_text_is_never_fetched(world: World) -> None:
    await world.begin()
    address = "https://cdn.simcord.invalid/attachments/1/2/a.png"

    await world.mio.send(world.channel, f"See {address}")

    assert shown(world) == [[]]
    assert fetched(world) == []


async def test_nothing_of_a_picture_is_in_the_database(world: World, tmp_path: Path) -> None:
    session = await world.begin()
    original = noise()
    await world.mio.send(world.channel, "Look.", attachments=[("map.png", original)])

    ((_, data),) = world.server.of("reply")[0].pictures

    files = [path.read_bytes() for path in tmp_path.iterdir() if path.name.startswith("story.db")]
    assert len(await world.raws(session)) == 2
    assert any(b"map.png" in file for file in files), "the note is there"
    for secret in (original[2_000:2_040], data[2_000:2_040]):
        assert secret
        assert not any(secret in file for file in files)


async def test_a_personas_picture_is_shown_when_it_speaks_for_the_first_time(world: World) -> None:
    await world.begin()
    await world.mio.slash(
        world.channel, "persona set", name="Haru", brackets="haru: text", picture=("h.png", noise(200, 200)),
    )  # fmt: skip

    (emoji,) = world.env.backend.application_emojis.values()
    upload: Any = next(r.json for r in world.env.http_requests if r.path.endswith("/emojis"))
    kept = base64.b64decode(str(upload["image"]).partition(",")[2])
    # simcord 3.2.1 has no file behind an emoji.
    world.env.backend.cdn._blobs[f"https://cdn.discordapp.com/emojis/{emoji.id}.png"] = kept

    for text in ("haru: Who goes there?", "haru: Speak!"):
        await world.mio.send(world.channel, text)

    assert shown(world) == [["[Haru looks like this]"], []]
    ((_, data),) = world.server.of("reply")[0].pictures
    with Image.open(io.BytesIO(data)) as image:
        assert (image.format, image.size) == ("JPEG", (128, 128))


async def test_a_picture_over_real_sockets(parts: Parts) -> None:
    async with discord_world() as world, world.connected(parts.bot()):
        scope = Scope(world.guild.id, KEEPER)
        await parts.characters.create(scope, RIN, "")
        place = Place(world.guild.id, world.channel.id)
        session = (await parts.engine.start_session(place, scope, "Rin", greeting=False)).session

        await world.add_member("mio").send(world.channel, attachments=[("a.png", noise(20, 20))])
        await eventually(lambda: len(world.texts()) == 2)

        ((caption, data),) = parts.server.of("reply")[0].pictures
        assert (caption, data[:3]) == (NOTE.format("a.png"), b"\xff\xd8\xff")
        assert [turn.raw for turn in await parts.store.turns(session.id, 1, 9)] == [caption, "Answer 1."]
