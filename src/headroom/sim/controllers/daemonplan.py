"""Which nodes get a pod of a DaemonSet, and the spec of that pod: pure, rule by rule.

The real controller checks three properties of a node: the template's own node name, its selector
and required affinity, and the taints. Cordons and pressure are tolerated for the pod. Pods are
pinned by required affinity to the name of their node and placed by kube-scheduler, never by
`nodeName`. `daemonsets` creates and deletes the pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headroom.core.objects import Node, Placement
from headroom.core.selection import node_matches, tolerated
from headroom.sim.api.values import Json, dig
from headroom.sim.controllers.rollout import amount_of

GENERATION_LABEL = "pod-template-generation"
_PREFIX = "node.kubernetes.io"
_TOLERATED = (
    (f"{_PREFIX}/not-ready", "NoExecute"),
    (f"{_PREFIX}/unreachable", "NoExecute"),
    (f"{_PREFIX}/disk-pressure", "NoSchedule"),
    (f"{_PREFIX}/memory-pressure", "NoSchedule"),
    (f"{_PREFIX}/pid-pressure", "NoSchedule"),
    (f"{_PREFIX}/unschedulable", "NoSchedule"),
)
_HOST_NETWORK = (f"{_PREFIX}/network-unavailable", "NoSchedule")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Whether a node should get a pod, and whether an existing pod may stay."""

    run: bool
    stay: bool


def eligibility(placement: Placement, node_name: str, node: Node) -> Eligibility:
    """Check a node for a pod of the DaemonSet; `node_name` is the template's own, if any."""
    if node_name not in ("", node.name) or not node_matches(placement, node):
        return Eligibility(run=False, stay=False)
    worst = {
        taint.effect for taint in node.taints if not tolerated(taint, placement.tolerations)
    } - {"PreferNoSchedule"}
    return Eligibility(run=not worst, stay="NoExecute" not in worst)


def daemon_spec(spec: Json) -> dict[str, Any]:
    """The template's pod spec with the tolerations that every DaemonSet pod gets."""
    found = [*(spec.get("tolerations") or ())]
    pairs = (*_TOLERATED, _HOST_NETWORK) if spec.get("hostNetwork") else _TOLERATED
    for key, effect in pairs:
        added = {"effect": effect, "key": key, "operator": "Exists"}
        same = [index for index, old in enumerate(found) if _is_same(old, added)]
        if same:
            found[same[0]] = added
        else:
            found.append(added)
    return {**spec, "tolerations": found}


def _is_same(old: Json, added: Json) -> bool:
    """Whether two tolerations are for the same taint, whatever their seconds."""
    return all(old.get(name, "") == added.get(name, "") for name in ("key", "effect", "operator"))


def pinned(spec: Json, node: str) -> dict[str, Any]:
    """The spec for one node: required terms are replaced, because they were checked already."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    affinity: dict[str, Any] = {**(spec.get("affinity") or {})}
    affinity["nodeAffinity"] = {
        **(affinity.get("nodeAffinity") or {}),
        _REQUIRED: {"nodeSelectorTerms": terms},
    }
    return {**spec, "affinity": affinity}


def target_of(pod: Json) -> str:
    """The node that a DaemonSet's pod is on, or is pinned to."""
    bound = dig(pod, "spec", "nodeName")
    if bound:
        return str(bound)
    terms = dig(pod, "spec", "affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms") or ()
    for term in terms:
        for field in term.get("matchFields") or ():
            if field.get("key") == "metadata.name" and field.get("values"):
                return str(field["values"][0])
    return ""


def most_unavailable(daemon_set: Json, desired: int) -> int:
    """How many nodes may be without a pod during a rolling update."""
    rolling: Mapping[str, Any] = dig(daemon_set, "spec", "updateStrategy", "rollingUpdate") or {}
    return max(1, amount_of(rolling.get("maxUnavailable", 1), desired))
