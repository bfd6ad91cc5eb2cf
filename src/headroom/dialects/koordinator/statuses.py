"""The status of a Reservation in Koordinator's format: encode and decode.

Only fields of Koordinator's definition are written. Other fields would be dropped, and a status
that decodes to another value would be written again and again. The conditions are

    Scheduled   False/<reason> while it waits and there is a reason, otherwise True/Scheduled
    Ready       True/Available, False/Succeeded, False/Expired

and a third one, Degraded, only for a case without a reason in Koordinator: it is held in part.
Owners without a door are reported in a separate condition.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headroom.core.findings.doors import OWNERS_WITHOUT_DOOR
from headroom.core.holds import HoldStatus
from headroom.core.objects import Condition
from headroom.wire.kinds import Json
from headroom.wire.objects.codec import AMOUNTS, TEXT, Codec, filled
from headroom.wire.objects.statuses import CONDITIONS, OWNERS
from headroom.wire.times import format_time

AVAILABLE = "Available"
FULLY_USED = "FullyUsed"
WAITING_FOR_NODE = "WaitingForNode"
ENDED = ("Succeeded", "Failed")
HELD = (AVAILABLE, *ENDED)
_SAYS_FULL = "all of it is in use"  # We have a reason for this, Koordinator has none.


_STATUS = Codec(
    HoldStatus,
    phase=TEXT,
    node=TEXT.named("nodeName"),
    allocatable=AMOUNTS,
    allocated=AMOUNTS,
    owners=OWNERS.named("currentOwners"),
    conditions=CONDITIONS,
)


def status_json(status: HoldStatus) -> Json:
    """Encode a status; empty fields are left out, as in Koordinator."""
    conditions = [*_conditions(status), *_doors(status)]
    return filled({**_STATUS.write(status), "conditions": conditions})


def _conditions(status: HoldStatus) -> list[Json]:
    known = {condition.type: condition for condition in status.conditions}
    ready = known.get("Ready")
    if ready is None:
        return []
    placed = known.get("Progressing", ready)
    if status.phase not in HELD:
        if ready.reason == WAITING_FOR_NODE and not ready.message:
            return []
        return [_condition("Scheduled", "False", ready, ready.reason, ready.message)]
    written = []
    if status.node:
        written.append(_condition("Scheduled", "True", placed, "Scheduled"))
    if status.phase in ENDED:
        return [*written, _condition("Ready", "False", ready, ready.reason, ready.message)]
    if ready.reason in (AVAILABLE, FULLY_USED):
        return [*written, _condition("Ready", "True", ready, AVAILABLE, ready.message)]
    odd = known.get("Degraded", ready)
    return [
        *written,
        _condition("Ready", "True", ready, AVAILABLE),
        _condition("Degraded", odd.status, odd, odd.reason, odd.message),
    ]


def _doors(status: HoldStatus) -> list[Json]:
    """The condition about owners without a door, beside Koordinator's conditions."""
    told = [each for each in status.conditions if each.type == OWNERS_WITHOUT_DOOR]
    return [_condition(each.type, each.status, each, each.reason, each.message) for each in told]


def _condition(kind: str, status: str, known: Condition, reason: str, message: str = "") -> Json:
    since = format_time(known.since) if known.since else None
    return filled(
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastProbeTime": since,
            "lastTransitionTime": since,
        }
    )


def status_of(text: bytes, created: datetime | None, generation: int) -> HoldStatus:
    """Decode a status; missing or invalid parts are empty.

    Koordinator stores fewer times than we do and no generations: missing times are those of the
    object, and the generation is the current one.
    """
    status = _STATUS.read(text)
    return replace(
        status,
        conditions=_own_conditions(status, created, generation),
        observed_generation=generation if status.phase else 0,
    )


def _own_conditions(
    status: HoldStatus, created: datetime | None, generation: int
) -> tuple[Condition, ...]:
    if not status.phase:
        return ()
    known = {condition.type: condition for condition in status.conditions}
    placed = known.get("Scheduled", Condition("Scheduled", "", WAITING_FOR_NODE))
    ready = known.get("Ready", placed)
    odd = known.get("Degraded")
    told = odd or ready
    reason, message = told.reason, told.message
    if status.phase == AVAILABLE and odd is None and message.startswith(_SAYS_FULL):
        reason = FULLY_USED
    stuck = status.phase == "Pending" and reason != WAITING_FOR_NODE
    degraded = odd.status == "True" if odd is not None else stuck

    def condition(kind: str, holds: bool, source: Condition) -> Condition:
        word = "True" if holds else "False"
        return Condition(kind, word, reason, message, source.since or created, generation)

    own = (
        condition("Ready", status.phase == AVAILABLE, ready),
        condition("Progressing", status.phase == "Pending" and not degraded, placed),
        condition("Degraded", degraded, odd or placed),
    )
    doors = known.get(OWNERS_WITHOUT_DOOR)
    if doors is None:
        return own
    return (*own, replace(doors, generation=generation))
