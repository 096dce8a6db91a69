from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import select

from bot.memory.story import FoldKind, FoldState
from bot.store import Store
from bot.store.tables import folds
from tests.store.tale import Tale, begin, later, rows


async def test_the_same_work_is_planned_once_while_it_is_open(tale: Tale) -> None:
    store, session = tale.store, tale.session_id
    for _ in range(2):
        await store.request_fold(session, FoldKind.FOLD, later(1))
        await store.request_fold(session, FoldKind.MAJOR, later(2))
        await store.request_fold(session, FoldKind.REFOLD, later(3), 1)
        await store.request_fold(session, FoldKind.REFOLD, later(4), 2)
    planned = await tale.open_folds()
    assert [(fold.kind.value, fold.chapter, fold.due_at) for fold in planned] == [
        ("fold", None, later(1)),
        ("major", None, later(2)),
        ("refold", 1, later(3)),
        ("refold", 2, later(4)),
    ]

    await store.claim_fold(planned[0].id, later(5))
    await store.request_fold(session, FoldKind.FOLD, later(6))
    assert len(await rows(store, folds)) == 4
    await store.finish_fold(planned[0].id, later(7))
    await store.request_fold(session, FoldKind.FOLD, later(8))
    assert len(await rows(store, folds)) == 5


async def test_many_requests_at_once_are_one(tale: Tale) -> None:
    await asyncio.gather(*(tale.store.request_fold(tale.session_id, FoldKind.FOLD, later(n)) for n in range(20)))

    assert len(await rows(tale.store, folds)) == 1


async def test_what_is_due_comes_in_the_order_of_its_time(store: Store) -> None:
    assert await store.next_due() is None
    for minutes, channel in ((30, 200), (10, 201), (20, 202)):
        tale = await begin(store, channel_id=channel)
        await store.request_fold(tale.session_id, FoldKind.FOLD, later(minutes))

    assert await store.next_due() == later(10)
    assert [fold.due_at for fold in await store.due_folds(later(20))] == [later(10), later(20)]
    assert await store.due_folds(later(9)) == ()


async def test_a_due_fold_is_claimed_by_one(tale: Tale) -> None:
    await tale.store.request_fold(tale.session_id, FoldKind.FOLD, later())
    (fold,) = await tale.open_folds()
    claims = await asyncio.gather(*(tale.store.claim_fold(fold.id, later(2)) for _ in range(10)))

    (claimed,) = [claim for claim in claims if claim is not None]
    assert (claimed.id, claimed.state, claimed.attempts) == (fold.id, FoldState.RUNNING, 1)
    assert await tale.open_folds() == ()
    assert await tale.store.next_due() is None


async def test_a_failed_attempt_is_due_again_and_a_failure_for_good_is_not(tale: Tale) -> None:
    store = tale.store
    await tale.player()
    await store.request_fold(tale.session_id, FoldKind.FOLD, later())
    (fold,) = await tale.open_folds()
    await store.claim_fold(fold.id, later(2))
    await store.fail_fold(fold.id, "cut-short", retry_at=later(9), now=later(3))
    (again,) = await tale.open_folds()
    assert (again.id, again.due_at, again.attempts, again.error) == (fold.id, later(9), 1, "cut-short")

    claimed = await store.claim_fold(fold.id, later(9))
    assert claimed is not None
    assert claimed.attempts == 2
    await store.fail_fold(fold.id, "refusal", retry_at=None, now=later(10))
    assert await tale.open_folds() == ()
    (row,) = await rows(store, folds)
    assert (row.state, row.error, row.failed_at_seq, row.finished_at) == (FoldState.FAILED, "refusal", 1, later(10))
    assert await store.claim_fold(fold.id, later(11)) is None


async def test_a_fold_that_does_not_run_neither_ends_nor_fails(tale: Tale) -> None:
    await tale.store.request_fold(tale.session_id, FoldKind.FOLD, later())
    (fold,) = await tale.open_folds()
    await tale.store.finish_fold(fold.id, later(2))
    await tale.store.fail_fold(fold.id, "refusal", retry_at=None, now=later(2))
    assert await tale.open_folds() == (fold,)
    with pytest.raises(LookupError, match="no fold 99"):
        await tale.store.fail_fold(99, "refusal", retry_at=None, now=later(2))


async def test_after_a_crash_what_ran_is_due_again(url: str) -> None:
    async with await Store.open(url) as store:
        tales = [await begin(store, channel_id=200 + number) for number in range(3)]
        for tale in tales:
            await store.request_fold(tale.session_id, FoldKind.FOLD, later())
        due = await tales[0].open_folds()
        await store.claim_fold(due[0].id, later(2))
        await store.claim_fold(due[1].id, later(2))
        await store.finish_fold(due[1].id, later(3))

    async with await Store.open(url) as store:
        assert await store.recover_folds() == 1
        assert await store.recover_folds() == 0
        recovered = await store.due_folds(later(5))
        assert [(fold.id, fold.attempts) for fold in recovered] == [(due[0].id, 1), (due[2].id, 0)]
        (done,) = await rows(store, select(folds).where(folds.c.state == FoldState.DONE))
        assert done.id == due[1].id
