from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.errors import SettingsError
from bot.settings import Settings, child_environment, env_example, load_settings

RUN = ("discord_token", "llm_base_url")


@pytest.fixture
def env_file(tmp_path: Path) -> Path:
    return tmp_path / ".env"


def problems(env_file: Path, need: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load_settings(need=need, env_file=env_file)
    assert str(caught.value) == "\n".join(caught.value.lines)
    return caught.value.lines


def test_nothing_set_gives_the_documented_defaults(env_file: Path) -> None:
    settings = load_settings(env_file=env_file)

    assert settings.llm_timeout_seconds == 300
    assert settings.llm_parallel == 1
    assert settings.database_url == "sqlite:///kataribe.db"
    assert settings.default_language == "en"
    assert settings.fold_profile == "auto"
    assert settings.fold_trigger is None
    assert (settings.fold_delay_seconds, settings.fold_output_tokens, settings.fold_attempts) == (30, 4096, 3)


def test_a_file_is_read_in_any_case_with_empty_lines_as_unset(env_file: Path) -> None:
    env_file.write_text(
        "discord_token=abc.def\nLLM_BASE_URL=http://127.0.0.1:8080/v1/\nLLM_MODEL=\nlog_level=debug\n"
        "DEFAULT_LANGUAGE=JA\nFOLD_TRIGGER=30000\nSOMETHING_ELSE=1\n"
    )

    settings = load_settings(need=RUN, env_file=env_file)

    assert settings.discord_token == SecretStr("abc.def")
    assert settings.llm_base_url == "http://127.0.0.1:8080/v1"
    assert settings.llm_model is None
    assert settings.log_level == "DEBUG"
    assert settings.default_language == "ja"
    assert settings.fold_trigger == 30_000


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("https://host/", "https://host/v1"),
        ("https://host/openai/v2//", "https://host/openai/v2"),
    ],
)
def test_an_address_of_a_bare_server_gets_the_usual_path(env_file: Path, written: str, read: str) -> None:
    env_file.write_text(f"LLM_BASE_URL={written}\nFOLDER_BASE_URL={written}\n")

    settings = load_settings(env_file=env_file)

    assert (settings.llm_base_url, settings.folder_base_url) == (read, read)


def test_the_environment_wins_over_the_file(env_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env_file.write_text("LLM_PARALLEL=2\nLLM_MODEL=from-file\n")
    monkeypatch.setenv("LLM_PARALLEL", "3")

    settings = load_settings(env_file=env_file)

    assert (settings.llm_parallel, settings.llm_model) == (3, "from-file")


def test_all_problems_are_named_at_once(env_file: Path) -> None:
    env_file.write_text(
        "LLM_BASE_URL=127.0.0.1:8080\nLLM_PARALLEL=none\nLLM_TEMPERATURE=3\nDEFAULT_LANGUAGE=fr\n"
        "FOLD_TRIGER=3\nFOLD_FLOOR=9000\nFOLD_TRIGGER=8000\n"
    )

    lines = problems(env_file, RUN)

    named = [line.split(":")[0].split("=")[0] for line in lines]
    assert sorted(named) == sorted(
        [
            "FOLD_TRIGER",
            "LLM_BASE_URL",
            "LLM_PARALLEL",
            "LLM_TEMPERATURE",
            "DEFAULT_LANGUAGE",
            "DISCORD_TOKEN",
            "FOLD_FLOOR",
        ]
    )
    assert all("\n" not in line for line in lines)
    by_name = dict(zip(named, lines, strict=True))
    assert "write FOLD_TRIGGER instead" in by_name["FOLD_TRIGER"]
    assert "LLM_BASE_URL=http://127.0.0.1:8080/v1" in by_name["LLM_BASE_URL"]
    assert "LLM_PARALLEL=1" in by_name["LLM_PARALLEL"]
    assert "'en', 'ja' or 'zh'" in by_name["DEFAULT_LANGUAGE"]
    assert "FOLD_FLOOR=9000 is not below FOLD_TRIGGER=8000" in by_name["FOLD_FLOOR"]


def test_a_time_zone_is_a_name_of_the_database(env_file: Path) -> None:
    assert load_settings(env_file=env_file).default_time_zone == "UTC"
    env_file.write_text("DEFAULT_TIME_ZONE=asia/tokyo\n")
    assert load_settings(env_file=env_file).default_time_zone == "Asia/Tokyo"

    env_file.write_text("DEFAULT_TIME_ZONE=+09:00\n")

    (line,) = problems(env_file)
    assert line.startswith("DEFAULT_TIME_ZONE: it is not the name of a time zone")


@pytest.mark.parametrize(
    "line",
    [
        "DISCORD_TOKEN=Bot hunter2",
        "LLM_BASE_URL=ftp://user:hunter2@host",
        "FOLDER_BASE_URL=https://user:hunter2@host?x",
        "DATABASE_URL=postgresql://user:hunter2@host/name",
    ],
)
def test_a_wrong_secret_is_not_shown(env_file: Path, line: str) -> None:
    env_file.write_text(line + "\n")

    (problem,) = problems(env_file)

    assert problem.startswith(line.split("=")[0] + ": ")
    assert "hunter2" not in problem


def test_secrets_are_not_in_the_repr(env_file: Path) -> None:
    env_file.write_text(
        "DISCORD_TOKEN=hunter2\nLLM_API_KEY=hunter2\nFOLDER_API_KEY=hunter2\nLLM_BASE_URL=http://u:hunter2@h/v1\n"
        "FOLDER_BASE_URL=http://u:hunter2@h/v1\nDATABASE_URL=postgresql+asyncpg://u:hunter2@h/d\n"
    )

    assert "hunter2" not in repr(load_settings(need=RUN, env_file=env_file))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FOLD_TRIGGER=5\nFOLD_CEILING=5", "FOLD_TRIGGER=5 is not below FOLD_CEILING=5"),
        ("FOLD_FLOOR=6\nFOLD_CEILING=5", "FOLD_FLOOR=6 is not below FOLD_CEILING=5"),
        ("FOLD_CEILING=9000\nLLM_WINDOW=8192", "FOLD_CEILING=9000 is not below LLM_WINDOW=8192"),
        ("FOLD_FLOOR=5\nFOLD_ROOM=6\nFOLD_TRIGGER=10", "Raise FOLD_TRIGGER to 11 or more"),
    ],
)
def test_budgets_that_contradict_each_other(env_file: Path, text: str, expected: str) -> None:
    env_file.write_text(text)

    (problem,) = problems(env_file)

    assert expected in problem


