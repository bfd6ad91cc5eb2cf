"""Owners that continued without a hold and wait for room: its guardian must not be ahead of them.

A guardian that waits in kube-scheduler's queue is more important than its own owner. If no hold was
there in time, the owner has passed the gate and cannot get one any more. With both in the queue,
the guardian would take the room that becomes free, and keep it from the pod that it is for. So the
owner goes first, for a limited time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.names import LOCKED_PRIORITY
from headroom.core.objects import Key, Pod
from headroom.core.subjects import Awaited, Change, hold_subject
from headroom.engine.agenda import Agenda
from headroom.engine.indexes import drop

LONGEST_AHEAD = timedelta(minutes=5)
"""How long one owner may keep its holds from being held anew: it may be waiting for ever."""


@dataclass(frozen=True, slots=True)
class _Released:
    pod: Pod
    until: datetime
    wholes: tuple[str, ...]


class ReleasedOwners:
    """By hold or headroom, in the order in which they came."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._owners: dict[Key, _Released] = {}
        self._of: dict[str, dict[Key, None]] = {}  # those of one hold or headroom
        self._updated: _Released | None = None

    def note(self, pod: Pod, wholes: Iterable[str], now: datetime) -> tuple[str, ...]:
        """A pod goes on without these; say which of them let nobody go first until now."""
        known = tuple(wholes)
        first = tuple(whole for whole in known if whole not in self._of)
        self._put(_Released(pod, now + LONGEST_AHEAD, known))
        return first

    def ahead_of(self, hold: Hold, now: datetime) -> str:
        """The pod that a hold lets go first; it is looked at when that one has its node."""
        whole, most = hold.parent.whole, hold.template.pod.requests
        if hold.mode == PREEMPTIBLE:
            return ""
        for each in [self._owners[key] for key in self._of.get(whole, ())]:
            if now >= each.until:
                self._drop(each)
            elif each.pod.priority < LOCKED_PRIORITY and each.pod.requests.fits_in(most):
                subject = hold_subject(hold.parent)
                self._agenda.wait(subject, on=Awaited(Change.OWNER_PLACED, whole))
                self._agenda.later(subject, each.until)
                return str(each.pod.key)
        return ""

    def add(self, pod: Pod) -> None:
        """A pod is as given."""
        before, self._updated = self._updated, None
        if before is not None and before.pod.uid == pod.uid and _waits(pod):
            self._put(_Released(pod, before.until, before.wholes))

    def remove(self, pod: Pod) -> None:
        """A pod is no longer as given; `add` says at once how it is now, unless it is gone."""
        self._updated = self._owners.get(pod.key)
        if self._updated is not None:
            self._drop(self._updated)

    def _put(self, released: _Released) -> None:
        if released.wholes:
            self._owners[released.pod.key] = released
        for whole in released.wholes:
            self._of.setdefault(whole, {})[released.pod.key] = None

    def _drop(self, released: _Released) -> None:
        self._owners.pop(released.pod.key, None)
        for whole in released.wholes:
            drop(self._of, whole, released.pod.key)
            self._agenda.wake(Awaited(Change.OWNER_PLACED, whole))


def _waits(pod: Pod) -> bool:
    return not pod.node and not pod.finished and pod.deleted is None
