"""Statuses of Orders and Tickets in korder's format; a written status decodes to the same value.

Korder has four phases and three conditions, of which it uses two; two more conditions say why a
ticket is not ready. Everything in the status of a hold is written, or follows from the rest.

    Pending            = Pending
    Ready (Reserved)   = Available
    Claimed            = Succeeded
    Expired            = Failed
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from headroom.core.headrooms.headrooms import HeadroomStatus
from headroom.core.headrooms.slot_values import Chronicle
from headroom.core.holds import HoldStatus, OwnerUse
from headroom.core.objects import Condition
from headroom.core.quotas.refusals import QUOTA_EXCEEDED
from headroom.core.resources import EMPTY, Resources
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import Json
from headroom.wire.objects.codec import AMOUNTS, NUMBER, SUM, TEXT, TEXTS, TIME, Codec, filled
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.reader import Reader
from headroom.wire.objects.statuses import CONDITIONS

_FAILED = "Failed"
_TYPES = {"Ready": "Ready", "Progressing": "Progressing", "Degraded": "Failure"}


class ConditionCodec:
    """Korder's names of our reasons; a reason without another name keeps its own."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self._korder_names = dict(reasons)
        self._our_names = {told: meant for meant, told in reasons.items()}

    def encode(self, conditions: Iterable[Condition]) -> tuple[Condition, ...]:
        """Our conditions in korder's format."""
        given = tuple(conditions)
        failed = any(each.type == "Degraded" and each.status == "True" for each in given)
        return tuple(self._encoded(each, failed) for each in given if each.type in _TYPES)

    def decode(self, conditions: Iterable[Condition]) -> tuple[Condition, ...]:
        """Korder's conditions in our format; other conditions are dropped."""
        by_type = {each.type: each for each in conditions}
        return tuple(
            self._decoded(by_type[told], ours) for ours, told in _TYPES.items() if told in by_type
        )

    def _encoded(self, condition: Condition, failed: bool) -> Condition:
        kind, reason, message = _TYPES[condition.type], condition.reason, condition.message
        if failed and reason != QUOTA_EXCEEDED:
            message = f"{reason}: {message}" if message else reason
            return replace(condition, type=kind, reason=_FAILED, message=message)
        return replace(condition, type=kind, reason=self._korder_names.get(reason, reason))

    def _decoded(self, condition: Condition, kind: str) -> Condition:
        if condition.reason == _FAILED:
            reason, _, message = condition.message.partition(": ")
            return replace(condition, type=kind, reason=reason, message=message)
        reason = self._our_names.get(condition.reason, condition.reason)
        return replace(condition, type=kind, reason=reason)


_TICKET_CONDITIONS = ConditionCodec(
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
_TICKET_STATUS = Codec(
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
            **_TICKET_STATUS.write(replace(status, phase=phase, conditions=conditions)),
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
    told = _TICKET_CONDITIONS.encode(status.conditions)
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
    status = _TICKET_STATUS.read(text)
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
        for each in _TICKET_CONDITIONS.decode(conditions)
    )


_ORDER_CONDITIONS = ConditionCodec({"Held": "Ready"})
# The counts are written even if they are zero.
_ORDER_STATUS = Codec(
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
    return _ORDER_STATUS.write(
        replace(status, conditions=_ORDER_CONDITIONS.encode(status.conditions))
    )


def order_status_of(text: bytes) -> HeadroomStatus:
    """Decode the status of an order; missing or invalid parts are empty."""
    status = _ORDER_STATUS.read(text)
    return replace(status, conditions=_ORDER_CONDITIONS.decode(status.conditions))
