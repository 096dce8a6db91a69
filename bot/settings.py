"""Every setting, and the only place that reads the environment.

A setting is an environment variable of the same name in capitals, or a line of the file ``.env``; the environment wins.
``python -m bot.settings`` prints the text of ``.env.example``.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from dotenv import dotenv_values
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.errors import SettingsError
from bot.memory.policy import Budgets, budgets_for
from bot.time_zones import zone_name

ENV_FILE = Path(".env")

_GROUPS = (
    ("Discord", ("discord_", "default_", "stream_", "reply_", "flags_", "player_", "guild_")),
    ("The model that plays the characters", ("llm_",)),
    ("Another model for folding; without these the model above folds too", ("folder_",)),
    ("Storage, log and metrics", ("database_", "log_", "metrics_")),
    ("Folding; budgets are in tokens, and an empty one is taken from the profile", ("fold_",)),
    ("Recall: what left the prompt and fits the newest message", ("recall_",)),
    ("People: what a character keeps about the players", ("people_",)),
)
_BUDGETS = ("trigger", "ceiling", "floor", "room", "stretch", "chapters_total")
# Pairs of budgets of which the first must be the smaller, whenever both are set.
_ORDER = (
    ("fold_floor", "fold_trigger"),
    ("fold_trigger", "fold_ceiling"),
    ("fold_floor", "fold_ceiling"),
    ("fold_room", "fold_trigger"),
    ("fold_ceiling", "llm_window"),
)


def _http_url(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", value):
        raise ValueError("it is not an http:// or https:// address")
    address = value.rstrip("/")
    return f"{address}/v1" if address.count("/") == 2 else address


def _database_url(value: str) -> str:
    if not re.match(r"sqlite://|[a-z]+\+[a-z0-9]+://", value):
        raise ValueError("it does not name SQLite, or another database and its asynchronous driver")
    return value


def _token(value: SecretStr) -> SecretStr:
    if re.search(r"\s", value.get_secret_value()):
        raise ValueError("it contains a space; copy only the token itself, without the word Bot")
    return value


def _time_zone(value: str) -> str:
    name = zone_name(value)
    if name is None:
        raise ValueError("it is not the name of a time zone")
    return name


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


HttpUrl = Annotated[str, AfterValidator(_http_url)]
Tokens = Annotated[int, Field(gt=0)]


class Settings(BaseSettings):
    """What an operator can set. The names in capitals are the environment variables."""

    model_config = SettingsConfigDict(
        env_file=ENV_FILE,
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        str_strip_whitespace=True,
        hide_input_in_errors=True,
    )

    discord_token: Annotated[SecretStr, AfterValidator(_token)] | None = Field(
        default=None,
        description="The bot's token, from https://discord.com/developers/applications under Bot.",
        examples=["the-token-from-the-developer-portal"],
    )
    default_language: Annotated[Literal["en", "ja", "zh"], BeforeValidator(_lower)] = Field(
        default="en",
        description="Language of what the bot says to a whole channel: en, ja or zh. What only one person sees is in "
        "that person's own language.",
    )
    default_time_zone: Annotated[str, AfterValidator(_time_zone)] = Field(
        default="UTC",
        description="Time zone of direct messages, and of guilds that set none with /memory settings, by its name in the tz "
        "database, such as Asia/Tokyo. At 05:00 there, what the day before told about people is looked through.",
    )

    stream_replies: bool = Field(
        default=True,
        description="true: a reply that takes longer appears as it is written, by edits. false: it is sent when it is whole.",
        examples=["true"],
    )
    reply_reactions: bool = Field(
        default=False,
        description="true: the newest reply carries the reactions 🔁 (tell it anew), ▶ (go on) and ↩ (take it back), to be "
        "pressed. false: players add them themselves, or right click.",
        examples=["false"],
    )
    flags_per_hour: int = Field(
        default=5, gt=0, description="How many memories one player may report to the moderators within an hour."
    )
    guild_keep_days: int = Field(
        default=30,
        ge=0,
        description="Days after which all that belongs to a guild is deleted when it has removed the bot.",
    )
    player_replies_per_minute: int = Field(
        default=10,
        ge=0,
        description="Replies that one player may get within a minute. What is beyond it is kept, and answered when the minute "
        "allows. 0: no limit.",
    )
    guild_replies_per_minute: int = Field(
        default=60, ge=0, description="Replies within a minute in all the channels of one server. 0: no limit."
    )

    llm_base_url: HttpUrl | None = Field(
        default=None,
        repr=False,
        description="Address of an OpenAI-compatible server, such as llama.cpp's, up to /v1.",
        examples=["http://127.0.0.1:8080/v1"],
    )
    llm_api_key: SecretStr | None = Field(
        default=None, description="Key of that server, if it asks for one.", examples=["sk-..."]
    )
    llm_model: str | None = Field(
        default=None,
        description="Name of the model, where the server offers more than one. Empty: the first that it lists.",
        examples=["name-of-the-model"],
    )
    llm_timeout_seconds: int = Field(
        default=300,
        gt=0,
        description="Seconds that one answer of a model may take as a whole. No other timeout is shorter.",
    )
    llm_parallel: int = Field(
        default=1, gt=0, description="Requests at once; no more than the server has slots (llama.cpp: --parallel)."
    )
    llm_waiting_replies: int = Field(
        default=20, ge=0, description="Replies that may wait for the model before players are asked to try again later."
    )
    llm_window: Tokens | None = Field(
        default=None,
        description="Window of the model in tokens, where the server does not report it, or to use less of it.",
        examples=["65536"],
    )
    llm_reply_tokens: Tokens = Field(default=1024, description="Longest reply of a character, in tokens.")
    llm_temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        default=None,
        description="Temperature of replies, 0 to 2. Empty: the server's own.",
        examples=["0.8"],
    )
    llm_vision: Annotated[Literal["auto", "true", "false"], BeforeValidator(_lower)] = Field(
        default="auto",
        description="Whether the model is shown the pictures that players attach. auto: if the server says that it can see; a "
        "server that says nothing is tried once.",
    )

    folder_base_url: HttpUrl | None = Field(
        default=None,
        repr=False,
        description="Address of the server of the folding model, up to /v1.",
        examples=["https://api.example.com/v1"],
    )
    folder_api_key: SecretStr | None = Field(
        default=None,
        description="Key of that server. LLM_API_KEY is never sent to another server than its own.",
        examples=["sk-..."],
    )
    folder_model: str | None = Field(
        default=None, description="Name of the folding model.", examples=["name-of-the-model"]
    )

    database_url: Annotated[str, AfterValidator(_database_url)] = Field(
        default="sqlite:///kataribe.db",
        repr=False,
        description="Where everything is kept: a file of SQLite's, or an SQLAlchemy address with an asynchronous driver.",
    )
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)] = Field(
        default="INFO",
        description="DEBUG, INFO, WARNING or ERROR. DEBUG may write down what players wrote.",
    )

    metrics_port: Annotated[int, Field(gt=0, lt=65_536)] | None = Field(
        default=None,
        description="Port of 127.0.0.1 where the running bot serves its figures to Prometheus, under /metrics; other machines "
        "cannot reach it. Empty: nowhere.",
        examples=["9464"],
    )

    fold_profile: Annotated[Literal["auto", "local", "wide"], BeforeValidator(_lower)] = Field(
        default="auto",
        description="local, or wide for windows of 200,000 tokens and more. auto: chosen from the model's window.",
    )
    fold_trigger: Tokens | None = Field(
        default=None, description="Raw turns and memory from which a fold is planned.", examples=["30000"]
    )
    fold_ceiling: Tokens | None = Field(
        default=None,
        description="Raw turns and memory from which the oldest turns are left out of the prompt by force.",
        examples=["36000"],
    )
    fold_floor: Tokens | None = Field(
        default=None, description="Newest raw turns that a fold never touches.", examples=["10000"]
    )
    fold_room: Tokens | None = Field(
        default=None, description="Room for new turns that a fold makes below the trigger.", examples=["11000"]
    )
    fold_stretch: Tokens | None = Field(
        default=None,
        description="Longest stretch of turns that becomes one chapter; a longer one becomes several.",
        examples=["20000"],
    )
    fold_chapters_total: Tokens | None = Field(
        default=None,
        description="Total of all chapters at which the oldest half is folded into the synopsis.",
        examples=["5000"],
    )
    fold_delay_seconds: int = Field(
        default=30, ge=0, description="Seconds from the turn that makes a fold due to the fold."
    )
    fold_output_tokens: Tokens = Field(
        default=4096,
        description="Cap of what a fold may write: a guard against being cut short, not a length to reach.",
    )
    fold_attempts: int = Field(
        default=3, gt=0, description="How often a failing fold is tried before it waits for a person."
    )
    fold_open_ends: int = Field(
        default=12,
        ge=0,
        description="Loose ends, the newest, that the prompt names; the others stay in /memory show until they are closed.",
    )
    fold_audit: bool = Field(
        default=False,
        description="true: the model takes a second look at each new chapter, for lines that are only claims and loose ends "
        "that are closed. Costs one more request for each chapter.",
        examples=["false"],
    )

    recall_lines: int = Field(
        default=4,
        ge=0,
        description="Lines of the past, at most, that a reply is reminded of when they fit what was said. 0: none.",
    )
    recall_tokens: int = Field(
        default=300,
        ge=0,
        description="Tokens of those lines in all; never more than a hundredth of the model's window. 0: none.",
    )

    people_tokens: int = Field(
        default=300,
        ge=0,
        description="Tokens of the notes and traits of the people present that a reply is told of, in all. 0: none are told, "
        "and nobody is judged.",
    )

    def budgets(self, reported_window: int | None) -> Budgets:
        """The profile for the model's window in tokens, with everything that is set here put in its place.

        ``LLM_WINDOW`` wins over what the server reports. Raises :class:`SettingsError` if a setting contradicts another
        one, or the profile's own figures.
        """
        profile = budgets_for(
            self.llm_window or reported_window, reply_output=self.llm_reply_tokens, profile=self.fold_profile
        )
        changes = {name: value for name in _BUDGETS if (value := getattr(self, f"fold_{name}")) is not None}
        output = min(profile.fold_output, self.fold_output_tokens)
        budgets = dataclasses.replace(profile, fold_output=output, open_ends=self.fold_open_ends, **changes)
        lines = list(_disordered({f"fold_{name}": getattr(budgets, name) for name in _BUDGETS})) if changes else []
        if lines:
            raise SettingsError([f"{line} (those not set come from the {self.fold_profile} profile)" for line in lines])
        return budgets


def load_settings(*, need: Iterable[str] = (), env_file: Path | None = ENV_FILE) -> Settings:
    """Read the settings; ``need`` names those, by their Python names, that must not be empty.

    Raises :class:`SettingsError` with one line for each problem, all at once. A line never shows a secret.
    """
    try:
        lines = list(_misspelt(env_file)) if env_file else []
    except UnicodeDecodeError:
        raise SettingsError([f"{env_file}: this file is not in UTF-8; save it again in that encoding"]) from None
    wrong: dict[str, str] = {}
    try:
        settings = Settings(_env_file=env_file)
    except ValidationError as error:
        wrong = {name: _explain(name, message) for name, message in _messages(error)}
        # Read again with the wrong ones at their defaults, so that what else is amiss is reported too.
        defaults = {name: Settings.model_fields[name].get_default() for name in wrong}
        settings = Settings(_env_file=env_file, **defaults)
    lines += wrong.values()
    lines += [
        _explain(name, "it is empty, but needed") for name in need if name not in wrong and _missing(settings, name)
    ]
    lines += _disordered({name: value for name, value in settings if name not in wrong})
    if lines:
        raise SettingsError(lines)
    return settings


def child_environment(changes: Mapping[str, str]) -> dict[str, str]:
    """The environment for a child process: this process's own, without any setting of ours, and with ``changes``."""
    ours = {name.upper() for name in Settings.model_fields}
    inherited = {name: value for name, value in os.environ.items() if name.upper() not in ours}
    return inherited | dict(changes)


