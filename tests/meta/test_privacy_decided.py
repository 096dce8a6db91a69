"""Whoever adds a table or a column decides what becomes of it when a person is forgotten."""

from __future__ import annotations

from tests.store.decided import EMPTIED, KEPT, NUMBERS_ONLY, REMOVED, places, tables_of_numbers


def test_of_every_column_that_may_tell_of_a_person_it_is_decided_what_becomes_of_it() -> None:
    assert sorted([*REMOVED, *EMPTIED, *KEPT]) == sorted(places())


def test_every_table_without_such_a_column_has_its_reason() -> None:
    assert set(NUMBERS_ONLY) == tables_of_numbers()
