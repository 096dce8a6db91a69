"""What evaluations set up: a model to ask, a clock, settings that know nothing of this environment, an ear at one logger."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr

from bot.demo.embedded import EmbeddedModel
from bot.demo.model import small_model
from bot.errors import KataribeError, UserError
from bot.evals.answers import Keeper, kept_answers
from bot.evals.commands import CONFIGURED, SMALL
from bot.evals.runs import Run
from bot.settings import Settings, load_settings

# Codes of requests that no try will make right: the server is gone, refuses the key, or has no such model.
_GONE: Final = ("model-unavailable", "model-key", "model-missing")


class ModelGone(KataribeError):
    """The model server gives no answers; says in a line how to go on."""

    def __init__(self, error: object) -> None:
        super().__init__(
            f"The model server gives no answers any more ({error}). Start the same command again: it goes on where it was."
        )


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
async def model_at(
    which: str, folder: Path, *, slots: int = 2, context: int = 16_384, cache_ram: int = 0, plays: bool = False
) -> AsyncIterator[ModelAt]:
    """The model that ``--model`` names. The small one is started as a llama.cpp server for as long as the block lasts.

    ``slots``, ``context`` (tokens of all slots together) and ``cache_ram`` (MiB for prompts that left their slot) are the small
    model's; its log goes to ``folder``. Of the settings' models it is the one that folds, unless it ``plays``. Raises
    SettingsError and KataribeError.
    """
    if which == SMALL:
        server = EmbeddedModel(
            await small_model(), log=folder / "model.log", context=context, slots=slots, cache_ram=cache_ram
        )
        async with server as running:
            yield ModelAt(running.base_url, running.api_key, parallel=slots)
        return
    own = load_settings(need=("llm_base_url",) if which == CONFIGURED else ())
    if which == CONFIGURED:
        is_own = plays or own.folder_base_url is None
        key = own.llm_api_key if is_own else own.folder_api_key
        yield ModelAt(
            (own.llm_base_url if is_own else own.folder_base_url) or "",
            key.get_secret_value() if key else None,
            (None if plays else own.folder_model) or (own.llm_model if is_own else None),
            own.llm_parallel,
        )
    elif which.startswith(("http://", "https://")):
        yield ModelAt(which.rstrip("/"))
    else:
        raise KataribeError(f"--model {which}: it is neither {SMALL} nor an address such as http://127.0.0.1:8080/v1.")


@asynccontextmanager
async def kept_model(
    which: str, run: Run, *, repeat: int = 0, slots: int = 1, context: int = 8_192
) -> AsyncIterator[tuple[ModelAt, Keeper]]:
    """The model that ``--model`` names, asked by way of the run's kept answers; see ``model_at`` and ``kept_answers``."""
    async with (
        model_at(which, run.folder, slots=slots, context=context) as at,
        kept_answers(at.base_url, run.answers, api_key=at.api_key, repeat=repeat, redraws=True) as keeper,
    ):
        yield replace(at, base_url=keeper.base_url, api_key=None), keeper


def settings_for(
    address: str, database: Path, changes: Mapping[str, Any], *, with_model: ModelAt | None = None
) -> Settings:
    """Settings with the model at ``address`` and ``changes``; ``with_model`` folds and judges, by the environment's settings.

    It is asked one thing at a time, so that a run that is repeated asks the same. Raises SettingsError when the environment's
    settings are wrong.
    """
    fixed: dict[str, Any] = {
        "llm_base_url": address, "llm_api_key": None, "llm_model": None, "llm_window": None, "llm_temperature": None,
        "database_url": f"sqlite+aiosqlite:///{database.as_posix()}", "fold_profile": "local", "fold_delay_seconds": 0,
        **changes,
    }  # fmt: skip
    if with_model is None:
        return Settings.model_construct(**fixed)
    folder = {
        "folder_base_url": with_model.base_url,
        "folder_api_key": SecretStr(with_model.api_key) if with_model.api_key else None,
        "folder_model": with_model.model,
        "llm_parallel": 1,
    }
    return load_settings().model_copy(update={**fixed, **folder})


def require_answers(failed: Iterable[str]) -> None:
    """Raise ModelGone if one of the reasons for which background work failed is that the server gives no answers at all.

    Figures without that work would say nothing of the memory.
    """
    for reason in failed:
        if reason.startswith(_GONE):
            raise ModelGone(reason)


def is_gone(error: UserError) -> bool:
    """Whether a request failed for that reason."""
    return error.code in _GONE


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
