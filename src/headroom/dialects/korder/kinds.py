"""Korder's kinds, and its names on objects; label filters and dashboards use them.

Labels derived from long names are hashed (`core.derived_names`), and so are names of tickets and
guardians; shorter names are korder's.
"""

from __future__ import annotations

from headroom.wire.kinds import Resource
from headroom.wire.objects.podjson import CustomObject, Metadata

GROUP = "core.korder.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

ORDERS = Resource(GROUP, VERSION, "orders", "Order")
TICKETS = Resource(GROUP, VERSION, "tickets", "Ticket")
QUOTAS = Resource(GROUP, VERSION, "quotas", "Quota", namespaced=False)

ORDER_FINALIZER = "korder.dev/order-finalizer"
TICKET_FINALIZER = "korder.dev/ticket-finalizer"

PREFIX = "korder.dev/"

# On tickets.
ORDER_LABEL = "korder.dev/order"
ORDER_UID_LABEL = "korder.dev/order-uid"
NODE_LABEL = "korder.dev/node"
GROUP_ANNOTATION = "korder.dev/ticket-group"

# On guardians.
GUARDIAN_PREFIX = "korder-guardian-"
TICKET_LABEL = "korder.dev/ticket"
TICKET_UID_LABEL = "korder.dev/ticket-uid"
GUARDIAN_LABEL = "korder.dev/guardian"
COMPONENT_LABEL = "korder.dev/component"
ROLE_LABEL = "korder.dev/role"

# On pods that have got a ticket.
CLAIMED_ANNOTATION = "korder.dev/ticket-claimed"
NODE_ANNOTATION = "korder.dev/ticket-node"

# The lease of korder's own manager: where it is held, korder serves these objects itself.
RIVAL_LEASE = "c7c87803.korder.dev"


class KorderMetadata(Metadata):
    finalizers: list[str] | None = None


class KorderObject(CustomObject):
    metadata: KorderMetadata | None = None
