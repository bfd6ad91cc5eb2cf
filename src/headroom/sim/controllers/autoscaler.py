"""An autoscaler: adds machines for pods that fit nowhere, and removes machines that are not needed.

It runs one scan interval after pods became unschedulable. It packs them onto existing and booting
nodes, then onto new nodes of the cheapest pool that fits. New nodes join after the pool's boot
delay. It behaves like the Cluster Autoscaler or like Karpenter (`pools.AutoscalerBehaviour`), which
packs in its own way (`autoscaler_binpack`). `autoscaler_rules` says which pods request a node and
which keep one, `autoscaler_scale_down` removes nodes, `autoscaler_fleet` has the machines, and
`autoscaler_cache` the state of the cluster.
"""

from __future__ import annotations

from collections.abc import Sequence

from headroom.core.objects import Pod
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.decoder import changed_pod
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import Json, Ref
from headroom.sim.controllers.autoscaler_binpack import Packing, missing_daemons, stand_in
from headroom.sim.controllers.autoscaler_cache import AutoscalerCache, StuckPod
from headroom.sim.controllers.autoscaler_fleet import Fleet
from headroom.sim.controllers.autoscaler_model import Model
from headroom.sim.controllers.autoscaler_scale_down import ScaleDown
from headroom.sim.controllers.base import Controller
from headroom.sim.pools import KARPENTER, Autoscaling, Pool

_GROW = Ref("Autoscaler", "", "grow")
_SHRINK = Ref("Autoscaler", "", "shrink")
_NO_POOL = "pod didn't trigger scale-up: no pool has machines that it fits on"
_ALL_FULL = "pod didn't trigger scale-up: every pool has reached its max"


