"""Our kinds as CustomResourceDefinitions, for `headroom crds` and `headroom install`.

`schema.own` says which fields there are and `schema.structural` how the API server is to check
them; here are the names, columns and versions around it. The same text is committed as
`deploy/crds/*.yaml`; a test keeps the two alike (`python -m tools.manifests` rewrites it).
"""

from __future__ import annotations

from headroom.wire.kinds import CLAIM_INDEXES, HEADROOMS, HOLDS, SLOT_SETS, Json, Resource
from headroom.wire.schema.crd import AGE, OUR_LABELS, column, crd, crd_version
from headroom.wire.schema.own import known

# Not the name of a kind: kubectl takes `headroom` for the category first, and then refuses a name.
_CATEGORY = "headroom-all"
_READY = '.status.conditions[?(@.type=="Ready")]'


def crds() -> list[Json]:
    """Return the CustomResourceDefinition of every kind that the operator serves."""
    return [_hold(), headroom_crd(), _slot_set(), _claim_index()]


def _hold() -> Json:
    columns = [
        column("Phase", ".status.phase"),
        column("Node", ".status.nodeName"),
        column("Owner", ".status.currentOwners[0].name"),
        AGE,
        column("TTL", ".spec.ttl"),
        column("Expires", ".spec.expires"),
        column("CPU", ".status.allocatable.cpu", priority=1),
        column("Memory", ".status.allocatable.memory", priority=1),
        column("Once", ".spec.allocateOnce", type="boolean", priority=1),
        column("Ready", f"{_READY}.status", priority=1),
        column("Reason", f"{_READY}.reason", priority=1),
        column("Message", f"{_READY}.message", priority=1),
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
        column("Ready", f"{_READY}.status"),
        column("Held", ".status.held", type="integer"),
        column("Desired", ".status.desired", type="integer"),
        column("Pending", ".status.pending", type="integer"),
        column("Claimed", ".status.claimed", type="integer"),
        column("Next", ".status.nextStart"),
        AGE,
        column("Mode", ".spec.mode", priority=1),
        column("Refill", ".spec.refill", priority=1),
        column("Paused", ".spec.paused", type="boolean", priority=1),
        column("Hits", ".status.hits", type="integer", priority=1),
        column("Misses", ".status.misses", type="integer", priority=1),
        column("Reason", f"{_READY}.reason", priority=1),
        column("Message", f"{_READY}.message", priority=1),
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
                column("For", ".metadata.ownerReferences[0].name"),
                AGE,
            ],
            "subresources": {"scale": scale},
        },
        "A SlotSet is the controller of the guardians of one Headroom. It tells disruption budgets "
        "to expect no ready pods of them. The operator makes it; do not write it by hand.",
    )


def _claim_index() -> Json:
    columns = [
        column("Fresh-Until", ".spec.freshUntil"),
        AGE,
    ]
    return _crd(
        CLAIM_INDEXES,
        {},
        {"additionalPrinterColumns": columns},
        "A ClaimIndex tells the admission policy which new pods may claim a hold of the namespace. "
        "The operator keeps it; do not write it by hand.",
    )


def _crd(resource: Resource, names: Json, parts: Json, description: str) -> Json:
    return crd(
        resource, [crd_version(resource, known(), description, **parts)], OUR_LABELS, **names
    )
