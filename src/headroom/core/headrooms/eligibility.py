"""Decide which nodes get a slot of a size per node, and which rule excludes each other node.

There are four rules: the node is Ready, it is schedulable, the slot's selector and required
affinity allow it, and the slot tolerates its taints. They are checked in this order, and the first
that fails is the answer, in words for conditions and `explain`. `wanted_slots` creates slots on the
other nodes. A slot that tolerates a taint only for some seconds is not created there, because it
would be evicted and created again without end.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from headroom.core.objects import Node, Placement, Pod, Requirement, Taint
from headroom.core.selection import node_matches, tolerated_for_a_time, untolerated

# Set and taken off together with what the first two rules ask, often some seconds later; asking
# both would make a node's grace period end at once.
_TOLD_BY_OTHER_RULES = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
)


class NodeRule(Enum):
    """The rules, and what they say of many nodes at once."""

    READY = "not Ready"
    SCHEDULABLE = "cordoned"
    LABELS = "without the right labels"
    TAINTS = "with a taint that the slot does not tolerate"
    EVICTS = "with a taint that the slot tolerates for a time only"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a node gets no slot."""

    node: str
    rule: NodeRule
    message: str

    def __str__(self) -> str:
        return f"node {self.node}: {self.message}"


def eligible(node: Node, pod: Pod) -> Exclusion | None:
    """Say which rule keeps a slot of this shape off the node, or None when it may stand there."""
    if node.deleted is not None:
        return Exclusion(node.name, NodeRule.READY, "is being deleted")
    if not node.ready:
        return Exclusion(node.name, NodeRule.READY, "is not Ready")
    if node.unschedulable:
        return Exclusion(node.name, NodeRule.SCHEDULABLE, "is cordoned (spec.unschedulable)")
    placement = pod.placement
    if not node_matches(placement, node):
        return Exclusion(node.name, NodeRule.LABELS, _mismatch(placement, node))
    taints = tuple(each for each in node.taints if each.key not in _TOLD_BY_OTHER_RULES)
    taint = untolerated(taints, placement.tolerations)
    if taint is not None:
        message = f"has the taint {_spelled(taint)}, which the slot does not tolerate"
        return Exclusion(node.name, NodeRule.TAINTS, message)
    brief = tolerated_for_a_time(taints, placement.tolerations)
    if brief is not None:
        message = f"has the taint {_spelled(brief)}, which the slot tolerates for a time only"
        return Exclusion(node.name, NodeRule.EVICTS, message)
    return None


def sorted_out(nodes: Collection[Node], pod: Pod) -> tuple[tuple[Node, ...], tuple[Exclusion, ...]]:
    """Part the nodes into eligible ones and reasons against the others, both by name."""
    inside, outside = [], []
    for node in sorted(nodes, key=lambda node: node.name):
        reason = eligible(node, pod)
        if reason is None:
            inside.append(node)
        else:
            outside.append(reason)
    return tuple(inside), tuple(outside)


def summary(exclusions: Collection[Exclusion], of: int) -> str:
    """Describe many nodes in one sentence: `3 of 8 nodes left out: 2 cordoned, 1 not Ready`."""
    if not exclusions:
        return f"all {of} nodes are eligible" if of else "there are no nodes"
    counts = dict.fromkeys(NodeRule, 0)
    for each in exclusions:
        counts[each.rule] += 1
    told = sorted((-count, rule.value) for rule, count in counts.items() if count)
    parts = ", ".join(f"{-count} {words}" for count, words in told)
    return f"{len(exclusions)} of {of} nodes left out: {parts}"


def _mismatch(placement: Placement, node: Node) -> str:
    for key, value in placement.node_selector:
        found = node.labels.get(key)
        if found is None:
            return f"has no label {key}; the slot's nodeSelector asks for {key}={value}"
        if found != value:
            return f"has {key}={found}; the slot's nodeSelector asks for {key}={value}"
    terms = placement.node_affinity.required or ()
    if len(terms) == 1:
        needs = (*terms[0].labels, *terms[0].fields)
        asked = " and ".join(map(_asked, needs)) or "nothing, which matches no node"
        return f"does not match the slot's required node affinity: {asked}"
    return f"matches none of the {len(terms)} terms of the slot's required node affinity"


def _asked(need: Requirement) -> str:
    values = f" {', '.join(need.values)}" if need.values else ""
    return f"{need.key} {need.operator}{values}"


def _spelled(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"
