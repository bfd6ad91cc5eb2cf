"""Decide how many slots a headroom that follows the load should have now, and which.

This module combines certain demand (`missing_pods`), the rule that cannot oscillate
(`utilization`), the speed of changes and the backoff (`scale_rate`), and the limits. What must be
remembered between two calls is a value, `ForesightMemory`, that the engine stores.
`core.headrooms.wanted_slots` turns the result into slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count as numbers
from itertools import islice

from headroom.core.demand.quotaroom import Tight
from headroom.core.demand.scale_rate import (
    ScalePolicy,
    ScaleRate,
    Stall,
    Trail,
    judged,
    next_judgement,
    next_move,
    paced,
)
from headroom.core.demand.utilization import (
    Load,
    Placeholders,
    SizeBounds,
    bounded,
    given_back,
    placeholders,
)
from headroom.core.headrooms.headrooms import NO_LIMITS, Limits
from headroom.core.headrooms.size_inputs import Sized
from headroom.core.headrooms.size_limits import MOST_SLOTS, Note
from headroom.core.plan import earliest
from headroom.core.quotas.refusals import QUOTA_EXCEEDED
from headroom.core.resources import EMPTY, Resources
from headroom.core.sizes.kind import WHOLE

PACE = ScalePolicy()
# A workload's status is behind its pods for a moment; what is still missing then is believed, and
# forgotten as soon as it has come.
CERTAIN = ScalePolicy(
    up=ScaleRate(0, timedelta(seconds=1), after=timedelta(seconds=5), least=1_000_000),
    down=ScaleRate(100, timedelta(seconds=1)),
)
START = Trail()
CALM = Stall()


@dataclass(frozen=True, slots=True)
class ForesightMemory:
    """What one look leaves for the next; `placed` are the guardians that were seen on a node."""

    trail: Trail = START
    certain: Trail = START
    stall: Stall = CALM
    placed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Guarded:
    """The slots that have a guardian, by name: whether it is on a node, and its uid.

    `waiting_since` is when the one that waits longest was made.
    """

    bound: Mapping[str, bool]
    placed: frozenset[str] = frozenset()
    waiting_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class ForeseenDemand:
    """What the number depends on: the shape of one slot, the load, and pods known to come.

    `quota` is the one of the namespace's ResourceQuotas that allows the fewest slots.
    """

    one: Resources
    load: Load
    forthcoming: Resources = EMPTY
    limits: Limits = NO_LIMITS
    quota: Tight | None = None
    most: int = MOST_SLOTS  # that the operator makes of one headroom


@dataclass(frozen=True, slots=True)
class Observed:
    """The inputs of one decision: the demand, what stands, and what the last decision left.

    `look_again` is when the demand itself may be another one.
    """

    demand: ForeseenDemand
    guarded: Guarded
    memory: ForesightMemory | None = None
    look_again: datetime | None = None


def foreseen(permille: int, observed: Observed, now: datetime) -> tuple[Sized, ForesightMemory]:
    """Say which slots keep the load under a threshold, and what to remember of this decision."""
    demand, guarded, memory = observed.demand, observed.guarded, observed.memory
    if memory is None:  # After a restart what stands is where the number is.
        memory = ForesightMemory(Trail(len(guarded.bound)), placed=guarded.placed)
    coming = _pieces(demand.forthcoming, demand.one)
    certain = paced(memory.certain, min(coming, demand.most), CERTAIN, now)
    by_rule = placeholders(demand.load.used, demand.one, permille)
    trail = paced(memory.trail, min(by_rule, demand.most), PACE, now)
    count = certain.count + trail.count
    placed = bool(guarded.placed - memory.placed)
    stall = judged(memory.stall, guarded.waiting_since, placed, now)
    bound = sum(guarded.bound.values())
    standing = Placeholders(bound, len(guarded.bound) - bound)
    target = bounded(count, demand.load, standing, _bounds(demand))
    notes = [_held(name, target.count, count, demand.quota) for name in target.held_by]
    most = target.count
    if stall.held_back(now) and most > bound + 1:
        most = bound + 1
        notes.append(_stalled(stall, target.count - most))
    sized = Sized(
        names=tuple(_names(guarded.bound, most)),
        asked=coming + by_rule,
        notes=tuple(notes),
        look_again=earliest(
            observed.look_again,
            next_move(trail, PACE, now),
            next_move(certain, CERTAIN, now),
            next_judgement(stall, guarded.waiting_since, now),
        ),
    )
    return sized, ForesightMemory(trail, certain, stall, guarded.placed)


def _pieces(amount: Resources, one: Resources) -> int:
    """How many slots of this shape hold so much."""
    return placeholders(amount, one, WHOLE // 2)


def _bounds(demand: ForeseenDemand) -> SizeBounds:
    limits, quota = demand.limits, demand.quota.count if demand.quota is not None else None
    slots = demand.most if limits.slots is None else min(limits.slots, demand.most)
    return SizeBounds(slots=slots, pods=limits.pods, nodes=limits.nodes, quota=quota)


def _held(bound: str, most: int, wanted: int, quota: Tight | None) -> Note:
    if bound == "quota" and quota is not None:
        return Note(QUOTA_EXCEEDED, quota.allows(wanted))
    return Note("LimitReached", f"spec.limits.{bound} allows {most} of {wanted} slots")


def _stalled(stall: Stall, fewer: int) -> Note:
    until = stall.until.strftime("%H:%M:%S") if stall.until is not None else ""
    words = f"no node came for those that wait: one stays, {fewer} more are asked for at {until}"
    return Note("Stalled", words)


def _names(bound: Mapping[str, bool], most: int) -> Iterator[str]:
    """So many slots: those that stand, except what is given back, then the lowest free names."""
    gone = frozenset(given_back(bound, most))
    kept = [name for name in sorted(bound, key=lambda each: (len(each), each)) if name not in gone]
    yield from kept
    free = (name for name in map(str, numbers()) if name not in bound)
    yield from islice(free, max(0, most - len(kept)))
