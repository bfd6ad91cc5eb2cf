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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush
from math import floor

from headroom.core.objects import Key, Pod
from headroom.scheduling.pod_shapes import PodShape
from headroom.sim.api.values import Json

FIRST_BACKOFF = 1.0
LONGEST_BACKOFF = 10.0


class Place(Enum):
    ACTIVE = "active"
    BACKOFF = "backoff"
    ASLEEP = "asleep"
    AWAY = "away"  # in a cycle, or gone


@dataclass(slots=True, eq=False)
class QueuedPod:
    """One pod that needs a node.

    `reasons` is why its last attempt failed, `backoff_until` when its backoff is over, cut to whole
    seconds. The rest belongs to the scheduler: `seen` is the state of the cluster that its last
    attempt used, `shape` what its placement depends on, with the pod that it was found for;
    `reported` is the stored pod that is known to have the message `report`.
    """

    pod: Pod
    queued: float
    number: int
    place: Place = Place.AWAY
    attempts: int = 0
    failed_at: float = 0.0
    backoff_until: float = 0.0
    patient: bool = False
    reasons: frozenset[str] = frozenset()
    seen: int = 0
    shape: tuple[Pod, PodShape | None] | None = None
    reported: Json | None = None
    report: str = ""


_Asleep = dict[frozenset[str], dict[QueuedPod, None]]


class SchedulingQueue:
    """All pods that wait for a node.

    Unschedulable pods are kept by their reasons, each group in the order in which the pods failed:
    most changes help only pods that failed for certain reasons, and thousands may wait.
    """

    def __init__(self) -> None:
        self._entries: dict[Key, QueuedPod] = {}
        self._asleep: _Asleep = {}
        self._active: list[tuple[int, float, int, int, QueuedPod]] = []
        self._backoff: list[tuple[float, int, float, int, int, QueuedPod]] = []
        self._ticket = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> QueuedPod | None:
        return self._entries.get(key)

    def longest_asleep(self) -> Iterator[QueuedPod]:
        """For each combination of reasons, the pod that became unschedulable first."""
        return (next(iter(group)) for group in self._asleep.values())

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
        if entry is not None:
            if entry.place is Place.ASLEEP:
                self._rouse(entry)
            entry.place = Place.AWAY

    def restore(self, entry: QueuedPod) -> None:
        """Queue a pod again that was removed because it seemed to be placed."""
        self._entries[entry.pod.key] = entry

    def pop(self, now: float) -> QueuedPod | None:
        """Take the next pod to try; None if all are unschedulable or wait after an error."""
        if not self._active and not self._backoff:
            return None
        if self._backoff:
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
        group = self._asleep.get(reasons)
        if group is None:
            group = self._asleep[reasons] = {}
        group[entry] = None

    def retry(self, entry: QueuedPod, now: float) -> None:
        """Retry a pod after its backoff and not earlier, because of an error."""
        self._note_failure(entry, now)
        entry.patient = True
        self._delay(entry)

    def wake(
        self,
        helps: Callable[[QueuedPod], bool] | None,
        now: float,
        among: Callable[[frozenset[str]], bool] | None = None,
    ) -> None:
        """Retry the pods that a change may help: those that failed for such reasons."""
        if not self._asleep:
            return
        for reasons, group in tuple(self._asleep.items()):
            if among is not None and not among(reasons):
                continue
            woken = list(group) if helps is None else [each for each in group if helps(each)]
            if len(woken) == len(group):
                del self._asleep[reasons]
            else:
                for entry in woken:
                    del group[entry]
            for entry in woken:
                if entry.backoff_until <= now:
                    self._activate(entry)
                else:
                    self._delay(entry)

    def next_retry(self) -> float | None:
        """When the first pod that waits after an error may be retried."""
        while self._backoff:
            first = self._backoff[0]
            if first[-1].place is Place.BACKOFF:
                return first[0]
            heappop(self._backoff)
        return None

    def _rouse(self, entry: QueuedPod) -> None:
        group = self._asleep[entry.reasons]
        del group[entry]
        if not group:
            del self._asleep[entry.reasons]

    def _note_failure(self, entry: QueuedPod, now: float) -> None:
        pause = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** min(entry.attempts, 10))
        entry.attempts += 1
        entry.failed_at = now
        entry.queued = now
        entry.backoff_until = float(floor(now + pause))

    def _activate(self, entry: QueuedPod) -> None:
        entry.place = Place.ACTIVE
        self._ticket += 1
        rank = (-entry.pod.priority, entry.queued, entry.number, self._ticket, entry)
        heappush(self._active, rank)

    def _delay(self, entry: QueuedPod) -> None:
        entry.place = Place.BACKOFF
        self._ticket += 1
        due, priority = entry.backoff_until, -entry.pod.priority
        heappush(self._backoff, (due, priority, entry.queued, entry.number, self._ticket, entry))

    def _end_backoffs(self, now: float) -> None:
        while self._backoff and self._backoff[0][0] <= now:
            entry = heappop(self._backoff)[-1]
            if entry.place is Place.BACKOFF:
                self._activate(entry)

    def _next_active(self) -> QueuedPod | None:
        while self._active:
            entry = heappop(self._active)[-1]
            if entry.place is Place.ACTIVE:
                return entry
        return None

    def _next_backoff(self) -> QueuedPod | None:
        """The first pod whose backoff may be cut short because no pod is active."""
        kept = []
        found = None
        while self._backoff and found is None:
            rank = heappop(self._backoff)
            entry = rank[-1]
            if entry.place is Place.BACKOFF:
                if entry.patient:
                    kept.append(rank)
                else:
                    found = entry
        for rank in kept:
            heappush(self._backoff, rank)
        return found
