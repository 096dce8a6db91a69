"""The simulated Discord on the wire, as discord.py sees it."""

from __future__ import annotations

import asyncio
import io

import discord
import pytest
from discord import app_commands
from simcord import ResponseMessage

from tests.support.stub_bot import StubBot
from tests.support.wire import DiscordWorld, discord_world, eventually


class Listener(discord.Client):
    """Notes every message that it gets."""

    def __init__(self, intents: discord.Intents | None = None) -> None:
        super().__init__(intents=intents or discord.Intents.all())
        self.heard: list[str] = []

    async def on_message(self, message: discord.Message) -> None:
        self.heard.append(message.content)


def text_channel(client: discord.Client, world: DiscordWorld) -> discord.TextChannel:
    channel = client.get_channel(world.channel.id)
    assert isinstance(channel, discord.TextChannel)
    return channel


async def test_a_bot_logs_in_and_knows_the_guild_and_its_members() -> None:
    async with discord_world() as world:
        alice = world.add_member("alice", permissions=discord.Permissions(manage_messages=True))
        async with world.connected(Listener()) as client:
            guild = client.get_guild(world.guild.id)
            assert guild is not None
            member = guild.get_member(alice.id)
            assert member is not None
            assert member.display_name == "Alice"
            assert text_channel(client, world).permissions_for(member).manage_messages


async def test_resume_loses_no_event() -> None:
    async with discord_world() as world:
        alice = world.add_member("alice")
        client = Listener()
        async with world.connected(client):
            await alice.send(world.channel, "before")
            await eventually(lambda: client.heard == ["before"])
            await world.server.drop()
            for number in range(3):
                await alice.send(world.channel, f"while away {number}")
            assert client.heard == ["before"]
            await eventually(lambda: len(client.heard) == 4)
            assert client.heard[1:] == ["while away 0", "while away 1", "while away 2"]
            assert (world.server.gateway.identifies, world.server.gateway.resumes) == (1, 1)


async def test_a_forgotten_session_is_invalid_and_the_bot_identifies_anew() -> None:
    async with discord_world() as world:
        alice = world.add_member("alice")
        client = Listener()
        async with world.connected(client):
            world.server.gateway.forget_sessions()
            await world.server.drop()
            await eventually(lambda: world.server.gateway.identifies == 2, within=20)
            assert world.server.gateway.invalidated == 1
            await alice.send(world.channel, "after")
            await eventually(lambda: client.heard == ["after"])


async def test_heartbeats_are_acknowledged() -> None:
    async with discord_world(heartbeat_ms=200) as world, world.connected(Listener()) as client:
        await eventually(lambda: 0 < client.latency < 5)
        await asyncio.sleep(1.0)
        assert world.server.gateway.identifies == 1
        assert world.server.gateway.resumes == 0


async def test_a_rate_limited_request_is_sent_again() -> None:
    async with discord_world() as world, world.connected(Listener()) as client:
        world.server.rate_limit("POST", "/channels/*/messages", retry_after=0.1)
        await text_channel(client, world).send("hello")
        assert world.texts() == ["hello"]
        assert [each.status for each in world.server.sent("POST", "/channels/*/messages")] == [429, 200]


async def test_a_bad_gateway_is_asked_again() -> None:
    async with discord_world() as world, world.connected(Listener()) as client:
        world.server.fail("POST", "/channels/*/messages", status=502)
        await text_channel(client, world).send("hello")
        assert world.texts() == ["hello"]
        assert [each.status for each in world.server.sent("POST", "/channels/*/messages")] == [502, 200]


async def test_a_wrong_token_is_refused_by_rest() -> None:
    async with discord_world() as world:
        with pytest.raises(discord.LoginFailure):
            async with world.connected(Listener(), token="wrong"):
                pass
        assert [each.status for each in world.server.requests] == [401]


async def test_a_token_that_changed_is_refused_by_the_gateway() -> None:
    async with discord_world() as world:
        world.server.gateway.token = "changed"
        with pytest.raises(discord.ConnectionClosed) as closed:
            async with world.connected(Listener()):
                pass
        assert closed.value.code == 4004
        assert world.server.gateway.refused == [4004]


async def test_an_intent_that_is_not_granted_closes_with_4014() -> None:
    granted = discord.Intents.all()
    granted.message_content = False
    async with discord_world(approved_intents=granted) as world:
        with pytest.raises(discord.PrivilegedIntentsRequired):
            async with world.connected(Listener()):
                pass
        assert world.server.gateway.refused == [4014]


async def test_without_the_intent_messages_come_without_content() -> None:
    intents = discord.Intents.default()
    async with discord_world() as world:
        alice = world.add_member("alice")
        client = Listener(intents)
        async with world.connected(client):
            await alice.send(world.channel, "a secret")
            await eventually(lambda: client.heard == [""])


async def test_an_attachment_can_be_sent_and_fetched() -> None:
    async with discord_world() as world:
        alice = world.add_member("alice")
        client = discord.Client(intents=discord.Intents.all())
        got: list[bytes] = []

        @client.event
        async def on_message(message: discord.Message) -> None:
            got.extend([await each.read() for each in message.attachments])

        async with world.connected(client):
            await alice.send(world.channel, "look", attachments=[("card.json", b'{"name": "Mio"}')])
            await eventually(lambda: got == [b'{"name": "Mio"}'])
            upload = discord.File(io.BytesIO(b"\x89PNG fake"), "face.png", description="a face")
            sent = await text_channel(client, world).send(file=upload)
            assert await sent.attachments[0].read() == b"\x89PNG fake"
            stored = world.messages()[-1].attachments[0]
            assert (stored["filename"], stored["description"]) == ("face.png", "a face")
            assert "127.0.0.1" not in stored["url"]


