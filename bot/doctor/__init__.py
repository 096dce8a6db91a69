"""``kataribe doctor``: is everything as it should be, and what to do where it is not.

Nothing is changed and nothing is created: no migration, no session, no message. What is asked of the model is a few
words, and of Discord only what its REST interface answers; the bot may run meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pydantic import ValidationError

from bot import log
from bot.doctor.application import application
from bot.doctor.findings import Finding, Findings, Mark
from bot.doctor.models import folding_model, model
from bot.errors import KataribeError, SettingsError
from bot.settings import ENV_FILE, Settings, load_settings
from bot.store.health import SchemaState
from bot.store.health import examine as examine_database

_NEEDED: Final = ("discord_token", "llm_base_url")


async def examine(write: Callable[[str], object] = print) -> int:
    """Check settings, database, model and Discord, telling each finding in a line as soon as it is known.

    Returns 0 unless something is wrong that keeps the bot from working, else 1.
    """
    settings, wrong, findings = _settings()
    secrets = [
        s.get_secret_value() for s in (settings.discord_token, settings.llm_api_key, settings.folder_api_key) if s
    ]
    log.configure("ERROR", secrets=secrets)
    marks: set[Mark] = set()

    def tell(finding: Finding) -> None:
        marks.add(finding.mark)
        line = " ".join(str(finding).split())
        for secret in secrets:
            line = line.replace(secret, log.REDACTED) if secret else line
        write(line)

    for finding in findings:
        tell(finding)
    for name, check in _checks(settings):
        if name in wrong:
            tell(Finding(Mark.NOTE, f"not looked at, because {name.upper()} is wrong"))
            continue
        async for finding in check(settings):
            tell(finding)
    return 1 if Mark.BAD in marks else 0


def _checks(settings: Settings) -> Iterator[tuple[str, Callable[[Settings], Findings]]]:
    """Each check with the setting that it cannot do without."""
    yield "database_url", _database
    yield "llm_base_url", model
    if settings.folder_base_url or settings.folder_model:
        yield "folder_base_url", folding_model
    yield "discord_token", application


def _settings() -> tuple[Settings, frozenset[str], list[Finding]]:
    """What is set, with wrong settings at their defaults; the names of those; and what to tell about them."""
    try:
        return load_settings(need=_NEEDED), frozenset(), [Finding(Mark.GOOD, "settings: all can be read")]
    except SettingsError as error:
        findings = [Finding(Mark.BAD, line) for line in error.lines]
    try:
        return Settings(_env_file=ENV_FILE), frozenset(), findings
    except ValidationError as error:
        wrong = {str(problem["loc"][0]) for problem in error.errors(include_input=False, include_url=False)}
        defaults = {name: Settings.model_fields[name].get_default() for name in wrong}
        return Settings(_env_file=ENV_FILE, **defaults), frozenset(wrong), findings
    except UnicodeDecodeError:
        return Settings(_env_file=None), frozenset(), findings


async def _database(settings: Settings) -> Findings:
    try:
        health = await examine_database(settings.database_url)
    except KataribeError as error:
        yield Finding(Mark.BAD, str(error))
        return
    match health.state:
        case SchemaState.NEW:
            yield Finding(Mark.GOOD, f"database: {health.address} is new; the first start sets it up")
        case SchemaState.BEHIND:
            advice = "nothing to do: the next start brings it up to date; copy the file before if you want to go back"
            yield Finding(Mark.NOTE, f"database: {health.address} can be written, of an older version", advice)
        case SchemaState.CURRENT:
            yield Finding(Mark.GOOD, f"database: {health.address} can be written and is up to date")
    if health.write_ahead is False:
        advice = "keep it on a local disk: network file systems cannot do that, and replies may have to wait for folds"
        yield Finding(Mark.NOTE, "database: no write-ahead log", advice)
    for line in health.damage:
        advice = "stop the bot, keep a copy of the file, and go back to a backup or use: sqlite3 FILE .recover"
        yield Finding(Mark.BAD, f"database: damaged: {line}", advice)
    if health.write_ahead is not None and not health.damage:
        yield Finding(Mark.GOOD, "database: not damaged")
