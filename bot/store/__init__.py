"""The store: domain objects in and out, and one function is one transaction.

Each module holds one topic; ``Store`` is all of them on one database.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from bot.store.branches import BranchStore
from bot.store.casts import CastStore
from bot.store.changes import ChangeStore
from bot.store.chapters import ChapterStore
from bot.store.characters import CharacterStore
from bot.store.database import Database
from bot.store.departures import DepartureStore
from bot.store.figures import FigureStore
from bot.store.findings import FindingStore
from bot.store.folds import FoldStore
from bot.store.forgetting import ForgettingStore
from bot.store.imports import ImportStore
from bot.store.judgements import JudgementStore, NotesWork, TraitsWork
from bot.store.ledger import Render
from bot.store.manners import MannersStore
from bot.store.memories import MemoryStore
from bot.store.migrate import migrate as migrate_database
from bot.store.migrate import upgrade
from bot.store.moderation import ModerationStore
from bot.store.own_data import OwnDataStore
from bot.store.people import PeopleStore
from bot.store.personas import PersonaStore
from bot.store.planning import Due
from bot.store.sessions import SessionStore
from bot.store.statistics import Call, StatisticsStore
from bot.store.tellings import TellingStore
from bot.store.traits import TraitStore
from bot.store.turns import TurnStore
from bot.store.webhooks import WebhookStore

__all__ = ["Call", "Due", "NotesWork", "Render", "Store", "TraitsWork", "upgrade"]


class Store(
    CharacterStore,
    SessionStore,
    TurnStore,
    TellingStore,
    ChangeStore,
    BranchStore,
    MemoryStore,
    FoldStore,
    ChapterStore,
    StatisticsStore,
    FigureStore,
    WebhookStore,
    ModerationStore,
    FindingStore,
    ForgettingStore,
    DepartureStore,
    OwnDataStore,
    PeopleStore,
    TraitStore,
    JudgementStore,
    ImportStore,
    PersonaStore,
    MannersStore,
    CastStore,
):
    """Everything that is kept. Open it with ``open``, close it with ``close`` or at the end of ``async with``."""

    @classmethod
    async def open(cls, url: str, *, migrate: bool = True) -> Self:
        """The store at an address such as ``sqlite:///kataribe.db``, brought to the newest schema.

        Raises DatabaseTooNew when a newer version of Kataribe wrote it.
        """
        async with AsyncExitStack() as unless_opened:
            database = Database.at(url)
            unless_opened.push_async_callback(database.close)
            if migrate:
                await migrate_database(database)
            unless_opened.pop_all()
        return cls(database)

    async def close(self) -> None:
        """Close all connections."""
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
