"""Score the feasible nodes: kube-scheduler's default scores, integer for integer.

Each plugin gives 0 to 100, times its weight. ImageLocality is left out because images are not
modelled: if no node has reported the image, it is zero for all nodes, and only then are our totals
equal to kube-scheduler's. Spreading and affinity have their own modules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headroom.core.objects import Node, Taint
from headroom.core.resources import CPU, MEMORY
from headroom.core.selection import preference, tolerated
from headroom.scheduling.cycle import Cycle
from headroom.scheduling.nodes import Ints
from headroom.scheduling.score_pod_affinity import neighbour_scores
from headroom.scheduling.score_room import MAX_SCORE, Balanced, LeastAllocated
from headroom.scheduling.score_spread import spread_scores
from headroom.scheduling.state import nonzero_of

TAINTS = "TaintToleration"
NODE_AFFINITY = "NodeAffinity"
FIT = "NodeResourcesFit"
SPREAD = "PodTopologySpread"
NEIGHBOURS = "InterPodAffinity"
BALANCED = "NodeResourcesBalancedAllocation"
WEIGHTS = {TAINTS: 3, NODE_AFFINITY: 2, FIT: 1, SPREAD: 2, NEIGHBOURS: 2, BALANCED: 1}

BALANCED_BY_DIFFERENCE = (1, 36)
"""Since this version BalancedAllocation scores the change that a pod causes, not the result."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Weighted scores of the given rows: their sum, and the part of each plugin."""

    rows: Ints
    total: Ints
    parts: dict[str, Ints]


def score(turn: Cycle, rows: Ints, version: tuple[int, int] = BALANCED_BY_DIFFERENCE) -> Scores:
    """Score rows that have passed the filters, for kube-scheduler of the given version."""
    found = {
        TAINTS: taint_scores(turn, rows),
        NODE_AFFINITY: node_affinity_scores(turn, rows),
        FIT: least_allocated(turn, rows),
        SPREAD: spread_scores(turn, rows),
        NEIGHBOURS: neighbour_scores(turn, rows),
        BALANCED: balanced(turn, rows, by_difference=version >= BALANCED_BY_DIFFERENCE),
    }
    parts = {plugin: WEIGHTS[plugin] * part for plugin, part in found.items() if part is not None}
    total = np.zeros(rows.shape[0], np.int64)
    for part in parts.values():
        total += part
    return Scores(rows, total, parts)


def taint_scores(turn: Cycle, rows: Ints) -> Ints:
    """Prefer nodes with fewer PreferNoSchedule taints that the pod does not tolerate."""
    tolerations = tuple(
        one for one in turn.pod.placement.tolerations if one.effect in ("", "PreferNoSchedule")
    )

    def unwelcome(taint: Taint) -> bool:
        return taint.effect == "PreferNoSchedule" and not tolerated(taint, tolerations)

    def count(node: Node) -> int:
        return sum(unwelcome(taint) for taint in node.taints)

    counts = turn.state.table.ask(("unwelcome", tolerations), count)[rows]
    most = int(counts.max(initial=0))
    if not most:
        return np.full(rows.shape[0], MAX_SCORE, np.int64)
    return MAX_SCORE - MAX_SCORE * counts // most


def node_affinity_scores(turn: Cycle, rows: Ints) -> Ints | None:
    """Prefer nodes by the weights of the preferred node terms that match."""
    affinity = turn.pod.placement.node_affinity
    if not affinity.preferred:
        return None

    def weigh(node: Node) -> int:
        return preference(affinity, node)

    weights = turn.state.table.ask(("preferred", affinity.preferred), weigh)[rows]
    most = int(weights.max(initial=0))
    return MAX_SCORE * weights // most if most else weights.copy()


def least_allocated(turn: Cycle, rows: Ints) -> Ints:
    """Prefer nodes with the larger free share of CPU and memory."""
    return turn.state.table.weigh(LeastAllocated(nonzero_of(turn.pod)), rows)


def balanced(turn: Cycle, rows: Ints, *, by_difference: bool) -> Ints | None:
    """Prefer nodes whose CPU and memory are used evenly; None for a pod that requests neither."""
    asked = (turn.pod.requests[CPU], turn.pod.requests[MEMORY])
    if asked == (0, 0):
        return None
    return turn.state.table.weigh(Balanced(asked, by_difference), rows)
