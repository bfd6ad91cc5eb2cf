"""Evaluate selectors, node affinity and tolerations.

The rules of apimachinery's `labels`, component-helpers' `nodeaffinity` and the API's
`ToleratesTaint`, as predicates over the values in `objects`. They run for every pod on every node,
so they assume objects that the API server accepts; `selector_validation` verifies this once.
`scheduling` builds its filters and scores on them, `owners` its rules.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from headroom.core.objects import (
    LabelSelector,
    Node,
    NodeAffinity,
    NodeTerm,
    Placement,
    Requirement,
    Taint,
    Toleration,
)

NAME_FIELD = "metadata.name"
FORBIDDING = ("NoSchedule", "NoExecute")
_INTEGER = re.compile(r"[+-]?[0-9]+")
LONGEST_REMEMBERED = 64  # Memory is not there for tenants to fill with long annotations.
LONGEST_NUMBER = 4000


def equal_labels(labels: Iterable[tuple[str, str]]) -> tuple[Requirement, ...]:
    """The requirements that stand for matchLabels with these names and values."""
    return tuple(Requirement(key, "In", (value,)) for key, value in labels)


def matches(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Say whether all requirements hold; a selector without any matches everything."""
    return all(holds(requirement, labels) for requirement in selector.requirements)


def holds(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Say whether labels satisfy one requirement; an unknown operator is never satisfied."""
    found = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return found is not None and found in requirement.values
        case "NotIn":
            return found is None or found not in requirement.values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
        case "Gt" | "Lt":
            return found is not None and _compares(requirement, found)
        case _:
            return False


def _compares(requirement: Requirement, found: str) -> bool:
    left = integer(found)
    right = integer(requirement.values[0]) if len(requirement.values) == 1 else None
    if left is None or right is None:
        return False
    return left > right if requirement.operator == "Gt" else left < right


def integer(text: str) -> int | None:
    """Read an int64 as Go's ParseInt does; None for anything else."""
    if len(text) <= LONGEST_REMEMBERED:
        return _short_integer(text)
    return _integer(text) if len(text) <= LONGEST_NUMBER else None


def _integer(text: str) -> int | None:
    if _INTEGER.fullmatch(text) is None:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


_short_integer = lru_cache(maxsize=4096)(_integer)


def node_matches(placement: Placement, node: Node) -> bool:
    """Say whether a pod's node selector and required node affinity allow this node."""
    labels = node.labels
    for key, value in placement.node_selector:
        if labels.get(key) != value:
            return False
    required = placement.node_affinity.required
    return required is None or any(term_matches(term, node) for term in required)


def only_node(placement: Placement) -> str:
    """The name of the one node that required affinity leaves by name; empty if there is none."""
    terms = placement.node_affinity.required
    return _only_named(terms) if terms else ""


def _only_named(terms: tuple[NodeTerm, ...]) -> str:
    names = {_name_in(term) for term in terms}
    return names.pop() if len(names) == 1 else ""


def pinned(placement: Placement, node: str) -> Placement:
    """The placement with this node's name required by every term."""
    named = Requirement(NAME_FIELD, "In", (node,))
    terms = placement.node_affinity.required or (NodeTerm(),)
    required = tuple(replace(term, fields=(*term.fields, named)) for term in terms)
    return replace(placement, node_affinity=replace(placement.node_affinity, required=required))


def _name_in(term: NodeTerm) -> str:
    named = (each for each in term.fields if each.key == NAME_FIELD and each.operator == "In")
    first = next(named, None)
    return first.values[0] if first is not None and len(first.values) == 1 else ""


def term_matches(term: NodeTerm, node: Node) -> bool:
    """Say whether a node satisfies every expression; an empty term matches no node."""
    if not term.labels and not term.fields:
        return False
    for requirement in term.labels:
        if not holds(requirement, node.labels):
            return False
    return all(_field_holds(requirement, node) for requirement in term.fields)


def _field_holds(requirement: Requirement, node: Node) -> bool:
    # Kubernetes voids a field expression that does not have exactly one value.
    if len(requirement.values) != 1:
        return False
    found = node.name if requirement.key == NAME_FIELD else ""
    match requirement.operator:
        case "In":
            return found == requirement.values[0]
        case "NotIn":
            return found != requirement.values[0]
        case _:
            return False


def preference(affinity: NodeAffinity, node: Node) -> int:
    """Add up the weights of the preferred terms that match this node."""
    return sum(one.weight for one in affinity.preferred if term_matches(one.term, node))


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Say whether one toleration covers a taint.

    Lt and Gt cover nothing: their feature gate (TaintTolerationComparisonOperators) is off by
    default in 1.36, and kube-scheduler then disregards them.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "Equal" | "":
            return toleration.value == taint.value
        case "Exists":
            return True
        case _:
            return False


def tolerated(taint: Taint, tolerations: Collection[Toleration]) -> bool:
    """Say whether any of the tolerations covers a taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(
    taints: Collection[Taint],
    tolerations: Collection[Toleration],
    effects: Collection[str] = FORBIDDING,
) -> Taint | None:
    """Give the first taint with one of these effects that nothing tolerates, if there is one."""
    for taint in taints:
        if taint.effect in effects and not tolerated(taint, tolerations):
            return taint
    return None


def tolerated_for_a_time(
    taints: Collection[Taint], tolerations: Collection[Toleration]
) -> Taint | None:
    """Give the first NoExecute taint after which a pod is evicted in a while, if there is one.

    As the node lifecycle controller does, the first toleration that matches a taint counts.
    """
    for taint in taints:
        if taint.effect != "NoExecute":
            continue
        found = next((each for each in tolerations if tolerated(taint, (each,))), None)
        if found is not None and found.seconds is not None:
            return taint
    return None
