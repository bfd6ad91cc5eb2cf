"""Holds on shelves: those that could concern a pod, found without looking at all of them.

A hold stands on one shelf for each of its index keys, oldest first, then by name. `open` shelves
have holds that may be claimed now, `coming` shelves those whose room is on its way.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Iterator

from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.owners import hold_keys, pod_keys

Place = tuple[str, str]  # creation time and parent, as sortable texts


class Shelves:
    """An index of holds by namespace and index key."""

    def __init__(self, across_namespaces: bool) -> None:
        self._across = across_namespaces
        self._shelves: dict[tuple[str, str], list[Place]] = {}
        self._places: dict[str, tuple[Place, tuple[tuple[str, str], ...]]] = {}

    def put(self, hold: Hold) -> bool:
        """Put a hold on its shelves; say whether it was not there before."""
        parent = str(hold.parent)
        place = (hold.created.isoformat() if hold.created else "", parent)
        namespace = "" if self._across else hold.parent.namespace
        keys = tuple((namespace, key) for key in hold_keys(hold))
        known = self._places.get(parent)
        if known == (place, keys):
            return False
        if known is not None:
            self.take(parent)
        self._places[parent] = (place, keys)
        for key in keys:
            insort(self._shelves.setdefault(key, []), place)
        return True

    def take(self, parent: str) -> None:
        """Take a hold off its shelves, if it stands on any."""
        known = self._places.pop(parent, None)
        if known is None:
            return
        place, keys = known
        for key in keys:
            shelf = self._shelves[key]
            del shelf[bisect_left(shelf, place)]
            if not shelf:
                del self._shelves[key]

    def __contains__(self, parent: str) -> bool:
        return parent in self._places

    def for_pod(self, pod: Pod) -> Iterator[str]:
        """Parents that may concern a pod, oldest first, each once."""
        namespace = "" if self._across else pod.key.namespace
        shelves = (self._shelves.get((namespace, key)) for key in pod_keys(pod))
        last = None
        for place in heapq.merge(*(shelf for shelf in shelves if shelf)):
            if place != last:
                yield place[1]
            last = place
