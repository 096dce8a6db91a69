from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict

import hypothesis
import pytest
from hypothesis import strategies as st

from bot.errors import ModelBusy
from bot.llm.queue import Slot, SlotQueue
from bot.llm.requests import Priority, Purpose


class Worker:
    """A task that holds a slot until it is let go."""

    def __init__(
        self, queue: SlotQueue, priority: Priority, name: str, log: list[str], interruptible: bool = False
    ) -> None:
        self.let_go = asyncio.Event()
        self.slot: Slot | None = None

        async def work() -> None:
            async with queue.slot(priority, interruptible=interruptible) as self.slot:
                log.append(name)
                await self.let_go.wait()

        self.task = asyncio.create_task(work())


async def settle() -> None:
    """Let every task that can run do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def finish(*workers: Worker) -> None:
    for worker in workers:
        worker.let_go.set()
    async with asyncio.timeout(30):
        await asyncio.gather(*(worker.task for worker in workers))


def test_purposes_have_the_stated_order() -> None:
    order = sorted(Purpose, key=lambda purpose: purpose.priority)
    assert order == [Purpose.REPLY, Purpose.FOLD, Purpose.MAJOR_FOLD, Purpose.AUDIT, Purpose.JUDGE, Purpose.PROBE]
    assert Purpose.FOLD.priority is Purpose.MAJOR_FOLD.priority


async def test_a_reply_overtakes_folds_and_folds_overtake_the_rest() -> None:
    queue = SlotQueue()
    log: list[str] = []
    first = Worker(queue, Priority.REPLY, "first", log)
    await settle()
    others = []
    for priority, name in [
        (Priority.OTHER, "judge"),
        (Priority.MEMORY, "fold 1"),
        (Priority.MEMORY, "fold 2"),
        (Priority.REPLY, "reply 1"),
        (Priority.REPLY, "reply 2"),
    ]:
        others.append(Worker(queue, priority, name, log))
        await settle()
    assert (queue.running, queue.waiting) == (1, 5)
    await finish(first, *others)
    assert log == ["first", "reply 1", "reply 2", "fold 1", "fold 2", "judge"]
    assert (queue.running, queue.waiting) == (0, 0)


async def test_one_slot_is_held_by_one() -> None:
    queue, running, most = SlotQueue(), 0, 0

    async def work(priority: Priority) -> None:
        nonlocal running, most
        async with queue.slot(priority):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

    await asyncio.gather(*(work(priority) for priority in [*Priority] * 5))
    assert most == 1


async def test_background_work_leaves_room_for_replies() -> None:
    queue = SlotQueue(4)
    log: list[str] = []
    folds = [Worker(queue, Priority.MEMORY, f"fold {number}", log) for number in range(3)]
    await settle()
    assert log == ["fold 0", "fold 1"]
    replies = [Worker(queue, Priority.REPLY, f"reply {number}", log) for number in range(2)]
    await settle()
    assert log == ["fold 0", "fold 1", "reply 0", "reply 1"]
    await finish(folds[0])
    await settle()
    assert log[-1] == "fold 2"
    await finish(*folds, *replies)


async def test_too_many_waiting_replies_are_refused_at_once() -> None:
    queue = SlotQueue(1, waiting_replies=2)
    log: list[str] = []
    workers = [Worker(queue, Priority.REPLY, f"reply {number}", log) for number in range(3)]
    workers.append(Worker(queue, Priority.MEMORY, "fold", log))
    await settle()
    with pytest.raises(ModelBusy) as caught:
        async with queue.slot(Priority.REPLY):
            pass
    assert caught.value.fields == {"waiting": 2}
    assert queue.waiting == 3
    await finish(*workers)
    assert log == ["reply 0", "reply 1", "reply 2", "fold"]


async def test_who_comes_back_keeps_the_place_and_is_not_refused() -> None:
    queue = SlotQueue(1, waiting_replies=1)
    log: list[str] = []
    async with queue.slot(Priority.REPLY) as slot:
        arrival = slot.arrival
    holder = Worker(queue, Priority.REPLY, "holder", log)
    await settle()
    later = Worker(queue, Priority.REPLY, "later", log)
    await settle()

    async def come_back() -> None:
        async with queue.slot(Priority.REPLY, arrival):
            log.append("back")

    returning = asyncio.create_task(come_back())
    await settle()
    await finish(holder, later)
    await returning
    assert log == ["holder", "back", "later"]


async def test_a_cancelled_waiter_gives_its_place_up() -> None:
    queue = SlotQueue(1, waiting_replies=1)
    log: list[str] = []
    holder, waiter = (Worker(queue, Priority.REPLY, name, log) for name in ("holder", "waiter"))
    await settle()
    waiter.task.cancel()
    await settle()
    assert queue.waiting == 0
    another = Worker(queue, Priority.REPLY, "another", log)
    await finish(holder, another)
    assert log == ["holder", "another"]


async def test_a_reply_that_was_just_cancelled_keeps_no_one_out() -> None:
    queue = SlotQueue(1, waiting_replies=1)
    log: list[str] = []
    holder, waiter = (Worker(queue, Priority.REPLY, name, log) for name in ("holder", "waiter"))
    await settle()
    another = Worker(queue, Priority.REPLY, "another", log)
    waiter.task.cancel()  # runs after the other, which finds it still in the queue
    await finish(holder, another)
    assert log == ["holder", "another"]


async def test_a_slot_granted_to_a_cancelled_waiter_is_handed_on() -> None:
    queue = SlotQueue()
    log: list[str] = []
    holder, waiter, heir = (Worker(queue, Priority.REPLY, name, log) for name in ("holder", "waiter", "heir"))
    await settle()
    holder.let_go.set()
    await asyncio.sleep(0)
    assert (waiter.slot, queue.running, queue.waiting) == (None, 1, 1)  # granted, but the waiter has not run yet
    waiter.task.cancel()
    await finish(holder, heir)
    with pytest.raises(asyncio.CancelledError):
        await waiter.task
    assert log == ["holder", "heir"]
    assert (queue.running, queue.waiting) == (0, 0)


async def test_a_waiter_cancelled_before_the_grant_is_passed_over() -> None:
    queue = SlotQueue()
    log: list[str] = []
    holder, waiter, heir = (Worker(queue, Priority.REPLY, name, log) for name in ("holder", "waiter", "heir"))
    await settle()
    waiter.task.cancel()
    holder.let_go.set()
    await settle()
    assert log == ["holder", "heir"]
    await finish(heir)
    assert (queue.running, queue.waiting) == (0, 0)


async def test_a_session_with_many_replies_lets_the_others_in_between() -> None:
    queue = SlotQueue(waiting_replies=100)
    log: list[str] = []

    async def reply(session_id: int) -> None:
        async with queue.slot(Priority.REPLY, session_id=session_id):
            log.append(f"{session_id}")
            await asyncio.sleep(0)

    async def fold() -> None:
        async with queue.slot(Priority.MEMORY, session_id=3):
            log.append("fold")

    async with queue.slot(Priority.REPLY, session_id=1):
        tasks = [asyncio.create_task(fold())]
        tasks += [asyncio.create_task(reply(session_id)) for session_id in (1, 1, 1, 2, 2, 3)]
        await settle()
    await asyncio.gather(*tasks)
    assert log == ["2", "3", "1", "2", "1", "1", "fold"]


async def test_a_session_that_was_refused_and_cancelled_waits_no_longer_for_it() -> None:
    queue = SlotQueue(waiting_replies=1)
    log: list[str] = []

    async def reply(session_id: int) -> None:
        async with queue.slot(Priority.REPLY, session_id=session_id):
            log.append(f"{session_id}")

    async with queue.slot(Priority.REPLY, session_id=1):
        for _ in range(5):
            given_up = asyncio.create_task(reply(2))
            await settle()
            with pytest.raises(ModelBusy):
                await reply(2)
            given_up.cancel()
            await settle()
        waiting = asyncio.create_task(reply(2))
        await settle()
    await waiting
    async with queue.slot(Priority.REPLY, session_id=3):
        tasks = [asyncio.create_task(reply(2))]
        await settle()
    await asyncio.gather(*tasks)
    assert log == ["2", "2"]


@hypothesis.given(
    st.lists(st.tuples(st.sampled_from([1, 1, 1, 2, 3]), st.booleans()), min_size=20, max_size=60),
)
def test_no_session_waits_for_more_than_two_replies_of_each_other(requests: list[tuple[int, bool]]) -> None:
    """Two: the rest of the round that is being served, and the next round up to the session's own place."""
    waiting: Counter[int] = Counter()
    passed: defaultdict[int, Counter[int]] = defaultdict(Counter)

    async def reply(queue: SlotQueue, session_id: int) -> None:
        waiting[session_id] += 1
        async with queue.slot(Priority.REPLY, session_id=session_id):
            waiting[session_id] -= 1
            assert max(passed.pop(session_id, Counter()).values(), default=0) <= 2
            for other in +waiting:
                if other != session_id:
                    passed[other][session_id] += 1
            await asyncio.sleep(0)

    async def run() -> None:
        queue = SlotQueue(waiting_replies=len(requests))
        async with asyncio.TaskGroup() as group:
            for session_id, pauses in requests:
                group.create_task(reply(queue, session_id))
                if pauses:
                    await asyncio.sleep(0)
        assert (queue.running, queue.waiting, waiting.total()) == (0, 0, 0)

    asyncio.run(run())


