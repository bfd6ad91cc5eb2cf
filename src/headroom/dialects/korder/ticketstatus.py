"""The status of a Ticket in korder's format; a written status decodes to the same value.

Korder has four phases and three conditions, of which it uses two; two more conditions say why a
ticket is not ready. Everything in the status of a hold is written, or follows from the rest.

    Pending            = Pending
    Ready (Reserved)   = Available
    Claimed            = Succeeded
    Expired            = Failed
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from headroom.core.holds import HoldStatus, OwnerUse
from headroom.core.objects import Condition
from headroom.core.resources import EMPTY, Resources
from headroom.core.tickets.values import Chronicle
from headroom.dialects.korder.conditions import ConditionCodec
from headroom.wire.errors import DecodeError
from headroom.wire.objects.codec import AMOUNTS, NUMBER, SUM, TEXT, TIME, Codec, Json, filled
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Reader
from headroom.wire.objects.statuses import CONDITIONS

_CONDITIONS = ConditionCodec(
    {"Available": "Ready", "Succeeded": "Claimed", "WaitingForNode": "Activated"}
)
_PHASES = {"Available": "Ready", "Succeeded": "Claimed", "Failed": "Expired"}
_READ = {"Ready": "Available", "Reserved": "Available", "Claimed": "Succeeded", "Expired": "Failed"}


class _TicketNames(JsonObject):
    guardian_pod: str | None = None
    pod_name: str | None = None
    claimed_pod: str | None = None
    claimed_pod_uid: str | None = msgspec.field(default=None, name="claimedPodUID")


_read_names = Reader(_TicketNames)
_STATUS = Codec(
    HoldStatus,
    phase=TEXT,
    node=TEXT.named("nodeName"),
    allocated=AMOUNTS,
    conditions=CONDITIONS,
    observed_generation=NUMBER,
)
_MOMENTS = Codec(
    Chronicle,
    activated=TIME.named("activationTime"),
    ends=SUM.named("expirationTime"),
    claimed=TIME.named("claimedTime"),
    ended=TIME.named("finishedTime"),
)


def ticket_status_json(status: HoldStatus, namespace: str) -> Json:
    """The status of a hold as the status of a ticket; empty fields are left out."""
    moments = status.chronicle or Chronicle()
    owner = status.owners[0] if status.owners else None
    conditions = _conditions(status)
    ready = conditions[0] if conditions else Condition("Ready", "", "")
    phase = _PHASES.get(status.phase, status.phase)
    return filled(
        {
            **_STATUS.write(replace(status, phase=phase, conditions=conditions)),
            **_MOMENTS.write(moments),
            "reason": ready.reason,
            "message": ready.message,
            "utilizationRate": _rate(status.allocated, status.allocatable),
            "guardianPod": f"{namespace}/{moments.guardian}" if moments.guardian else "",
            "podName": moments.guardian,
            "podNamespace": namespace if moments.guardian else "",
            "claimedPod": f"{owner.namespace}/{owner.name}" if owner else "",
            "claimedPodUID": owner.uid if owner else "",
        }
    )


def _conditions(status: HoldStatus) -> tuple[Condition, ...]:
    """Our conditions in korder's format, then the two of korder with the same meaning.

    A claimed ticket is ready for korder, whose Ready means that the ticket did its work.
    """
    told = _CONDITIONS.encode(status.conditions)
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
    """The used share of the room in percent: of the resource that is used most."""
    parts = [used[name] * 100 // room[name] for name in room if room[name]]
    return f"{max(parts)}%" if used and parts else ""


def ticket_status_of(text: bytes, room: Resources) -> HoldStatus:
    """Decode the status of a ticket; missing or invalid parts are empty."""
    status = _STATUS.read(text)
    try:
        names = _read_names(text or b"{}")
    except DecodeError:
        names = _TicketNames()
    phase = _READ.get(status.phase, status.phase)
    namespace, _, name = (names.claimed_pod or "").partition("/")
    owner = OwnerUse(namespace, name, names.claimed_pod_uid or "")
    _, _, guardian = (names.guardian_pod or "").rpartition("/")
    moments = replace(_MOMENTS.read(text), guardian=guardian or names.pod_name or "")
    return replace(
        status,
        phase=phase,
        allocatable=room if status.node else EMPTY,
        owners=(owner,) if names.claimed_pod else (),
        conditions=_meant(status.conditions, phase),
        chronicle=moments if status.phase or moments != Chronicle() else None,
    )


def _meant(conditions: tuple[Condition, ...], phase: str) -> tuple[Condition, ...]:
    """Our conditions again: for us, a claimed hold is no longer ready."""
    return tuple(
        replace(each, status=_word(phase == "Available")) if each.type == "Ready" else each
        for each in _CONDITIONS.decode(conditions)
    )
