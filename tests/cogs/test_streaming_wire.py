"""A reply appears while it is written, on real sockets: at Discord's pace, without a thought, and never half a story."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import discord
import pytest
from simcord import MemberActor

from bot.catalogue import Catalogue
from bot.client import KataribeBot
from bot.demo.wire import WireRequest
from bot.errors import ModelUnavailable
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import TurnState
from bot.streaming import Draft
from cogs import _streaming
from cogs._delivery import deliver
from cogs._pace import Pace
from cogs._posts import Post
from cogs._split import split
from cogs._streaming import Stream
from cogs._tellings import tell
from tests.cogs.conftest import KEEPER, RIN, Parts
from tests.support.limits import bucket
from tests.support.model_server import Script
from tests.support.wire import DiscordWorld, discord_world, eventually

SCALE = 20
"""How much faster than in life everything goes: the model, the pace of the edits, and Discord's limits."""
LIFE = Pace()
FAST = Pace(LIFE.look / SCALE, LIFE.first / SCALE, LIFE.edits / SCALE, LIFE.slower / SCALE, LIFE.longest / SCALE)

SCENE = (
    '*She walks along quay {0}, ||counting|| the lights.* "I have seen them before," she says. '
    "**Nobody** answers. “There were {0} of them then. Now there are fewer.” "
)
SECRET = "He drowned the ninth."


@dataclass
class Stage:
    """A running story on the wire."""

    parts: Parts
    world: DiscordWorld
    bot: KataribeBot
    session: Session
    mio: MemberActor

    @property
    def told(self) -> list[str]:
        """What the character says in the channel."""
        return [m.content for m in self.world.messages() if m.webhook_id is not None]

    def requests(self, method: str) -> list[Any]:
        """The requests through webhooks, as (text, status)."""
        sent = self.world.server.sent(method, "/webhooks/*")
        return [((each.json or {}).get("content"), each.status) for each in sent]

    def has_told(self, count: int) -> bool:
        return len(self.told) == count

    async def rows(self) -> list[str]:
        turns = await self.parts.store.turns(self.session.id, 1, 100)
        return [turn.raw for turn in turns if turn.state is TurnState.KEPT]

    async def says(self, text: str) -> None:
        await self.mio.send(self.world.channel, text)

    async def answered(self) -> None:
        """Nothing is being written or delivered any more, nor left over."""
        await eventually(lambda: not self.bot._working)
        assert await self.parts.store.unfinished() == ()
        assert await self.parts.store.undelivered() == ()


@asynccontextmanager
async def staged(parts: Parts, *, stream: bool = True) -> AsyncIterator[Stage]:
    async with discord_world() as world:
        bot = KataribeBot(
            parts.engine, parts.moderation, parts.people, parts.privacy, Catalogue(),
            characters=parts.characters, rewinding=parts.rewinding, personas=parts.personas, manners=parts.manners,
            statistics=parts.statistics,
            stream_replies=stream,
        )  # fmt: skip
        async with world.connected(bot):
            scope = Scope(world.guild.id, KEEPER)
            await parts.characters.create(scope, RIN, "")
            place = Place(world.guild.id, world.channel.id)
            session = (await parts.engine.start_session(place, scope, "Rin", greeting=False)).session
            yield Stage(parts, world, bot, session, world.add_member("mio"))


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_streaming, "PACE", FAST)


def tokens(text: str, per_second: float = 60, *, characters: int = 4, at_once: int = 5) -> dict[str, Any]:
    """The pieces of a stream of so many tokens per second of life, a few tokens in each."""
    step = characters * at_once
    pieces = tuple(text[at : at + step] for at in range(0, len(text), step))
    return {"text": text, "pieces": pieces, "pause": at_once / per_second / SCALE}


def patient(parts: Parts, seconds: float) -> None:
    """Let an answer of the model take so long."""
    parts.engine._model._timeout = seconds


def as_json(*beats: tuple[str, str]) -> str:
    return json.dumps({"beats": [{"kind": kind, "speaker": "Rin", "text": text} for kind, text in beats]})


