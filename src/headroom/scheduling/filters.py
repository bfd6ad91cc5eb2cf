"""Find the nodes where a pod could run now: kube-scheduler's filters over all nodes, with reasons.

`feasible` is for choosing a node. `feasible_on` checks one node as if some of its pods were gone:
would an owner fit into its guardian's room? Both count pods nominated to a node by their priority,
as kube-scheduler does. `cycle` has the rules; `choose` and `preempt` use this module.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headroom.core.objects import Key, Pod
from headroom.scheduling.cycle import AS_IT_IS, Cycle, NodeVerdict, SimulatedChanges, Stage
from headroom.scheduling.nodes import Bools, Ints
from headroom.scheduling.reasons import (
    NODE_AFFINITY_CONFLICT,
    NODE_AFFINITY_NAMES,
    message,
)
from headroom.scheduling.state import ClusterState


@dataclass
class Feasibility:
    """Which nodes pass (`passed`, by row), and the data to explain the others.

    `considered` are the checked nodes; the others were excluded because the pod names its nodes. It
    is valid until the state changes.
    """

    turn: Cycle
    considered: Bools
    passed: Bools
    stages: list[Stage]
    refused: str = ""

    @cached_property
    def overruled(self) -> dict[int, NodeVerdict]:
        """The nodes refused because of the pods nominated to them."""
        found = {}
        for row, rivals in _contested(self.turn, self.considered):
            verdict = self.turn.verdict(row, AS_IT_IS.with_also(rivals))
            if verdict is not None:
                found[row] = verdict
        return found

    def rows(self) -> Ints:
        """The rows that pass, in kube-scheduler's order of nodes."""
        order = self.turn.state.table.order()
        return order[self.passed[order]]

    def nodes(self) -> list[str]:
        """The names of the nodes that pass, in kube-scheduler's order."""
        return self.turn.state.table.names_of(self.rows())

    def verdict(self, row: int) -> NodeVerdict | None:
        """Why a considered node is refused, or None if it passes."""
        if row in self.overruled:
            return self.overruled[row]
        for stage in self.stages:
            if stage.failing[row]:
                reasons = tuple(reason for reason, failing in stage.reasons() if failing[row])
                return NodeVerdict(reasons, bool(stage.hopeless()[row]))
        return None

    def reasons(self) -> dict[str, int]:
        """Count the nodes refused for each reason; a node can lack several resources at once."""
        found: dict[str, int] = {}
        alive = self.considered.copy()
        for row, verdict in self.overruled.items():
            alive[row] = False
            for reason in verdict.reasons:
                found[reason] = found.get(reason, 0) + 1
        for stage in self.stages:
            failing = alive & stage.failing
            if not failing.any():
                continue
            for reason, mask in stage.reasons():
                count = int(np.count_nonzero(failing & mask))
                if count:
                    found[reason] = found.get(reason, 0) + count
            alive &= ~stage.failing
        unseen = self.turn.state.table.count - int(np.count_nonzero(self.considered))
        if unseen and not self.refused:
            found[NODE_AFFINITY_NAMES] = unseen
        return found

    def curable(self) -> Ints:
        """The rows, in order, that are refused for reasons that preemption might remove."""
        curable = self.considered & ~self.passed
        alive = self.considered.copy()
        for stage in self.stages:
            curable &= ~(alive & stage.failing & stage.hopeless())
            alive &= ~stage.failing
        for row, verdict in self.overruled.items():
            curable[row] = not verdict.hopeless
        order = self.turn.state.table.order()
        return order[curable[order]]

    def message(self, after: str = "") -> str:
        """Why no node passes, in kube-scheduler's words; `after` is the message of preemption."""
        count = self.turn.state.table.count
        return message(count, self.reasons(), before=self.refused, after=after)


def feasible(pod: Pod, state: ClusterState) -> Feasibility:
    """Find the nodes on which a pod could run now."""
    turn = Cycle(pod, state)
    table = state.table
    if turn.names is not None and not turn.names:
        return refused(pod, state, NODE_AFFINITY_CONFLICT)
    considered = table.present if turn.names is None else _rows_named(turn.names, state)
    stages = turn.stages()
    passed = considered.copy()
    for stage in stages:
        passed &= ~stage.failing
    for row, rivals in _contested(turn, passed):
        passed[row] = turn.verdict(row, AS_IT_IS.with_also(rivals), passed=True) is None
    return Feasibility(turn, considered, passed, stages)


def refused(pod: Pod, state: ClusterState, reason: str) -> Feasibility:
    """Refuse a pod as a whole, for a reason that does not depend on nodes."""
    nowhere = np.zeros(state.table.capacity, np.bool_)
    return Feasibility(Cycle(pod, state), nowhere, nowhere, [], reason)


def feasible_on(
    pod: Pod, node_name: str, state: ClusterState, without: Collection[Key] = ()
) -> str | None:
    """Why a pod would not fit on a node without the pods `without`, or None if it would.

    `without` may name pods bound to the node and pods nominated to it.
    """
    row = state.table.row_of.get(node_name)
    if row is None or state.table.nodes[row] is None:
        return f"node {node_name} is not known"
    turn = Cycle(pod, state)
    supposed = SimulatedChanges()
    for one in state.pods_on_row(row):
        if one.key in without:
            supposed.remove(one)
    nominated = [one for one in state.nominated_on(node_name) if one.key not in without]
    verdict = verdict_with_nominated(turn, row, nominated, supposed)
    return None if verdict is None else ", ".join(verdict.reasons)


def verdict_with_nominated(
    turn: Cycle, row: int, nominated: Collection[Pod], supposed: SimulatedChanges = AS_IT_IS
) -> NodeVerdict | None:
    """Check one node with the nominated pods that count, and then without them.

    The room of a nominated pod must not be taken, and its presence must not be relied on yet.
    """
    rivals = rivals_of(turn.pod, nominated) if nominated else ()
    if rivals:
        verdict = turn.verdict(row, supposed.with_also(rivals))
        if verdict is not None:
            return verdict
    return turn.verdict(row, supposed)


def rivals_of(pod: Pod, nominated: Iterable[Pod]) -> list[Pod]:
    """The nominated pods that have precedence over a pod: of its own priority or above."""
    return [one for one in nominated if one.priority >= pod.priority and one.key != pod.key]


def _contested(turn: Cycle, among: Bools) -> Iterator[tuple[int, list[Pod]]]:
    """The nodes among these with nominated pods that have precedence over this one."""
    for row, nominated in turn.state.nominated_rows():
        if among[row]:
            rivals = rivals_of(turn.pod, nominated)
            if rivals:
                yield row, rivals


def _rows_named(names: frozenset[str], state: ClusterState) -> Bools:
    named = np.zeros(state.table.capacity, np.bool_)
    rows = [state.table.row_of[name] for name in sorted(names) if name in state.table.row_of]
    named[rows] = True
    return named & state.table.present
