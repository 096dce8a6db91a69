"""The graders of recall: what plain text takes for the same, what counts as not known, and how agreement is told."""

from __future__ import annotations

import pytest

from bot.evals.grading import Agreement, agreement, declines, text_grade, words_of


@pytest.mark.parametrize(
    ("right", "given"),
    [
        ("Oslo", "She moved to Oslo."),
        ("7 May 2023", "May 7th, 2023"),
        ("7 May 2023", "on 2023-05-07"),
        ("2023年5月7日", "7 May 2023"),
        ("June 2023", "In June, 2023"),
        ("the 3rd of July", "July 3"),
        ("two", "She has 2 of them"),
        ("1,200", "1200 crowns"),
        ("The red boat", "a red boat"),
        ("counselling and mental health", "mental health counselling"),
        ("ＯＳＬＯ", "oslo"),
        ("赤い船", "赤い船です"),
        ("上海", "她搬到了上海。"),
        ("Running, pottery", "pottery and running"),
        ("2022", "It was 2022"),
    ],
)
def test_the_same_in_other_words_is_right(right: str, given: str) -> None:
    assert text_grade(right, given) is True


@pytest.mark.parametrize(
    ("right", "given"),
    [
        ("Oslo", "Bergen"),
        ("7 May 2023", "8 June 2022"),
        ("two", "three"),
        ("上海", "北京"),
        ("赤い船", "青い車"),
        ("a red boat in the harbour", "a car"),
        ("Oslo", ""),
        ("Oslo", "I do not know"),
        ("Oslo", " ".join([*(f"town{number}" for number in range(50)), "Oslo"])),
    ],
)
def test_something_else_is_wrong(right: str, given: str) -> None:
    assert text_grade(right, given) is False


@pytest.mark.parametrize("right", ["…", " ".join(f"word{n}" for n in range(13)), "長" * 25])
def test_what_is_too_long_for_plain_text_is_not_graded_by_it(right: str) -> None:
    assert text_grade(right, right) is None


def test_may_is_a_month_in_dates_only() -> None:
    assert words_of("She may go on 3 May") == ["she", "may", "go", "on", "3", "m5"]


@pytest.mark.parametrize(
    "answer",
    [
        "", "  ", "Unknown.", "It is not known", "I don't know.", "The memory does not say.", "That is not mentioned in it.",
        "No information about that.", "I cannot tell.", "不明です。", "わかりません", "覚えていません", "不知道。", "没有提到。",
    ],
)  # fmt: skip
def test_saying_that_it_is_not_known_declines(answer: str) -> None:
    assert declines(answer)


@pytest.mark.parametrize(
    "answer", ["Oslo", "None of her friends", "An unknown artist painted it", "不二家", "知り合いの家"]
)
def test_an_answer_does_not_decline(answer: str) -> None:
    assert not declines(answer)


@pytest.mark.parametrize(
    ("pairs", "share", "kappa"),
    [
        ([], None, None),
        ([(None, True), (True, None)], None, None),
        ([(True, True)] * 3, 1.0, None),
        ([(True, True), (False, False)], 1.0, 1.0),
        ([(True, True), (False, False), (True, False), (False, True)], 0.5, 0.0),
        ([(True, False), (False, True)], 0.0, -1.0),
        ([(True, True)] * 20 + [(False, True)] * 5 + [(True, False)] * 10 + [(False, False)] * 15, 0.7, 0.4),
    ],
)
def test_agreement_is_told_beyond_chance(
    pairs: list[tuple[bool | None, bool | None]], share: float | None, kappa: float | None
) -> None:
    found = agreement(pairs)
    assert found.share == (share if share is None else pytest.approx(share))
    assert found.kappa == (kappa if kappa is None else pytest.approx(kappa))


def test_agreement_counts_each_way_to_differ() -> None:
    found = agreement([(True, True), (True, False), (True, False), (False, True), (False, False), (None, True)])
    assert found == Agreement(both_right=1, both_wrong=1, only_model=2, only_text=1)
