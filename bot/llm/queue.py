"""Who may use the model server next.

A llama.cpp server works on a few prompts at a time and takes them in the order of arrival, so a fold sent a moment
before a reply would make a player wait for half a minute. Requests therefore wait here, not on the server.
"""

from __future__ import annotations

import asyncio
from bisect import insort
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bot.errors import ModelBusy
from bot.llm.requests import Priority


@dataclass(slots=True, eq=False)
class Slot:
    """The right to have one request running.

    When a reply has to wait for an ``interruptible`` slot, ``interrupted`` becomes true, possibly before the holder has
    begun, and ``on_interrupt``, if the holder has set it by then, is called once. ``number`` counts the slots that were handed out:
    who gets two numbers that follow each other knows that nobody was served in between.
    """

    priority: Priority
    arrival: int
    number: int
    interruptible: bool = False
    on_interrupt: Callable[[], None] | None = None
    interrupted: bool = False


@dataclass(slots=True, order=True)
class _Waiter:
    """``round`` is when a reply is served: one of each session in a round."""

    priority: Priority
    round: int
    arrival: int
    interruptible: bool = field(compare=False)
    session_id: int | None = field(compare=False)
    turn: asyncio.Future[Slot] = field(compare=False)


class SlotQueue:
    """``slots`` places; a waiting reply is served before anything else, then the order of arrival counts.

    Replies are served in rounds, one of each session: a session that asks for many at once lets the others in between.
    With several slots, at most half of them (but at least one) run background work, so that a reply finds a place.
    """

    def __init__(self, slots: int = 1, waiting_replies: int = 20) -> None:
        if slots < 1 or waiting_replies < 0:
            raise ValueError("a queue needs at least one slot and no negative number of waiting replies")
        self._slots = slots
        self._background_slots = max(1, slots // 2)
        self._waiting_replies = waiting_replies
        self._waiting: list[_Waiter] = []
        self._rounds: defaultdict[int | None, list[int]] = defaultdict(list)
        self._holders: list[Slot] = []
        self._arrivals = 0
        self._handed_out = 0
        self._replies_asked = 0
        self._round = 0
        self._served: set[int | None] = set()

    @property
    def waiting(self) -> int:
        """How many requests wait for a slot."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """How many requests hold a slot."""
        return len(self._holders)

    @property
    def replies_asked(self) -> int:
        """How many replies have asked for a slot since the start, those that came back included."""
        return self._replies_asked

    @property
    def has_room(self) -> bool:
        """Whether a place would stay free for a reply beside one more request."""
        return not self._replies_waiting() and len(self._holders) + 1 < self._slots

    @property
    def has_replies(self) -> bool:
        """Whether a reply waits or runs."""
        return self._replies_waiting() > 0 or any(slot.priority is Priority.REPLY for slot in self._holders)

    @asynccontextmanager
    async def slot(
        self,
        priority: Priority,
        arrival: int | None = None,
        *,
        interruptible: bool = False,
        session_id: int | None = None,
    ) -> AsyncIterator[Slot]:
        """Wait for a slot and hold it; what belongs to no session counts as one of its own.

        ``arrival`` is given by a request that held a slot before and comes back: it keeps its old place in the
        order and is never refused. Raises `ModelBusy` at once when a reply finds too many replies waiting.
        """
        slot = await self._acquire(priority, arrival, interruptible, session_id)
        try:
            yield slot
        finally:
            self._release(slot)

    async def _acquire(
        self, priority: Priority, arrival: int | None, interruptible: bool, session_id: int | None
    ) -> Slot:
        refusable = arrival is None
        # Who comes back had their round before.
        in_round = self._next_round(session_id) if refusable and priority is Priority.REPLY else 0
        self._replies_asked += priority is Priority.REPLY
        if arrival is None:
            self._arrivals += 1
            arrival = self._arrivals
        turn: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        waiter = _Waiter(priority, in_round, arrival, interruptible, session_id, turn)
        insort(self._waiting, waiter)
        if priority is Priority.REPLY:
            self._rounds[session_id].append(in_round)
        self._grant()
        if not waiter.turn.done() and priority is Priority.REPLY:
            if refusable:
                self._refuse_if_full(waiter)
            self._interrupt()
        try:
            return await waiter.turn
        except asyncio.CancelledError:
            if waiter.turn.cancelled():
                self._leave(waiter)
                self._grant()
            else:  # the slot was granted, and the task cancelled before it could run
                self._release(waiter.turn.result())
            raise

    def _next_round(self, session_id: int | None) -> int:
        """The first round in which no other reply of the session was, or is to be, served."""
        taken = self._rounds.get(session_id, ())
        return max(self._round + (session_id in self._served), *(number + 1 for number in taken), 0)

    def _leave(self, waiter: _Waiter) -> None:
        self._waiting.remove(waiter)
        if waiter.priority is Priority.REPLY:
            rounds = self._rounds[waiter.session_id]
            rounds.remove(waiter.round)
            if not rounds:
                del self._rounds[waiter.session_id]

    def _refuse_if_full(self, waiter: _Waiter) -> None:
        if len(self._waiting) <= self._waiting_replies:
            return
        waiting = self._replies_waiting() - 1
        if waiting >= self._waiting_replies:
            self._leave(waiter)
            raise ModelBusy(waiting=waiting)

    def _replies_waiting(self) -> int:
        return sum(w.priority is Priority.REPLY and not w.turn.cancelled() for w in self._waiting)

    def _release(self, slot: Slot) -> None:
        self._holders.remove(slot)
        self._grant()

    def _grant(self) -> None:
        """Hand free slots to those who wait, best first. A cancelled waiter is left for its own task to remove."""
        place = 0
        while len(self._holders) < self._slots and place < len(self._waiting):
            waiter = self._waiting[place]
            if waiter.turn.cancelled():
                place += 1
                continue
            if waiter.priority is not Priority.REPLY and self._background() >= self._background_slots:
                return
            self._handed_out += 1
            slot = Slot(waiter.priority, waiter.arrival, self._handed_out, waiter.interruptible)
            self._leave(waiter)
            self._note_round(waiter)
            self._holders.append(slot)
            waiter.turn.set_result(slot)

    def _note_round(self, waiter: _Waiter) -> None:
        if waiter.round > self._round:
            self._round = waiter.round
            self._served.clear()
        if waiter.priority is Priority.REPLY:
            self._served.add(waiter.session_id)

    def _background(self) -> int:
        return sum(slot.priority is not Priority.REPLY for slot in self._holders)

    def _interrupt(self) -> None:
        """Ask as many background holders to stop as there are replies waiting, the least important first."""
        candidates = [slot for slot in self._holders if slot.interruptible and not slot.interrupted]
        if not candidates:
            return
        stopping = sum(slot.interrupted for slot in self._holders)
        candidates.sort(key=lambda slot: (slot.priority, slot.arrival), reverse=True)
        for slot in candidates[: max(0, self._replies_waiting() - stopping)]:
            slot.interrupted = True
            if slot.on_interrupt is not None:
                slot.on_interrupt()