async def test_a_webhook_reply_in_a_thread_lands_in_the_thread() -> None:
    async with discord_world() as world:
        alice = world.add_member("alice")
        async with world.connected(StubBot()) as client:
            thread = await text_channel(client, world).create_thread(
                name="aside", type=discord.ChannelType.public_thread
            )
            before = world.texts()
            world.backend.create_message(thread.id, alice.id, "in the thread")
            await eventually(lambda: any("I heard it" in text for text in world.texts(thread.id)))
            assert world.texts() == before
            reply = world.messages(thread.id)[-1]
            assert reply.author_name == "Dorrit"
            assert reply.content == "You said “in the thread”. I heard it."
            assert [each.query["thread_id"] for each in world.server.sent("POST", "/webhooks/*")] == [str(thread.id)]


async def test_a_webhook_in_a_thread_of_another_channel_is_refused() -> None:
    async with discord_world() as world, world.connected(Listener()) as client:
        other = world.guild.create_text_channel("elsewhere")
        hook = await text_channel(client, world).create_webhook(name="ours")
        with pytest.raises(discord.NotFound) as refused:
            await hook.send("lost", thread=discord.Object(other.id), wait=True)
        assert refused.value.code == 10003
        assert world.texts() == world.texts(other.id) == []


async def test_a_webhook_of_the_bot_belongs_to_its_application_and_may_carry_buttons() -> None:
    async with discord_world() as world:
        alice = world.add_member("alice")
        async with world.connected(StubBot()) as client:
            await alice.send(world.channel, "hello")
            await eventually(lambda: any("I heard it" in text for text in world.texts()))
            (hook,) = await client.http.channel_webhooks(world.channel.id)
            assert hook["application_id"] == str(client.application_id)
            result = await alice.click(_handle(world), label="Again")
            assert result.response is not None
            assert (result.response.content, result.response.ephemeral) == ("again it is", True)


async def test_a_webhook_keeps_its_name_and_picture() -> None:
    async with discord_world() as world, world.connected(Listener()) as client:
        hook = await text_channel(client, world).create_webhook(name="ours")
        await hook.send("hi", username="Mio", avatar_url="https://example.invalid/mio.png", wait=True)
        (message,) = world.messages()
        assert (message.author_name, message.author_avatar) == ("Mio", "https://example.invalid/mio.png")


async def test_the_three_seconds_of_an_interaction_are_real() -> None:
    async with discord_world() as world:
        alice = world.add_member("alice")
        client = discord.Client(intents=discord.Intents.all())
        tree = app_commands.CommandTree(client)
        outcome: list[int] = []

        @tree.command(name="late", description="Answers too late")
        async def late(interaction: discord.Interaction) -> None:
            await asyncio.sleep(3.2)
            try:
                await interaction.response.send_message("too late")
            except discord.NotFound as error:
                outcome.append(error.code)

        async with world.connected(client):
            await tree.sync()
            result = await alice.slash(world.channel, "late")
            assert not result.acknowledged
            await eventually(lambda: outcome == [10062])
            assert world.texts() == []


async def test_a_deferred_answer_may_come_later_but_not_after_fifteen_minutes() -> None:
    async with discord_world() as world:
        alice = world.add_member("alice")
        client = discord.Client(intents=discord.Intents.all())
        tree = app_commands.CommandTree(client)
        going_on = asyncio.Event()
        outcome: list[int] = []

        @tree.command(name="later", description="Answers later")
        async def later(interaction: discord.Interaction) -> None:
            await interaction.response.defer(ephemeral=True)
            await going_on.wait()
            try:
                await interaction.followup.send("done", ephemeral=True)
            except discord.HTTPException as error:
                outcome.append(error.code)

        async with world.connected(client):
            await tree.sync()
            result = await alice.slash(world.channel, "later")
            assert result.deferred
            world.backend.advance_clock(15 * 60 + 1)
            going_on.set()
            await eventually(lambda: outcome)
            assert outcome == [10015]


async def test_choices_and_modals_arrive() -> None:
    async with discord_world() as world:
        alice = world.add_member("alice")
        async with world.connected(StubBot()):
            choices = await alice.autocomplete(world.channel, "memory fix", "fact", "7")
            assert [each["value"] for each in choices] == ["7. Fact number 7."]
            shown = await alice.slash(world.channel, "memory show")
            assert shown.response is not None
            modal = await alice.click(shown.response, label="Correct")
            assert modal.modal is not None
            done = await alice.submit_modal(modal, {modal.modal["components"][0]["components"][0]["custom_id"]: "x"})
            assert done.response is not None
            assert done.response.content == "Corrected: x"


async def test_what_is_not_simulated_is_said_loudly() -> None:
    async with discord_world() as world, world.connected(Listener()) as client:
        with pytest.raises(discord.HTTPException) as failed:
            await client.http.request(discord.http.Route("GET", "/no/such/route"))
        assert failed.value.status == 501
        assert len(world.server.gaps) == 1
        world.server.gaps.clear()


def _handle(world: DiscordWorld) -> ResponseMessage:
    return ResponseMessage(world.simulation, world.messages()[-1])
