"""Korder's kinds as CustomResourceDefinitions: everything except the fields, which `schema` has.

Names, scopes and printer columns are korder's own, if it has them.
"""

from __future__ import annotations

from collections.abc import Sequence

from headroom.dialects.korder.kinds import ORDERS, TICKETS
from headroom.dialects.korder.schema import extended
from headroom.wire.kinds import Json, Resource
from headroom.wire.schema.crd import AGE, OUR_LABELS, column, crd, crd_version
from headroom.wire.schema.notation import Catalogue
from headroom.wire.schema.own import known

_READY = '.status.conditions[?(@.type=="Ready")]'


_ORDER_COLUMNS = (
    column("Strategy", ".spec.strategy.type"),
    column("Desired", ".status.desiredReplicas", "integer"),
    column("Available", ".status.availableReplicas", "integer"),
    column("Unavailable", ".status.unavailableReplicas", "integer"),
    column("Claimed", ".status.claimedReplicas", "integer"),
    AGE,
    column("Refresh", ".spec.strategy.refreshPolicy", priority=1),
    column("Next", ".status.nextScheduleTime", priority=1),
    column("Reason", f"{_READY}.reason", priority=1),
    column("Message", f"{_READY}.message", priority=1),
)
_TICKET_COLUMNS = (
    column("Phase", ".status.phase"),
    column("Node", ".status.nodeName", priority=1),
    column("Claimed-By", ".status.claimedPod"),
    column("Guardian-Pod", ".status.guardianPod", priority=1),
    column("Expiration", ".status.expirationTime", priority=1),
    AGE,
)


def order_and_ticket() -> list[Json]:
    """The definitions of Order and Ticket."""
    catalogue = extended(known())
    return [
        definition(
            ORDERS,
            catalogue,
            _ORDER_COLUMNS,
            "An Order keeps Tickets of one shape: a number of them or one on every eligible node, "
            "always or at set times.",
        ),
        definition(
            TICKETS,
            catalogue,
            _TICKET_COLUMNS,
            "A Ticket keeps room for one pod, which asks for it by annotation. A guardian pod "
            "occupies the room until then.",
            # For disruption budgets, which ask the controller of each pod how many there should be.
            {
                "specReplicasPath": ".spec.expectedPods",
                "statusReplicasPath": ".status.readyPods",
            },
        ),
    ]


def definition(
    resource: Resource,
    catalogue: Catalogue,
    columns: Sequence[Json],
    description: str,
    scale: Json | None = None,
) -> Json:
    """The definition of one kind; its fields are those of the type with the same name."""
    parts: Json = {"subresources": {"status": {}, **({"scale": scale} if scale else {})}}
    if columns:
        parts["additionalPrinterColumns"] = [dict(each) for each in columns]
    return crd(resource, [crd_version(resource, catalogue, description, **parts)], OUR_LABELS)
