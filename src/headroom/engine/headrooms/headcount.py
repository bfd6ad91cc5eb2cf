"""Count the guardians of each headroom's slots, and wake who waits for one to be deleted.

This is a part of the ledger. A renewed slot has two guardians for a while, a released slot has one
until it is deleted: where their number is limited, pods are counted and not wanted slots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.resources import PODS, Resources
from headroom.core.subjects import Awaited, Change
from headroom.engine.agenda import Agenda
from headroom.engine.indexes import drop


class Headcount:
    """Guardians that have not ended, by the headroom that they are for."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._there: dict[str, dict[Key, None]] = {}
        self._in: dict[str, int] = {}  # how many, by namespace
        self._used: dict[str, Counter[str]] = {}  # what they ask for together, `pods` included

    def add(self, pod: Pod) -> None:
        """A pod is as given."""
        whole = _headroom_of(pod)
        if whole:
            if pod.key not in self._there.get(whole, ()):
                self._in[_namespace(whole)] = self.within(_namespace(whole)) + 1
            self._there.setdefault(whole, {})[pod.key] = None
            self._used.setdefault(whole, Counter()).update(_charged(pod))

    def remove(self, pod: Pod) -> None:
        """A pod is no longer as given."""
        whole = _headroom_of(pod)
        if whole:
            if pod.key in self._there.get(whole, ()):
                self._in[_namespace(whole)] -= 1
                if not self._in[_namespace(whole)]:
                    del self._in[_namespace(whole)]
            drop(self._there, whole, pod.key)
            self._used.setdefault(whole, Counter()).subtract(_charged(pod))
            if whole not in self._there:
                del self._used[whole]
            self._agenda.wake(Awaited(Change.GUARDIAN_GONE, whole))

    def of(self, whole: str) -> Collection[Key]:
        """The guardians of a headroom's slots; two of a slot that is being renewed."""
        return self._there.get(whole, ())

    def within(self, namespace: str) -> int:
        """How many guardians the headrooms of a namespace have."""
        return self._in.get(namespace, 0)

    def used(self, whole: str) -> Resources:
        """What a headroom's guardians ask for together, and as `pods` how many they are."""
        return Resources(self._used.get(whole, {}))


def _charged(pod: Pod) -> dict[str, int]:
    return {**pod.requests, PODS: 1}


def _namespace(whole: str) -> str:
    return whole.partition("/")[2].partition("/")[0]


def _headroom_of(pod: Pod) -> str:
    if pod.labels.get(ROLE_LABEL) != ROLE_GUARDIAN or pod.finished:
        return ""
    whole, of_slot, _ = kept_for(pod).partition("#")
    return whole if of_slot else ""
