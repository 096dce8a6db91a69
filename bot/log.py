"""The log: one line for each record, on standard error, with secrets blacked out."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import TextIO

REDACTED = "[secret]"

# What these say at the level below is said for every request, job or heartbeat.
_NOISY = {
    "alembic": logging.WARNING,
    "apscheduler": logging.WARNING,
    "discord": logging.INFO,
    "discord.client": logging.WARNING,
    "discord.gateway": logging.WARNING,
    "discord.http": logging.WARNING,
    "httpcore": logging.WARNING,
    "httpx": logging.WARNING,
    "sqlalchemy": logging.WARNING,
}


class LineFormatter(logging.Formatter):
    """Time, level, logger and message on one line; line breaks, also those of a traceback, become ``⏎``.

    ``secrets`` are blacked out wherever they stand, also in a traceback of another library.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__("{asctime} {levelname:<7} {name}: {message}", "%Y-%m-%dT%H:%M:%S%z", style="{")
        # Longest first: one secret may contain another.
        self._secrets = sorted({secret for secret in secrets if secret}, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line without secrets."""
        line = super().format(record)
        for secret in self._secrets:
            line = line.replace(secret, REDACTED)
        return " ⏎ ".join(line.splitlines())


def configure(level: str = "INFO", *, secrets: Iterable[str] = (), stream: TextIO | None = None) -> None:
    """Send all records of ``level`` and above to ``stream`` (standard error if none is given), instead of elsewhere.

    ``secrets`` are the values that must never be written; empty ones are ignored.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LineFormatter(secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name, quiet in _NOISY.items():
        logging.getLogger(name).setLevel(max(quiet, logging.getLevelNamesMapping()[level]))
    logging.captureWarnings(capture=True)
