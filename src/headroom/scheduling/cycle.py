"""One scheduling cycle of one pod: calculated once, then checked for all nodes or for one.

kube-scheduler calls these PreFilter and Filter. The checks run in the order of its default plugins,
and the first one that fails refuses a node, so that the reasons are the same. `filters` checks all
nodes at once; `verdict` checks one node as if some of its pods were gone or others added, for
nominations and preemption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from headroom.core.demand.attach_limits import Attachment, are_too_many, attachments
from headroom.core.objects import HostPort, Key, Pod, TopologySpread
from headroom.core.resources import PODS
from headroom.core.selection import node_matches
from headroom.scheduling.node_filters import (
    CORDONED,
    TAINTED,
    all_bindable,
    all_in_zone,
    all_objections,
    all_reached,
    all_selected,
    bindable,
    in_zone,
    named_nodes,
    objections,
    reached,
)
from headroom.scheduling.nodes import Bools
from headroom.scheduling.pod_affinity import Neighbours, neighbours
from headroom.scheduling.reasons import (
    AFFINITY,
    ANTI_AFFINITY,
    EXISTING_ANTI_AFFINITY,
    HOPELESS,
    NODE_AFFINITY,
    NODE_NAME,
    PORTS,
    SPREAD,
    SPREAD_LABEL,
    TAINT,
    UNSCHEDULABLE,
    VOLUME_COUNT,
    VOLUME_IN_USE,
    VOLUME_REACH,
    VOLUME_UNBINDABLE,
    VOLUME_ZONE,
    insufficient,
)
from headroom.scheduling.shape_shortages import ResourceShortage
from headroom.scheduling.spread import Spread, hard_spread
from headroom.scheduling.state import ClusterState

ANY_IP = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """Why a node is refused; `hopeless` if making room there cannot help."""

    reasons: tuple[str, ...]
    hopeless: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """One check of all nodes: which fail it by row, the reason, and for which it is hopeless.

    The last two are functions, because only explanations and preemption need them. They describe
    the cluster at the time of the call.
    """

    failing: Bools
    reasons: Callable[[], tuple[tuple[str, Bools], ...]]
    hopeless: Callable[[], Bools]


@dataclass(slots=True)
class SimulatedChanges:
    """Pods added to a node and removed from it in a simulation, with the room that this frees."""

    added: list[Pod] = field(default_factory=list)
    removed: dict[Key, Pod] = field(default_factory=dict)
    freed: dict[str, int] = field(default_factory=dict)

    def add(self, pod: Pod) -> None:
        self.added.append(pod)
        self._free(pod, -1)

    def remove(self, pod: Pod) -> None:
        self.removed[pod.key] = pod
        self._free(pod, 1)

    def restore(self, pod: Pod) -> None:
        """Undo the removal of a pod."""
        del self.removed[pod.key]
        self._free(pod, -1)

    def with_also(self, pods: Iterable[Pod]) -> SimulatedChanges:
        """A copy with more pods added."""
        copy = SimulatedChanges(list(self.added), self.removed, dict(self.freed))
        for pod in pods:
            copy.add(pod)
        return copy

    def _free(self, pod: Pod, sign: int) -> None:
        self.freed[PODS] = self.freed.get(PODS, 0) + sign
        for resource, amount in pod.requests.items():
            self.freed[resource] = self.freed.get(resource, 0) + sign * amount


AS_IT_IS = SimulatedChanges()


@dataclass
class Cycle:
    """The pod, the cluster, and data derived from both, calculated on demand."""

    pod: Pod
    state: ClusterState
    wanted: tuple[tuple[str, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        amounts = sorted(self.pod.requests.items())
        self.wanted = ((PODS, 1), *((name, amount) for name, amount in amounts if amount > 0))

    @cached_property
    def _attached(self) -> frozenset[Attachment]:
        """The pod's volumes, if any node reports how many it can attach."""
        storage = self.state.storage
        return attachments(self.pod, storage) if storage.drivers else frozenset()

    @cached_property
    def names(self) -> frozenset[str] | None:
        return named_nodes(self.pod.placement)

    @cached_property
    def selected(self) -> Bools:
        return all_selected(self.pod.placement, self.names, self.state.table)

    @cached_property
    def spread(self) -> Spread | None:
        constrained = self.pod.placement.spread
        return hard_spread(self.pod, self.state, self.takes_part) if constrained else None

    @cached_property
    def neighbours(self) -> Neighbours | None:
        """The other pods that matter to this one; None if no term is about any of them."""
        if not (self.pod.placement.has_pod_terms or self.state.terms.repelling):
            return None
        found = neighbours(self.pod, self.state)
        return found if found.matter else None

    def takes_part(self, constraint: TopologySpread) -> Bools:
        """By row: which nodes a spread constraint counts, by its node inclusion policies."""
        table = self.state.table
        taking = table.present
        if constraint.node_affinity_policy == "Honor":
            taking = taking & self.selected
        if constraint.node_taints_policy == "Honor":
            taking = taking & (all_objections(self.pod.placement, table) & TAINTED == 0)
        return taking

    def stages(self) -> list[Stage]:
        """Check all nodes, in the order in which kube-scheduler does."""
        stages = self._node_stages()
        if self.pod.placement.ports:
            stages.append(_stage(PORTS, self._port_conflicts()))
        stages.append(self._fit_stage())
        stages.extend(self._volume_stages())
        if self.spread is not None:
            lacking, full = self.spread.refusals()
            reasons = ((SPREAD_LABEL, lacking), (SPREAD, full))
            stages.append(Stage(lacking | full, lambda: reasons, lambda: lacking))
        if self.neighbours is not None:
            lonely, unwanted, repelled = self.neighbours.refusals()
            stages.append(_stage(AFFINITY, lonely))
            stages.append(_stage(ANTI_AFFINITY, unwanted))
            stages.append(_stage(EXISTING_ANTI_AFFINITY, repelled))
        return stages

    def verdict(
        self, row: int, supposed: SimulatedChanges = AS_IT_IS, *, passed: bool = False
    ) -> NodeVerdict | None:
        """Why one node is refused under a supposition about its pods, or None.

        With `passed`, the node is known to have no objections of its own.
        """
        reason = None if passed else self._node_refusal(row)
        if reason is None and self._port_conflict(row, supposed):
            reason = PORTS
        if reason is not None:
            return NodeVerdict((reason,), reason in HOPELESS)
        misfit = self._misfit(row, supposed)
        if misfit is not None:
            return misfit
        unmounted = self._volume_refusals(row, supposed)
        if unmounted:
            return NodeVerdict(unmounted, unmounted[0] in HOPELESS)
        if self.spread is not None:
            reason = self.spread.refusal(row, supposed.added, supposed.removed.values())
        if reason is None and self.neighbours is not None:
            reason = self.neighbours.refusal(row, supposed.added, supposed.removed.values())
        return None if reason is None else NodeVerdict((reason,), reason in HOPELESS)

    def _node_stages(self) -> list[Stage]:
        table = self.state.table
        stages: list[Stage] = []
        found = all_objections(self.pod.placement, table)
        objecting = bool(found.any())
        if objecting:
            stages.append(_stage(UNSCHEDULABLE, found & CORDONED > 0))
        if self.pod.node:
            elsewhere = np.ones(table.capacity, np.bool_)
            elsewhere[table.row_of.get(self.pod.node, slice(0))] = False
            stages.append(_stage(NODE_NAME, elsewhere))
        if objecting:
            stages.append(_stage(TAINT, found & TAINTED > 0))
        if self.selected is not table.present:
            stages.append(_stage(NODE_AFFINITY, ~self.selected))
        return stages

    def _node_refusal(self, row: int) -> str | None:
        node = self.state.table.nodes[row]
        if node is None:
            return NODE_NAME
        found = objections(self.pod.placement, node)
        if found & CORDONED:
            return UNSCHEDULABLE
        if self.pod.node and self.pod.node != node.name:
            return NODE_NAME
        if found & TAINTED:
            return TAINT
        return None if node_matches(self.pod.placement, node) else NODE_AFFINITY

    def _volume_stages(self) -> list[Stage]:
        table = self.state.table
        stages: list[Stage] = []
        if self._volume_in_use(AS_IT_IS):
            stages.append(_stage(VOLUME_IN_USE, np.ones(table.capacity, np.bool_)))
        if self._attached:
            stages.append(_stage(VOLUME_COUNT, self._without_attachments()))
        if self.pod.reach or self.pod.late:
            far, unbindable = ~all_reached(self.pod, table), ~all_bindable(self.pod, table)
            failing = far | unbindable
            reasons = ((VOLUME_REACH, far), (VOLUME_UNBINDABLE, unbindable))
            stages.append(Stage(failing, lambda: reasons, lambda: failing))
        if self.pod.zones:
            stages.append(_stage(VOLUME_ZONE, ~all_in_zone(self.pod, table)))
        return stages

    def _volume_refusals(self, row: int, supposed: SimulatedChanges) -> tuple[str, ...]:
        pod, node = self.pod, self.state.table.nodes[row]
        if self._volume_in_use(supposed):
            return (VOLUME_IN_USE,)
        if node is None:
            return ()
        if self._attached and self._is_short_of_attachments(row, supposed):
            return (VOLUME_COUNT,)
        far = (VOLUME_REACH,) if pod.reach and not reached(pod, node) else ()
        unbindable = (VOLUME_UNBINDABLE,) if pod.late and not bindable(pod, node) else ()
        if far or unbindable:
            return far + unbindable
        return (VOLUME_ZONE,) if pod.zones and not in_zone(pod, node) else ()

    def _without_attachments(self) -> Bools:
        table = self.state.table
        short = np.zeros(table.capacity, np.bool_)
        for name in self.state.storage.drivers:
            row = table.row_of.get(name)
            if row is not None:
                short[row] = self._is_short_of_attachments(row, AS_IT_IS)
        return short

    def _is_short_of_attachments(self, row: int, supposed: SimulatedChanges) -> bool:
        """Whether drivers cannot attach the pod's volumes there, besides those of others."""
        state, node = self.state, self.state.table.nodes[row]
        if node is None:
            return False
        coming = state.expected_on_row(row, self.pod.key)
        there = (*state.pods_on_row(row), *coming, *supposed.added)
        others = [pod for pod in there if pod.key not in supposed.removed]
        return are_too_many(self._attached, others, node.name, state.storage)

    def _volume_in_use(self, supposed: SimulatedChanges) -> bool:
        """Whether another pod, on any node, uses a volume that only one pod may use."""
        pod = self.pod
        for name in pod.sole:
            users = self.state.claim_users(Key(pod.key.namespace, name))
            if any(user != pod.key and user not in supposed.removed for user in users):
                return True
            for other in supposed.added:
                if name in other.claims and other.key.namespace == pod.key.namespace:
                    return True
        return False

    def _port_conflicts(self) -> Bools:
        taken = np.zeros(self.state.table.capacity, np.bool_)
        for port in self.pod.placement.ports:
            for row, ip in self.state.port_users(port, self.pod.key):
                taken[row] |= _same_address(port.ip, ip)
        return taken

    def _port_conflict(self, row: int, supposed: SimulatedChanges) -> bool:
        wanted = self.pod.placement.ports
        if not wanted:
            return False
        pods = self.state.pods_on_row(row)
        there = [pod for pod in pods if pod.key not in supposed.removed]
        coming = self.state.expected_on_row(row, self.pod.key)
        return any(
            _conflict(port, used)
            for pod in [*there, *coming, *supposed.added]
            for used in pod.placement.ports
            for port in wanted
        )

    def _fit_stage(self) -> Stage:
        table, lacking = self.state.table, ResourceShortage(self.wanted)
        known = table.weights_of(lacking)
        failing = lacking.anything(table) if known is None else known > 0
        return Stage(failing, partial(lacking.each, table), self._oversized)

    def _oversized(self) -> Bools:
        """By row: where the pod requests more than the whole node has."""
        table = self.state.table
        oversized = np.zeros(table.capacity, np.bool_)
        for resource, amount in self.wanted[1:]:
            oversized |= table.allocatable_of(resource) < amount
        return oversized

    def _misfit(self, row: int, supposed: SimulatedChanges) -> NodeVerdict | None:
        table = self.state.table
        lacking: list[str] = []
        hopeless = False
        for resource, amount in self.wanted:
            if table.exact_free(resource, row) + supposed.freed.get(resource, 0) < amount:
                lacking.append(insufficient(resource))
                hopeless |= resource != PODS and int(table.allocatable_of(resource)[row]) < amount
        return NodeVerdict(tuple(lacking), hopeless) if lacking else None


def _stage(reason: str, failing: Bools) -> Stage:
    def hopeless() -> Bools:
        return failing if reason in HOPELESS else np.zeros_like(failing)

    return Stage(failing, lambda: ((reason, failing),), hopeless)


def _conflict(wanted: HostPort, used: HostPort) -> bool:
    return (
        wanted.port == used.port
        and wanted.protocol == used.protocol
        and _same_address(wanted.ip, used.ip)
    )


def _same_address(one: str, other: str) -> bool:
    """Whether two host IPs overlap; an unset one means all."""
    return one == other or one in ("", ANY_IP) or other in ("", ANY_IP)
