"""What evaluations set up: a model to ask, a clock, settings that know nothing of this environment, an ear at one logger."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.demo.embedded import EmbeddedModel
from bot.demo.model import small_model
from bot.errors import KataribeError
from bot.evals.commands import CONFIGURED, SMALL
from bot.settings import Settings, load_settings


class Clock:
    """A clock that the play moves."""

    def __init__(self, start: datetime | None = None) -> None:
        self.time = start or datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def pass_minutes(self, minutes: float) -> None:
        """Move on."""
        self.time += timedelta(minutes=minutes)


@dataclass(frozen=True, slots=True)
class ModelAt:
    """A model to ask: its address up to ``/v1``, its key and name where it has them, and how many requests it takes at once."""

    base_url: str
    api_key: str | None = None
    model: str | None = None
    parallel: int = 1


@asynccontextmanager
async def model_at(which: str, folder: Path, *, slots: int = 2, context: int = 16_384) -> AsyncIterator[ModelAt]:
    """The model that ``--model`` names. The small one is started as a llama.cpp server for as long as the block lasts.

    ``slots`` and ``context`` (tokens of all slots together) are the small model's; its log goes to ``folder``. Raises
    SettingsError and KataribeError.
    """
    if which == SMALL:
        server = EmbeddedModel(await small_model(), log=folder / "model.log", context=context, slots=slots)
        async with server as running:
            yield ModelAt(running.base_url, running.api_key, parallel=slots)
        return
    own = load_settings(need=("llm_base_url",) if which == CONFIGURED else ())
    if which == CONFIGURED:
        is_own = own.folder_base_url is None
        key = own.llm_api_key if is_own else own.folder_api_key
        yield ModelAt(
            own.folder_base_url or own.llm_base_url or "",
            key.get_secret_value() if key else None,
            own.folder_model or (own.llm_model if is_own else None),
            own.llm_parallel,
        )
    elif which.startswith(("http://", "https://")):
        yield ModelAt(which.rstrip("/"))
    else:
        raise KataribeError(f"--model {which}: it is neither {SMALL} nor an address such as http://127.0.0.1:8080/v1.")


def settings_for(address: str, database: Path, changes: Mapping[str, Any], *, with_model: bool) -> Settings:
    """Settings with the model at ``address`` and ``changes``; ``with_model`` lets the environment's folder model fold and judge.

    Raises SettingsError when that model is not set.
    """
    fixed: dict[str, Any] = {
        "llm_base_url": address, "llm_api_key": None, "llm_model": None, "llm_window": None, "llm_temperature": None,
        "database_url": f"sqlite:///{database.as_posix()}", "fold_profile": "local", "fold_delay_seconds": 0,
        **changes,
    }  # fmt: skip
    if not with_model:
        return Settings.model_construct(**fixed)
    own = load_settings(need=("llm_base_url",))
    folder = {
        "folder_base_url": own.folder_base_url or own.llm_base_url,
        "folder_api_key": own.folder_api_key if own.folder_base_url else own.llm_api_key,
        "folder_model": own.folder_model or own.llm_model,
    }
    return own.model_copy(update={**fixed, **folder})


@contextmanager
def overheard(name: str, hear: Callable[[logging.LogRecord], None]) -> Iterator[None]:
    """Hand what the logger says from INFO on to ``hear`` instead of the log: figures stand in its lines."""
    logger = logging.getLogger(name)
    level, spreads = logger.level, logger.propagate
    handler = _Ear(hear)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = spreads


class _Ear(logging.Handler):
    def __init__(self, hear: Callable[[logging.LogRecord], None]) -> None:
        super().__init__()
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        self._hear(record)