def as_markup(text: str) -> str:
    return f"{text}\n`{SECRET}`\nThe end."


def in_beats(text: str) -> str:
    third = len(text) // 3
    return as_json(
        ("narration", text[:third].replace("*", "")), ("thought", SECRET), ("speech", text[third:]), ("speech", "End.")
    )


@pytest.mark.parametrize("form", [as_markup, in_beats])
async def test_nine_thousand_characters_at_sixty_tokens_a_second(parts: Parts, form: Callable[[str], str]) -> None:
    patient(parts, 60)
    raw = form("".join(SCENE.format(number) for number in range(100, 200))[:9_000].strip())
    async with staged(parts) as stage:
        stage.world.server.faults.append(bucket(5.0 / SCALE))
        parts.server.replies.append(Script(**tokens(raw)))
        growing: list[int] = []
        late: list[str] = []

        def see(request: WireRequest) -> None:
            growing.append(len(stage.told))
            if request.method == "PATCH" and parts.server.of("reply")[0].finished.is_set():
                late.append(request.path)

        stage.world.server.observers.append(see)

        await stage.says("What did you see?")
        await eventually(lambda: stage.told and stage.told[-1].endswith(("The end.", "End.”")), within=30)
        await stage.answered()

        (_, reply) = await parts.store.turns(stage.session.id, 1, 100)
        shown = parts.engine._reply(stage.session, reply).text
        assert reply.raw == raw
        assert stage.told == split(shown)
        sent, edited = stage.requests("POST"), stage.requests("PATCH")
        assert {status for _, status in sent + edited} == {200}, "no request is one too many"
        assert all(request.status != 429 for request in stage.world.server.requests)
        assert len(sent) == len(stage.told)
        assert 8 <= len(edited) <= 25
        assert not any("drowned" in (text or "") for text, _ in sent + edited)
        assert len(set(edited)) == len(edited), "no edit that changes nothing"
        assert len(late) <= 2, "what was under way when the model ended, and one last edit"
        assert growing == sorted(growing), "no message comes and goes"
        carried = [await parts.store.turn_of_message(m.id) for m in stage.world.messages() if m.webhook_id is not None]
        assert {found[1].id for found in carried if found} == {reply.id}
        assert len(carried) == len(stage.told)


async def test_the_first_words_come_long_before_the_last(parts: Parts) -> None:
    gate = asyncio.Event()
    async with staged(parts) as stage:
        parts.server.replies.append(Script("Who is there? Nobody, it seems.", hang=gate, hang_after=4))
        await stage.says("Hello?")

        await eventually(lambda: stage.told == ["Who is there? Nobody,"])
        assert await stage.rows() == ["Hello?"], "nothing of it is in the story yet"
        gate.set()
        await eventually(lambda: stage.told == ["Who is there? Nobody, it seems."])
        await stage.answered()

        assert len(stage.requests("PATCH")) == 1
        assert await stage.rows() == ["Hello?", "Who is there? Nobody, it seems."]


async def test_words_without_an_end_wait_a_little_longer(parts: Parts) -> None:
    gate = asyncio.Event()
    async with staged(parts) as stage:
        parts.server.replies.append(Script("*She walks on and on.*", hang=gate, hang_after=3))
        await stage.says("Hello?")

        await eventually(lambda: stage.told == ["*She walks on*"])
        gate.set()
        await eventually(lambda: stage.told == ["*She walks on and on.*"])
        await stage.answered()


async def test_a_reply_that_is_there_at_once_is_sent_once(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_streaming, "PACE", LIFE)
    whole = {"choices": [{"message": {"content": "All at once."}, "finish_reason": "stop"}], "usage": {}}
    async with staged(parts) as stage:
        parts.server.replies.extend(["A few words.", Script(body=whole)])
        for count in (1, 2):
            await stage.says("Hello?")
            await eventually(partial(stage.has_told, count))
        await stage.answered()

        assert stage.requests("POST") == [("A few words.", 200), ("All at once.", 200)]
        assert stage.requests("PATCH") == []


