"""A small cluster autoscaler: nodes for pods that fit nowhere, and empty nodes taken away again.

Once pods are unschedulable it looks after one scan interval, packs them onto nodes that are still
booting and then onto new ones of the cheapest pool that fits, and adds these after the pool's boot
delay. Only empty nodes are removed; moving pods off half-empty ones is not modelled. Pods below
priority -10 ask for nothing, as with the Cluster Autoscaler.
"""

from __future__ import annotations

from collections.abc import Sequence

from headroom.core.objects import Node, Pod
from headroom.scheduling.choose import Chosen, choose
from headroom.scheduling.state import ClusterState
from headroom.sim.api.decoding import node_of, pod_of
from headroom.sim.api.pods import FINISHED
from headroom.sim.api.store import Change, Verb
from headroom.sim.api.values import Json, Ref, condition_of, controller_of, dig, ref_of
from headroom.sim.controllers.base import Controller
from headroom.sim.pools import POOL_LABEL, Autoscaling, Pool
from headroom.sim.stage import Stage

SCAN = 10.0
LEAST_PRIORITY = -10
_ALL = Ref("Autoscaler", "", "")


class Autoscaler(Controller):
    """Adds and removes nodes of pools."""

    name = "cluster-autoscaler"

    def __init__(self, stage: Stage, pools: Sequence[Pool], autoscaling: Autoscaling) -> None:
        super().__init__(stage)
        self._pools = sorted(
            (pool for pool in pools if pool.most > pool.count),
            key=lambda pool: (pool.price, pool.name),
        )
        self._patience = autoscaling.scale_down_after
        self._booting: dict[str, Pool] = {}
        self._empty_since: dict[str, float] = {}
        self._scanning = False
        self.store.listen("Pod", self._on_pod)
        self.store.listen("Node", self._on_node)

    def _on_pod(self, change: Change) -> None:
        node = str(dig(change.obj, "spec", "nodeName") or "")
        if node:
            self._watch_emptiness(node)
        elif change.verb is not Verb.DELETED and _is_stuck(change.obj):
            self._scan_soon()

    def _on_node(self, change: Change) -> None:
        if change.verb is Verb.ADDED:
            self._booting.pop(change.ref.name, None)
            self._watch_emptiness(change.ref.name)
        if change.verb is not Verb.MODIFIED:
            self._scan_soon()

    def _scan_soon(self) -> None:
        if not self._scanning:
            self._scanning = True
            self.enqueue(_ALL, after=SCAN)

    async def sync(self, ref: Ref) -> None:
        if ref == _ALL:
            self._scanning = False
            self._grow()
        else:
            self._shrink(ref.name)

    def _grow(self) -> None:
        """Order the nodes that the pods which fit nowhere would need."""
        stuck = [obj for obj in self.store.list("Pod") if _is_stuck(obj)]
        imagined = ClusterState()
        for name, pool in self._booting.items():
            imagined.set_node(_imagined(pool, name))
        for obj in stuck:
            pod = pod_of(obj)
            if not self._pack(pod, imagined) and not self._order(obj, pod, imagined):
                words = "pod didn't trigger scale-up: no pool with room for more nodes fits it"
                self.recorder.record(obj, "Normal", "NotTriggerScaleUp", words)

    def _pack(self, pod: Pod, imagined: ClusterState) -> bool:
        found = choose(pod, imagined)
        if isinstance(found, Chosen):
            imagined.add_pod(pod, found.node)
        return isinstance(found, Chosen)

    def _order(self, obj: Json, pod: Pod, imagined: ClusterState) -> bool:
        """Order a node of the first pool that would take the pod."""
        for pool in self._pools:
            taken = self._names_of(pool)
            if len(taken) >= pool.most:
                continue
            index = next(i for i in range(pool.most) if pool.node_name(i) not in taken)
            name = pool.node_name(index)
            imagined.set_node(_imagined(pool, name))
            if self._pack(pod, imagined):
                self._boot(pool, index)
                change = f"{len(taken)}->{len(taken) + 1} (max: {pool.most})"
                words = f"pod triggered scale-up: [{{{pool.name} {change}}}]"
                self.recorder.record(obj, "Normal", "TriggeredScaleUp", words)
                return True
            imagined.remove_node(name)
        return False

    def _names_of(self, pool: Pool) -> list[str]:
        here = [
            ref_of(node).name
            for node in self.store.list("Node")
            if dig(node, "metadata", "labels", POOL_LABEL) == pool.name
        ]
        return here + [name for name, other in self._booting.items() if other.name == pool.name]

    def _boot(self, pool: Pool, index: int) -> None:
        self._booting[pool.node_name(index)] = pool
        self.stage.loop.call_later(pool.boot_delay, self.server.create, pool.node(index))

    def _watch_emptiness(self, node: str) -> None:
        """Start or stop the wait after which an empty node goes."""
        pool = self._pool_of(node)
        if pool is None:
            return
        if self._is_in_use(node):
            self._empty_since.pop(node, None)
        elif node not in self._empty_since:
            self._empty_since[node] = self.stage.loop.time()
            self.enqueue(Ref("Node", "", node), after=self._patience)

    def _shrink(self, node: str) -> None:
        since = self._empty_since.get(node)
        pool = self._pool_of(node)
        if since is None or pool is None or self._is_in_use(node):
            return
        if self.stage.loop.time() - since < self._patience - 1e-6:
            return  # It was in use in between; a later look is due.
        if len(self._names_of(pool)) > pool.count:
            del self._empty_since[node]
            self.recorder.record(
                self.server.get(Ref("Node", "", node)), "Normal", "ScaleDown", "removed: empty"
            )
            self.server.delete(Ref("Node", "", node))

    def _pool_of(self, node: str) -> Pool | None:
        name = dig(self.store.get(Ref("Node", "", node)), "metadata", "labels", POOL_LABEL)
        return next((pool for pool in self._pools if pool.name == name), None)

    def _is_in_use(self, node: str) -> bool:
        pods = self.stage.pods.on_node(node)
        return any(
            dig(pod, "status", "phase") not in FINISHED and not _is_daemon(pod) for pod in pods
        )


def _imagined(pool: Pool, name: str) -> Node:
    index = int(name.rsplit("-", 1)[1])
    return node_of(pool.node(index))


def _is_stuck(pod: Json) -> bool:
    """Whether a pod waits for a node that is not there, and may ask for one."""
    condition = condition_of(pod, "PodScheduled")
    return (
        condition is not None
        and condition.get("status") == "False"
        and condition.get("reason") == "Unschedulable"
        and not dig(pod, "spec", "nodeName")
        and not dig(pod, "metadata", "deletionTimestamp")
        and not dig(pod, "status", "nominatedNodeName")
        and int(dig(pod, "spec", "priority") or 0) >= LEAST_PRIORITY
        and not _is_daemon(pod)
    )


def _is_daemon(pod: Json) -> bool:
    """Whether a pod belongs to its node: it neither asks for another nor keeps this one."""
    return (controller_of(pod) or {}).get("kind") == "DaemonSet"
