"""The dialect `korder`: Order, Ticket and Quota of core.korder.dev, and pods that ask for tickets.

An Order is a headroom whose slots are Tickets (`orders`), a Ticket is a hold for a limited time
(`tickets`), a Quota limits both (`quotas`); `writes` writes in korder's format. `rules` has what
korder decides in another way than we do.
"""

from __future__ import annotations

from typing import Any

from headroom.dialects.korder import kinds
from headroom.dialects.korder.definitions import order_and_ticket
from headroom.dialects.korder.orders import decode_order
from headroom.dialects.korder.quotas import decode_quota
from headroom.dialects.korder.quotaschema import quota_definition, with_quota
from headroom.dialects.korder.rules.requests import ASKING, with_requests
from headroom.dialects.korder.schema import extended
from headroom.dialects.korder.tickets import decode_ticket
from headroom.dialects.korder.writes import render
from headroom.wire.admission_policies.cel import Check, confined
from headroom.wire.admission_policies.pods import controlled_by
from headroom.wire.dialect import Dialect, Rival
from headroom.wire.rbac import READ, rule
from headroom.wire.schema.notation import Catalogue

_SAME_SPEC = "object.?spec == oldObject.?spec"

CONFINED = (
    confined(kinds.ORDERS, ("UPDATE",), Check(_SAME_SPEC, "the operator changes no order's spec")),
    confined(kinds.QUOTAS, ("UPDATE",), Check(_SAME_SPEC, "the operator changes no quota's spec")),
    confined(
        kinds.TICKETS,
        ("CREATE", "UPDATE"),
        Check(
            f"({controlled_by('object', (kinds.ORDERS,))}) || "
            f"(request.operation == 'UPDATE' && {_SAME_SPEC})",
            "the operator makes and renews tickets of orders only",
        ),
    ),
)


def _definitions() -> list[dict[str, Any]]:
    return [*order_and_ticket(), quota_definition()]


def _catalogue(catalogue: Catalogue) -> Catalogue:
    return with_quota(extended(catalogue))


KORDER = Dialect(
    name="korder",
    decoders={kinds.ORDERS: decode_order, kinds.TICKETS: decode_ticket, kinds.QUOTAS: decode_quota},
    render=render,
    definitions=_definitions,
    rules=(
        rule(kinds.GROUP, ("orders", "tickets"), (*READ, "patch")),
        rule(kinds.GROUP, ("tickets",), ("create", "delete")),
        # A Quota is written only to remove the finalizer of korder's own controller.
        rule(kinds.GROUP, ("quotas",), (*READ, "patch")),
        rule(kinds.GROUP, ("orders/status", "tickets/status", "quotas/status"), ("patch",)),
        # An ownerReference with blockOwnerDeletion needs the permission to finalize the owner.
        rule(kinds.GROUP, ("orders/finalizers", "tickets/finalizers"), ("update",)),
    ),
    asks=ASKING,
    annotations=(kinds.PREFIX,),
    claims=(kinds.CLAIMED_ANNOTATION, kinds.NODE_ANNOTATION),
    catalogue=_catalogue,
    confined=CONFINED,
    dress_pod=with_requests,
    rivals=(Rival(kinds.RIVAL_LEASE, "korder's manager"),),
)
