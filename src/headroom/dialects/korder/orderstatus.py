"""The status of an Order in korder's format; a written status decodes to the same value.

`availableReplicas` counts tickets that a pod could get now, and Failure returns to False. Counts
that korder lacks have names in its style.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.dialects.korder.conditions import ConditionCodec
from headroom.wire.objects.codec import NUMBER, TEXT, TEXTS, TIME, Codec, Json
from headroom.wire.objects.statuses import CONDITIONS

_CONDITIONS = ConditionCodec({"Held": "Ready"})
# The counts are written even if they are zero.
_STATUS = Codec(
    HeadroomStatus,
    objects=NUMBER.named("replicas").always,
    desired=NUMBER.named("desiredReplicas").always,
    held=NUMBER.named("availableReplicas").always,
    pending=NUMBER.named("unavailableReplicas").always,
    claimed=NUMBER.named("claimedReplicas").always,
    ended=NUMBER.named("terminalReplicas").always,
    updated=NUMBER.named("updatedReplicas").always,
    hits=NUMBER.always,
    misses=NUMBER.always,
    last_start=TIME.named("lastScheduleTime"),
    next_start=TIME.named("nextScheduleTime"),
    selector=TEXT,
    spent=TEXTS.named("spentReplicas"),
    conditions=CONDITIONS,
    observed_generation=NUMBER,
)


def order_status_json(status: HeadroomStatus) -> Json:
    """The status of a headroom as the status of an order."""
    return _STATUS.write(replace(status, conditions=_CONDITIONS.encode(status.conditions)))


def order_status_of(text: bytes) -> HeadroomStatus:
    """Decode the status of an order; missing or invalid parts are empty."""
    status = _STATUS.read(text)
    return replace(status, conditions=_CONDITIONS.decode(status.conditions))
