"""A headroom's status: how many slots are held, whether that is enough, and if not, why.

It is calculated from the wanted slots (`wanted_slots`) and from counts of the engine. Conditions
that do not change keep their times. The message says first how many slots are held, then every
obstacle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from headroom.core.conditions import conditions_of, state_words
from headroom.core.derived_names import label_value
from headroom.core.headrooms.eligibility import summary
from headroom.core.headrooms.headrooms import NO_STATUS, ON_PRIORITY, Headroom, HeadroomStatus
from headroom.core.headrooms.shapes import NONE_IN_SCOPE
from headroom.core.headrooms.wanted_slots import NO_NODE, USED_UP, WantedSlots
from headroom.core.names import FOR_LABEL, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.quotas.refusals import LIMIT_REACHED, QUOTA_EXCEEDED

# A person must act before these go away; the first that applies is the reason of all conditions.
DEGRADING = ("InvalidSpec", "WorkloadMissing", "WorkloadUnusable", "NothingToHold", "CannotFollow")
_QUIET = ("Paused", "OutsideSchedule")
# Nothing is wrong, and there is nothing to give to anybody.
_EMPTY = (USED_UP, NO_NODE, NONE_IN_SCOPE)


@dataclass(frozen=True, slots=True)
class SlotTally:
    """What the engine counts: `counts` is the part of the status that only counts and times.

    `nodes` is how many there are in the cluster; `trouble` says why slots cannot be held,
    `refused` which quota leaves no room for more of them.
    """

    counts: HeadroomStatus = NO_STATUS
    nodes: int = 0
    trouble: str = ""
    limited: bool = False  # whether a limit is all the trouble there is
    refused: str = ""
    template_generation: int = 0  # of the workload that the slots are like

    @property
    def held(self) -> int:
        return self.counts.held


def status_of(
    headroom: Headroom, wished: WantedSlots, tally: SlotTally, now: datetime
) -> HeadroomStatus:
    """Build the status from the wanted slots and the tally."""
    own = headroom.size.status(headroom, wished, tally, now)
    if own is not None:
        return own
    desired = wished.count
    reason = _reason(wished, tally, desired)
    degraded = reason in DEGRADING or bool(tally.trouble or tally.refused)
    empty = not desired and reason in _EMPTY
    ready = not degraded and not empty and tally.held >= desired
    progressing = not degraded and tally.held < desired
    message = _message(headroom, wished, tally, desired)
    words = state_words(ready, progressing, degraded, reason, message)
    return replace(
        tally.counts,
        desired=desired,
        selector=selector_of(headroom) if headroom.slot_objects is None else "",
        auto=wished.auto,
        conditions=conditions_of(words, headroom.status.conditions, headroom.generation, now),
        observed_generation=headroom.generation,
    )


def selector_of(headroom: Headroom) -> str:
    """The label selector of a headroom's guardians, as the scale subresource shows it."""
    name = label_value(headroom.parent.name)
    return f"{FOR_LABEL}={name},{ROLE_LABEL}={ROLE_GUARDIAN}"


def _reason(wished: WantedSlots, tally: SlotTally, desired: int) -> str:
    given = [note.reason for note in wished.notes]
    for reason in (*DEGRADING, *_QUIET):
        if reason in given:
            return reason
    if tally.refused:
        return QUOTA_EXCEEDED
    if tally.trouble:
        return LIMIT_REACHED if tally.limited else "Unschedulable"
    if tally.held < desired:
        return "Holding"
    return given[0] if given else "Held"


def _message(headroom: Headroom, wished: WantedSlots, tally: SlotTally, desired: int) -> str:
    held = f"{tally.held} of {desired} slots held"
    if wished.frozen and tally.held and not desired:
        held = f"{tally.held} slots that are held already are kept"
    parts = [held, *(note.message for note in wished.notes)]
    if headroom.size.by_node and wished.excluded:
        parts.append(summary(wished.excluded, tally.nodes))
    parts += [why for why in (tally.refused, tally.trouble) if why]
    parts += [str(each) for each in headroom.remarks if each.path != ON_PRIORITY]
    return "; ".join(parts)