def env_example() -> str:
    """The text of ``.env.example``: every setting in its group, with its description and its default."""
    parts = [
        "# Copy this file to .env and fill in what you need. A line that begins with # shows a default or an example.\n"
    ]
    for title, prefixes in _GROUPS:
        parts.append(f"\n# ---- {title} ----\n")
        for name, field in Settings.model_fields.items():
            if name.startswith(prefixes):
                parts.append(_example_entry(name, field))
    return "".join(parts)


def _example_entry(name: str, field: FieldInfo) -> str:
    comment = textwrap.fill(field.description or "", 110, initial_indent="# ", subsequent_indent="# ")
    mark = "" if name in ("discord_token", "llm_base_url") else "# "
    value = "" if name == "discord_token" else _example_value(field)
    return f"\n{comment}\n{mark}{name.upper()}={value}\n"


def _example_value(field: FieldInfo) -> str:
    return str(field.examples[0] if field.examples else field.get_default())


def _explain(name: str, problem: str) -> str:
    return (
        f"{name.upper()}: {problem}. Write, for example: {name.upper()}={_example_value(Settings.model_fields[name])}"
    )


def _messages(error: ValidationError) -> Iterator[tuple[str, str]]:
    for problem in error.errors(include_input=False, include_url=False):
        message = problem["msg"].removeprefix("Value error, ").replace("Input should be", "it should be")
        yield str(problem["loc"][0]), message.rstrip(".")


