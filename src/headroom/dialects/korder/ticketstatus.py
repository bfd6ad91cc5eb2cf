"""A Ticket's status in korder's words, both ways: what is written reads back as it was meant.

Korder has four phases and three conditions, of which it uses two; why a ticket is not ready we say
in two more. All that a hold's status has is there, or follows from the rest.

    Pending = Pending    Ready (Reserved) = Available    Claimed = Succeeded    Expired = Failed
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw

from headroom.core.amounts import format_resources
from headroom.core.holds import HoldStatus, OwnerUse
from headroom.core.objects import Condition
from headroom.core.resources import EMPTY, Resources
from headroom.core.tenancy.values import Chronicle
from headroom.dialects.korder.words import (
    Words,
    condition_json,
    conditions_of,
    filled,
    time_text,
)
from headroom.wire.amounts import amounts_of
from headroom.wire.errors import DecodeError
from headroom.wire.objects.holdstatus import ConditionJson
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import ABSENT, Reader, Time, spelling
from headroom.wire.times import bounded, bounded_sum

# Objects of the API are open-ended JSON.
Json: TypeAlias = dict[str, Any]

_WORDS = Words({"Available": "Ready", "Succeeded": "Claimed", "WaitingForNode": "Activated"})
_PHASES = {"Available": "Ready", "Succeeded": "Claimed", "Failed": "Expired"}
_READ = {"Ready": "Available", "Reserved": "Available", "Claimed": "Succeeded", "Expired": "Failed"}


class _Status(JsonObject):
    phase: str | None = None
    activation_time: Time | None = None
    expiration_time: Time | None = None
    claimed_time: Time | None = None
    finished_time: Time | None = None
    node_name: str | None = None
    guardian_pod: str | None = None
    pod_name: str | None = None
    claimed_pod: str | None = None
    claimed_pod_uid: str | None = msgspec.field(default=None, name="claimedPodUID")
    allocated: Raw = ABSENT
    observed_generation: int | None = None
    conditions: list[ConditionJson] | None = None


_read_status = Reader(_Status)


def ticket_status_json(status: HoldStatus, namespace: str) -> Json:
    """A hold's status as a ticket's; what is empty is left out."""
    moments = status.chronicle or Chronicle()
    owner = status.owners[0] if status.owners else None
    conditions = _conditions(status)
    ready = conditions[0] if conditions else Condition("Ready", "", "")
    return filled(
        {
            "phase": _PHASES.get(status.phase, status.phase),
            "reason": ready.reason,
            "message": ready.message,
            "activationTime": time_text(moments.activated),
            "expirationTime": time_text(moments.ends),
            "claimedTime": time_text(moments.claimed),
            "finishedTime": time_text(moments.ended),
            "utilizationRate": _rate(status.allocated, status.allocatable),
            "nodeName": status.node,
            "guardianPod": f"{namespace}/{moments.guardian}" if moments.guardian else "",
            "podName": moments.guardian,
            "podNamespace": namespace if moments.guardian else "",
            "claimedPod": f"{owner.namespace}/{owner.name}" if owner else "",
            "claimedPodUID": owner.uid if owner else "",
            "allocated": format_resources(status.allocated),
            "conditions": [condition_json(each) for each in conditions],
            "observedGeneration": status.observed_generation,
        }
    )


def _conditions(status: HoldStatus) -> tuple[Condition, ...]:
    """Ours in korder's words, then the two of korder's that say the same in another way.

    A ticket that is claimed counts as ready for korder, whose Ready means that it did its work.
    """
    told = _WORDS.told(status.conditions)
    if not told:
        return ()
    ready = told[0]
    guardian, expired = status.phase == "Available", status.phase == "Failed"
    useful = guardian or status.phase == "Succeeded"
    return (
        replace(ready, status=_word(useful)),
        *told[1:],
        replace(ready, type="GuardianReady", status=_word(guardian)),
        replace(ready, type="Expiring", status=_word(expired)),
    )


def _word(holds: bool) -> str:
    return "True" if holds else "False"


def _rate(used: Resources, room: Resources) -> str:
    """How much of the room is used: of the resource that is used most, in hundredths."""
    parts = [used[name] * 100 // room[name] for name in room if room[name]]
    return f"{max(parts)}%" if used and parts else ""


def ticket_status_of(text: bytes, room: Resources) -> HoldStatus:
    """Read a ticket's status; empty for what is absent or makes no sense."""
    try:
        return _status(_read_status(text), room) if text else HoldStatus()
    except DecodeError:
        return HoldStatus()


def _status(status: _Status, room: Resources) -> HoldStatus:
    phase = _READ.get(status.phase or "", status.phase or "")
    namespace, _, name = (status.claimed_pod or "").partition("/")
    owner = OwnerUse(namespace, name, status.claimed_pod_uid or "")
    _, _, guardian = (status.guardian_pod or "").rpartition("/")
    node = status.node_name or ""
    return HoldStatus(
        phase=phase,
        node=node,
        allocatable=room if node else EMPTY,
        allocated=amounts_of(spelling(status.allocated), "status.allocated"),
        owners=(owner,) if status.claimed_pod else (),
        conditions=_meant(conditions_of(status.conditions), phase),
        observed_generation=status.observed_generation or 0,
        chronicle=Chronicle(
            activated=bounded(status.activation_time),
            ends=bounded_sum(status.expiration_time),
            claimed=bounded(status.claimed_time),
            ended=bounded(status.finished_time),
            guardian=guardian or status.pod_name or "",
        ),
    )


def _meant(conditions: tuple[Condition, ...], phase: str) -> tuple[Condition, ...]:
    """Ours again: with us, a hold that is claimed is no longer ready for anyone."""
    return tuple(
        replace(each, status=_word(phase == "Available")) if each.type == "Ready" else each
        for each in _WORDS.meant(conditions)
    )
