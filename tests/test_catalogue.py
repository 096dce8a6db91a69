"""The catalogues: the right language, numbers as people write them, and no hole that goes unnoticed."""

from __future__ import annotations

import discord
import pytest

from bot.catalogue import LANGUAGES, Catalogue


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        (discord.Locale.american_english, "en"),
        (discord.Locale.british_english, "en"),
        (discord.Locale.japanese, "ja"),
        (discord.Locale.chinese, "zh"),
        (discord.Locale.taiwan_chinese, "zh"),
        (discord.Locale.french, "ja"),
        (None, "ja"),
    ],
)
def test_a_locale_of_discord_chooses_the_language_and_others_get_the_default(locale: object, language: str) -> None:
    assert Catalogue("ja").language(locale) == language


def test_a_text_is_filled_in_without_invisible_marks_around_what_is_inserted() -> None:
    catalogue = Catalogue()

    assert catalogue.text("character-in-use", "en-US", name="Rin").startswith("Rin is in a story right now.")
    assert catalogue.text("character-in-use", "ja", name="凛").startswith("凛はいま物語に出ています。")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_number_of_a_memory_is_never_grouped(language: str) -> None:
    assert "#1234" in Catalogue().text("memory-unknown", language, number=1234)


@pytest.mark.parametrize(
    ("replies", "folds", "words"),
    [
        (1, 0, "A chart of the prompt tokens of the newest reply, up to 90, with no fold marked."),
        (2, 1, "A chart of the prompt tokens of the newest 2 replies, up to 90, with one fold marked."),
        (3, 2, "A chart of the prompt tokens of the newest 3 replies, up to 90, with 2 folds marked."),
    ],
)
def test_a_chart_is_described_in_singular_and_plural(replies: int, folds: int, words: str) -> None:
    assert Catalogue().text("stats-picture-described", "en", replies=replies, largest=90, folds=folds) == words


@pytest.mark.parametrize("chapters", [0, 1, 11])
def test_japanese_counts_chapters_above_nine_too(chapters: int) -> None:
    words = Catalogue().text("info-memories", "ja", memories=85, chapters=chapters)

    assert words == f"使っている記憶は85件、章の数は{chapters}です。"


@pytest.mark.parametrize(("turns", "words"), [(0, "Everything so far"), (1, "The newest turn isn't"), (7, "newest 7")])
def test_counts_are_said_as_a_person_would(turns: int, words: str) -> None:
    assert words in Catalogue().text("memory-raw", "en-US", turns=turns)


def test_an_unknown_message_and_a_missing_variable_are_errors() -> None:
    catalogue = Catalogue()

    with pytest.raises(LookupError, match="no-such-message"):
        catalogue.text("no-such-message")
    with pytest.raises(LookupError, match="memory-unknown"):
        catalogue.text("memory-unknown")
    assert "no-such-message" not in catalogue
    assert "memory-unknown" in catalogue


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_of_forms_fit_what_discord_allows(language: str) -> None:
    catalogue = Catalogue()
    titles = ["form-character-title", "form-character-edit-title", "form-character-name", "form-character-description"]
    titles += [f"form-character-{field}" for field in "first-message personality scenario nickname".split()]
    titles += [f"form-character-{field}" for field in "system-prompt post-history-instructions mes-example".split()]
    titles += ["form-character-creator-notes", "character-delete-button"]
    titles += ["form-correction-text", "form-correction-reason"]

    assert [t for t in titles if len(catalogue.text(t, language)) > 45] == []
    assert len(catalogue.text("form-correction-title", language, number=123_456)) <= 45
    hints = ["form-character-name-hint", "form-character-description-hint", "form-character-first-message-hint"]
    assert [hint for hint in hints if len(catalogue.text(hint, language)) > 100] == []
