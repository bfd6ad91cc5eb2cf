"""Node life: silence noticed, taints that follow from it, and pods that must leave.

The node lifecycle controller, the taint manager and the pod garbage collector in one small actor,
because they are one story: a node falls silent, is marked, and its pods go after their toleration.
A silent kubelet cannot confirm deletions, so its pods stay Terminating until it or its node ends.
"""

from __future__ import annotations

from asyncio import TimerHandle
from typing import Any

from headroom.core.objects import Pod, Taint
from headroom.core.selection import tolerates
from headroom.sim.api.decoding import node_of, pod_of
from headroom.sim.api.nodes import NOT_READY
from headroom.sim.api.store import Change, Verb
from headroom.sim.api.values import Json, Ref, dig, put, ref_of, uid_of, with_condition
from headroom.sim.controllers.base import Controller
from headroom.sim.errors import ApiError
from headroom.sim.stage import Stage

UNREACHABLE = "node.kubernetes.io/unreachable"
CORDONED = "node.kubernetes.io/unschedulable"
_OURS = (UNREACHABLE, NOT_READY, CORDONED)
_ORPHAN_GRACE = 40.0


class Nodes(Controller):
    """Keeps the conditions and taints of nodes, and evicts what does not tolerate them."""

    name = "node-controller"

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._silent: dict[str, float] = {}
        self._returned: set[str] = set()
        self._evictions: dict[str, TimerHandle] = {}
        self.watch("Node")
        self.store.listen("Pod", self._on_pod)

    def fell_silent(self, node: str) -> None:
        """Take note that a kubelet stopped reporting."""
        now = self.stage.loop.time()
        self._silent.setdefault(node, now)
        self.enqueue(Ref("Node", "", node), after=self.stage.settings.node_grace)

    def reports_again(self, node: str) -> None:
        """Take note that a kubelet is back, whatever its node says of itself."""
        self._silent.pop(node, None)
        self._returned.add(node)
        self.enqueue(Ref("Node", "", node))

    def on_change(self, change: Change) -> None:
        self.enqueue(change.ref)
        if change.verb is Verb.DELETED:
            self._silent.pop(change.ref.name, None)
            self.stage.loop.call_later(_ORPHAN_GRACE, self._collect_orphans, change.ref.name)

    async def sync(self, ref: Ref) -> None:
        node = self.store.get(ref)
        if node is None:
            return
        changed = self._with_taints(self._with_readiness(node))
        self.store.replace(node, changed)
        for pod in self.stage.pods.on_node(ref.name):
            self._plan_eviction(pod)

    def _with_readiness(self, node: Json) -> Json:
        """Say Ready for a node that reports, Unknown for one silent too long."""
        name = ref_of(node).name
        since = self._silent.get(name)
        now = self.stage.loop.time()
        before = _ready(node)
        if since is not None:
            if now - since < self.stage.settings.node_grace - 1e-6:
                return node
            condition = {
                "type": "Ready",
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
            }
        elif before in ("", "Unknown") or name in self._returned:
            self._returned.discard(name)
            condition = {
                "type": "Ready",
                "status": "True",
                "reason": "KubeletReady",
                "message": "kubelet is posting ready status",
            }
        else:
            return node
        if before == condition["status"]:
            return node
        if condition["status"] == "Unknown":
            words = f"Node {name} status is now: NodeNotReady"
            self.recorder.record(node, "Normal", "NodeNotReady", words)
        status = with_condition(node.get("status"), condition, self.store.timestamp())
        return {**node, "status": status}

    def _with_taints(self, node: Json) -> Json:
        """Keep the taints that follow from readiness and cordon, and leave all others alone."""
        ready = _ready(node)
        wanted: list[tuple[str, str]] = []
        if dig(node, "spec", "unschedulable"):
            wanted.append((CORDONED, "NoSchedule"))
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

    def _on_pod(self, change: Change) -> None:
        uid = uid_of(change.obj)
        if change.verb is Verb.DELETED:
            timer = self._evictions.pop(uid, None)
            if timer is not None:
                timer.cancel()
        elif dig(change.obj, "spec", "nodeName") and not dig(change.old, "spec", "nodeName"):
            self._plan_eviction(change.obj)

    def _plan_eviction(self, obj: Json) -> None:
        """Evict a pod when its toleration of the node's NoExecute taints runs out."""
        uid = uid_of(obj)
        timer = self._evictions.get(uid)
        node = self.store.get(Ref("Node", "", str(dig(obj, "spec", "nodeName"))))
        if dig(obj, "metadata", "deletionTimestamp"):
            return
        taints = [t for t in node_of(node).taints if t.effect == "NoExecute"] if node else []
        patience = _patience(pod_of(obj), taints) if taints else None
        if patience is None:
            if timer is not None:
                timer.cancel()
                del self._evictions[uid]
        elif timer is None:
            self._evictions[uid] = self.stage.loop.call_later(
                patience, self._evict, ref_of(obj), uid
            )

    def _evict(self, ref: Ref, uid: str) -> None:
        self._evictions.pop(uid, None)
        obj = self.store.get(ref)
        if obj is None or uid_of(obj) != uid:
            return
        words = f"Marking for deletion Pod {ref.namespace}/{ref.name}"
        self.recorder.record(obj, "Normal", "TaintManagerEviction", words)
        self.server.delete(ref, uid=uid)

    def _collect_orphans(self, node: str) -> None:
        """Remove the pods of a node that is gone: no kubelet will."""
        if self.store.get(Ref("Node", "", node)) is not None:
            return
        for pod in self.stage.pods.on_node(node):
            try:
                self.server.delete(ref_of(pod), grace=0, uid=uid_of(pod))
            except ApiError as error:
                self.server.note(f"{ref_of(pod)}: not collected: {error.message}")


def _ready(node: Json) -> str:
    for condition in dig(node, "status", "conditions") or ():
        if condition.get("type") == "Ready":
            return str(condition.get("status"))
    return ""


def _patience(pod: Pod, taints: list[Taint]) -> float | None:
    """How long a pod bears these taints: None for ever, zero not at all."""
    shortest: float | None = None
    for taint in taints:
        found = [each for each in pod.placement.tolerations if tolerates(each, taint)]
        if not found:
            return 0.0
        bounded = [each.seconds for each in found if each.seconds is not None]
        if bounded:
            least = float(max(0, min(bounded)))
            shortest = least if shortest is None else min(shortest, least)
    return shortest
