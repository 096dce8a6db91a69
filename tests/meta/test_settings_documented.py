from __future__ import annotations

import pytest

from bot.settings import Settings, env_example
from tests.meta.source import ROOT


def test_the_example_file_is_what_the_settings_say() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == env_example(), (
        "write it again: python -m bot.settings > .env.example"
    )


def test_the_example_file_has_each_setting_once_and_nothing_else() -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    names = [line.removeprefix("# ").partition("=")[0] for line in lines if "=" in line]

    assert sorted(names) == sorted(name.upper() for name in Settings.model_fields)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_setting_has_a_description_and_a_value_to_show(name: str) -> None:
    field = Settings.model_fields[name]

    assert field.description
    assert field.description.endswith(".")
    assert field.examples or field.get_default() is not None
