"""What every evaluation sets up: settings that know nothing of this machine's environment, and an ear at one logger."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot.settings import Settings, load_settings


def settings_for(address: str, database: Path, changes: Mapping[str, Any], *, with_model: bool) -> Settings:
    """Settings with the model at ``address`` and ``changes``; ``with_model`` lets the environment's folder model fold and judge.

    Raises SettingsError when that model is not set.
    """
    fixed: dict[str, Any] = {
        "llm_base_url": address, "llm_api_key": None, "llm_model": None, "llm_window": None, "llm_temperature": None,
        "database_url": f"sqlite+aiosqlite:///{database.as_posix()}", "fold_profile": "local", "fold_delay_seconds": 0,
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
