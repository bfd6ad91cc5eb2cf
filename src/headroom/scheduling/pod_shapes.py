"""Place pods of one shape with cached results, as kube-scheduler does since 1.35 (batching).

For a pod without rules about other pods, the filters and scores of a node depend only on the node,
its sums, and the shape of the pod. `PodShape` is this shape as one number for each node: its score,
or REFUSED. `NodeTable.weights_of` caches the numbers and recalculates those of changed nodes.
`KnownShapes.pick` finds the same node as `choose`, and `KnownShapes.refused` returns a cached
refusal while no node has changed. All other pods use `choose`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headroom.core.objects import Placement, Pod
from headroom.core.resources import CPU, MEMORY, PODS
from headroom.core.selection import node_matches
from headroom.scheduling.choose import (
    ChosenNode,
    TieBreak,
    Unschedulable,
    choose,
    first_by_name,
    names_by_order,
    sampled,
)
from headroom.scheduling.cycle import Cycle
from headroom.scheduling.node_filters import all_objections, all_selected, objections
from headroom.scheduling.nodes import Bools, Ints, NodeTable
from headroom.scheduling.score_room import Balanced, LeastAllocated
from headroom.scheduling.score_spread import spread_scores
from headroom.scheduling.scores import SPREAD, WEIGHTS
from headroom.scheduling.shape_shortages import ResourceShortage
from headroom.scheduling.state import CONTROLLER_KINDS, ClusterState, nonzero_of

REFUSED = -1
MAX_SHAPES = 256
"""How many shapes are cached by the identity of their parts; then the cache is cleared."""


@dataclass(frozen=True, slots=True, eq=False)
class PodShape:
    """The requests and node constraints of a pod; `KnownShapes` creates each once."""

    placement: Placement
    lacking: ResourceShortage
    least_allocated: LeastAllocated
    balanced: Balanced | None

    def of_rows(self, table: NodeTable, rows: Ints) -> Ints:
        total = self.least_allocated.of_rows(table, rows)
        if self.balanced is not None:
            total = total + self.balanced.of_rows(table, rows)
        return np.where(self._passing(table)[rows], total, REFUSED)

    def of_row(self, table: NodeTable, row: int) -> int:
        node = table.nodes[row]
        if node is None or self.lacking.of_row(table, row):
            return REFUSED
        if objections(self.placement, node) or not node_matches(self.placement, node):
            return REFUSED
        total = self.least_allocated.of_row(table, row)
        return total if self.balanced is None else total + self.balanced.of_row(table, row)

    def _passing(self, table: NodeTable) -> Bools:
        unopposed = table.present & (all_objections(self.placement, table) == 0)
        selected = all_selected(self.placement, None, table)
        passing: Bools = unopposed & selected & ~self.lacking.anything(table)
        return passing


@dataclass(frozen=True, slots=True)
class KnownRefusal:
    """Why pods of a shape fit nowhere, with the message of preemption."""

    reasons: frozenset[str]
    message: str


class KnownShapes:
    """The shapes of pods in one cluster state."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._known: dict[tuple[object, ...], PodShape] = {}
        self._refused: dict[tuple[PodShape, bool], tuple[int, KnownRefusal]] = {}

    def of(self, pod: Pod) -> PodShape | None:
        """The shape of a pod; None if its placement depends on more than its shape."""
        return self._known_of(pod, None)

    def _known_of(self, pod: Pod, own: PodShape | None) -> PodShape | None:
        if not (own or asks_of_nodes_alone(pod)) or not self._is_left_alone(pod):
            return None
        return own or self._shape_of(pod)

    def own(self, pod: Pod) -> PodShape | None:
        """The shape of a pod; None if its own rules are about more than nodes."""
        return self._shape_of(pod) if asks_of_nodes_alone(pod) else None

    def _shape_of(self, pod: Pod) -> PodShape:
        key = (id(pod.placement), *pod.requests.items(), nonzero_of(pod))
        shape = self._known.get(key)
        if shape is None:
            if len(self._known) >= MAX_SHAPES:
                self._known.clear()
            shape = self._known[key] = _shape(pod)  # keeps the placement alive
        return shape

    def pick(
        self,
        pod: Pod,
        start: int = 0,
        tie: TieBreak = first_by_name,
        own: PodShape | None = None,
    ) -> ChosenNode | Unschedulable:
        """Choose a node as `choose` does; the scores of the chosen node may be missing.

        `own` is the own shape of the pod, if the caller knows it.
        """
        shape, table = self._known_of(pod, own), self._state.table
        numbers = None if shape is None else table.weights_of(shape)
        if numbers is None:
            return choose(pod, self._state, start, tie)
        rows, next_start = sampled(numbers >= 0, table.order(), start, table.count)
        if not rows.shape[0]:
            return choose(pod, self._state, start, tie)
        if rows.shape[0] == 1:
            name = table.name(int(rows[0]))
            return ChosenNode(name, (name,), None, next_start)
        total = numbers[rows]
        spread = self._spread(pod, rows)
        if spread is not None:
            total = total + spread
        best = np.maximum.reduce(total)  # `total.max()` takes three times as long
        tied = names_by_order(rows[total == best], table)
        return ChosenNode(tie(tied), tied, None, next_start)

    def refused(
        self, pod: Pod, start: int, own: PodShape | None = None
    ) -> tuple[KnownRefusal, int] | None:
        """Why a pod fits nowhere, and where the next search begins, if cached.

        `own` is the own shape of the pod, if the caller knows it.
        """
        shape = own or self.own(pod)
        known = None if shape is None else self._refused.get((shape, pod.preempts))
        table = self._state.table
        if known is None or known[0] != table.version or self._state.has_pods_below(pod.priority):
            return None
        if not self._is_left_alone(pod):
            return None
        return known[1], start % table.count if table.count else start

    def remember(self, pod: Pod, why: KnownRefusal) -> None:
        """Cache why a pod fits nowhere, if this is true for every pod of its shape."""
        shape = self.of(pod)
        if shape is not None and not self._state.has_pods_below(pod.priority):
            if len(self._refused) >= MAX_SHAPES:
                self._refused.clear()
            self._refused[shape, pod.preempts] = self._state.table.version, why

    def _is_left_alone(self, pod: Pod) -> bool:
        """Whether no bound or nominated pod affects the placement of this pod."""
        state = self._state
        if state.has_nominations() or state.table.unwelcoming:
            return False
        if not (state.terms.repelling or state.terms.attracting):
            return True
        terms = (*state.terms.repelling, *(held.term for held in state.terms.attracting))
        mine = state.namespace_labels(pod.rules_namespace)
        return not any(term.about(pod.rules_namespace, pod.labels, mine) for term in terms)

    def _spread(self, pod: Pod, rows: Ints) -> Ints | None:
        """The spreading score, if a constraint, a Service or a controller requires it."""
        owned = any(owner.kind in CONTROLLER_KINDS for owner in pod.owners)
        if not (owned or pod.placement.spread or self._state.has_services(pod.key.namespace)):
            return None
        found = spread_scores(Cycle(pod, self._state), rows)
        return None if found is None else WEIGHTS[SPREAD] * found


