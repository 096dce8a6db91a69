"""The demo's command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.demo import __main__ as demo
from bot.demo.stage import Voice, only_one
from bot.demo.world import the_world
from bot.settings import load_settings


def test_what_the_operator_set_reaches_the_bot_but_not_token_and_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:1234/v1")
    monkeypatch.setenv("LLM_API_KEY", "secret")
    monkeypatch.setenv("FOLD_TRIGGER", "7000")
    monkeypatch.setenv("DISCORD_TOKEN", "a-real-one")
    monkeypatch.setenv("DATABASE_URL", "sqlite:///real.db")
    assert demo.chosen(load_settings(env_file=None)) == {
        "LLM_BASE_URL": "http://127.0.0.1:1234/v1",
        "LLM_API_KEY": "secret",
        "FOLD_TRIGGER": "7000",
    }


def test_the_small_budgets_are_valid_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in demo.SMALL_BUDGETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LLM_WINDOW", "8192")
    assert load_settings(env_file=None).fold_trigger == int(demo.SMALL_BUDGETS["FOLD_TRIGGER"])


def test_the_greeting_says_who_answers_and_fits_a_message() -> None:
    world = the_world()
    text = demo.greeting(world, Voice("", "A very small model answers here.", {}))
    assert "A very small model answers here." in text
    assert all(member.name in text for member in world.members)
    assert len(text) <= 2000


def test_arguments_have_defaults() -> None:
    given = demo.parse([])
    assert (given.reset, given.port, given.no_open, given.data, given.model) == (False, 0, False, demo.DATA, None)


def test_a_folder_in_use_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with only_one(tmp_path):
        assert demo.main(["--no-open", "--data", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("The demo ends: another demo is running")
