"""Room that was given twice: a node with more pods than fit, or an owner that its kubelet rejected.

kube-scheduler alone never does this, so each case means that a pod got the room of another. A node
that shrank, and a node that a pod named itself, are ignored: there it is no error. A pod of higher
priority is ignored too, because it may take any room. So is a pod that takes what such a pod left,
if the owner did not fit there any more.
"""

from __future__ import annotations

from collections.abc import Callable

from headroom.core.claims import claim_of
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.sim.api.decoder import node_of, pod_of
from headroom.sim.api.store import ObjectChange, Store, Verb

_ONE = Resources({PODS: 1})


class RoomUsed:
    """What pods request on each node, with their number; sums in place are a third of the work."""

    def __init__(self) -> None:
        self._on: dict[str, dict[str, int]] = {}

    def add(self, node: str, requests: Resources, sign: int) -> None:
        """Add (`sign` 1) or subtract (-1) one pod's requests."""
        if node not in self._on:
            self._on[node] = {PODS: 0}
        used = self._on[node]
        used[PODS] += sign
        for resource, amount in requests.items():
            if resource not in used:
                used[resource] = 0
            used[resource] += sign * amount

    def on(self, node: str) -> Resources:
        return Resources(self._on.get(node))

    def beyond(self, node: str, room: Resources) -> list[tuple[str, int, int]]:
        """What is used of more than there is: each resource, what is used, and the room."""
        used = self._on.get(node, {})
        over = [name for name, amount in used.items() if amount > room[name]]
        return [(name, used[name], room[name]) for name in sorted(over)] if over else []


class OvercommitCheck:
    """Watches the bound pods of all nodes and reports every pod that exceeds a node."""

    def __init__(self, store: Store, breach: Callable[[str], None]) -> None:
        self._store = store
        self._breach = breach
        self._bound: dict[str, dict[str, Pod]] = {}  # node → uid → pod
        self._used = RoomUsed()  # their requests
        self._coming: dict[str, dict[str, Pod]] = {}  # node → owners let through the gate
        self._coming_to: dict[str, str] = {}  # uid → node
        self._unsure: dict[str, None] = {}  # nodes with pods that no scheduler placed
        self._largest: dict[str, Resources] = {}
        store.listen("Pod", self._on_pod)
        store.listen("Node", self._on_node)

    def _on_node(self, change: ObjectChange) -> None:
        name = str(change.obj["metadata"]["name"])
        room = node_of(change.obj).allocatable
        before = self._largest.get(name, EMPTY)
        if change.verb is Verb.DELETED or not before.fits_in(room):
            self._unsure[name] = None
        self._largest[name] = room

    def _on_pod(self, change: ObjectChange) -> None:
        pod = pod_of(change.obj)
        uid = pod.uid
        if uid in self._coming_to:
            del self._coming[self._coming_to.pop(uid)][uid]
        here = self._bound.setdefault(pod.node, {}) if pod.node else {}
        known = here.get(uid)
        if change.verb is Verb.DELETED or pod.finished:
            if known is not None:
                del here[uid]
                self._count(pod.node, known, None)
                self._tell_refused(pod)
            return
        if not pod.node:
            if claim_of(pod) is not None and pod.nominated and not pod.gates:
                self._coming.setdefault(pod.nominated, {})[uid] = pod
                self._coming_to[uid] = pod.nominated
            return
        self._count(pod.node, known, pod)
        here[uid] = pod
        if change.verb is Verb.ADDED and ROLE_LABEL not in pod.labels:
            self._unsure[pod.node] = None
        if known is None:
            self._check(pod)

    def _count(self, node: str, before: Pod | None, after: Pod | None) -> None:
        """Update the sum of the requests on a node."""
        if before is not None and after is not None and _ask_alike(before, after):
            return
        if before is not None:
            self._used.add(node, before.requests, -1)
        if after is not None:
            self._used.add(node, after.requests, 1)

    def _check(self, pod: Pod) -> None:
        """Check a pod that was bound: there was room for it beside the promised room."""
        node = self._store.find("Node", "", pod.node)
        if node is None or pod.node in self._unsure:
            return
        room = node_of(node).allocatable
        for name, used, most in self._used.beyond(pod.node, room)[:1]:
            words = f"{used} {name} of {most}"
            self._breach(f"Node/{pod.node}: given twice, with Pod/{pod.key}: {words}")
            return
        if self._coming.get(pod.node) and claim_of(pod) is None and ROLE_LABEL not in pod.labels:
            self._check_coming(pod, room)

    def _check_coming(self, pod: Pod, room: Resources) -> None:
        """Check that a pod without a claim left the room of owners that come to its node."""
        used = self._used.on(pod.node)
        before = used - pod.requests - _ONE
        coming = self._coming[pod.node].values()
        for owner in [each for each in coming if each.priority >= pod.priority]:
            needed = owner.requests + _ONE
            if (before + needed).fits_in(room) and not (used + needed).fits_in(room):
                self._breach(f"Pod/{pod.key}: has the room of owner Pod/{owner.key} on {pod.node}")

    def _tell_refused(self, pod: Pod) -> None:
        refused = pod.phase == "Failed" and pod.reason.startswith("OutOf")
        if not refused or pod.node in self._unsure:
            return
        claim = claim_of(pod)
        whose = f" although it owns {claim[0]}" if claim is not None else ""
        self._breach(f"Pod/{pod.key}: refused on {pod.node}, {pod.reason},{whose}".rstrip(","))


def _ask_alike(before: Pod, after: Pod) -> bool:
    return before.requests is after.requests or before.requests == after.requests