async def test_an_operator_may_want_replies_whole(parts: Parts) -> None:
    async with staged(parts, stream=False) as stage:
        parts.server.replies.append(Script(**tokens("Who is there? " * 20)))
        await stage.says("Hello?")
        await eventually(lambda: stage.told)
        await stage.answered()

        assert stage.requests("POST") == [(("Who is there? " * 20).strip(), 200)]
        assert stage.requests("PATCH") == []


@pytest.mark.parametrize("end", [{"reset_after": 8}, {"close_after": 8}, {"error": {"message": "out of memory"}}])
async def test_a_reply_that_fails_on_the_way_is_taken_back_and_can_be_tried_again(
    parts: Parts, end: dict[str, Any]
) -> None:
    async with staged(parts) as stage:
        script = Script(**{**tokens("Who is there? " * 30), **end, "pause": 0.03})
        parts.server.replies.extend([script, "It is you."])
        await stage.says("Hello?")

        await eventually(lambda: stage.requests("POST"))
        await eventually(lambda: stage.bot.notices)
        await stage.answered()
        assert [m.content for m in stage.world.messages()] == [
            "Hello?",
            stage.bot.catalogue.text("model-unavailable"),
        ]
        assert await stage.rows() == ["Hello?"]

        await stage.mio.click(stage.world.channel.history()[-1], custom_id=f"retry:{stage.session.id}")
        await eventually(lambda: stage.told == ["It is you."])
        await stage.answered()
        assert await stage.rows() == ["Hello?", "It is you."]


async def test_a_server_that_hangs_on_the_way_is_given_up(parts: Parts) -> None:
    patient(parts, 1.5)
    async with staged(parts) as stage:
        parts.server.replies.append(Script("Who is there? Nobody.", hang=asyncio.Event(), hang_after=3))
        await stage.says("Hello?")

        await eventually(lambda: stage.told == ["Who is there?"])
        await eventually(lambda: stage.bot.notices)
        await stage.answered()
        assert stage.told == []
        assert await stage.rows() == ["Hello?"]


async def test_a_process_that_is_told_to_stop_takes_half_a_reply_back(parts: Parts) -> None:
    async with staged(parts) as stage:
        parts.server.replies.append(Script("Who is there? Nobody.", hang=asyncio.Event(), hang_after=3))
        await stage.says("Hello?")
        await eventually(lambda: len(stage.world.texts()) == 2)

    assert stage.world.texts() == ["Hello?"]
    assert [turn.raw for turn in await parts.store.turns(stage.session.id, 1, 100)] == ["Hello?"]
    assert await parts.store.unfinished() == ()


async def test_what_a_second_draw_replaces_does_not_stay(parts: Parts) -> None:
    gate = asyncio.Event()
    thought = "Sure thing! " + as_json(("thought", SECRET))
    pieces = ("Sure thing! ", thought[12:])
    async with staged(parts) as stage:
        parts.server.replies.extend(
            [Script(thought, pieces=pieces, hang=gate, hang_after=1), Script("Come in. " * 9, pause=0.03)]
        )
        await stage.says("Hello?")
        await eventually(lambda: stage.told == ["Sure thing!"])
        gate.set()
        await eventually(lambda: stage.told == [("Come in. " * 9).strip()])
        await stage.answered()

        assert await stage.rows() == ["Hello?", "Come in. " * 9]


async def test_a_part_that_somebody_deletes_comes_back_with_the_whole(parts: Parts) -> None:
    gate = asyncio.Event()
    async with staged(parts) as stage:
        parts.server.replies.append(Script("Who is there? Nobody, it seems.", hang=gate, hang_after=4))
        await stage.says("Hello?")
        await eventually(lambda: stage.told)

        half = stage.world.messages()[-1]
        stage.world.backend.delete_message(stage.world.channel.id, half.id)
        gate.set()
        await eventually(lambda: stage.told == ["Who is there? Nobody, it seems."])
        await stage.answered()

        assert await stage.rows() == ["Hello?", "Who is there? Nobody, it seems."]