def test_budgets_that_agree_are_accepted(env_file: Path) -> None:
    env_file.write_text("FOLD_FLOOR=4\nFOLD_ROOM=6\nFOLD_TRIGGER=10\nFOLD_CEILING=12\nFOLD_STRETCH=20\n")

    assert load_settings(env_file=env_file).fold_ceiling == 12


def test_budgets_are_the_profile_with_what_is_set_in_its_place(env_file: Path) -> None:
    env_file.write_text("FOLD_TRIGGER=28000\nFOLD_OUTPUT_TOKENS=2048\nLLM_REPLY_TOKENS=512\n")
    settings = load_settings(env_file=env_file)

    budgets = settings.budgets(65_536)

    assert (budgets.trigger, budgets.ceiling, budgets.floor) == (28_000, 36_000, 10_000)
    assert (budgets.fold_output, budgets.reply_output, budgets.window) == (2_048, 512, 65_536)


def test_what_is_written_never_takes_more_than_a_quarter_of_a_small_window(env_file: Path) -> None:
    env_file.write_text("LLM_WINDOW=4096\nLLM_REPLY_TOKENS=3000\n")

    budgets = load_settings(env_file=env_file).budgets(None)

    assert (budgets.fold_output, budgets.reply_output) == (1_024, 1_024)


def test_the_profile_and_the_window_that_are_set_win_over_the_reported_window(env_file: Path) -> None:
    env_file.write_text("FOLD_PROFILE=local\nLLM_WINDOW=100000\n")

    budgets = load_settings(env_file=env_file).budgets(1_000_000)

    assert (budgets.window, budgets.trigger) == (100_000, 30_000)


def test_a_budget_that_contradicts_the_profile_is_named(env_file: Path) -> None:
    env_file.write_text("FOLD_TRIGGER=9000\n")
    settings = load_settings(env_file=env_file)

    with pytest.raises(SettingsError) as caught:
        settings.budgets(65_536)

    assert len(caught.value.lines) == 2
    assert caught.value.lines[0].startswith("FOLD_FLOOR=10000 is not below FOLD_TRIGGER=9000.")
    assert caught.value.lines[1].startswith("FOLD_ROOM=11000 is not below FOLD_TRIGGER=9000.")


def test_a_file_in_another_encoding_is_named(env_file: Path) -> None:
    env_file.write_text("LLM_MODEL=語り部\n", encoding="utf-16")

    (problem,) = problems(env_file)

    assert str(env_file) in problem
    assert "UTF-8" in problem


def test_the_example_file_is_accepted_once_the_token_is_filled_in(env_file: Path) -> None:
    example = env_example()
    env_file.write_text(example)
    (missing,) = problems(env_file, RUN)
    assert missing.startswith("DISCORD_TOKEN: it is empty")

    filled = example.replace("DISCORD_TOKEN=", "DISCORD_TOKEN=abc")
    env_file.write_text(filled)
    assert load_settings(need=RUN, env_file=env_file).llm_base_url == "http://127.0.0.1:8080/v1"

    # Every example behind a "#" is valid too.
    env_file.write_text("".join(line.removeprefix("# ") + "\n" for line in filled.splitlines() if "=" in line))
    assert load_settings(need=RUN, env_file=env_file).fold_stretch == 20_000


def test_a_child_gets_the_environment_without_our_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "hunter2")
    monkeypatch.setenv("llm_api_key", "hunter2")
    monkeypatch.setenv("KEPT_FOR_THE_CHILD", "1")

    child = child_environment({"LLM_MODEL": "tiny"})

    assert "hunter2" not in child.values()
    assert child["KEPT_FOR_THE_CHILD"] == "1"
    assert child["LLM_MODEL"] == "tiny"
    assert child["PATH"] == os.environ["PATH"]


def test_settings_cannot_be_changed_after_start(env_file: Path) -> None:
    settings = load_settings(env_file=env_file)

    with pytest.raises(ValueError, match="frozen"):
        settings.llm_parallel = 2  # type: ignore[misc]

    assert isinstance(settings, Settings)
    assert settings.llm_parallel == 1


def test_how_many_loose_ends_a_prompt_names_is_a_setting(env_file: Path) -> None:
    assert load_settings(env_file=env_file).budgets(None).open_ends == 12
    env_file.write_text("FOLD_OPEN_ENDS=0\nFOLD_AUDIT=TRUE\n")
    settings = load_settings(env_file=env_file)
    assert (settings.budgets(1_000_000).open_ends, settings.fold_audit) == (0, True)
    env_file.write_text("FOLD_OPEN_ENDS=-1\nFOLD_AUDIT=perhaps\n")
    assert [line.split(":")[0] for line in problems(env_file)] == ["FOLD_OPEN_ENDS", "FOLD_AUDIT"]
