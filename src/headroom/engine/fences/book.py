"""The fences of each node and their age, and the nodes where holds may get room back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headroom.core.fences import FENCING
from headroom.core.names import ROLE_FENCE, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.resources import Resources
from headroom.engine.indexes import drop

NONE: frozenset[Key] = frozenset()


class FenceBook:
    """Fences by node; those that have ended keep nobody off, and are to be removed."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[Key, str]] = {}  # with the namespace that it stands for
        self._seen: dict[Key, tuple[str, datetime]] = {}  # its uid, and when the watch showed it

    def add(self, pod: Pod) -> None:
        if is_fence(pod):
            self._by_node.setdefault(pod.node, {})[pod.key] = pod.rules_namespace

    def remove(self, pod: Pod) -> None:
        if is_fence(pod):
            drop(self._by_node, pod.node, pod.key)

    def see(self, pod: Pod, now: datetime) -> None:
        """The watch shows a pod."""
        if is_fence(pod) and self._seen.get(pod.key, ("", now))[0] != pod.uid:
            self._seen[pod.key] = (pod.uid, now)

    def lose(self, key: Key) -> None:
        """The watch shows that a pod is gone."""
        self._seen.pop(key, None)

    def on(self, node: str) -> frozenset[Key]:
        """The fences of a node."""
        known = self._by_node.get(node)
        return frozenset(known) if known else NONE

    def nodes(self) -> tuple[str, ...]:
        return tuple(self._by_node)

    def homes(self) -> Iterator[str]:
        """For each fence, the namespace that it exists on behalf of."""
        return (home for fences in self._by_node.values() for home in fences.values())

    def seen_at(self, fence: Pod) -> datetime | None:
        """When the watch first showed a fence: kube-scheduler sees pods in the same order."""
        uid, since = self._seen.get(fence.key, ("", None))
        return since if uid == fence.uid else None


class PutBack:
    """Guardians that are being bound to a node by us, from the decision until they stand.

    Others count them before the watch shows them. What they are bound behind must stay: a fence
    does not go meanwhile.
    """

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, Resources]] = {}

    def begin(self, node: str, parent: str, requests: Resources) -> None:
        self._by_node.setdefault(node, {})[parent] = requests

    def end(self, node: str, parent: str) -> None:
        drop(self._by_node, node, parent)

    def on(self, node: str) -> dict[str, Resources]:
        """What is on its way to a node, by hold."""
        return self._by_node.get(node, {})


class Returning:
    """By node: the holds that have owners there, or had, and may be about to have room back."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, None]] = {}
        self._by_hold: dict[str, dict[str, None]] = {}
        self._owed: dict[str, datetime] = {}  # holds that could have back what they lack, since

    def add(self, node: str, parent: str) -> None:
        self._by_node.setdefault(node, {})[parent] = None
        self._by_hold.setdefault(parent, {})[node] = None

    def remove(self, node: str, parent: str) -> None:
        drop(self._by_node, node, parent)
        drop(self._by_hold, parent, node)

    def forget(self, parent: str) -> None:
        """A hold is gone, and returns nothing any more."""
        self.paid(parent)
        for node in tuple(self._by_hold.get(parent, ())):
            self.remove(node, parent)

    def is_owed(self, parent: str) -> bool:
        return parent in self._owed

    def paid(self, parent: str) -> None:
        """Nothing that is free belongs to a hold any more."""
        self._owed.pop(parent, None)

    def owed_since(self, parent: str, owed: bool, now: datetime) -> datetime | None:
        """Take note of whether free room is a hold's; say since when it has been all along."""
        if owed:
            return self._owed.setdefault(parent, now)
        self.paid(parent)
        return None

    def at(self, node: str) -> tuple[str, ...]:
        return tuple(self._by_node.get(node, ()))

    def nodes(self) -> tuple[str, ...]:
        return tuple(self._by_node)


def is_fence(pod: Pod) -> bool:
    """Whether a pod fences its node: a label alone keeps nobody off."""
    named = bool(pod.node) and pod.labels.get(ROLE_LABEL) == ROLE_FENCE
    return named and pod.placement.pod_anti_affinity == FENCING.pod_anti_affinity
