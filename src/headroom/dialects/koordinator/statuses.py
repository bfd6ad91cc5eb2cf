"""A Reservation's status in Koordinator's own words, and those words read back.

Only fields that Koordinator's definition has are written: any other would be dropped, and a status
that reads back otherwise than it was meant would be written again and again. Its conditions are

    Scheduled  False/<why not>  while it waits and there is something to say, else True/Scheduled
    Ready      True/Available, False/Succeeded, False/Expired

and a third one, Degraded, only for what Koordinator has no words for: it is held, but not whole.
What is told of owners without a door is a condition of its own.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headroom.core.findings.doors import OWNERS_WITHOUT_DOOR
from headroom.core.holds import HoldStatus
from headroom.core.objects import Condition
from headroom.wire.objects.codec import AMOUNTS, TEXT, Codec, Json, filled
from headroom.wire.objects.statuses import CONDITIONS, OWNERS
from headroom.wire.times import format_time

AVAILABLE = "Available"
FULLY_USED = "FullyUsed"
WAITING_FOR_NODE = "WaitingForNode"
ENDED = ("Succeeded", "Failed")
HELD = (AVAILABLE, *ENDED)
_SAYS_FULL = "all of it is in use"  # A reason of its own with us, with Koordinator none.


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
    """Spell a status; what is empty is left out, as Koordinator does."""
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
    """What is told of owners without a door, beside Koordinator's conditions."""
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
    """Read a status back; empty for what is absent or makes no sense.

    Koordinator keeps fewer times than we do and no generations: what it does not say is as old as
    the object, and about its present generation.
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
