"""Filters that depend on the node alone, not on its pods: cordon, taints, affinity, volumes.

`NodeTable.ask` caches the answers for all pods of one shape. Pods that name their nodes explicitly
(as DaemonSet pods do) are checked only on those nodes, as in kube-scheduler's PreFilter.
"""

from __future__ import annotations

import numpy as np

from headroom.core.demand.unbound_claims import bindings
from headroom.core.demand.volumes import ZONE_LABELS
from headroom.core.objects import Node, NodeTerm, Placement, Pod, Taint
from headroom.core.selection import NAME_FIELD, node_matches, term_matches, tolerated, untolerated
from headroom.scheduling.nodes import Bools, Ints, NodeTable

CORDONED = 1
TAINTED = 2
CORDON = Taint("node.kubernetes.io/unschedulable")
_GA_LABELS = dict(zip(ZONE_LABELS[2:], ZONE_LABELS[:2], strict=True))


def objections(placement: Placement, node: Node) -> int:
    """CORDONED and TAINTED, added up, unless the pod tolerates them."""
    found = 0
    if node.unschedulable and not tolerated(CORDON, placement.tolerations):
        found += CORDONED
    if untolerated(node.taints, placement.tolerations) is not None:
        found += TAINTED
    return found


def all_objections(placement: Placement, table: NodeTable) -> Ints:
    """The objections of every node by row."""
    question = ("objections", placement.tolerations)
    return table.ask(question, lambda node: objections(placement, node))


def all_selected(placement: Placement, names: frozenset[str] | None, table: NodeTable) -> Bools:
    """By row: which nodes the selector and the required affinity match.

    `names` are the only nodes that can match, if the affinity lists them (see `named_nodes`).
    """
    if not placement.node_selector and placement.node_affinity.required is None:
        return table.present
    if names is None:
        question = ("selected", placement.node_selector, placement.node_affinity.required)
        return table.ask(question, lambda node: node_matches(placement, node)) > 0
    selected = np.zeros(table.capacity, np.bool_)
    for name in sorted(names):
        row = table.row_of.get(name)
        node = None if row is None else table.nodes[row]
        if node is not None:
            selected[row] = node_matches(placement, node)
    return selected


def reached(pod: Pod, node: Node) -> bool:
    """Whether a node can reach all of the pod's bound volumes."""
    return all(any(term_matches(term, node) for term in terms) for terms in pod.reach)


def all_reached(pod: Pod, table: NodeTable) -> Bools:
    """By row: which nodes can reach the pod's bound volumes."""
    return table.ask(("reach", pod.reach), lambda node: reached(pod, node)) > 0


def bindable(pod: Pod, node: Node) -> bool:
    """Whether the pod's unbound claims would get their volumes on a node."""
    return bindings(pod.late, node) is not None


def all_bindable(pod: Pod, table: NodeTable) -> Bools:
    """By row: on which nodes the pod's unbound claims would get their volumes."""
    return table.ask(("late", pod.late), lambda node: bindable(pod, node)) > 0


def in_zone(pod: Pod, node: Node) -> bool:
    """Whether a node is in the zone that the labels of the pod's volumes name.

    A node without zone and region labels accepts every volume.
    """
    if not any(label in node.labels for label in ZONE_LABELS):
        return True
    for key, values in pod.zones:
        said = node.labels.get(key, node.labels.get(_GA_LABELS.get(key, key)))
        if said not in values:
            return False
    return True


def all_in_zone(pod: Pod, table: NodeTable) -> Bools:
    """By row: which nodes are in the zones of the pod's volumes."""
    return table.ask(("zones", pod.zones), lambda node: in_zone(pod, node)) > 0


def named_nodes(placement: Placement) -> frozenset[str] | None:
    """The nodes that the required affinity names, or None if some term names none.

    An empty set means that its terms contradict each other.
    """
    terms = placement.node_affinity.required
    if not terms:
        return None
    names: set[str] = set()
    for term in terms:
        listed = _names_in(term)
        if listed is None:
            return None
        names |= listed
    return frozenset(names)


def _names_in(term: NodeTerm) -> frozenset[str] | None:
    listed: frozenset[str] | None = None
    for requirement in term.fields:
        if requirement.key == NAME_FIELD and requirement.operator == "In":
            values = frozenset(requirement.values)
            listed = values if listed is None else listed & values
    return listed
