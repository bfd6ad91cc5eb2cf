"""An Order's status in korder's words, both ways: what is written reads back as it was meant.

Korder's counts count what they say: `availableReplicas` are tickets that a pod could have now, and
Failure goes back to False. Counts that it lacks are added under names in its manner.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from headroom.core.standing.headrooms import HeadroomStatus
from headroom.dialects.korder.words import (
    Words,
    condition_json,
    conditions_of,
    filled,
    time_text,
)
from headroom.wire.errors import DecodeError
from headroom.wire.objects.holdstatus import ConditionJson
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Reader, Time
from headroom.wire.times import bounded

# Objects of the API are open-ended JSON.
Json: TypeAlias = dict[str, Any]

_WORDS = Words({"Held": "Ready"})


class _Status(JsonObject):
    replicas: int | None = None
    desired_replicas: int | None = None
    available_replicas: int | None = None
    unavailable_replicas: int | None = None
    claimed_replicas: int | None = None
    terminal_replicas: int | None = None
    updated_replicas: int | None = None
    hits: int | None = None
    misses: int | None = None
    last_schedule_time: Time | None = None
    next_schedule_time: Time | None = None
    selector: str | None = None
    spent_replicas: list[str] | None = None
    observed_generation: int | None = None
    conditions: list[ConditionJson] | None = None


_read_status = Reader(_Status)


def order_status_json(status: HeadroomStatus) -> Json:
    """A headroom's status as an order's; its counts are there even when they are zero."""
    counts = {
        "replicas": status.objects,
        "desiredReplicas": status.desired,
        "availableReplicas": status.held,
        "unavailableReplicas": status.pending,
        "claimedReplicas": status.claimed,
        "terminalReplicas": status.ended,
        "updatedReplicas": status.updated,
        "hits": status.hits,
        "misses": status.misses,
    }
    words = {
        "lastScheduleTime": time_text(status.last_start),
        "nextScheduleTime": time_text(status.next_start),
        "selector": status.selector,
        "spentReplicas": list(status.spent),
        "conditions": [condition_json(each) for each in _WORDS.told(status.conditions)],
        "observedGeneration": status.observed_generation,
    }
    return {**counts, **filled(words)}


def order_status_of(text: bytes) -> HeadroomStatus:
    """Read an order's status; empty for what is absent or makes no sense."""
    try:
        return _status(_read_status(text)) if text else HeadroomStatus()
    except DecodeError:
        return HeadroomStatus()


def _status(status: _Status) -> HeadroomStatus:
    return HeadroomStatus(
        desired=status.desired_replicas or 0,
        held=status.available_replicas or 0,
        pending=status.unavailable_replicas or 0,
        claimed=status.claimed_replicas or 0,
        hits=status.hits or 0,
        misses=status.misses or 0,
        next_start=bounded(status.next_schedule_time),
        last_start=bounded(status.last_schedule_time),
        objects=status.replicas or 0,
        ended=status.terminal_replicas or 0,
        updated=status.updated_replicas or 0,
        selector=status.selector or "",
        spent=tuple(status.spent_replicas or ()),
        conditions=_WORDS.meant(conditions_of(status.conditions)),
        observed_generation=status.observed_generation or 0,
    )
