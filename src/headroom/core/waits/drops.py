"""Slots whose node comes and goes: the more often, the longer the pause before they are held again.

A cordoned node loses its slot at once, because somebody wants it empty. But a node that is cordoned
and uncordoned every few seconds would cost two writes each time and never be held for long.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from headroom.core.waits.backoff import backoff

FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=1)
CALM = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Drops:
    """How often a slot was released recently, and when for the last time."""

    count: int
    last: datetime

    def counts(self, now: datetime) -> bool:
        """Whether that was a short time ago."""
        return now < self.last + CALM

    def not_before(self, now: datetime) -> datetime | None:
        """When the slot may be held again, while that is to come; the first time at once."""
        if self.count < 2 or not self.counts(now):
            return None
        until = self.last + backoff(FIRST_PAUSE, self.count - 2, LONGEST_PAUSE)
        return until if now < until else None


def dropped(before: Drops | None, now: datetime) -> Drops:
    """The slot was released once more."""
    return Drops(before.count + 1 if before is not None and before.counts(now) else 1, now)
