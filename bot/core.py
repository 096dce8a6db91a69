"""Builds every object once, in the order of the layers: store, model clients, engine, folder, judging."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from bot.characters import Characters
from bot.counting import TokenCounter
from bot.engine import Engine
from bot.errors import SettingsError
from bot.folder import Folder
from bot.judging import Judging
from bot.llm.client import ModelClient
from bot.manners import Manners
from bot.memory.recall import Limits
from bot.metrics import Metrics
from bot.moderation import Moderation
from bot.people import People
from bot.personas import Personas
from bot.privacy import Privacy
from bot.recording import Recorder
from bot.rendering import Renderer
from bot.rewinding import Rewinding
from bot.settings import Settings
from bot.statistics import Statistics
from bot.store import Store

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Core:
    """The bot without Discord. ``folder_model`` is the same client as ``model`` unless another server folds."""

    store: Store
    model: ModelClient
    folder_model: ModelClient
    counter: TokenCounter
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
    metrics: Metrics
    folder: Folder
    judging: Judging


def now() -> datetime:
    """The time, aware, in UTC."""
    return datetime.now(UTC)


@asynccontextmanager
async def open_core(settings: Settings, *, clock: Clock = now) -> AsyncIterator[Core]:
    """Open the database, bring it up to date, ask the model server what it can do, and build the rest.

    A server that does not answer now is asked again by the first request. Raises SettingsError when no model is set or the
    budgets contradict each other, and DatabaseTooNew.
    """
    if settings.llm_base_url is None:
        raise SettingsError(["LLM_BASE_URL: it is empty, but needed"])
    store = await Store.open(settings.database_url)
    try:
        model = _client(settings, store, clock, settings.llm_base_url)
        folder_model = _folder_client(settings, store, clock) or model
        try:
            for client in {model, folder_model}:
                await client.probe()
            # Asked for several times in each reply.
            budgets = cache(settings.budgets)
            budgets(model.profile.window)
            await store.recover_folds()
            await store.recover_judgements()
            counter = TokenCounter(store, model)
            await counter.load()
            renderer = Renderer(counter)
            delay = timedelta(seconds=settings.fold_delay_seconds)
            engine = Engine(
                store, model, counter, renderer,
                budgets=budgets, fold_delay=delay, clock=clock, temperature=settings.llm_temperature,
                recall_limits=Limits(settings.recall_lines, settings.recall_tokens),
                people_tokens=settings.people_tokens,
            )  # fmt: skip
            moderation = Moderation(store, engine, flags_per_hour=settings.flags_per_hour, clock=clock)
            people = People(store, clock=clock)
            keep = timedelta(days=settings.guild_keep_days)
            privacy = Privacy(store, engine, renderer, clock=clock, keep=keep)
            rewinding = Rewinding(store, engine, renderer, clock=clock)
            personas = Personas(store)
            manners = Manners(
                store, engine, clock=clock,
                player_limit=settings.player_replies_per_minute, guild_limit=settings.guild_replies_per_minute,
            )  # fmt: skip
            statistics = Statistics(store)
            queues = {"story": model.queue} | ({} if folder_model is model else {"folder": folder_model.queue})
            metrics = Metrics(statistics, queues, clock=clock)
            characters = Characters(store, engine, clock=clock)
            folder = Folder(
                store, folder_model, renderer,
                story_window=lambda: model.profile.window, budgets=budgets, clock=clock,
                delay=delay, attempts=settings.fold_attempts, at_once=settings.llm_parallel, audit=settings.fold_audit,
            )  # fmt: skip
            judging = Judging(
                store, folder_model, clock=clock, zone=settings.default_time_zone,
                delay=delay, attempts=settings.fold_attempts, at_once=settings.llm_parallel,
                active=settings.people_tokens > 0,
            )  # fmt: skip
            try:
                yield Core(
                    store, model, folder_model, counter, renderer, engine, characters, moderation, people, privacy,
                    rewinding, personas, manners, statistics, metrics, folder, judging,
                )  # fmt: skip
            finally:
                await judging.close()
                await folder.close()
        finally:
            for client in {model, folder_model}:
                await client.close()
    finally:
        await store.close()


def _client(settings: Settings, store: Store, clock: Clock, base_url: str) -> ModelClient:
    key = settings.llm_api_key
    return ModelClient(
        base_url,
        api_key=key.get_secret_value() if key else None,
        model=settings.llm_model,
        timeout_seconds=settings.llm_timeout_seconds,
        parallel=settings.llm_parallel,
        waiting_replies=settings.llm_waiting_replies,
        vision={"true": True, "false": False}.get(settings.llm_vision),
        on_call=Recorder(store, clock).record,
    )


def _folder_client(settings: Settings, store: Store, clock: Clock) -> ModelClient | None:
    """A client of its own only for another server or model: replies go before folds within one client's queue."""
    if settings.folder_base_url is None and settings.folder_model is None:
        return None
    own_server = settings.folder_base_url is not None
    key = settings.folder_api_key if own_server else settings.llm_api_key
    return ModelClient(
        settings.folder_base_url or settings.llm_base_url or "",
        api_key=key.get_secret_value() if key else None,
        model=settings.folder_model,
        timeout_seconds=settings.llm_timeout_seconds,
        parallel=settings.llm_parallel,
        on_call=Recorder(store, clock).record,
    )
