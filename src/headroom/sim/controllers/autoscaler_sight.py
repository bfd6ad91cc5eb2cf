"""What an autoscaler sees of its cluster, and a model of it in which it may move things about.

Pods and nodes are decoded once, as they change. `Model` is a scratch copy made for one look: it
answers where pods would go, and is thrown away afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from headroom.core.objects import Namespace, Node, Pod
from headroom.core.selection import pinned
from headroom.scheduling.choose import Chosen, choose
from headroom.scheduling.filters import feasible
from headroom.scheduling.state import ClusterState
from headroom.sim.api.decoding import changed_node, changed_pod, node_of, pod_of
from headroom.sim.api.store import Change, Verb
from headroom.sim.api.values import dig, ref_of
from headroom.sim.pools import Manner
from headroom.sim.scheduler.volumes import VolumeView
from headroom.sim.stage import Stage


class Sight:
    """Every pod and node, as core values."""

    def __init__(self, stage: Stage, manner: Manner, changed: Callable[[], None]) -> None:
        self._store = stage.store
        self._cutoff = manner.cutoff
        self._volumes = VolumeView(stage, "autoscaler", changed)
        self.pods = {ref_of(obj): pod_of(obj) for obj in self._store.list("Pod")}
        self.nodes = {ref_of(obj).name: node_of(obj) for obj in self._store.list("Node")}
        self._standing: Model | None = None
        self._store.listen("Namespace", self._namespace_changed)

    def pod_changed(self, change: Change) -> None:
        pod = changed_pod(change)
        gone = change.verb is Verb.DELETED
        if gone:
            self.pods.pop(change.ref, None)
        else:
            self.pods[change.ref] = pod
        if self._standing is not None and self._counts(pod):
            self._standing.follow(pod, gone)

    def _namespace_changed(self, _: Change) -> None:
        self._standing = None

    def node_changed(self, change: Change) -> None:
        self._standing = None
        if change.verb is Verb.DELETED:
            self.nodes.pop(change.ref.name, None)
        else:
            self.nodes[change.ref.name] = changed_node(change)

    def model(self) -> Model:
        """The cluster as it is: pods below the cutoff might as well not be there.

        Room that pods are nominated to counts as taken, as it does for kube-scheduler.
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
        """The same, for questions that leave it as it is: pods that change are followed.

        Made anew after a change of a node, because the order of nodes decides between equals.
        """
        if self._standing is None:
            self._standing = self.model()
        return self._standing

    def _counts(self, pod: Pod) -> bool:
        return self._cutoff is None or pod.priority >= self._cutoff

    def refused(self, pod: Pod) -> str:
        """Why no node at all would do, as long as the pod's volumes are as they are."""
        return self._volumes.judged(pod)[1]


class Model:
    """A cluster in thought."""

    def __init__(self, state: ClusterState, volumes: VolumeView) -> None:
        self._state = state
        self._volumes = volumes

    def follow(self, pod: Pod, gone: bool) -> None:
        """Have a pod where it is now."""
        self._state.unnominate(pod.key)
        if gone or not pod.node:
            self._state.remove_pod(pod.key)
        else:
            self._state.add_pod(pod)
        if not gone and not pod.node and pod.nominated:
            self._state.nominate(pod, pod.nominated)

    def place(self, pod: Pod) -> str:
        """Put a pod where it fits and say where; "" if it fits nowhere."""
        wish, _ = self._volumes.judged(replace(pod, node="", nominated=""))
        found = choose(wish, self._state)
        if not isinstance(found, Chosen):
            return ""
        self._state.add_pod(pod, found.node)
        return found.node

    def place_first(self, pod: Pod, but: frozenset[str]) -> str:
        """Put a pod on the first node by name that it fits on, but on none of these."""
        wish, _ = self._volumes.judged(replace(pod, node="", nominated=""))
        rows = feasible(wish, self._state).rows()
        names = sorted(name for name in self._state.table.names_of(rows) if name not in but)
        if not names:
            return ""
        self.put(pod, names[0])
        return names[0]

    def fits_on(self, pod: Pod, name: str) -> bool:
        """Whether a pod fits on this node."""
        wish, _ = self._volumes.judged(replace(pod, node="", nominated=""))
        wish = replace(wish, placement=pinned(wish.placement, name))
        return bool(feasible(wish, self._state).rows().shape[0])

    def put(self, pod: Pod, name: str) -> None:
        self._state.add_pod(pod, name)

    def reshape(self, node: Node, daemons: Iterable[Pod], pods: Iterable[Pod]) -> None:
        """Let a node be another one of the same name, with these daemons and pods on it."""
        for pod in self._state.pods_on(node.name):
            self._state.remove_pod(pod.key)
        self.add_node(node, daemons)
        for pod in pods:
            self.put(pod, node.name)

    def pods_on(self, name: str) -> tuple[Pod, ...]:
        return self._state.pods_on(name)

    def add_node(self, node: Node, daemons: Iterable[Pod] = ()) -> None:
        self._state.set_node(node)
        for daemon in daemons:
            self._state.add_pod(daemon, node.name)

    def remove_node(self, name: str) -> None:
        for pod in self._state.pods_on(name):
            self._state.remove_pod(pod.key)
        self._state.remove_node(name)

    def could_leave(self, node: Node, movers: Iterable[Pod]) -> bool:
        """Whether pods would find another place if their node were closed; nothing is changed."""
        pods = sorted(movers, key=lambda each: (-each.priority, each.key))
        self._state.set_node(replace(node, unschedulable=True))
        for pod in pods:
            self._state.remove_pod(pod.key)
        found = all(self.place(pod) for pod in pods)
        for pod in pods:
            self._state.add_pod(pod, node.name)
        self._state.set_node(node)
        return found
