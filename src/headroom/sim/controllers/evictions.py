"""The taint manager: evicts pods that do not tolerate the NoExecute taints of their node.

A pod that does not tolerate a taint is evicted at once. A pod that tolerates it for some seconds is
evicted after them, unless the taint is removed first. DaemonSet pods tolerate these taints without
limit. `nodes` sets the taints.
"""

from __future__ import annotations

from asyncio import TimerHandle

from headroom.core.objects import Pod, Taint
from headroom.core.selection import tolerates
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.decoder import changed_pod, node_of, pod_of
from headroom.sim.api.store import COMING, GOING, SPEC, ObjectChange, Verb
from headroom.sim.api.values import Json, Ref, dig, disrupted, ref_of, uid_of
from headroom.sim.controllers.base import Controller

_EVENT = "TaintManagerEviction"


class TaintManager(Controller):
    """Evicts pods that do not tolerate the taints of their node."""

    name = "taint-eviction-controller"

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self._due: dict[str, TimerHandle] = {}
        self.watch("Node")
        self.store.listen("Pod", self._on_pod, COMING | GOING | SPEC)

    def on_change(self, change: ObjectChange) -> None:
        if change.verb is not Verb.MODIFIED or _no_execute(change.obj) != _no_execute(change.old):
            self.enqueue(change.ref)

    async def sync(self, ref: Ref) -> None:
        for pod in self.stage.pods.on_node(ref.name):
            self._plan(pod)

    def _on_pod(self, change: ObjectChange) -> None:
        if change.verb is Verb.DELETED:
            timer = self._due.pop(uid_of(change.obj), None) if self._due else None
            if timer is not None:
                timer.cancel()
        elif changed_pod(change).node and (change.parts & SPEC or change.old is None):
            self._plan(change.obj)

    def _plan(self, obj: Json) -> None:
        """Set, keep or cancel the time of a pod's eviction."""
        pod = pod_of(obj)
        if pod.deleted is not None:
            return
        node = self.store.find("Node", "", pod.node)
        given = node_of(node).taints if node else ()
        taints = [taint for taint in given if taint.effect == "NoExecute"] if given else []
        if not taints and uid_of(obj) not in self._due:
            return
        left = toleration_time(pod, taints)
        timer = self._due.get(uid_of(obj))
        if timer is not None and (left is None or left == 0):
            timer.cancel()
            del self._due[uid_of(obj)]
            ref = ref_of(obj)
            words = f"Cancelling deletion of Pod {ref.namespace}/{ref.name}"
            self.recorder.record(obj, "Normal", _EVENT, words)
            timer = None
        if left is not None and timer is None:
            self._due[uid_of(obj)] = self.stage.loop.call_later(
                left, self._evict, ref_of(obj), uid_of(obj)
            )

    def _evict(self, ref: Ref, uid: str) -> None:
        self._due.pop(uid, None)
        obj = self.store.get(ref)
        if obj is None or uid_of(obj) != uid:
            return
        words = f"Marking for deletion Pod {ref.namespace}/{ref.name}"
        self.recorder.record(obj, "Normal", _EVENT, words)
        why = "Taint manager: deleting due to NoExecute taint"
        status = disrupted(obj, "DeletionByTaintManager", why, self.store.timestamp())
        self.server.write_pod_status(obj, status)
        self.server.delete(ref, uid=uid)


def toleration_time(pod: Pod, taints: list[Taint]) -> float | None:
    """How long a pod tolerates these taints: None means forever, zero not at all."""
    shortest: float | None = None
    for taint in taints:
        # As in Kubernetes, the first toleration that matches a taint sets the time.
        found = next((each for each in pod.placement.tolerations if tolerates(each, taint)), None)
        if found is None:
            return 0.0
        if found.seconds is not None:
            least = float(max(0, found.seconds))
            shortest = least if shortest is None else min(shortest, least)
    return shortest


def _no_execute(node: Json | None) -> list[Json]:
    taints = dig(node, "spec", "taints") or ()
    return [taint for taint in taints if taint.get("effect") == "NoExecute"]