async def test_it_says_whether_replies_want_it() -> None:
    queue = SlotQueue()
    log: list[str] = []
    fold = Worker(queue, Priority.MEMORY, "fold", log)
    await settle()
    assert (queue.has_replies, queue.replies_asked) == (False, 0)
    reply = Worker(queue, Priority.REPLY, "reply", log)
    await settle()
    assert (queue.has_replies, queue.replies_asked) == (True, 1)
    fold.let_go.set()
    await settle()
    assert log == ["fold", "reply"]
    assert queue.has_replies
    await finish(reply)
    assert (queue.has_replies, queue.replies_asked) == (False, 1)


async def test_a_failing_holder_frees_the_slot() -> None:
    queue = SlotQueue()
    with pytest.raises(ZeroDivisionError):
        async with queue.slot(Priority.REPLY):
            raise ZeroDivisionError
    assert queue.running == 0


async def test_a_waiting_reply_interrupts_the_least_important_work() -> None:
    queue = SlotQueue(4)
    log: list[str] = []
    stopped: list[str] = []
    fold = Worker(queue, Priority.MEMORY, "fold", log, interruptible=True)
    judge = Worker(queue, Priority.OTHER, "judge", log, interruptible=True)
    replies = [Worker(queue, Priority.REPLY, f"reply {number}", log) for number in range(2)]
    await settle()
    assert fold.slot is not None
    assert judge.slot is not None
    fold.slot.on_interrupt = lambda: stopped.append("fold")
    judge.slot.on_interrupt = lambda: stopped.append("judge")
    third = Worker(queue, Priority.REPLY, "third", log)
    await settle()
    assert stopped == ["judge"]
    assert (fold.slot.interrupted, judge.slot.interrupted) == (False, True)
    fourth = Worker(queue, Priority.REPLY, "fourth", log)
    await settle()
    assert stopped == ["judge", "fold"]
    await finish(fold, judge, *replies, third, fourth)


