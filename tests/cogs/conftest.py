"""A guild in a simulated Discord, with the real bot, engine and store, and a scripted model server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import discord
import pytest
import simcord
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle, GuildHandle
from simcord.http import router
from simcord.http.routes import interactions
from simcord.results import InteractionResult

from bot.catalogue import Catalogue
from bot.characters import Characters
from bot.client import KataribeBot
from bot.counting import TokenCounter
from bot.engine import Engine
from bot.llm.client import ModelClient
from bot.manners import Manners
from bot.memory.memories import NewMemory
from bot.memory.policy import Budgets, Stretch, budgets_for
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import Turn, TurnState
from bot.moderation import Moderation
from bot.people import People
from bot.personas import Personas
from bot.privacy import Privacy
from bot.rendering import Renderer
from bot.rewinding import Rewinding
from bot.statistics import Statistics
from bot.store import Store
from tests.support.databases import lay
from tests.support.model_server import ModelServer

RIN = Card("Rin", "A ferrywoman who guards a secret.", "*Rin looks up.* “Who is there?”")
KEEPER = 4_242
FLAGS_PER_HOUR = 2
KEEP_DAYS = 30


@cache
def catalogue() -> Catalogue:
    """The messages, made ready once in each process of the tests."""
    return Catalogue()


@dataclass
class World:
    """Everything at hand: Mio plays, Sora moderates, the channel is ``tale``."""

    env: simcord.Env
    bot: KataribeBot
    engine: Engine
    characters: Characters
    moderation: Moderation
    people: People
    privacy: Privacy
    rewinding: Rewinding
    personas: Personas
    manners: Manners
    statistics: Statistics
    store: Store
    renderer: Renderer
    server: ModelServer
    guild: GuildHandle
    channel: ChannelHandle
    mio: MemberActor
    sora: MemberActor

    async def begin(self, channel: ChannelHandle | None = None, *, card: Card = RIN) -> Session:
        """A running session with a character, without a greeting."""
        home = channel or self.channel
        scope = Scope(self.guild.id, KEEPER)
        if card.name not in {c.card.name for c in await self.characters.usable(scope)}:
            await self.characters.create(scope, card, "https://cdn.discordapp.com/emojis/77.png")
        started = await self.engine.start_session(Place(self.guild.id, home.id), scope, card.name, greeting=False)
        return started.session

    async def turns(self, session: Session) -> tuple[Turn, ...]:
        """All turns of a session that are part of the story."""
        return tuple(t for t in await self.store.turns(session.id, 1, 10_000) if t.state is TurnState.KEPT)

    async def raws(self, session: Session) -> list[str]:
        """What was written, in order."""
        return [turn.raw for turn in await self.turns(session)]

    async def fold(self, session: Session, memories: Sequence[NewMemory]) -> None:
        """Everything that no chapter covers becomes one, with these memories."""
        covered = (await self.store.memory(session.id)).folded_to
        turns = [turn for turn in await self.turns(session) if turn.seq > covered]
        chapter = await self.store.commit_chapter(
            None,
            session.id,
            Stretch(turns[0].seq, turns[-1].seq),
            {turn.seq: turn.revision for turn in turns},
            memories,
            {},
            by="fold",
            at=self.env.now(),
            render=self.renderer.for_session(session, self.engine.budgets),
        )
        assert chapter is not None

    def said(self, channel: ChannelHandle | None = None) -> list[tuple[str, str]]:
        """The messages of a channel as (author's name, text), oldest first."""
        return [(m.author.display_name, m.content) for m in (channel or self.channel).history()]

    def sends(self) -> list[dict[str, Any]]:
        """What was sent through webhooks, as requests."""
        return [
            dict(r.json or {})
            for r in self.env.http_requests
            if r.method == "POST" and "/webhooks/" in r.path and r.params
        ]

    def new_bot(self) -> KataribeBot:
        """The bot of another process, on the same database."""
        return KataribeBot(
            self.engine,
            self.moderation,
            self.people,
            self.privacy,
            catalogue(),
            characters=self.characters,
            rewinding=self.rewinding,
            personas=self.personas,
            manners=self.manners,
            statistics=self.statistics,
        )

    async def restart(self) -> None:
        """End the process and start another."""
        self.bot = self.new_bot()
        await self.env.restart_bot(self.bot)
        await self.env.settle()


def told(result: InteractionResult) -> str:
    """The text that answered an interaction."""
    answers = [result.response, *result.followups]
    return "\n".join(answer.content for answer in answers if answer is not None)


def speak(monkeypatch: pytest.MonkeyPatch, locale: str) -> None:
    """Let everybody's Discord be in a language: simcord 3.2.1 knows American English alone."""
    original = discord.Interaction._from_data

    def spoken(self: discord.Interaction, data: Any) -> None:
        data["locale"] = locale
        original(self, data)

    monkeypatch.setattr(discord.Interaction, "_from_data", spoken)


@dataclass
class Parts:
    """What the bot is made of; ``clock`` must agree with the simulated Discord's."""

    server: ModelServer
    store: Store
    renderer: Renderer
    engine: Engine
    characters: Characters
    moderation: Moderation
    people: People
    privacy: Privacy
    rewinding: Rewinding
    personas: Personas
    manners: Manners
    statistics: Statistics
    clock: Callable[[], datetime]

    def bot(self) -> KataribeBot:
        """The bot, not connected yet."""
        return KataribeBot(
            self.engine,
            self.moderation,
            self.people,
            self.privacy,
            catalogue(),
            characters=self.characters,
            rewinding=self.rewinding,
            personas=self.personas,
            manners=self.manners,
            statistics=self.statistics,
        )


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[Parts]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(ModelServer())
        url = lay(tmp_path / "story.db")
        store = await stack.enter_async_context(await Store.open(url, migrate=False))
        model = await stack.enter_async_context(ModelClient(server.base_url, timeout_seconds=4, attempts=1))
        await model.probe()
        counter = TokenCounter(store, model)
        renderer = Renderer(counter)

        def clock() -> datetime:
            return made.clock()

        def budgets(window: int | None) -> Budgets:
            return budgets_for(window, reply_output=8_192)

        delay = timedelta(seconds=30)
        engine = Engine(
            store, model, counter, renderer, budgets=budgets, fold_delay=delay, clock=clock, people_tokens=300
        )
        moderation = Moderation(store, engine, flags_per_hour=FLAGS_PER_HOUR, clock=clock)
        people = People(store, clock=clock)
        privacy = Privacy(store, engine, renderer, clock=clock, keep=timedelta(days=KEEP_DAYS))
        rewinding = Rewinding(store, engine, renderer, clock=clock)
        made = Parts(
            server, store, renderer, engine, Characters(store, engine, clock=clock), moderation, people, privacy, rewinding,
            Personas(store), Manners(store, engine, player_limit=0, guild_limit=0, clock=clock),
            Statistics(store),
            clock=lambda: datetime.now(UTC),
        )  # fmt: skip
        yield made


@pytest.fixture
def simcord_bot(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> KataribeBot:
    """What simcord's own fixture runs; an error in the bot that no test looks at fails the test."""
    _let_webhooks_speak_in_threads(monkeypatch)
    _let_webhooks_of_an_application_have_buttons(monkeypatch)
    return parts.bot()


@pytest.fixture
def world(parts: Parts, simcord_env: simcord.Env, simcord_bot: KataribeBot) -> World:
    env = simcord_env
    parts.clock = env.now
    guild = env.create_guild()
    channel = guild.create_text_channel("tale")
    moderators = guild.create_role("Moderators", permissions=discord.Permissions(manage_messages=True))
    mio = guild.add_member(env.create_user("mio", global_name="Mio"))
    sora = guild.add_member(env.create_user("sora", global_name="Sora"), roles=[moderators])
    return World(
        env, simcord_bot, parts.engine, parts.characters, parts.moderation, parts.people, parts.privacy, parts.rewinding,
        parts.personas, parts.manners, parts.statistics, parts.store, parts.renderer, parts.server,
        guild, channel, mio, sora,
    )  # fmt: skip


def _let_webhooks_speak_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """simcord 3.2.1 posts into the parent channel whatever ``thread_id`` a webhook's message has."""
    original = router.dispatch

    @contextmanager
    def moved(backend: Any, path: str, params: Any) -> Iterator[None]:
        parts = path.strip("/").split("/")
        thread = (params or {}).get("thread_id")
        hook_id = backend.webhook_tokens.get(parts[2]) if thread and parts[0] == "webhooks" and len(parts) > 2 else None
        if hook_id is None:
            yield
            return
        hook = backend.webhooks[hook_id]
        home, hook.channel_id = hook.channel_id, int(str(thread))
        try:
            yield
        finally:
            hook.channel_id = home

    def dispatch(backend: Any, method: str, path: str, **given: Any) -> Any:
        with moved(backend, path, given.get("params")):
            return original(backend, method, path, **given)

    monkeypatch.setattr(router, "dispatch", dispatch)


def _let_webhooks_of_an_application_have_buttons(monkeypatch: pytest.MonkeyPatch) -> None:
    """simcord 3.2.1 takes every webhook for one that a person made, and those may not.

    https://discord.com/developers/docs/resources/webhook#execute-webhook
    """

    def body(context: Any) -> tuple[dict[str, Any], bool]:
        return dict(context.body()), True

    monkeypatch.setattr(interactions, "_incoming_webhook_body", body)
