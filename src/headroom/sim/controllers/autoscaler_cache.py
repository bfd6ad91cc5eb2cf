"""The autoscaler's cache of the cluster: pods and nodes, decoded once for each change.

It keeps one model of the cluster (`autoscaler_model`), on which a scan can simulate placements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headroom.core.objects import Namespace, Pod
from headroom.scheduling.pod_shapes import shape_key
from headroom.scheduling.state import ClusterState
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.decoder import changed_node, changed_pod, node_of, pod_of
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import Json, Ref, dig, ref_of
from headroom.sim.controllers.autoscaler_model import Model
from headroom.sim.controllers.autoscaler_rules import is_stuck
from headroom.sim.pools import AutoscalerBehaviour
from headroom.sim.scheduler.volumes import VolumeView


@dataclass(frozen=True, slots=True)
class StuckPod:
    """A pod that fits nowhere, as it is stored and as a core value.

    Pods with equal shapes fit on the same machines; without a shape, more than machines matters.
    """

    obj: Json
    pod: Pod
    shape: tuple[object, ...] | None


class AutoscalerCache:
    """All pods and nodes as core values."""

    def __init__(
        self, stage: ActorContext, behaviour: AutoscalerBehaviour, changed: Callable[[], None]
    ) -> None:
        self._store = stage.store
        self._cutoff = behaviour.cutoff
        self._volumes = VolumeView(stage, "autoscaler", changed)
        self._pods: dict[Ref, Pod] = {}
        self._behind: dict[Ref, tuple[Pod, bool]] = {}  # changed pods, and whether they are gone
        self._requested: dict[str, dict[str, int]] = {}  # node → the sums of its pods' requests
        for obj in self._store.list("Pod"):
            self._note(ref_of(obj), pod_of(obj))
        self.nodes = {ref_of(obj).name: node_of(obj) for obj in self._store.list("Node")}
        self._behaviour = behaviour
        self._unbound: dict[Ref, StuckPod | None] = {}
        for obj in self._store.list("Pod"):
            if not pod_of(obj).node:
                self._unbound[ref_of(obj)] = self._judged(obj, pod_of(obj))
        self._standing: Model | None = None
        self._unmodelled: dict[Ref, tuple[Pod, bool]] = {}  # what it does not know yet, like above
        self._store.listen("Namespace", self._namespace_changed)

    def pod_changed(self, change: ObjectChange) -> None:
        """Note a changed pod: one without a node at once, others when a scan asks for them.

        Between two scans most pods change several times.
        """
        pod, ref, gone = changed_pod(change), change.ref, change.verb is Verb.DELETED
        if gone or pod.node:
            self._unbound.pop(ref, None)
            self._behind[ref] = pod, gone
            return
        if ref in self._behind:  # Another pod of this name.
            self._catch_up()
        self._unbound[ref] = self._judged(change.obj, pod)
        self._follow(ref, pod, gone)

    @property
    def pods(self) -> Mapping[Ref, Pod]:
        """All pods."""
        self._catch_up()
        return self._pods

    def _catch_up(self) -> None:
        if self._behind:
            behind, self._behind = self._behind, {}
            for ref, (pod, gone) in behind.items():
                self._follow(ref, pod, gone)

    def _follow(self, ref: Ref, pod: Pod, gone: bool) -> None:
        self._note(ref, None if gone else pod)
        if self._standing is None or not self._counts(pod):
            return
        if gone and not self._standing.has(pod.key):
            self._unmodelled.pop(ref, None)
            return
        if ref in self._unmodelled and self._unmodelled[ref][1]:  # Another pod of this name.
            self._standing.follow(*self._unmodelled.pop(ref))
        self._unmodelled[ref] = pod, gone

    def _model_changes(self, model: Model) -> None:
        """Bring the model up to date: few scans simulate placements, so most pods never need it."""
        changes, self._unmodelled = self._unmodelled, {}
        for pod, gone in changes.values():
            model.follow(pod, gone)

    def requested(self, node: str) -> Mapping[str, int]:
        """The sums of what the pods of a node request, by resource."""
        self._catch_up()
        return self._requested.get(node, {})

    def _note(self, ref: Ref, pod: Pod | None) -> None:
        """Set a pod, or remove it, and update the sums of its node."""
        before = self._pods.pop(ref, None) if pod is None else self._pods.get(ref)
        if pod is not None:
            self._pods[ref] = pod
            if before and (before.node, before.requests) == (pod.node, pod.requests):
                return
        for each, sign in ((before, -1), (pod, 1)):
            if each is None or not each.node:
                continue
            sums = self._requested.setdefault(each.node, {})
            for name, amount in each.requests.items():
                sums[name] = sums.get(name, 0) + sign * amount

    def _namespace_changed(self, _: ObjectChange) -> None:
        self._standing = None
        self._unmodelled.clear()

    def node_changed(self, change: ObjectChange) -> None:
        self._catch_up()
        node, gone = changed_node(change), change.verb is Verb.DELETED
        if gone:
            self.nodes.pop(change.ref.name, None)
        else:
            self.nodes[change.ref.name] = node
        if self._standing is not None:
            self._model_changes(self._standing)
            self._standing.follow_node(node, gone)

    def is_stuck(self, ref: Ref) -> bool:
        """Whether a pod is unschedulable and may request a node."""
        return self._unbound.get(ref) is not None

    def stuck(self) -> list[StuckPod]:
        """The pods that are unschedulable and may request a node, the oldest first."""
        return [each for each in self._unbound.values() if each is not None]

    def _judged(self, obj: Json, pod: Pod) -> StuckPod | None:
        if not is_stuck(obj, self._behaviour):
            return None
        return StuckPod(obj, pod, shape_key(pod))

    def model(self) -> Model:
        """The current cluster without pods below the cutoff.

        Room that pods are nominated to counts as used, as for kube-scheduler.
        """
        state = ClusterState()
        for item in self._store.list("Namespace"):
            state.set_namespace(Namespace(ref_of(item).name, dig(item, "metadata", "labels") or {}))
        for node in self.nodes.values():
            state.set_node(node)
        model = Model(state, self._volumes)
        for pod in self.pods.values():
            if self._counts(pod):
                model.follow(pod, gone=False)
        return model

    def standing(self) -> Model:
        """The same model, kept between scans and updated with each changed pod and node."""
        self._catch_up()
        if self._standing is None:
            self._standing = self.model()
        self._model_changes(self._standing)
        self._standing.put_in_order(self.nodes)
        return self._standing

    def _counts(self, pod: Pod) -> bool:
        return self._cutoff is None or pod.priority >= self._cutoff

    def refused(self, pod: Pod) -> str:
        """Why no node can fit the pod as long as its volumes do not change."""
        return self._volumes.judged(pod)[1]