def asks_of_nodes_alone(pod: Pod) -> bool:
    """Whether the rules of a pod do not depend on other pods or on its volumes."""
    placement = pod.placement
    return not (
        pod.nominated
        or pod.node
        or pod.claims
        or pod.reach
        or pod.zones
        or pod.sole
        or pod.late
        or placement.ports
        or placement.node_affinity.required
        or placement.node_affinity.preferred
        or placement.pod_affinity.required
        or placement.pod_affinity.preferred
        or placement.pod_anti_affinity.required
        or placement.pod_anti_affinity.preferred
        or any(one.when_unsatisfiable != "ScheduleAnyway" for one in placement.spread)
    )


def shape_key(pod: Pod) -> tuple[object, ...] | None:
    """What is equal for pods that fit on the same nodes, while both exist; None if more matters."""
    if not asks_of_nodes_alone(pod):
        return None
    return (id(pod.placement), pod.priority, *pod.requests.items())


def _shape(pod: Pod) -> PodShape:
    amounts = sorted(pod.requests.items())
    wanted = ((PODS, 1), *((name, amount) for name, amount in amounts if amount > 0))
    asked = (pod.requests[CPU], pod.requests[MEMORY])
    balanced = None if asked == (0, 0) else Balanced(asked, by_difference=True)
    return PodShape(
        pod.placement, ResourceShortage(wanted), LeastAllocated(nonzero_of(pod)), balanced
    )
