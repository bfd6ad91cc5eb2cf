"""A headroom's status: how many slots stand, whether that is enough, and if not, why.

Worked out from the wish (`sizing`) and from counts that the engine keeps; the times of conditions
that stay are kept. The message says first what stands, then everything that is in the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headroom.core.eligibility import summary
from headroom.core.headrooms import Headroom, HeadroomStatus, PerNode
from headroom.core.names import FOR_LABEL, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.naming import label_value
from headroom.core.objects import Condition
from headroom.core.sizing import Wish

# A person must act before these go away; the first that applies is the reason of all conditions.
_DEGRADING = ("InvalidSpec", "WorkloadMissing", "WorkloadUnusable", "NothingToHold")
_QUIET = ("Paused", "OutsideSchedule")


@dataclass(frozen=True, slots=True)
class Tally:
    """What the engine counts: slots that stand, and owners served or not since the beginning.

    `nodes` is how many there are in the cluster; `trouble` says why slots cannot be held.
    """

    held: int = 0
    pending: int = 0
    claimed: int = 0
    hits: int = 0
    misses: int = 0
    nodes: int = 0
    trouble: str = ""
    next_start: datetime | None = None


def status_of(headroom: Headroom, wished: Wish, tally: Tally, now: datetime) -> HeadroomStatus:
    """Build the status that wish and tally call for."""
    desired = len(wished.slots)
    reason = _reason(wished, tally, desired)
    degraded = reason in _DEGRADING or bool(tally.trouble)
    ready = not degraded and tally.held >= desired
    wanted = (
        ("Ready", ready),
        ("Progressing", not degraded and tally.held < desired),
        ("Degraded", degraded),
    )
    message = _message(headroom, wished, tally, desired)
    before = {condition.type: condition for condition in headroom.status.conditions}
    return HeadroomStatus(
        desired=desired,
        held=tally.held,
        pending=tally.pending,
        claimed=tally.claimed,
        hits=tally.hits,
        misses=tally.misses,
        next_start=tally.next_start,
        selector=selector_of(headroom),
        conditions=tuple(
            Condition(
                kind,
                status := "True" if holds else "False",
                reason,
                message,
                _since(before.get(kind), status, now),
                headroom.generation,
            )
            for kind, holds in wanted
        ),
        observed_generation=headroom.generation,
    )


def selector_of(headroom: Headroom) -> str:
    """The label selector of a headroom's guardians, as the scale subresource shows it."""
    name = label_value(headroom.parent.name)
    return f"{FOR_LABEL}={name},{ROLE_LABEL}={ROLE_GUARDIAN}"


def _reason(wished: Wish, tally: Tally, desired: int) -> str:
    given = [note.reason for note in wished.notes]
    for reason in (*_DEGRADING, *_QUIET):
        if reason in given:
            return reason
    if tally.trouble:
        return "Unschedulable"
    if tally.held < desired:
        return "Holding"
    return given[0] if given else "Held"


def _message(headroom: Headroom, wished: Wish, tally: Tally, desired: int) -> str:
    parts = [f"{tally.held} of {desired} slots held", *(note.message for note in wished.notes)]
    if isinstance(headroom.size, PerNode) and wished.excluded:
        parts.append(summary(wished.excluded, tally.nodes))
    if tally.trouble:
        parts.append(tally.trouble)
    return "; ".join(parts)


def _since(before: Condition | None, status: str, now: datetime) -> datetime:
    if before is not None and before.status == status and before.since is not None:
        return before.since
    return now.replace(microsecond=0)
