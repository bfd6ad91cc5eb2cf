"""The existing latches: the owners and holds of each, and since when it is on its node.

This is a part of the ledger. A latch is moved from use to use, so its annotations are read again
whenever it is listed. Only the watch knows since when it is on a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from headroom.core.latches import claims_on, parents_on
from headroom.core.names import ROLE_LABEL, ROLE_LATCH
from headroom.core.objects import Key, Pod
from headroom.engine.indexes import drop


class LatchBook:
    """Latches by owner and by hold; `in` asks whether a pod is one that counts."""

    def __init__(self) -> None:
        self._known: dict[Key, None] = {}
        self._by_owner: dict[Key, dict[Key, None]] = {}
        self._by_hold: dict[str, dict[Key, None]] = {}  # parent → made for it or its owners
        self._stood: dict[str, tuple[str, datetime]] = {}  # by uid: the node, and since when

    def __contains__(self, key: Key) -> bool:
        return key in self._known

    def __iter__(self) -> Iterator[Key]:
        return iter(self._known)

    def add(self, latch: Pod) -> None:
        self._known[latch.key] = None
        for line in claims_on(latch):
            self._by_owner.setdefault(line.owner, {})[latch.key] = None
        for parent in parents_on(latch):
            self._by_hold.setdefault(parent, {})[latch.key] = None

    def remove(self, latch: Pod) -> None:
        del self._known[latch.key]
        for line in claims_on(latch):
            drop(self._by_owner, line.owner, latch.key)
        for parent in parents_on(latch):
            drop(self._by_hold, parent, latch.key)

    def naming(self, owner: Key) -> Iterable[Key]:
        """The latches that name a pod as the one to come."""
        return self._by_owner.get(owner, ())

    def about(self, parent: str) -> Iterable[Key]:
        """The latches made for a hold or for its owners."""
        return self._by_hold.get(parent, ())

    def see(self, pod: Pod, now: datetime) -> None:
        """The watch shows a pod: if it is a latch, note since when it stands where it does."""
        if pod.nominated and pod.labels.get(ROLE_LABEL) == ROLE_LATCH:
            where, _ = self._stood.get(pod.uid, ("", now))
            if where != pod.nominated:
                self._stood[pod.uid] = (pod.nominated, now)

    def lose(self, uid: str) -> None:
        """The watch shows that a pod is gone."""
        self._stood.pop(uid, None)

    def stands_since(self, latch: Pod) -> datetime | None:
        """Since when the watch shows a latch on its node; None while it does not."""
        node, since = self._stood.get(latch.uid, ("", None))
        return since if node == latch.nominated else None
