"""Pinning a pod to one node by required node affinity on its name, as DaemonSets do; or by pods.

Never by `spec.nodeName`: the scheduler still judges, and a node that cannot take the pod leaves it
pending instead of rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.core.objects import LabelSelector, PodTerm
from headroom.wire.kinds import Json

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pinned_to(node: str, affinity: Mapping[str, Any]) -> Json:
    """Give the affinity with the node's name demanded by every alternative it allows."""
    node_affinity = mapping_in(affinity.get("nodeAffinity"))
    required = node_affinity.get(_REQUIRED)
    if isinstance(required, Mapping):
        terms = _with_name(node, required.get("nodeSelectorTerms") or [])
    else:
        terms = [{"matchFields": [_named(node)]}]
    pinned = {**node_affinity, _REQUIRED: {"nodeSelectorTerms": terms}}
    return {**affinity, "nodeAffinity": pinned}


def next_to(term: PodTerm, affinity: Mapping[str, Any]) -> Json:
    """Give the affinity with this demanded as well: to be where a pod of a label's value is."""
    return _demanding("podAffinity", {**_term(term), "namespaces": [*term.namespaces]}, affinity)


def away_from(term: PodTerm, affinity: Mapping[str, Any]) -> Json:
    """Give the affinity with this demanded as well: to be where no pod of a label's value is."""
    return _demanding("podAntiAffinity", {**_term(term), "namespaceSelector": {}}, affinity)


def _term(term: PodTerm) -> Json:
    selector = term.selector or LabelSelector()
    return {
        "labelSelector": {
            "matchExpressions": [
                {"key": each.key, "operator": each.operator, "values": [*each.values]}
                for each in selector.requirements
            ]
        },
        "topologyKey": term.topology_key,
    }


def _demanding(part: str, term: Json, affinity: Mapping[str, Any]) -> Json:
    old = mapping_in(affinity.get(part))
    return {**affinity, part: {**old, _REQUIRED: [*(old.get(_REQUIRED) or []), term]}}


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


def mapping_in(value: object) -> Mapping[str, Any]:
    """A value that should be an object; an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}
