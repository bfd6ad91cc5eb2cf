"""A queue with a limited number of places that is fair between tenants.

Each waiter belongs to a flow, usually a namespace. A free place goes to the next flow (round robin)
that has a waiter and is below its own limit; within a flow, the order is first in, first out. So a
flow with a hundred thousand waiters delays others by one write each, never by all of them. Urgent
waiters go first and take turns among themselves. After a number of them, one of the others gets a
place, so that these may wait long but not forever.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

URGENT_IN_A_ROW = 8

Waiters = dict[str, deque[asyncio.Future[None]]]  # by flow, in the order of their turns


@dataclass(slots=True)
class FairQueue:
    """At most `places` at a time, and at most `each` of them for one flow.

    `kept_free` places are only for urgent waiters, so that these find one at once.
    """

    places: int
    each: int
    kept_free: int = 0
    _running: dict[str, int] = field(default_factory=dict)
    _total: int = 0
    _in_a_row: int = 0
    _urgent: Waiters = field(default_factory=dict)
    _others: Waiters = field(default_factory=dict)

    def place(self, flow: str, urgent: bool = False) -> QueuePlace:
        """Wait for a place, and keep it until the end of the block."""
        return QueuePlace(self, flow, urgent)

    def waiting(self, flow: str) -> int:
        """How many of a flow wait for a place."""
        return sum(len(queue.get(flow, ())) for queue in (self._urgent, self._others))

    async def enter(self, flow: str, urgent: bool) -> None:
        """Wait for a place; the caller gives it back with `leave`."""
        waiters = self._urgent if urgent else self._others
        if flow not in waiters and self._may(flow, urgent):
            self._take(flow)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiters.setdefault(flow, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(flow)  # It got its place at the same moment: the next one gets it.
            else:
                _drop(waiters, flow, turn)
            raise

    def _may(self, flow: str, every_place: bool) -> bool:
        limit = self.places if every_place else self.places - self.kept_free
        return self._total < limit and self._running.get(flow, 0) < self.each

    def _take(self, flow: str) -> None:
        self._total += 1
        self._running[flow] = self._running.get(flow, 0) + 1

    def leave(self, flow: str) -> None:
        """Give a place back."""
        self._total -= 1
        self._running[flow] -= 1
        if not self._running[flow]:
            del self._running[flow]
        while self._give_next():
            pass

    def _give_next(self) -> bool:
        """Give away one free place; return whether a waiter got it."""
        if self._in_a_row >= URGENT_IN_A_ROW and self._give(self._others, True):
            self._in_a_row = 0
            return True
        if self._give(self._urgent, True):
            self._in_a_row += 1
            return True
        if not self._urgent:
            self._in_a_row = 0
        return self._give(self._others, False)

    def _give(self, waiters: Waiters, every_place: bool) -> bool:
        """Give a free place to the next flow; return whether there was one."""
        for flow in waiters:  # Changed below, then the loop ends.
            if not self._may(flow, every_place):
                continue
            queue = waiters.pop(flow)
            turn = queue.popleft()
            if queue:
                waiters[flow] = queue  # To the end of the order.
            if turn.done():  # It was cancelled, and does not know yet.
                return True
            self._take(flow)
            turn.set_result(None)
            return True
        return False


@dataclass(slots=True)
class QueuePlace:
    """A place for a block of code; a generator for each would cost more than the queue."""

    queue: FairQueue
    flow: str
    urgent: bool

    async def __aenter__(self) -> None:
        await self.queue.enter(self.flow, self.urgent)

    async def __aexit__(self, *_: object) -> None:
        self.queue.leave(self.flow)


def _drop(waiters: Waiters, flow: str, turn: asyncio.Future[None]) -> None:
    queue = waiters.get(flow)
    if queue is not None and turn in queue:
        queue.remove(turn)
        if not queue:
            del waiters[flow]
