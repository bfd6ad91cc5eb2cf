"""Pinning a pod to one node by required node affinity on its name, as DaemonSets do; or to a pod.

Never by `spec.nodeName`: the scheduler still judges, and a node that cannot take the pod leaves it
pending instead of rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.core.objects import LabelSelector, PodTerm

Json = dict[str, Any]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pinned_to(node: str, affinity: Mapping[str, Any]) -> Json:
    """Give the affinity with the node's name demanded by every alternative it allows."""
    node_affinity = _mapping(affinity.get("nodeAffinity"))
    required = node_affinity.get(_REQUIRED)
    if isinstance(required, Mapping):
        terms = _with_name(node, required.get("nodeSelectorTerms") or [])
    else:
        terms = [{"matchFields": [_named(node)]}]
    pinned = {**node_affinity, _REQUIRED: {"nodeSelectorTerms": terms}}
    return {**affinity, "nodeAffinity": pinned}


def next_to(term: PodTerm, affinity: Mapping[str, Any]) -> Json:
    """Give the affinity with this demanded as well: to be where a pod of a label's value is."""
    selector = term.selector or LabelSelector()
    demanded = {
        "labelSelector": {
            "matchExpressions": [
                {"key": each.key, "operator": each.operator, "values": [*each.values]}
                for each in selector.requirements
            ]
        },
        "namespaces": [*term.namespaces],
        "topologyKey": term.topology_key,
    }
    pod_affinity = _mapping(affinity.get("podAffinity"))
    required = [*(pod_affinity.get(_REQUIRED) or []), demanded]
    return {**affinity, "podAffinity": {**pod_affinity, _REQUIRED: required}}


def _with_name(node: str, terms: list[Any]) -> list[Any]:
    """AND the name to each term; an empty term matches no node, and must not begin to."""
    return [
        {**term, "matchFields": [*(term.get("matchFields") or []), _named(node)]}
        if isinstance(term, Mapping) and (term.get("matchExpressions") or term.get("matchFields"))
        else term
        for term in terms
    ]


def _named(node: str) -> Json:
    return {"key": "metadata.name", "operator": "In", "values": [node]}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
