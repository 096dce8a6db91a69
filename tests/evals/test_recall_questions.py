"""The questions of recall: their ages, and which of them are asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.evals.conversations import Conversation, Question, Spoken
from bot.evals.recall_questions import age_of, chosen, language_of, stretches

START = datetime(2026, 1, 1, tzinfo=UTC)


def talk(turns: int = 100, text: str = "Well then.") -> Conversation:
    said = tuple(
        Spoken(str(place), "Ada", text, START + timedelta(minutes=place), by_character=False) for place in range(turns)
    )
    return Conversation("talk", "Ada", "Bo", said)


@pytest.mark.parametrize(
    ("evidence", "age"),
    [(("0",), 0), (("19",), 0), (("20",), 1), (("99",), 4), (("95", "3"), 0), ((), None), (("none",), None)],
)
def test_the_age_is_that_of_the_oldest_evidence(evidence: tuple[str, ...], age: int | None) -> None:
    assert age_of(Question("1", "?", "x", evidence), talk()) == age


def test_questions_are_drawn_evenly_over_the_ages() -> None:
    # Nine in ten are about the first tenth of the talk.
    questions = [Question(f"a{n}", "?", "x", (str(n // 9),)) for n in range(90)]
    questions += [Question(f"b{n}", "?", "x", (str(10 + 9 * n),)) for n in range(10)]
    drawn = chosen(talk(), questions, 10, 1)
    assert len(drawn) == 10
    assert [q for q in questions if q in drawn] == list(drawn), "in the order of the data"
    places = [int(q.evidence[0]) for q in drawn]
    assert places == sorted(places)
    assert chosen(talk(), questions, 10, 1) == drawn
    assert chosen(talk(), questions, 10, 2) != drawn
    assert chosen(talk(), questions, None, 1) == chosen(talk(), questions, 100, 1) == tuple(questions)


@pytest.mark.parametrize(("count", "unanswerable"), [(10, 2), (2, 0), (1, 0), (49, 10)])
def test_of_questions_without_an_answer_as_large_a_share_is_asked(count: int, unanswerable: int) -> None:
    questions = [Question(str(n), "?", None if n % 5 == 0 else "x", (str(n),)) for n in range(50)]
    drawn = chosen(talk(), questions, count, 1)
    assert (len(drawn), sum(q.answer is None for q in drawn)) == (count, unanswerable)


def test_only_questions_without_an_answer_can_be_asked_too() -> None:
    questions = [Question(str(n), "?", None, (str(n),)) for n in range(9)]
    assert len(chosen(talk(), questions, 3, 1)) == 3


def test_stretches_are_whole_turns_of_so_many_tokens_at_most() -> None:
    found = stretches(talk(10).turns, 30, lambda _: 10)
    assert [len(stretch) for stretch in found] == [3, 3, 3, 1]
    assert [len(stretch) for stretch in stretches(talk(3).turns, 5, lambda _: 10)] == [1, 1, 1], "longer ones alone"


@pytest.mark.parametrize(
    ("text", "language"), [("The boat is red.", "en"), ("船は赤いですね。", "ja"), ("这条船是红色的。", "zh")]
)
def test_the_language_is_that_of_the_talk(text: str, language: str) -> None:
    assert language_of(talk(3, text)) == language
