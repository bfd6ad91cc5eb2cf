"""Pods that workloads announce, and the learnt size that includes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.headrooms.size_limits import Note
from headroom.core.promise.stock import SizedStock, Trail

ON_THEIR_WAY = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Expectation:
    """Pods that were announced and have not arrived yet.

    A workload's status may be observed before the pods that it counts. Then nothing is announced
    any more and no pod has arrived, for a moment; no slot may be released at this moment.
    """

    most: int = 0
    came: int = 0  # owners that had come by then
    since: datetime | None = None
    fell_at: datetime | None = None

    def updated(self, coming: int, came: int, now: datetime) -> tuple[int, Expectation]:
        """How many pods to expect, from the announced number and the owners that arrived so far."""
        if coming < self.most:
            fell_at = self.fell_at or now
            if now < fell_at + ON_THEIR_WAY:
                return max(coming, self.most - (came - self.came)), replace(self, fell_at=fell_at)
        stale = self.since is None or now >= self.since + ON_THEIR_WAY
        if coming != self.most or stale:  # Who came long ago is not who was announced.
            return coming, Expectation(coming, came, now)
        return coming, replace(self, fell_at=None)


NOTHING_ANNOUNCED = Expectation()


@dataclass(frozen=True, slots=True)
class LearntMemory:
    """What the next decision of a learnt size needs from this one."""

    sized: SizedStock
    trail: Trail
    announced: Expectation


@dataclass(frozen=True, slots=True)
class Learnt:
    """How many slots a promise needs, where that is learnt."""

    count: int
    notes: tuple[Note, ...] = ()
    look_again: datetime | None = None
    memory: LearntMemory | None = None  # None: it was not learnt here
