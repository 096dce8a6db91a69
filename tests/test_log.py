from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator

import pytest

from bot.log import REDACTED, configure


@pytest.fixture(autouse=True)
def _restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {
        name: logger.level for name, logger in root.manager.loggerDict.items() if isinstance(logger, logging.Logger)
    }
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, logger in root.manager.loggerDict.items():
        if isinstance(logger, logging.Logger):
            logger.setLevel(levels.get(name, logging.NOTSET))


def test_a_record_is_one_line_with_time_level_and_logger() -> None:
    stream = io.StringIO()
    configure("INFO", stream=stream)

    logging.getLogger("bot.folder").warning("fold %d\nfailed", 7)
    logging.getLogger("bot.folder").debug("not shown")

    (line,) = stream.getvalue().splitlines()
    assert line.endswith(" WARNING bot.folder: fold 7 ⏎ failed")
    assert line[:4].isdigit()


def test_secrets_are_blacked_out_also_in_tracebacks() -> None:
    stream = io.StringIO()
    configure("INFO", secrets=["token", "token-and-more", ""], stream=stream)

    logging.getLogger("bot").info("with %s and %s", "token", "token-and-more")
    try:
        raise RuntimeError("refused: token-and-more")
    except RuntimeError:
        logging.getLogger("bot").exception("failed")

    text = stream.getvalue()
    assert "token" not in text
    assert f"with {REDACTED} and {REDACTED}" in text
    assert f"RuntimeError: refused: {REDACTED}" in text
    assert len(text.splitlines()) == 2


@pytest.mark.parametrize("name", ["httpx", "apscheduler.scheduler", "discord.gateway", "sqlalchemy.engine"])
@pytest.mark.parametrize("level", ["DEBUG", "INFO"])
def test_noisy_libraries_are_heard_from_warnings_on(name: str, level: str) -> None:
    stream = io.StringIO()
    configure(level, stream=stream)

    logging.getLogger(name).info("every request")
    logging.getLogger(name).warning("matters")

    (line,) = stream.getvalue().splitlines()
    assert "matters" in line


def test_a_high_level_holds_for_noisy_libraries_too() -> None:
    stream = io.StringIO()
    configure("ERROR", stream=stream)

    logging.getLogger("httpx").warning("hidden")

    assert stream.getvalue() == ""


def test_python_warnings_go_to_the_log() -> None:
    stream = io.StringIO()
    configure("INFO", stream=stream)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("old call", UserWarning, stacklevel=1)

    assert "old call" in stream.getvalue()
