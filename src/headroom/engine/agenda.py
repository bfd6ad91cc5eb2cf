"""What to look at next: what changed, timers, what is under way, and pauses after failure.

Everything waits here by name, first come first served, so that the same events always lead to the
same order of decisions. Sets are dicts on purpose: they keep their order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from datetime import datetime, timedelta

FIRST_PAUSE = timedelta(milliseconds=200)
LONGEST_PAUSE = timedelta(minutes=2)


class Agenda:
    """Subjects by text (see core.plan): due now, due later, or busy."""

    def __init__(self) -> None:
        self._due: dict[str, None] = {}
        self._timers: list[tuple[datetime, str]] = []
        self._soonest: dict[str, datetime] = {}
        self._busy: dict[str, int] = {}
        self._failures: dict[str, int] = {}
        self._not_before: dict[str, datetime] = {}

    def touch(self, subject: str) -> None:
        """Look at this subject in the next plan."""
        self._due[subject] = None

    def later(self, subject: str, when: datetime) -> None:
        """Look at this subject at that moment, or before."""
        known = self._soonest.get(subject)
        if known is None or when < known:
            self._soonest[subject] = when
            heapq.heappush(self._timers, (when, subject))

    def take(self, now: datetime) -> tuple[str, ...]:
        """All subjects that are due; those under way come back when they are free."""
        while self._timers and self._timers[0][0] <= now:
            when, subject = heapq.heappop(self._timers)
            if self._soonest.get(subject) == when:
                del self._soonest[subject]
                self._due[subject] = None
        ready = tuple(subject for subject in self._due if subject not in self._busy)
        self._due.clear()  # `finish` brings the others back; in a burst they are hundreds.
        return ready

    def wake_at(self) -> datetime | None:
        """When the next timer rings."""
        while self._timers and self._soonest.get(self._timers[0][1]) != self._timers[0][0]:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def start(self, subjects: Iterable[str]) -> None:
        for subject in subjects:
            self._busy[subject] = self._busy.get(subject, 0) + 1

    def finish(self, subjects: Iterable[str]) -> None:
        """These are free again, and are to be looked at."""
        for subject in subjects:
            left = self._busy.get(subject, 0) - 1
            if left > 0:
                self._busy[subject] = left
            else:
                self._busy.pop(subject, None)
            self._due[subject] = None

    def busy(self, subject: str) -> bool:
        return subject in self._busy

    def failed(
        self,
        subject: str,
        now: datetime,
        first: timedelta = FIRST_PAUSE,
        longest: timedelta = LONGEST_PAUSE,
    ) -> None:
        """Leave a subject alone for a while, longer each time it fails."""
        count = self._failures.get(subject, 0)
        self._failures[subject] = count + 1
        pause = min(first * 2 ** min(count, 20), longest)
        self._not_before[subject] = now + pause
        self.later(subject, now + pause)

    def succeeded(self, subject: str) -> None:
        self._failures.pop(subject, None)
        self._not_before.pop(subject, None)

    def not_before(self, subject: str) -> datetime | None:
        return self._not_before.get(subject)

    def resting(self, subject: str, now: datetime) -> bool:
        """Whether a subject is to be left alone after a failure; it comes back when it is not."""
        until = self._not_before.get(subject)
        if until is None or now >= until:
            return False
        self.later(subject, until)  # An earlier timer may have brought it here, and is used up.
        return True

    def forget(self, subject: str) -> None:
        """Drop what was noted about a subject that is gone."""
        self._due.pop(subject, None)
        self._soonest.pop(subject, None)
        self.succeeded(subject)
