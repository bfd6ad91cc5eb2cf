"""What the operator may write in korder's objects: tickets of orders, and no other spec."""

from __future__ import annotations

from headroom.dialects.korder.kinds import GROUP, ORDERS, QUOTAS, TICKETS
from headroom.wire.admission_policies.cel import Check, Confined, Match
from headroom.wire.admission_policies.pods import controlled_by

_SAME_SPEC = "object.?spec == oldObject.?spec"

CONFINED = (
    Confined(
        Match(GROUP, (ORDERS.plural,), ("UPDATE",)),
        (Check(_SAME_SPEC, "the operator changes no order's spec"),),
    ),
    Confined(
        Match(GROUP, (QUOTAS.plural,), ("UPDATE",)),
        (Check(_SAME_SPEC, "the operator changes no quota's spec"),),
    ),
    Confined(
        Match(GROUP, (TICKETS.plural,), ("CREATE", "UPDATE")),
        (
            Check(
                f"({controlled_by('object', (ORDERS,))}) || "
                f"(request.operation == 'UPDATE' && {_SAME_SPEC})",
                "the operator makes and renews tickets of orders only",
            ),
        ),
    ),
)