def _missing(settings: Settings, name: str) -> bool:
    value = getattr(settings, name)
    return value is None or (isinstance(value, SecretStr) and not value.get_secret_value())


def _disordered(values: Mapping[str, Any]) -> Iterator[str]:
    """A line for each contradiction between budgets, those without a value aside."""
    for small, large in _ORDER:
        low, high = values.get(small), values.get(large)
        if low is not None and high is not None and low >= high:
            yield f"{small.upper()}={low} is not below {large.upper()}={high}. Lower the first or raise the second"
    floor, room, trigger = values.get("fold_floor"), values.get("fold_room"), values.get("fold_trigger")
    if floor and room and trigger and floor < trigger and room < trigger < floor + room:
        yield (
            f"FOLD_FLOOR={floor} and FOLD_ROOM={room} do not both fit below FOLD_TRIGGER={trigger}. "
            f"Raise FOLD_TRIGGER to {floor + room} or more"
        )


def _misspelt(env_file: Path) -> Iterator[str]:
    """Lines of the file whose name is not a setting but nearly one. Others belong to other programs."""
    known = [name.upper() for name in Settings.model_fields]
    for name in dotenv_values(env_file, encoding="utf-8") if env_file.is_file() else ():
        near = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0.8)
        if near and name.upper() not in known:
            yield f"{name}: there is no such setting; in {env_file} write {near[0]} instead, or remove the line"


if __name__ == "__main__":
    sys.stdout.write(env_example())