async def test_a_webhook_that_is_deleted_on_the_way_costs_nothing_of_the_reply(parts: Parts) -> None:
    gate = asyncio.Event()
    async with staged(parts) as stage:
        parts.server.replies.append(Script("Who is there? Nobody, it seems.", hang=gate, hang_after=4))
        await stage.says("Hello?")
        await eventually(lambda: stage.told)

        (hook,) = await parts.engine.own_webhooks()
        stage.world.backend.delete_webhook(hook)
        gate.set()
        await eventually(lambda: stage.told == ["Who is there? Nobody, it seems."])
        await stage.answered()

        assert await parts.engine.own_webhooks() == {stage.world.messages()[-1].webhook_id}
        assert hook not in await parts.engine.own_webhooks()
        assert await stage.rows() == ["Hello?", "Who is there? Nobody, it seems."]


async def test_without_a_webhook_the_bot_edits_its_own_message(parts: Parts) -> None:
    gate = asyncio.Event()
    async with staged(parts) as stage:
        stage.world.server.fail("POST", "/channels/*/webhooks", status=403, times=9)
        parts.server.replies.append(Script("Who is there? Nobody, it seems.", hang=gate, hang_after=4))
        await stage.says("Hello?")

        await eventually(lambda: stage.world.texts() == ["Hello?", "**Rin**\nWho is there? Nobody,"])
        gate.set()
        await eventually(lambda: stage.world.texts()[1] == "**Rin**\nWho is there? Nobody, it seems.")
        await stage.answered()


async def test_stories_that_share_a_webhook_share_its_limit(parts: Parts) -> None:
    patient(parts, 60)
    parts.engine._model._queue._slots = 2
    async with staged(parts) as stage:
        channel = stage.bot.get_channel(stage.world.channel.id)
        assert isinstance(channel, discord.TextChannel)
        threads = [
            await channel.create_thread(name=name, type=discord.ChannelType.public_thread) for name in ("bow", "stern")
        ]
        for thread in threads:
            place = Place(stage.world.guild.id, thread.id, channel.id)
            await parts.engine.start_session(place, Scope(stage.world.guild.id, KEEPER), "Rin", greeting=False)
        stage.world.server.faults.append(bucket(5.0 / SCALE))
        text = "".join(f"Number {number} is gone. " for number in range(100)).strip()
        parts.server.on_reply = lambda _: Script(**tokens(text, 20))
        for thread in threads:
            stage.world.backend.create_message(thread.id, stage.mio.id, "Hello?")

        await eventually(lambda: all(stage.world.texts(t.id)[-1].endswith("99 is gone.") for t in threads), within=30)
        await stage.answered()
        assert len(stage.requests("PATCH")) > 8
        assert {status for _, status in stage.requests("PATCH")} == {200}


async def test_in_a_thread_the_parts_are_edited_there(parts: Parts) -> None:
    gate = asyncio.Event()
    async with staged(parts) as stage:
        channel = stage.bot.get_channel(stage.world.channel.id)
        assert isinstance(channel, discord.TextChannel)
        thread = await channel.create_thread(name="aside", type=discord.ChannelType.public_thread)
        place = Place(stage.world.guild.id, thread.id, channel.id)
        await parts.engine.start_session(place, Scope(stage.world.guild.id, KEEPER), "Rin", greeting=False)
        parts.server.replies.append(Script("Who is there? Nobody, it seems.", hang=gate, hang_after=4))
        stage.world.backend.create_message(thread.id, stage.mio.id, "Hello?")

        await eventually(lambda: "Who is there? Nobody," in stage.world.texts(thread.id))
        gate.set()
        await eventually(lambda: "Who is there? Nobody, it seems." in stage.world.texts(thread.id))
        await stage.answered()
        assert [e.query["thread_id"] for e in stage.world.server.sent("PATCH", "/webhooks/*")] == [str(thread.id)]


