"""The kind Reservation as Koordinator defines it: its fields, defaults and printer columns.

The fields are those that Koordinator's clients know, and it is not stricter: it accepts what
Koordinator's own definition accepts. `reservations` reports questionable values in a condition.
"""

from __future__ import annotations

from collections.abc import Mapping

from headroom.dialects.koordinator.names import RESERVATIONS
from headroom.wire.kinds import Json
from headroom.wire.schema.crd import AGE, column, crd, crd_version
from headroom.wire.schema.notation import OBJECT, Catalogue, Field, kubernetes, of
from headroom.wire.schema.terms import one_of, rule

KIND = RESERVATIONS.kind
CONTROLLER = {name: of("string!") for name in ("apiVersion", "kind", "name", "uid")}

TYPES: Mapping[str, Mapping[str, Field]] = {
    "Reservation": {
        **OBJECT,
        "spec": of("ReservationSpec", "What is reserved, for whom and until when."),
        "status": of("ReservationStatus", "The observed state; only the operator writes it."),
    },
    "ReservationSpec": {
        "template": of("any!", "The scheduling shape of the reservation, as in a pod template."),
        "owners": of(
            "[]ReservationOwner!",
            "Who may use it. A pod must match one item, and all parts of this item.",
            minItems=1,
        ),
        "ttl": of("string", "It ends this long after its creation; 0 means never.", default="24h"),
        "expires": of("time", "The latest time at which it ends."),
        "preAllocation": of("bool", "Whether to reserve what running pods still use."),
        "preAllocationPolicy": of("ReservationPreAllocation", "Which running pods, and how many."),
        "allocateOnce": of("bool", "Whether the first owner ends it.", default=True),
        "allocatePolicy": of(
            "=Aligned|Restricted",
            "Aligned: an owner may use it and free room of the node together. Restricted: of "
            "resources that it reserves, only what it reserves.",
        ),
        "unschedulable": of("bool", "True: no new owners."),
        "taints": of("[]ReservationTaint", "Exclude owners that do not tolerate them."),
    },
    "ReservationPreAllocation": {
        "mode": of("=Default|Cluster", "Where candidates come from.", default="Default"),
        "enableMultiple": of("bool", "Whether several running pods may be taken."),
    },
    "ReservationOwner": {
        "object": of("ObjectReference", "The pod itself."),
        "labelSelector": of("LabelSelector", "The pod's labels."),
        "controller": of("ReservationController", "One of the pod's ownerReferences."),
    },
    "ReservationController": {
        **CONTROLLER,
        "controller": of("bool"),
        "blockOwnerDeletion": of("bool", "Not used."),
        "namespace": of("string", "The pod's namespace."),
    },
    "ReservationTaint": {
        "key": of("string!"),
        "effect": of("string!"),
        "value": of("string"),
        "timeAdded": of("time", "Not used."),
    },
    "ReservationStatus": {
        "phase": of("string", default="Pending"),
        "nodeName": of("string", "Where it is."),
        "allocatable": of("{}quantity", "What it reserves."),
        "allocated": of("{}quantity", "What its owners use, of the resources that it reserves."),
        "currentOwners": of("[]ObjectReference", "The pods that use it."),
        "conditions": of("[]ReservationCondition", "Scheduled and Ready."),
    },
    "ReservationCondition": {
        "type": of("string"),
        "status": of("string"),
        "reason": of("string"),
        "message": of("string"),
        "lastProbeTime": of("time"),
        "lastTransitionTime": of("time"),
    },
}

_PARTS = ("object", "controller", "labelSelector")
_NEEDS_A_PART = rule(one_of(*_PARTS), f"an owner needs at least one of {', '.join(_PARTS)}")


def with_reservations(catalogue: Catalogue) -> Catalogue:
    """The known kinds, with Reservation."""
    kinds = {f"{RESERVATIONS.api_version}/{KIND}": KIND}
    rules = {"ReservationOwner": (_NEEDS_A_PART,)}
    return catalogue.extended(TYPES, kinds, rules, frozenset({KIND}))


def definitions() -> list[Json]:
    """Return the CustomResourceDefinition of Reservation."""
    columns = [
        column("Phase", ".status.phase"),
        AGE,
        column("Node", ".status.nodeName"),
        column("TTL", ".spec.ttl"),
        column("Expires", ".spec.expires"),
    ]
    version = crd_version(
        RESERVATIONS,
        kubernetes().extended(TYPES, {}),
        subresources={"status": {}},
        additionalPrinterColumns=columns,
    )
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    # Koordinator counts the parts of an owner; a CEL rule would have no limit on their number.
    spec["properties"]["owners"]["items"]["minProperties"] = 1
    return [crd(RESERVATIONS, [version], {})]
