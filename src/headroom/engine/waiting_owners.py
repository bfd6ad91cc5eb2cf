"""Owners that wait at our doors, by index key: a hold that becomes free wakes only these."""

from __future__ import annotations

from collections.abc import Iterator

from headroom.core.holds import Hold
from headroom.core.objects import Key, Pod
from headroom.core.owners import EVERYWHERE, hold_keys, pod_keys, reach
from headroom.engine.indexes import drop


class WaitingOwners:
    """An index of waiting owners by namespace and index key."""

    def __init__(self, across_namespaces: bool) -> None:
        self._across = across_namespaces
        self._waiting: dict[tuple[str, str], dict[Key, None]] = {}

    def add(self, pod: Pod) -> None:
        for place in _places(pod):
            self._waiting.setdefault(place, {})[pod.key] = None

    def remove(self, pod: Pod) -> None:
        for place in _places(pod):
            drop(self._waiting, place, pod.key)

    def for_hold(self, hold: Hold) -> Iterator[Key]:
        """Those whom a hold may be for; one may come twice."""
        for namespace in reach(hold, self._across):
            for key in hold_keys(hold):
                yield from self._waiting.get((namespace, key), ())


def _places(pod: Pod) -> Iterator[tuple[str, str]]:
    for key in pod_keys(pod):
        yield EVERYWHERE, key
        yield pod.key.namespace, key
