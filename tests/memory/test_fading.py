"""How traits fade and come back: the life of one, and what holds for every one of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.fading import (
    DORMANT_FOR,
    MOST,
    RESTORABLE_FOR,
    START,
    STEP,
    aged,
    confirmed,
    restored,
    revived,
    taken_away,
)
from bot.memory.people import Trait, TraitStatus

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)
LONGEST = 5 * 30 + 60 + 30 + 400
PRESENCE = {TraitStatus.ACTIVE: 3, TraitStatus.DORMANT: 2, TraitStatus.FORGOTTEN: 1}

days = st.integers(0, LONGEST)
importances = st.integers(1, MOST)
untils = st.none() | st.integers(-30, 400).map(lambda ahead: BEGIN.date() + timedelta(days=ahead))


def trait(importance: int = START, *, until: date | None = None, hazy: bool = False) -> Trait:
    """A trait that was seen at the beginning."""
    return Trait(1, "runs every morning", importance, 1, BEGIN, BEGIN, BEGIN, until, hazy)


def after(count: float) -> datetime:
    return BEGIN + timedelta(days=count)


def presence(found: Trait | None) -> int:
    """How present a trait is, 0 when it is gone."""
    return PRESENCE[found.status] if found else 0


def aged_at(start: Trait, day: float) -> Trait:
    found = aged(start, after(day))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("day", "importance", "status"),
    [
        (0, 2, TraitStatus.ACTIVE),
        (29.99, 2, TraitStatus.ACTIVE),
        (30, 1, TraitStatus.ACTIVE),
        (59.99, 1, TraitStatus.ACTIVE),
        (60, 0, TraitStatus.DORMANT),
        (119.99, 0, TraitStatus.DORMANT),
        (120, 0, TraitStatus.FORGOTTEN),
        (149.99, 0, TraitStatus.FORGOTTEN),
    ],
)
def test_a_trait_that_nobody_sees_again_fades_step_by_step(day: float, importance: int, status: TraitStatus) -> None:
    found = aged_at(trait(), day)
    assert (found.importance, found.status) == (importance, status)


def test_a_trait_is_gone_after_thirty_days_among_the_forgotten() -> None:
    assert aged(trait(), after(150)) is None


def test_dormancy_and_forgetting_begin_when_they_were_due_however_late_it_is_noticed() -> None:
    found = aged_at(trait(), 149)
    assert (found.dormant_at, found.forgotten_at) == (after(60), after(120))


@given(importances, untils, st.lists(days, max_size=12), days)
def test_aging_is_the_same_however_often_it_is_done(
    importance: int, until: date | None, stops: list[int], day: int
) -> None:
    start = trait(importance, until=until)
    walked: Trait | None = start
    for stop in sorted(stop for stop in stops if stop <= day):
        walked = aged(walked, after(stop)) if walked else None
    walked = aged(walked, after(day)) if walked else None
    assert walked == aged(start, after(day))
    assert walked is None or aged(walked, after(day)) == walked


@given(importances, importances, untils, days)
def test_more_importance_never_means_less_retention(one: int, other: int, until: date | None, day: int) -> None:
    less, more = (aged(trait(i, until=until), after(day)) for i in sorted((one, other)))
    assert presence(more) >= presence(less)
    if less and more:
        assert more.importance >= less.importance


@given(importances, importances, untils, st.lists(st.integers(0, 90), max_size=8))
def test_more_importance_never_means_less_retention_when_both_are_seen_again(
    one: int, other: int, until: date | None, pauses: list[int]
) -> None:
    less, more = (trait(i, until=until) for i in sorted((one, other)))
    day = 0
    for pause in pauses:
        day += pause
        assert presence(aged(more, after(day))) >= presence(aged(less, after(day)))
        less, more = confirmed(less, after(day)), confirmed(more, after(day))
        assert more.importance >= less.importance


@given(importances, st.integers(0, 400), days)
def test_a_trait_with_a_date_ahead_is_in_use_until_that_date_has_begun_everywhere(
    importance: int, ahead: int, day: int
) -> None:
    until = BEGIN.date() + timedelta(days=ahead)
    found = aged(trait(importance, until=until), after(day))
    if after(day) <= datetime.combine(until, datetime.min.time(), UTC) + timedelta(hours=12):
        assert found is not None
        assert found.status is TraitStatus.ACTIVE
        assert found.importance >= 1


def test_the_decay_of_a_dated_trait_goes_on_from_its_date() -> None:
    dated = trait(until=BEGIN.date() + timedelta(days=100))
    assert (aged_at(dated, 45).importance, aged_at(dated, 100).importance, aged_at(dated, 129).importance) == (1, 1, 1)
    assert aged_at(dated, 130).dormant_at == after(130)


def test_a_date_that_is_nearer_than_the_decay_changes_nothing() -> None:
    assert aged(trait(until=BEGIN.date() + timedelta(days=5)), after(70)) == replace(
        aged_at(trait(), 70), until=BEGIN.date() + timedelta(days=5)
    )


def test_a_trait_seen_again_grows_by_one_up_to_five_and_its_decay_starts_over() -> None:
    found = trait()
    for count in range(1, 6):
        found = confirmed(found, after(count))
    assert (found.importance, found.matches) == (MOST, 6)
    assert found.confirmed_at == found.faded_at == after(5)
    assert aged_at(found, 34.99).importance == MOST
    assert aged_at(found, 35).importance == MOST - 1


def test_what_faded_before_it_was_seen_again_is_taken_off_first() -> None:
    late = confirmed(trait(4), after(65))
    assert late == confirmed(aged_at(trait(4), 65), after(65))
    assert late.importance == 3


@pytest.mark.parametrize("day", [60, 119, 120, 149, 900])
def test_a_dormant_or_forgotten_trait_that_is_seen_again_is_hazy_until_it_is_seen_once_more(day: int) -> None:
    back = confirmed(trait(), after(day))
    assert (back.status, back.importance, back.hazy, back.matches) == (TraitStatus.ACTIVE, 1, True, 2)
    assert back.dormant_at is back.forgotten_at is None
    again = confirmed(back, after(day + 1))
    assert (again.importance, again.hazy) == (2, False)


def test_a_dormant_trait_that_the_talk_touches_is_back_for_thirty_days() -> None:
    dormant = aged_at(trait(), 100)
    back = revived(dormant, after(100))
    assert (back.status, back.importance, back.hazy) == (TraitStatus.ACTIVE, 1, True)
    assert (back.matches, back.confirmed_at) == (1, BEGIN)
    assert aged_at(back, 129).status is TraitStatus.ACTIVE
    assert aged_at(back, 130).status is TraitStatus.DORMANT
    assert revived(trait(), after(100)) == back


@pytest.mark.parametrize(
    ("start", "day"), [(trait(), 59), (trait(), 120), (trait(), 900), (taken_away(trait(), BEGIN), 9)]
)
def test_only_a_dormant_trait_is_revived(start: Trait, day: int) -> None:
    assert revived(start, after(day)) == start


def test_its_person_takes_a_trait_away_and_no_talk_brings_it_back() -> None:
    away = taken_away(trait(5), after(1))
    assert (away.status, away.deleted, away.forgotten_at) == (TraitStatus.FORGOTTEN, True, after(1))
    assert confirmed(away, after(2)) == revived(away, after(2)) == taken_away(away, after(9)) == away
    assert aged(away, after(30.99)) == away
    assert aged(away, after(31)) is None


@pytest.mark.parametrize("gone", [taken_away(trait(5), after(61)), aged_at(trait(), 61), aged_at(trait(), 121)])
def test_its_person_wants_a_trait_back_and_it_is_as_a_new_one(gone: Trait) -> None:
    back = restored(gone, after(130))
    assert (back.importance, back.status, back.hazy, back.deleted) == (START, TraitStatus.ACTIVE, False, False)
    assert aged_at(back, 189).status is TraitStatus.ACTIVE


def test_what_is_in_use_is_not_restored() -> None:
    assert restored(trait(5, hazy=True), after(1)) == trait(5, hazy=True)


def test_the_figures_are_those_of_the_design() -> None:
    assert (START, MOST) == (2, 5)
    assert (STEP.days, DORMANT_FOR.days, RESTORABLE_FOR.days) == (30, 60, 30)
