"""An Order's status in korder's words, both ways: what is written reads back as it was meant.

Korder's counts count what they say: `availableReplicas` are tickets that a pod could have now, and
Failure goes back to False. Counts that it lacks are added under names in its manner.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.dialects.korder.conditions import Words
from headroom.wire.objects.codec import NUMBER, TEXT, TEXTS, TIME, Codec, Json
from headroom.wire.objects.statuses import CONDITIONS

_WORDS = Words({"Held": "Ready"})
# The counts are there even when they are zero.
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
    """A headroom's status as an order's."""
    return _STATUS.write(replace(status, conditions=_WORDS.told(status.conditions)))


def order_status_of(text: bytes) -> HeadroomStatus:
    """Read an order's status; empty for what is absent or makes no sense."""
    status = _STATUS.read(text)
    return replace(status, conditions=_WORDS.meant(status.conditions))
