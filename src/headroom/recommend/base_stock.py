"""Base stock: held slots, and ordered slots that arrive one lead time later.

A size counts held and ordered slots together, less those that waiting pods will take. For every pod
another slot is ordered at once. A pod that finds no slot waits and takes the next one that arrives:
on a full cluster a pod that waits gets room before a guardian does. So a pod finds a slot if fewer
pods than the size came in the lead time before it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class BaseStock:
    """The slots of one Headroom over time; `held_time` adds up slots times seconds.

    `waiting` are pods that found none; slots that arrive are theirs first.
    """

    lead: float
    held: int = 0
    coming: int = 0
    waiting: int = 0
    at: float = 0.0
    held_time: float = 0.0
    orders: deque[tuple[float, int]] = field(default_factory=deque)

    def advance(self, now: float) -> None:
        """Let time pass: what was ordered a lead time ago is held."""
        while self.orders and self.orders[0][0] <= now:
            due, count = self.orders.popleft()
            self.held_time += self.held * (due - self.at)
            self.at = due
            self.coming -= count
            served = min(count, self.waiting)
            self.waiting -= served
            self.held += count - served
        self.held_time += self.held * (now - self.at)
        self.at = now

    def take(self, pods: int) -> int:
        """Pods come now: how many of them find a slot."""
        hits = min(pods, self.held)
        self.held -= hits
        self.waiting += pods - hits
        if pods:
            self._order(pods)
        return hits

    def resize(self, size: int) -> None:
        """Order what is missing; give back what is too many, the latest orders first."""
        surplus = self.held + self.coming - self.waiting - size
        if surplus < 0:
            self._order(-surplus)
        while surplus > 0 and self.orders:
            due, count = self.orders.pop()
            back = min(count, surplus)
            surplus -= back
            self.coming -= back
            if count > back:
                self.orders.append((due, count - back))
        if surplus > 0:
            self.held -= surplus

    def _order(self, count: int) -> None:
        self.coming += count
        due = self.at + self.lead
        if self.orders and self.orders[-1][0] == due:
            self.orders[-1] = (due, self.orders[-1][1] + count)
        else:
            self.orders.append((due, count))