class Autoscaler(Controller):
    """Adds and removes nodes of pools."""

    name = "cluster-autoscaler"

    def __init__(
        self, stage: ActorContext, pools: Sequence[Pool], autoscaling: Autoscaling
    ) -> None:
        super().__init__(stage)
        self._behaviour = autoscaling.manner
        self._due: dict[Ref, float] = {}
        self._cache = AutoscalerCache(stage, self._behaviour, lambda: self._soon(_GROW))
        self._fleet = Fleet(stage, pools, by_labels=self._behaviour.profile == KARPENTER)
        self._scale_down = ScaleDown(self, self._cache, self._fleet, autoscaling)
        self.store.listen("Pod", self._on_pod)
        self.store.listen("Node", self._on_node)
        self.store.listen("PodDisruptionBudget", self._on_budget)

    @property
    def growing(self) -> bool:
        """Whether machines are booting, or a scan for more is due."""
        return self._fleet.is_booting() or _GROW in self._due

    def _on_pod(self, change: ObjectChange) -> None:
        self._cache.pod_changed(change)
        node = changed_pod(change).node
        if node:
            self._scale_down.look_again(node)
            self._shrink_soon()
        elif change.verb is not Verb.DELETED and self._cache.is_stuck(change.ref):
            self._soon(_GROW)

    def _on_budget(self, _: ObjectChange) -> None:
        self._scale_down.look_again_everywhere()
        self._shrink_soon()

    def _on_node(self, change: ObjectChange) -> None:
        self._cache.node_changed(change)
        if change.verb is Verb.ADDED:
            self._fleet.joined(change.obj)
        elif change.verb is Verb.DELETED:
            self._fleet.left(change.ref.name)
        self._scale_down.look_again(change.ref.name)
        if change.verb is not Verb.MODIFIED or _matters(change):
            self._soon(_GROW)
            self._shrink_soon()

    def _shrink_soon(self) -> None:
        self._scale_down.changed()
        self._soon(_SHRINK)

    def _soon(self, look: Ref) -> None:
        moment = self.stage.loop.now + self._behaviour.scan
        if look not in self._due or moment < self._due[look]:
            self._at(look, moment)

    def _at(self, look: Ref, moment: float) -> None:
        """Scan at this time, unless an earlier scan is due."""
        if moment < self._due.get(look, float("inf")):
            self._due[look] = moment
            self.enqueue(look, after=moment - self.stage.loop.now)

    async def sync(self, ref: Ref) -> None:
        if ref.kind == "Node":
            await self._scale_down.give_back(ref.name)
            self._soon(_SHRINK)
            return
        if self.stage.loop.now < self._due.get(ref, float("inf")) - 1e-6:
            return  # An earlier scan has run, and a later one is due.
        self._due.pop(ref, None)
        if ref == _GROW:
            self._grow()
        else:
            again = self._scale_down.review()
            if again is not None:
                self._at(_SHRINK, again)

    def _grow(self) -> None:
        """Order the machines that pods which fit nowhere need."""
        stuck = self._cache.stuck()
        if not stuck:
            return
        model = self._cache.standing()
        with model.supposing():
            self._fleet.imagine_booting(model)
            self._order_for(stuck, model)

    def _order_for(self, stuck: Sequence[StuckPod], model: Model) -> None:
        if self._behaviour.profile == KARPENTER:
            self._pack([(each.obj, each.pod) for each in stuck], model)
            return
        # Among equals the oldest first, as the scheduler does; the store has that order.
        refused: set[tuple[object, ...] | None] = set()  # the shapes that nothing is left for
        for each in sorted(stuck, key=_least_important_last):
            if each.shape not in refused:
                if self._cache.refused(each.pod):
                    continue  # It waits for a volume; a machine would not help.
                if model.place(each.pod) or self._order(each.obj, each.pod, model):
                    continue
                if not self._fleet.is_full():
                    self.recorder.record(each.obj, "Normal", "NotTriggerScaleUp", _NO_POOL)
                    continue
                if each.shape is not None and not model.has_pod_rules():
                    refused.add(each.shape)  # No room is added any more in this scan.
            self.recorder.record(each.obj, "Normal", "NotTriggerScaleUp", _ALL_FULL)

    def _pack(self, decoded: Sequence[tuple[Json, Pod]], model: Model) -> None:
        """Order as Karpenter does: first all pods are packed, then the machines are chosen."""
        for node in self._cache.nodes.values():
            there = [pod for pod in model.pods_on(node.name) if _of_daemon_set(pod)]
            room = missing_daemons(self._fleet.daemons(node), there)
            if room:
                model.put(stand_in(node, room), node.name)
        served = [(obj, pod) for obj, pod in decoded if not self._cache.refused(pod)]
        objects = {pod.key: obj for obj, pod in served}
        packing = Packing(self._fleet, model)
        for pod in packing.pack([pod for _, pod in served]):
            words = _ALL_FULL if self._fleet.is_full() else _NO_POOL
            self.recorder.record(objects[pod.key], "Normal", "NotTriggerScaleUp", words)
        for machine in packing.planned:
            pool = machine.pools[0]
            index, there_are = self._fleet.next_of(pool)
            self._fleet.order(pool, index)
            self._tell_order(objects[machine.pods[0].key], pool, there_are)

    def _tell_order(self, obj: Json, pool: Pool, there: int) -> None:
        change = f"{there}->{there + 1} (max: {pool.most})"
        words = f"pod triggered scale-up: [{{{pool.name} {change}}}]"
        self.recorder.record(obj, "Normal", "TriggeredScaleUp", words)

    def _order(self, obj: Json, pod: Pod, model: Model) -> bool:
        """Order a machine of the cheapest pool that the pod fits on."""
        for pool, index, there in self._fleet.next_machines():
            name = self._fleet.imagine(model, pool, index)
            if model.place(pod):
                self._fleet.order(pool, index)
                self._tell_order(obj, pool, there)
                return True
            model.remove_node(name)
        return False


def _least_important_last(stuck: StuckPod) -> int:
    return -stuck.pod.priority


def _of_daemon_set(pod: Pod) -> bool:
    return any(owner.kind == "DaemonSet" for owner in pod.owners)


def _matters(change: ObjectChange) -> bool:
    """Whether a node has changed, apart from its status."""
    return change.differs_in(("spec",), ("metadata", "labels"), ("metadata", "annotations"))
