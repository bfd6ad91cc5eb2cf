"""A buffer's status, both ways: what is written reads back as it was meant."""

from __future__ import annotations

from typing import Any, TypeAlias

from headroom.core.actions import Action, WriteHeadroomStatus
from headroom.core.objects import Condition
from headroom.core.sizes.buffer import ACTIVE
from headroom.core.standing.headrooms import HeadroomStatus
from headroom.dialects.capacitybuffer.names import BUFFERS
from headroom.wire.errors import DecodeError
from headroom.wire.objectpatches import whole_status
from headroom.wire.objects.holdstatus import ConditionJson, condition_of
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Reader
from headroom.wire.times import format_time
from headroom.wire.writes import Write

# Objects of the API are open-ended JSON.
Json: TypeAlias = dict[str, Any]


class _TemplateRef(JsonObject):
    name: str | None = None


class _Status(JsonObject):
    replicas: int | None = None
    pod_template_ref: _TemplateRef | None = None
    pod_template_generation: int | None = None
    conditions: list[ConditionJson] | None = None


_read_status = Reader(_Status)


def render(action: Action) -> Write | None:
    """Turn the status of a buffer into its request; None for any other action."""
    if not isinstance(action, WriteHeadroomStatus) or action.parent.kind != BUFFERS.kind:
        return None
    return whole_status(BUFFERS, action.parent, status_json(action.status))


def status_json(status: HeadroomStatus) -> Json:
    """Spell a status; which template it speaks of is left out where it speaks of none."""
    written: Json = {
        "replicas": status.desired,
        "provisioningStrategy": ACTIVE,
        "conditions": [_condition_json(each) for each in status.conditions],
    }
    if status.template:
        written["podTemplateRef"] = {"name": status.template}
        written["podTemplateGeneration"] = status.template_generation
    return written


def status_of(text: bytes) -> HeadroomStatus:
    """Read a status; empty for what is absent or makes no sense."""
    try:
        return _status(_read_status(text)) if text else HeadroomStatus()
    except DecodeError:
        return HeadroomStatus()


def _status(status: _Status) -> HeadroomStatus:
    conditions = tuple(condition_of(each) for each in status.conditions or ())
    ref = status.pod_template_ref
    return HeadroomStatus(
        desired=status.replicas or 0,
        template=(ref.name or "") if ref is not None else "",
        template_generation=status.pod_template_generation or 0,
        conditions=conditions,
        observed_generation=max((each.generation for each in conditions), default=0),
    )


def _condition_json(condition: Condition) -> Json:
    written = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.generation,
    }
    if condition.since is not None:
        written["lastTransitionTime"] = format_time(condition.since)
    return written
