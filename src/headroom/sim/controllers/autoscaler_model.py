"""A model of the cluster for simulated placements: where pods would go, and what machines change.

One model follows the cluster and serves every scan. The assumptions of a scan (future machines,
pods on them) are recorded and undone at the end of the scan. So a scan costs as much as its
assumptions, whatever the size of the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from headroom.core.objects import Key, Node, Pod
from headroom.core.selection import pinned
from headroom.scheduling.choose import ChosenNode
from headroom.scheduling.filters import feasible
from headroom.scheduling.nodes import zone_of
from headroom.scheduling.pod_shapes import KnownShapes
from headroom.scheduling.state import ClusterState
from headroom.sim.scheduler.volumes import VolumeView
from headroom.wire.objects.podsagain import pod_with


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a pod was: bound to a node, nominated to one, or neither ("")."""

    bound: Pod | None
    node: str
    nominated: Pod | None
    to: str


@dataclass(slots=True)
class _Before:
    """The state before the current assumptions, of everything that they changed."""

    pods: dict[Key, _Place] = field(default_factory=dict)
    nodes: dict[str, Node | None] = field(default_factory=dict)


class Model:
    """The cluster with the current assumptions."""

    def __init__(self, state: ClusterState, volumes: VolumeView) -> None:
        self.state = state
        self._shapes = KnownShapes(state)
        self._volumes = volumes
        self._before: _Before | None = None
        self._out_of_order = False

    def has(self, key: Key) -> bool:
        """Whether a pod is bound or nominated in the model."""
        return self.state.pod(key) is not None or self.state.nomination(key)[0] is not None

    def follow(self, pod: Pod, gone: bool) -> None:
        """Set the current state of a pod."""
        self.state.unnominate(pod.key)
        if gone or not pod.node:
            self.state.remove_pod(pod.key)
        else:
            self.state.add_pod(pod)
        if not gone and not pod.node and pod.nominated:
            self.state.nominate(pod, pod.nominated)

    def follow_node(self, node: Node, gone: bool) -> None:
        """Set the current state of a node."""
        before = self.state.node(node.name)
        moved = before is not None and zone_of(before) != zone_of(node)
        self._out_of_order = self._out_of_order or gone or moved
        if gone:
            self.state.remove_node(node.name)
        else:
            self.state.set_node(node)

    def put_in_order(self, nodes: Iterable[str]) -> None:
        """Sort the nodes as if they were added in this order, which decides between equal nodes."""
        if self._out_of_order:
            self._out_of_order = False
            self.state.table.reorder(nodes)

    @contextmanager
    def supposing(self) -> Iterator[None]:
        """Undo at the end of the block what was added and placed in it."""
        self._before = _Before()
        try:
            yield
        finally:
            before, self._before = self._before, None
            self._restore(before)

    def place(self, pod: Pod) -> str:
        """Place a pod where it fits and return the node; "" if it fits nowhere."""
        wish, _ = self._volumes.judged(_unplaced(pod))
        found = self._shapes.pick(wish)
        if not isinstance(found, ChosenNode):
            return ""
        self.put(pod, found.node)
        return found.node

    def has_pod_rules(self) -> bool:
        """Whether pods here have rules about other pods, so that more than requests matters."""
        return bool(self.state.terms.repelling or self.state.terms.attracting)

    def place_first(self, pod: Pod, but: frozenset[str]) -> str:
        """Place a pod on the first node by name that it fits on, except these."""
        wish, _ = self._volumes.judged(_unplaced(pod))
        rows = feasible(wish, self.state).rows()
        names = sorted(name for name in self.state.table.names_of(rows) if name not in but)
        if not names:
            return ""
        self.put(pod, names[0])
        return names[0]

    def fits_on(self, pod: Pod, name: str) -> bool:
        """Whether a pod fits on this node."""
        wish, _ = self._volumes.judged(_unplaced(pod))
        wish = replace(wish, placement=pinned(wish.placement, name))
        return bool(feasible(wish, self.state).rows().shape[0])

    def put(self, pod: Pod, name: str) -> None:
        self._note_pod(pod.key)
        self.state.add_pod(pod, name)

    def reshape(self, node: Node, daemons: Iterable[Pod], pods: Iterable[Pod]) -> None:
        """Replace a node by another of the same name, with these DaemonSet pods and pods."""
        self._take_all(node.name)
        self.add_node(node, daemons)
        for pod in pods:
            self.put(pod, node.name)

    def pods_on(self, name: str) -> tuple[Pod, ...]:
        return self.state.pods_on(name)

    def add_node(self, node: Node, daemons: Iterable[Pod] = ()) -> None:
        self._note_node(node.name)
        self.state.set_node(node)
        for daemon in daemons:
            self.put(daemon, node.name)

    def remove_node(self, name: str) -> None:
        self._take_all(name)
        self._note_node(name)
        self.state.remove_node(name)

    def could_leave(self, node: Node, movers: Iterable[Pod]) -> bool:
        """Whether pods would fit elsewhere if their node were closed; nothing is changed."""
        pods = sorted(movers, key=lambda each: (-each.priority, each.key))
        self.state.set_node(replace(node, unschedulable=True))
        for pod in pods:
            self.state.remove_pod(pod.key)
        found = all(self.place(pod) for pod in pods)
        for pod in pods:
            self.state.add_pod(pod, node.name)
        self.state.set_node(node)
        return found

    def _take_all(self, name: str) -> None:
        for pod in self.state.pods_on(name):
            self._note_pod(pod.key)
            self.state.remove_pod(pod.key)

    def _note_pod(self, key: Key) -> None:
        if self._before is not None and key not in self._before.pods:
            bound, node = self.state.binding(key)
            nominated, to = self.state.nomination(key)
            self._before.pods[key] = _Place(bound, node, nominated, to)

    def _note_node(self, name: str) -> None:
        if self._before is not None and name not in self._before.nodes:
            self._before.nodes[name] = self.state.node(name)

    def _restore(self, before: _Before) -> None:
        for key, place in before.pods.items():
            self.state.remove_pod(key)
            if place.bound is not None:
                self.state.add_pod(place.bound, place.node)
            if place.nominated is not None:
                self.state.nominate(place.nominated, place.to)
        for name, node in before.nodes.items():
            if node is None:
                self.state.remove_node(name)
            else:
                self.state.set_node(node)
                self._out_of_order = True


def _unplaced(pod: Pod) -> Pod:
    """The pod without its node and its nomination."""
    return pod_with(pod, node="", nominated="") if pod.node or pod.nominated else pod