async def retold(stage: Stage, script: Script) -> list[Post]:
    """Let the newest reply be told anew, on the messages that carry it; those messages."""
    channel = stage.bot.get_channel(stage.world.channel.id)
    assert isinstance(channel, discord.TextChannel)
    (_, reply) = await stage.parts.store.turns(stage.session.id, 1, 100)
    before = [Post(m.id, m.content) for m in stage.world.messages() if m.webhook_id is not None]
    stage.parts.server.replies.append(script)
    async with Stream(stage.bot, channel, before) as stream:
        told = await stage.parts.engine.retell(stage.session.id, reply.id, watch=stream.watch)
    await deliver(stage.bot, channel, told, posts=stream.posts)
    return before


async def test_a_retelling_takes_the_place_of_what_was_told(parts: Parts) -> None:
    async with staged(parts) as stage:
        parts.server.replies.append("First of all. " * 200)
        await stage.says("Hello?")
        await eventually(lambda: len(stage.told) == 2)
        await stage.answered()

        before = await retold(stage, Script(**{**tokens("Told anew. " * 20), "pause": 0.02}))

        assert stage.told == [("Told anew. " * 20).strip()]
        assert [m.id for m in stage.world.messages()][1:] == [before[0].message_id]
        assert len(stage.requests("PATCH")) > 1
        await eventually(lambda: len(stage.world.server.sent("DELETE", "/webhooks/*")) == 1)
        assert await stage.rows() == ["Hello?", "Told anew. " * 20]


async def test_a_retelling_that_fails_leaves_the_buttons_below_the_last_message(parts: Parts) -> None:
    async with staged(parts) as stage:
        parts.server.replies.extend(["First of all. " * 200, "Second of all. " * 200])
        await stage.says("Hello?")
        await eventually(lambda: len(stage.told) == 2)
        await stage.answered()
        channel = stage.bot.get_channel(stage.world.channel.id)
        assert isinstance(channel, discord.TextChannel)
        (_, reply) = await parts.store.turns(stage.session.id, 1, 100)
        await tell(stage.bot, channel, reply.id, by=stage.mio.id)
        before = stage.told

        parts.server.replies.append(Script(**{**tokens("Told anew. " * 20), "pause": 0.02, "reset_after": 8}))
        with pytest.raises(ModelUnavailable):
            await tell(stage.bot, channel, reply.id, by=stage.mio.id)

        assert stage.told == before
        assert any("Told anew" in text for text, _ in stage.requests("PATCH") if text)
        carrying = [message for message in stage.world.channel.history() if message.webhook_id is not None]
        assert [len(message.components) for message in carrying] == [0, 1]


async def test_a_retelling_that_fails_leaves_what_was_told(parts: Parts) -> None:
    async with staged(parts) as stage:
        parts.server.replies.append("First of all. " * 200)
        await stage.says("Hello?")
        await eventually(lambda: len(stage.told) == 2)
        await stage.answered()
        before = stage.told

        with pytest.raises(Exception, match="model-unavailable"):
            await retold(stage, Script(**{**tokens("Told anew. " * 20), "pause": 0.02, "reset_after": 8}))

        assert stage.told == before
        assert any("Told anew" in text for text, _ in stage.requests("PATCH"))
        assert await stage.rows() == ["Hello?", "First of all. " * 200]
        assert await stage.parts.store.undelivered() == ()
        carrying = [m.id for m in stage.world.messages() if m.webhook_id is not None]
        (_, reply) = await parts.store.turns(stage.session.id, 1, 100)
        assert list(await parts.store.messages_of(reply.id)) == carrying


async def test_nobody_looks_at_a_draft_before_a_word_of_it_is_written(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []

    def look(draft: Draft) -> str:
        looks.append(shown(draft))
        return looks[-1]

    shown = Draft.shown
    monkeypatch.setattr(Draft, "shown", look)
    go_on = asyncio.Event()
    async with staged(parts) as stage:
        parts.server.replies.append(Script(SCENE.format(4), hang=go_on))
        await stage.says("Are you there?")
        await parts.server.arrived(1)
        await asyncio.sleep(20 * FAST.look)
        waited = list(looks)
        go_on.set()
        await eventually(lambda: stage.has_told(1))
        await stage.answered()

    assert waited == []