async def test_work_that_has_not_begun_learns_that_it_was_interrupted() -> None:
    queue = SlotQueue()
    log: list[str] = []
    fold = Worker(queue, Priority.MEMORY, "fold", log, interruptible=True)
    reply = Worker(queue, Priority.REPLY, "reply", log)
    await settle()
    assert fold.slot is not None
    assert fold.slot.interrupted
    await finish(fold, reply)


async def test_work_that_must_not_be_interrupted_is_left_alone() -> None:
    queue = SlotQueue()
    log: list[str] = []
    fold = Worker(queue, Priority.MEMORY, "fold", log)
    reply = Worker(queue, Priority.REPLY, "reply", log)
    await settle()
    assert fold.slot is not None
    assert not fold.slot.interrupted
    await finish(fold, reply)


@pytest.mark.parametrize("seed", range(20))
async def test_no_slot_is_lost_whatever_is_cancelled_when(seed: int) -> None:
    rng = random.Random(seed)
    slots = rng.randint(1, 4)
    queue, running, most = SlotQueue(slots, waiting_replies=1000), 0, 0

    async def work(priority: Priority) -> None:
        nonlocal running, most
        async with queue.slot(priority, interruptible=rng.random() < 0.5):
            running += 1
            most = max(most, running)
            try:
                for _ in range(rng.randint(0, 3)):
                    await asyncio.sleep(0)
            finally:
                running -= 1

    tasks = []
    for _ in range(60):
        tasks.append(asyncio.create_task(work(rng.choice([*Priority]))))
        if rng.random() < 0.5:
            rng.choice(tasks).cancel()
        if rng.random() < 0.7:
            await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert 1 <= most <= slots
    assert (queue.running, queue.waiting, running) == (0, 0, 0)


@pytest.mark.parametrize(("slots", "waiting"), [(0, 1), (1, -1)])
def test_nonsense_is_refused(slots: int, waiting: int) -> None:
    with pytest.raises(ValueError, match="slot"):
        SlotQueue(slots, waiting)


async def test_there_is_room_while_a_slot_would_stay_free_for_a_reply() -> None:
    for slots, rooms in ((1, [False]), (3, [True, True, False])):
        queue, log = SlotQueue(slots, 5), list[str]()
        assert queue.has_room is (slots > 1)
        workers = []
        for has_room in rooms[1:]:
            workers.append(Worker(queue, Priority.REPLY, "reply", log))
            await asyncio.sleep(0)
            assert queue.has_room is has_room
        for worker in workers:
            worker.let_go.set()
            await worker.task
