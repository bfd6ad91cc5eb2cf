"""Our kinds as CustomResourceDefinitions, for `headroom crds` and `headroom install`.

`schema.own` says which fields there are and `schema.structural` how the API server is to check
them; here are the names, columns and versions around it. The same text is committed as
`deploy/crds/*.yaml`; a test keeps the two alike (`python -m tools.manifests` rewrites it).
"""

from __future__ import annotations

from typing import Any, TypeAlias

from headroom.core.names import GROUP, VERSION
from headroom.wire.kinds import CLAIM_INDEXES, HEADROOMS, HOLDS, SLOT_SETS, Resource
from headroom.wire.schema.own import known
from headroom.wire.schema.structural import structural

# Objects of the API are open-ended JSON.
Json: TypeAlias = dict[str, Any]

# Not the name of a kind: kubectl takes `headroom` for the category first, and then refuses a name.
_CATEGORY = "headroom-all"
_READY = '.status.conditions[?(@.type=="Ready")]'


def crds() -> list[Json]:
    """Return the CustomResourceDefinition of every kind that the operator serves."""
    return [_hold(), headroom_crd(), _slot_set(), _claim_index()]


def _hold() -> Json:
    columns = [
        _column("Phase", ".status.phase"),
        _column("Node", ".status.nodeName"),
        _column("Owner", ".status.currentOwners[0].name"),
        _column("Age", ".metadata.creationTimestamp", type="date"),
        _column("TTL", ".spec.ttl"),
        _column("Expires", ".spec.expires"),
        _column("CPU", ".status.allocatable.cpu", priority=1),
        _column("Memory", ".status.allocatable.memory", priority=1),
        _column("Once", ".spec.allocateOnce", type="boolean", priority=1),
        _column("Ready", f"{_READY}.status", priority=1),
        _column("Reason", f"{_READY}.reason", priority=1),
        _column("Message", f"{_READY}.message", priority=1),
    ]
    names = {"shortNames": ["hld"], "categories": [_CATEGORY]}
    # For disruption budgets, which ask the controller of each pod how many there should be ready.
    scale = {"specReplicasPath": ".spec.expectedPods", "statusReplicasPath": ".status.readyPods"}
    return _crd(
        HOLDS,
        names,
        {
            "additionalPrinterColumns": columns,
            "subresources": {"status": {}, "scale": scale},
        },
        "A Hold keeps one slot of the cluster ready for the pods that own it. A guardian pod "
        "occupies the room until an owner takes it over.",
    )


def headroom_crd() -> Json:
    """Return the definition of Headroom, which can be scaled by its replicas."""
    columns = [
        _column("Ready", f"{_READY}.status"),
        _column("Held", ".status.held", type="integer"),
        _column("Desired", ".status.desired", type="integer"),
        _column("Pending", ".status.pending", type="integer"),
        _column("Claimed", ".status.claimed", type="integer"),
        _column("Next", ".status.nextStart"),
        _column("Age", ".metadata.creationTimestamp", type="date"),
        _column("Mode", ".spec.mode", priority=1),
        _column("Refill", ".spec.refill", priority=1),
        _column("Paused", ".spec.paused", type="boolean", priority=1),
        _column("Hits", ".status.hits", type="integer", priority=1),
        _column("Misses", ".status.misses", type="integer", priority=1),
        _column("Reason", f"{_READY}.reason", priority=1),
        _column("Message", f"{_READY}.message", priority=1),
    ]
    scale = {
        "specReplicasPath": ".spec.size.replicas",
        "statusReplicasPath": ".status.held",
        "labelSelectorPath": ".status.selector",
    }
    return _crd(
        HEADROOMS,
        {"shortNames": ["hr"], "categories": [_CATEGORY]},
        {
            "additionalPrinterColumns": columns,
            "subresources": {"status": {}, "scale": scale},
        },
        "A Headroom keeps slots of one shape ready: a fixed number, a share of a workload or some "
        "on every node, always or at set times.",
    )


def _slot_set() -> Json:
    # The status path is asked for, and never written: no pod of a SlotSet is ever ready.
    scale = {"specReplicasPath": ".spec.expectedPods", "statusReplicasPath": ".status.readyPods"}
    return _crd(
        SLOT_SETS,
        {},
        {
            "additionalPrinterColumns": [
                _column("For", ".metadata.ownerReferences[0].name"),
                _column("Age", ".metadata.creationTimestamp", type="date"),
            ],
            "subresources": {"scale": scale},
        },
        "A SlotSet is the controller of the guardians of one Headroom. It tells disruption budgets "
        "to expect no ready pods of them. The operator makes it; do not write it by hand.",
    )


def _claim_index() -> Json:
    columns = [
        _column("Fresh-Until", ".spec.freshUntil"),
        _column("Age", ".metadata.creationTimestamp", type="date"),
    ]
    return _crd(
        CLAIM_INDEXES,
        {},
        {"additionalPrinterColumns": columns},
        "A ClaimIndex tells the admission policy which new pods may claim a hold of the namespace. "
        "The operator keeps it; do not write it by hand.",
    )


def _column(name: str, path: str, *, type: str = "string", priority: int = 0) -> Json:
    column: Json = {"name": name, "type": type, "jsonPath": path}
    return {**column, "priority": priority} if priority else column


def _crd(resource: Resource, names: Json, extras: Json, description: str) -> Json:
    schema = structural(resource.kind, known())
    # The API server knows these three itself and allows no more here.
    properties = schema["properties"]
    properties["metadata"] = {"type": "object"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{resource.plural}.{GROUP}",
            "labels": {"app.kubernetes.io/name": "headroom"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": resource.kind,
                "listKind": f"{resource.kind}List",
                "plural": resource.plural,
                "singular": resource.kind.lower(),
                **names,
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"description": description, **schema}},
                    **extras,
                }
            ],
        },
    }
