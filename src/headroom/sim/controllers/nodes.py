"""The node lifecycle: missing heartbeats, the resulting taints, pods that are not ready, orphans.

This is the node lifecycle controller and the pod garbage collector in one actor: a node stops
reporting and is marked, its pods are no longer ready, and they are deleted when the node is
removed. `evictions` evicts pods from a tainted node. A stopped kubelet cannot confirm deletions, so
its pods stay Terminating until the kubelet is back or the node is deleted.
"""

from __future__ import annotations

from typing import Any

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.nodes import NOT_READY
from headroom.sim.api.pods import FINISHED
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import (
    Json,
    Ref,
    condition_of,
    condition_status,
    dig,
    disrupted,
    new_condition,
    put,
    ref_of,
    uid_of,
    with_condition,
)
from headroom.sim.controllers.base import Controller
from headroom.sim.errors import ApiError

UNREACHABLE = "node.kubernetes.io/unreachable"
CORDONED = "node.kubernetes.io/unschedulable"
_PRESSURE = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
_OURS = (UNREACHABLE, NOT_READY, CORDONED, *_PRESSURE.values())
_ORPHAN_GRACE = 40.0
SILENT = "Kubelet stopped posting node status."
REPORTS = "kubelet is posting ready status"


class Nodes(Controller):
    """Updates the conditions and taints of nodes."""

    name = "node-controller"

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self._silent: dict[str, float] = {}
        self._returned: set[str] = set()
        self.watch("Node")

    def kubelet_stopped(self, node: str) -> None:
        """A kubelet stopped reporting."""
        now = self.stage.loop.now
        self._silent.setdefault(node, now)
        self.enqueue(Ref("Node", "", node), after=self.stage.settings.node_grace)

    def kubelet_started(self, node: str) -> None:
        """A kubelet reports again, whatever the conditions of its node say."""
        self._silent.pop(node, None)
        self._returned.add(node)
        self.enqueue(Ref("Node", "", node))

    def on_change(self, change: ObjectChange) -> None:
        self.enqueue(change.ref)
        if change.verb is Verb.DELETED:
            self._silent.pop(change.ref.name, None)
            self.stage.loop.call_later(_ORPHAN_GRACE, self._collect_orphans, change.ref.name)
        elif (
            condition_status(change.old, "Ready") == "True"
            and condition_status(change.obj, "Ready") == "Unknown"
        ):
            # If the node itself reports that it is not ready, its kubelet updates its pods.
            self._tell_not_ready(change.obj)

    async def sync(self, ref: Ref) -> None:
        node = self.store.get(ref)
        if node is not None:
            self.store.replace(node, self._with_taints(self._with_readiness(node)))

    def _with_readiness(self, node: Json) -> Json:
        """Ready is True for a node that reports, and Unknown after a long silence."""
        name = ref_of(node).name
        since = self._silent.get(name)
        now = self.stage.loop.now
        before = condition_status(node, "Ready")
        if since is not None:
            if now - since < self.stage.settings.node_grace - 1e-6:
                return node
            condition = new_condition("Ready", "Unknown", "NodeStatusUnknown", SILENT)
        elif before in ("", "Unknown") or name in self._returned:
            self._returned.discard(name)
            condition = new_condition("Ready", True, "KubeletReady", REPORTS)
        else:
            return node
        if before == condition["status"]:
            return node
        status = with_condition(node.get("status"), condition, self.store.timestamp())
        return {**node, "status": status}

    def _tell_not_ready(self, node: Json) -> None:
        """Record that a node is no longer ready, and set its pods to not ready."""
        name = ref_of(node).name
        words = f"Node {name} status is now: NodeNotReady"
        self.recorder.record(node, "Normal", "NodeNotReady", words)
        for pod in self.stage.pods.on_node(name):
            ready = condition_of(pod, "Ready")
            if ready is not None and ready.get("status") == "True":
                unready = {**ready, "status": "False"}
                status = with_condition(pod.get("status"), unready, self.store.timestamp())
                marked = self.server.update({**pod, "status": status}, "status")
                self.recorder.record(marked, "Warning", "NodeNotReady", "Node is not ready")

    def _with_taints(self, node: Json) -> Json:
        """Set the taints that follow from conditions and cordon; other taints are not changed."""
        ready = condition_status(node, "Ready")
        wanted: list[tuple[str, str]] = []
        if dig(node, "spec", "unschedulable"):
            wanted.append((CORDONED, "NoSchedule"))
        for kind, key in _PRESSURE.items():
            if condition_status(node, kind) == "True":
                wanted.append((key, "NoSchedule"))
        if ready in ("Unknown", "False"):
            key = UNREACHABLE if ready == "Unknown" else NOT_READY
            wanted += [(key, "NoSchedule"), (key, "NoExecute")]
        old = list(dig(node, "spec", "taints") or ())
        kept = [t for t in old if t["key"] not in _OURS or (t["key"], t["effect"]) in wanted]
        had = [(taint["key"], taint["effect"]) for taint in kept]
        added = [self._taint(*pair) for pair in wanted if pair not in had]
        taints = [*kept, *added]
        if taints == old:
            return node
        return put(node, taints, "spec", "taints")

    def _taint(self, key: str, effect: str) -> dict[str, Any]:
        return {"key": key, "effect": effect, "timeAdded": self.store.timestamp()}

    def _collect_orphans(self, node: str) -> None:
        """Delete the pods of a deleted node, since it has no kubelet."""
        if self.store.get(Ref("Node", "", node)) is not None:
            return
        for pod in self.stage.pods.on_node(node):
            try:
                if dig(pod, "status", "phase") not in FINISHED:
                    self.server.update({**pod, "status": self._lost(pod)}, "status")
                self.server.delete(ref_of(pod), grace=0, uid=uid_of(pod))
            except ApiError as error:
                self.server.note(f"{ref_of(pod)}: not collected: {error.message}")

    def _lost(self, pod: Json) -> Json:
        """The last status of a pod whose node no longer exists."""
        why, now = "PodGC: node no longer exists", self.store.timestamp()
        return {**disrupted(pod, "DeletionByPodGC", why, now), "phase": "Failed"}
