"""The scheduling queue: active pods, pods in backoff, and unschedulable pods.

The rules are kube-scheduler's (1.33 and newer): active pods are ordered by priority, then by the
time when they were queued. A failed pod waits for an event that might help it, then for its backoff
(1 s doubling to 10 s, aligned to whole seconds). If no pod is active, the next pod in backoff is
tried early. This is only a data structure: the caller has the clock.

    add ──▶ ACTIVE ──pop──▶ (a cycle) ──fail──▶ ASLEEP
              ▲  ▲                                │ wake
              │  └── backoff over ── BACKOFF ◀────┤ backoff not yet over
              └───────────────────────────────────┘
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from math import floor

from headroom.core.objects import Key, Pod

FIRST_BACKOFF = 1.0
LONGEST_BACKOFF = 10.0


class Place(Enum):
    ACTIVE = "active"
    BACKOFF = "backoff"
    ASLEEP = "asleep"
    AWAY = "away"  # in a cycle, or gone


@dataclass(slots=True, eq=False)
class QueuedPod:
    """One pod that needs a node; `reasons` is why its last attempt failed."""

    pod: Pod
    queued: float
    number: int
    place: Place = Place.AWAY
    attempts: int = 0
    failed_at: float = 0.0
    patient: bool = False
    reasons: frozenset[str] = frozenset()

    @property
    def backoff_until(self) -> float:
        """When its backoff is over, cut to whole seconds."""
        if self.attempts == 0:
            return 0.0
        pause = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** min(self.attempts - 1, 10))
        return float(floor(self.failed_at + pause))


class SchedulingQueue:
    """All pods that wait for a node."""

    def __init__(self) -> None:
        self._entries: dict[Key, QueuedPod] = {}
        self._asleep: dict[Key, QueuedPod] = {}
        self._active: list[tuple[int, float, int, int]] = []
        self._backoff: list[tuple[float, int, float, int, int]] = []
        self._numbered: dict[int, QueuedPod] = {}
        self._ticket = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> QueuedPod | None:
        return self._entries.get(key)

    def asleep(self) -> Iterator[QueuedPod]:
        return iter(self._asleep.values())

    def add(self, pod: Pod, now: float) -> None:
        """Queue a new pod, or update a queued one."""
        entry = self._entries.get(pod.key)
        if entry is not None:
            entry.pod = pod
            return
        entry = QueuedPod(pod, now, self._ticket)
        self._entries[pod.key] = entry
        self._activate(entry)

    def remove(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        self._asleep.pop(key, None)
        if entry is not None:
            entry.place = Place.AWAY

    def restore(self, entry: QueuedPod) -> None:
        """Queue a pod again that was removed because it seemed to be placed."""
        self._entries[entry.pod.key] = entry

    def pop(self, now: float) -> QueuedPod | None:
        """Take the next pod to try; None if all are unschedulable or wait after an error."""
        self._end_backoffs(now)
        entry = self._next_active() or self._next_backoff()
        if entry is not None:
            entry.place = Place.AWAY
        return entry

    def fail(self, entry: QueuedPod, reasons: frozenset[str], now: float) -> None:
        """Mark a pod that found no node as unschedulable."""
        self._note_failure(entry, now)
        entry.reasons = reasons
        entry.patient = False
        entry.place = Place.ASLEEP
        self._asleep[entry.pod.key] = entry

    def retry(self, entry: QueuedPod, now: float) -> None:
        """Retry a pod after its backoff and not earlier, because of an error."""
        self._note_failure(entry, now)
        entry.patient = True
        self._delay(entry)

    def wake(self, helps: Callable[[QueuedPod], bool], now: float) -> None:
        """Retry the pods that a change may help."""
        for entry in tuple(self.asleep()):
            if helps(entry):
                del self._asleep[entry.pod.key]
                if entry.backoff_until <= now:
                    self._activate(entry)
                else:
                    self._delay(entry)

    def next_retry(self) -> float | None:
        """When the first pod that waits after an error may be retried."""
        while self._backoff:
            first = self._backoff[0]
            if self._is_here(self._numbered[first[-1]], Place.BACKOFF):
                return first[0]
            del self._numbered[heapq.heappop(self._backoff)[-1]]
        return None

    def _note_failure(self, entry: QueuedPod, now: float) -> None:
        entry.attempts += 1
        entry.failed_at = now
        entry.queued = now

    def _activate(self, entry: QueuedPod) -> None:
        entry.place = Place.ACTIVE
        self._ticket += 1
        self._numbered[self._ticket] = entry
        rank = (-entry.pod.priority, entry.queued, entry.number, self._ticket)
        heapq.heappush(self._active, rank)

    def _delay(self, entry: QueuedPod) -> None:
        entry.place = Place.BACKOFF
        self._ticket += 1
        self._numbered[self._ticket] = entry
        pod = entry.pod
        rank = (entry.backoff_until, -pod.priority, entry.queued, entry.number, self._ticket)
        heapq.heappush(self._backoff, rank)

    def _end_backoffs(self, now: float) -> None:
        while self._backoff and self._backoff[0][0] <= now:
            entry = self._numbered.pop(heapq.heappop(self._backoff)[-1])
            if self._is_here(entry, Place.BACKOFF):
                self._activate(entry)

    def _next_active(self) -> QueuedPod | None:
        while self._active:
            entry = self._numbered.pop(heapq.heappop(self._active)[-1])
            if self._is_here(entry, Place.ACTIVE):
                return entry
        return None

    def _next_backoff(self) -> QueuedPod | None:
        """The first pod whose backoff may be cut short because no pod is active."""
        kept = []
        found = None
        while self._backoff and found is None:
            rank = heapq.heappop(self._backoff)
            entry = self._numbered[rank[-1]]
            if not self._is_here(entry, Place.BACKOFF):
                del self._numbered[rank[-1]]
            elif entry.patient:
                kept.append(rank)
            else:
                del self._numbered[rank[-1]]
                found = entry
        for rank in kept:
            heapq.heappush(self._backoff, rank)
        return found

    def _is_here(self, entry: QueuedPod, place: Place) -> bool:
        return entry.place is place and self._entries.get(entry.pod.key) is entry
