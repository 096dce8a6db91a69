"""The bot over real sockets, with discord.py's own HTTP client, rate limiter, gateway and RESUME."""

from __future__ import annotations

import asyncio
import io

import discord
from PIL import Image

from bot.client import KataribeBot
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import TurnState
from bot.store import Call
from tests.cards.making import V3, encoded, png_with, text_chunk
from tests.cogs.conftest import KEEPER, RIN, Parts
from tests.support.model_server import Script
from tests.support.wire import DiscordWorld, discord_world, eventually


async def begin(parts: Parts, world: DiscordWorld) -> Session:
    scope = Scope(world.guild.id, KEEPER)
    await parts.characters.create(scope, RIN, "")
    place = Place(world.guild.id, world.channel.id)
    return (await parts.engine.start_session(place, scope, "Rin", greeting=False)).session


async def raws(parts: Parts, session: Session) -> list[str]:
    return [t.raw for t in await parts.store.turns(session.id, 1, 100) if t.state is TurnState.KEPT]


async def test_typing_is_shown_a_rate_limit_waited_out_and_the_reply_arrives_once(parts: Parts) -> None:
    async with discord_world() as world, world.connected(parts.bot()):
        session = await begin(parts, world)
        gate = asyncio.Event()
        parts.server.replies.append(Script("Answer 1.", hang=gate))
        world.server.rate_limit("POST", "/webhooks/*", retry_after=0.1)

        await world.add_member("mio").send(world.channel, "Hello?")
        await eventually(lambda: world.server.sent("POST", "/channels/*/typing"))
        gate.set()
        await eventually(lambda: len(world.texts()) == 2)

        assert world.texts() == ["Hello?", "Answer 1."]
        assert world.messages()[-1].webhook_id in await parts.engine.own_webhooks()
        assert await raws(parts, session) == ["Hello?", "Answer 1."]


async def test_a_lost_connection_loses_no_message_and_repeats_none(parts: Parts) -> None:
    async with discord_world() as world, world.connected(parts.bot()):
        session = await begin(parts, world)
        mio = world.add_member("mio")
        gate = asyncio.Event()
        parts.server.replies.extend([Script("First.", hang=gate), "Second."])

        await mio.send(world.channel, "One")
        await parts.server.arrived(1)
        await world.server.drop()
        await mio.send(world.channel, "Two")
        gate.set()
        await eventually(lambda: "Second." in world.texts())

        assert sorted(world.texts()) == ["First.", "One", "Second.", "Two"]
        assert sorted(await raws(parts, session)) == ["First.", "One", "Second.", "Two"]


async def test_a_process_that_ends_while_a_reply_is_written_offers_it_again_at_the_next_start(parts: Parts) -> None:
    async with discord_world() as world:
        session = await begin(parts, world)
        mio = world.add_member("mio")
        parts.server.replies.append(Script("Never said.", hang=asyncio.Event()))
        async with world.connected(parts.bot()):
            await mio.send(world.channel, "Hello?")
            await parts.server.arrived(1)

        assert await raws(parts, session) == ["Hello?"]
        assert await parts.store.begin_reply(session.id, parts.clock()) is not None
        async with world.connected(parts.bot()) as bot:
            await eventually(lambda: len(world.texts()) == 2)
            notice = world.channel.history()[-1]
            assert isinstance(bot, KataribeBot)
            assert notice.content == bot.catalogue.text("notice-interrupted")

            await mio.click(notice, custom_id=f"retry:{session.id}")
            await eventually(lambda: world.texts() == ["Hello?", "Answer 2."])


async def test_a_picture_is_fetched_and_kept(parts: Parts) -> None:
    out = io.BytesIO()
    Image.new("RGB", (300, 200), "teal").save(out, "JPEG")
    async with discord_world() as world, world.connected(parts.bot()):
        mio = world.add_member("mio")

        form = await mio.slash(world.channel, "character create", picture=("rin.jpg", out.getvalue()))
        await mio.submit_modal(form, {"name": "Rin", "description": "A ferrywoman."})
        await eventually(lambda: len(world.backend.application_emojis) == 1)
        (emoji,) = world.backend.application_emojis.values()

        async def made() -> str:
            return (await parts.engine.character(Scope(world.guild.id, mio.id), "Rin")).avatar_url

        await eventually(lambda: world.server.sent("POST", "/webhooks/*"))
        assert (await made()).endswith(f"/emojis/{emoji.id}.png")


async def test_a_card_travels_in_and_out_again(parts: Parts) -> None:
    async with discord_world() as world, world.connected(parts.bot()):
        mio = world.add_member("mio")
        await mio.slash(world.channel, "character import", file=("mio.png", png_with(text_chunk("ccv3", encoded(V3)))))
        await eventually(lambda: world.server.sent("POST", "/webhooks/*"))
        (made,) = await parts.characters.usable(Scope(world.guild.id, mio.id))

        await mio.slash(world.channel, "character export", name="Mio", version="v3")
        await eventually(lambda: len(world.server.sent("POST", "/webhooks/*")) == 2)

        (emoji,) = world.backend.application_emojis.values()
        assert made.avatar_url.endswith(f"/emojis/{emoji.id}.png")
        assert world.server.sent("POST", "/webhooks/*")[-1].files == ("Mio.png",)


async def test_the_picture_of_a_story_travels(parts: Parts) -> None:
    async with discord_world() as world, world.connected(parts.bot()):
        session = await begin(parts, world)
        await parts.store.record_calls(
            Call("reply", session.id, "small", 900, 800, 40, "stop", 1, 5, parts.clock(), epoch=0, forced_cuts=0)
        )
        sora = world.add_member("sora", permissions=discord.Permissions(manage_messages=True))

        await sora.slash(world.channel, "memory stats")
        await eventually(lambda: world.server.sent("POST", "/webhooks/*"))

        (sent,) = world.server.sent("POST", "/webhooks/*")
        assert sent.files == ("sawtooth.png",)
        assert sent.json["embeds"][0]["image"]["url"] == "attachment://sawtooth.png"
