"""Limit how many Events are written about one object, and how many wait in one namespace.

Further Events are dropped and counted. `wire.events` aggregates written Events: a repeat costs a
patch, not a new object. The numbers are those of client-go's spam filter, with a higher rate,
because each owner that a Headroom serves has its own Event.

Routine Events (`Held`, `Claimed`, `Returned`) repeat what a status and an annotation say. The first
ones of a namespace are written. In a long series of handovers the others are dropped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from headroom.core.actions import Tell
from headroom.core.plan import Sequence
from headroom.runtime.buckets import Buckets
from headroom.runtime.lanes import flow_of

EVENTS_AT_ONCE = 25
EVENTS_PER_SECOND = 1.0
MOST_WAITING = 20_000
MOST_WAITING_EACH = 500
MOST_OBJECTS = 4096
ROUTINE = ("Held", "Claimed", "Returned")
ROUTINE_AT_ONCE = 20
ROUTINE_PER_SECOND = 0.2


@dataclass(slots=True)
class EventLimits:
    """Decides for each Event, before it is queued, whether it is written."""

    dropped: int = 0
    _paces: Buckets = field(
        default_factory=lambda: Buckets(EVENTS_AT_ONCE, EVENTS_PER_SECOND, MOST_OBJECTS)
    )
    _routine: Buckets = field(
        default_factory=lambda: Buckets(ROUTINE_AT_ONCE, ROUTINE_PER_SECOND, MOST_OBJECTS)
    )
    _waiting: Counter[str] = field(default_factory=Counter)

    def admit(self, sequence: Sequence, now: float) -> bool:
        """Whether these Events may be queued; if so they count as waiting until `done`."""
        flow = flow_of(sequence)
        crowded = self._waiting[flow] >= MOST_WAITING_EACH
        if crowded or self._waiting.total() >= MOST_WAITING or not self._in_pace(sequence, now):
            self.dropped += 1
            return False
        self._waiting[flow] += 1
        return True

    def done(self, sequence: Sequence) -> None:
        """They were written, or could not be written."""
        flow = flow_of(sequence)
        self._waiting[flow] -= 1
        if not self._waiting[flow]:
            del self._waiting[flow]

    def _in_pace(self, sequence: Sequence, now: float) -> bool:
        about = next(
            (each for step in sequence.steps for each in step if isinstance(each, Tell)), None
        )
        if about is None:
            return True
        if not self._paces.take(f"{about.kind}/{about.about}/{about.uid}", now):
            return False
        if about.reason not in ROUTINE:
            return True
        return self._routine.take((about.about.namespace, about.kind, about.reason), now)
