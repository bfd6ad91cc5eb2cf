"""Latches that have finished their work and may be used once more, by size.

To move one saves the next handover of its size one write before its owner is bound, and two after.
"""

from __future__ import annotations

from headroom.core.objects import Key, Pod
from headroom.core.resources import Resources
from headroom.core.subjects import pod_subject
from headroom.engine.agenda import Agenda
from headroom.engine.indexes import drop
from headroom.scheduling.state import ClusterState


class ReusableLatches:
    """Which latches wait for another use, and which are in somebody's way."""

    def __init__(self, agenda: Agenda, state: ClusterState) -> None:
        self._agenda = agenda
        self._state = state
        self._by_size: dict[Resources, dict[Key, None]] = {}
        self._dismissed: dict[Key, None] = {}

    def put(self, latch: Pod) -> None:
        """Keep a latch for the next handover of its size."""
        self._by_size.setdefault(latch.requests, {})[latch.key] = None

    def take(self, size: Resources) -> Key | None:
        """A latch of this size to use again, if there is one."""
        key = next(iter(self._by_size.get(size, ())), None)
        if key is not None:
            drop(self._by_size, size, key)
        return key

    def forget(self, latch: Pod) -> None:
        """This latch goes away: nobody may count on it."""
        drop(self._by_size, latch.requests, latch.key)

    def gone(self, latch: Pod) -> None:
        """This latch is no more."""
        drop(self._by_size, latch.requests, latch.key)
        self._dismissed.pop(latch.key, None)

    def dismiss(self, node: str) -> None:
        """Have latches removed that wait on a node for another use, and are in the way there."""
        for pod in self._state.nominated_on(node):
            if pod.key in self._by_size.get(pod.requests, ()):
                drop(self._by_size, pod.requests, pod.key)
                self._dismissed[pod.key] = None
                self._agenda.touch(pod_subject(pod.key))

    def is_dismissed(self, latch: Pod) -> bool:
        return latch.key in self._dismissed
