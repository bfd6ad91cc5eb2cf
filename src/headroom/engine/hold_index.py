"""An index of holds: find those that could match a pod without checking all of them.

A hold has one entry for each of its index keys, in each namespace that it reaches. In an
entry, holds that a pod cannot distinguish (same order, same room, same use) are one group,
oldest first, then by name. So the preference of a pod is calculated once for a group, however many
holds it has. The ledger has one such index of holds that may be claimed now, and one of holds that
get their room soon.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Iterator

from headroom.core.hold_order import Preference, preference
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.owners import EVERYWHERE, pod_keys, reach, rule_keys
from headroom.core.resources import EMPTY, Resources
from headroom.engine.indexes import drop

Place = tuple[str, str]  # creation time and parent, as sortable texts
EntryKey = tuple[str, str]  # namespace and index key
Group = tuple[int, Resources, Resources]  # order, room, what of it is used
Revision = tuple[int, tuple[tuple[str, str], ...]]  # generation and labels: who may come may differ
ALIKE: Preference = (False, 0, 0)
_Known = tuple[Place, Group, tuple[EntryKey, ...], Revision]


class HoldIndex:
    """An index of holds by namespace and index key."""

    def __init__(self, across_namespaces: bool) -> None:
        self._across = across_namespaces
        self._entries: dict[EntryKey, dict[Group, list[Place]]] = {}
        self._places: dict[str, _Known] = {}
        self._named: dict[str, dict[str, None]] = {}

    def add(self, hold: Hold, left: Resources | None = None) -> bool:
        """Add a hold, of which so much is left; return whether its entries have changed."""
        parent, room = hold.parent.identity, hold.template.pod.requests
        place = (hold.created.isoformat() if hold.created else "", parent)
        used = EMPTY if left is None else room.minus(left)
        keys = tuple(
            (namespace, key) for namespace in reach(hold, self._across) for key in rule_keys(hold)
        )
        revision = (hold.generation, tuple(sorted(hold.labels.items())))
        wanted = (place, (hold.terms.order, room, used), keys, revision)
        known = self._places.get(parent)
        if known == wanted:
            return False
        if known is not None:
            self.remove(parent)
        self._places[parent] = wanted
        self._named.setdefault(hold.parent.name, {})[parent] = None
        for key in keys:
            insort(self._entries.setdefault(key, {}).setdefault(wanted[1], []), place)
        return True

    def remove(self, parent: str) -> None:
        """Remove a hold, if it is in the index."""
        known = self._places.pop(parent, None)
        if known is None:
            return
        place, group, keys, _ = known
        drop(self._named, parent.partition("#")[0].rpartition("/")[2], parent)
        for key in keys:
            entry = self._entries[key]
            places = entry[group]
            del places[bisect_left(places, place)]
            if not places:
                del entry[group]
            if not entry:
                del self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._places))

    def __contains__(self, parent: str) -> bool:
        return parent in self._places

    def for_pod(self, pod: Pod) -> Iterator[str]:
        """The parents of holds that may match a pod, the best first, each once."""
        if pod.wish.name:
            yield from sorted(self._named.get(pod.wish.name, ()))
            return
        found: dict[Group, list[list[Place]]] = {}
        for key in pod_keys(pod) if self._entries else ():
            for namespace in (EVERYWHERE, pod.key.namespace):
                for kind, places in self._entries.get((namespace, key), {}).items():
                    found.setdefault(kind, []).append(places)
        liked: dict[Preference, list[list[Place]]] = {}
        for (order, room, used), found_places in found.items():
            rank = preference(order, pod.requests, room, used) if len(found) > 1 else ALIKE
            liked.setdefault(rank, []).extend(found_places)
        for rank in sorted(liked):
            last = None
            for place in heapq.merge(*liked[rank]):
                if place != last:
                    yield place[1]
                last = place
