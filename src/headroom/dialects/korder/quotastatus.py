"""A Quota's status from its JSON, and the writes that put one in place.

What is written reads back equal. `max-duration` is shown in seconds, so that clients which take
every limit for a quantity can read it. A status that makes no sense counts as none.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from msgspec import Raw

from headroom.core.actions import Action, SetFinalizers, WriteQuotaStatus
from headroom.core.objects import Condition
from headroom.core.quotas.limits import MAX_DURATION, Ceiling, QuotaStatus, spelled
from headroom.core.resources import Resources
from headroom.dialects.korder.kinds import QUOTAS
from headroom.dialects.korder.quotalimits import ceiling_of
from headroom.wire.errors import DecodeError
from headroom.wire.objectpatches import whole_finalizers, whole_status
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.holdstatus import ConditionJson, condition_of
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import ABSENT, Reader
from headroom.wire.times import format_time
from headroom.wire.writes import Write

Json = dict[str, Any]


class _Status(JsonObject):
    hard: Raw = ABSENT
    used: Raw = ABSENT
    active_time_window: str | None = None
    conditions: list[ConditionJson] | None = None
    observed_generation: int | None = None


_read_status = Reader(_Status)


def status_of(text: bytes) -> QuotaStatus:
    """Read a status; empty for what is absent or unreadable."""
    try:
        status = _read_status(text) if text else _Status()
    except DecodeError:
        return QuotaStatus()
    ignored = Findings()
    hard = ceiling_of(status.hard, "status.hard", ignored, ignored) or Ceiling()
    used = ceiling_of(status.used, "status.used", ignored, ignored) or Ceiling()
    return QuotaStatus(
        hard=hard,
        used=Resources(used.amounts),
        window=status.active_time_window or "",
        conditions=tuple(condition_of(each) for each in status.conditions or ()),
        observed_generation=status.observed_generation or 0,
    )


def status_json(status: QuotaStatus) -> Json:
    """A Quota's status; what is empty is left out."""
    fields: Json = {
        "hard": ceiling_json(status.hard),
        "used": {name: spelled(name, status.used[name]) for name in sorted(status.used)},
        "activeTimeWindow": status.window,
        "conditions": [_condition(each) for each in status.conditions],
        "observedGeneration": status.observed_generation,
    }
    return {name: value for name, value in fields.items() if value}


def ceiling_json(ceiling: Ceiling) -> dict[str, str]:
    """Limits as quantities by name, the longest duration in seconds."""
    written = {name: spelled(name, most) for name, most in sorted(ceiling.amounts.items())}
    if ceiling.longest is not None:
        written[MAX_DURATION] = str(ceiling.longest // timedelta(seconds=1))
    return written


def render_quota(action: Action) -> Write | None:
    """The request that does an action about a Quota; None for any other action."""
    match action:
        case WriteQuotaStatus(parent=parent, status=status):
            return whole_status(QUOTAS, parent, status_json(status))
        case SetFinalizers(parent=parent) if parent.kind == QUOTAS.kind:
            return whole_finalizers(QUOTAS, parent, action.finalizers, action.version)
        case _:
            return None


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
