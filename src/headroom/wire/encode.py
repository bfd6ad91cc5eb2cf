"""The statuses of our own kinds from core values back to JSON.

What is written here reads back equal through `holds`: a status that differs from what was meant
would be written again and again.
"""

from __future__ import annotations

from typing import Any

from headroom.core.amounts import format_resources
from headroom.core.holds import HoldStatus
from headroom.core.objects import Condition
from headroom.core.standing.headrooms import HeadroomStatus
from headroom.wire.objects.growth.autoshapes import auto_json
from headroom.wire.objects.promises import promise_json
from headroom.wire.times import format_time

Json = dict[str, Any]


def status_json(status: HoldStatus) -> Json:
    """A hold's status; what is empty is left out."""
    owners = [
        {"namespace": use.namespace, "name": use.name, "uid": use.uid} for use in status.owners
    ]
    return _filled(
        {
            "phase": status.phase,
            "nodeName": status.node,
            "allocatable": format_resources(status.allocatable),
            "allocated": format_resources(status.allocated),
            "currentOwners": owners,
            "conditions": [_condition(each) for each in status.conditions],
            "observedGeneration": status.observed_generation,
        }
    )


def headroom_status_json(status: HeadroomStatus) -> Json:
    """A headroom's status; its counts are there even when they are zero, for the columns."""
    counts = {
        "desired": status.desired,
        "held": status.held,
        "pending": status.pending,
        "claimed": status.claimed,
        "hits": status.hits,
        "misses": status.misses,
    }
    words = {
        "nextStart": format_time(status.next_start) if status.next_start else "",
        "selector": status.selector,
        "spent": list(status.spent),
        "promise": promise_json(status.promise) if status.promise is not None else {},
        "auto": auto_json(status.auto) if status.auto is not None else {},
        "conditions": [_condition(each) for each in status.conditions],
        "observedGeneration": status.observed_generation,
    }
    return {**counts, **_filled(words)}


def _condition(condition: Condition) -> Json:
    since = {"lastTransitionTime": format_time(condition.since)} if condition.since else {}
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.generation,
        **since,
    }


def _filled(fields: Json) -> Json:
    """Leave out what is empty, as Kubernetes does."""
    return {name: value for name, value in fields.items() if value}
