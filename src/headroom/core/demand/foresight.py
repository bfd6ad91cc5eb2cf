"""Decide how many slots a headroom that follows the load should have now, and which.

This module combines certain demand (missing pods of workloads), the rule that cannot oscillate
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

from headroom.core.demand import scale_rate, utilization
from headroom.core.demand.resource_quotas import Tight
from headroom.core.headrooms.headrooms import NO_LIMITS, Limits
from headroom.core.headrooms.size_limits import MOST_SLOTS, Note
from headroom.core.plan import earliest
from headroom.core.quotas.refusals import QUOTA_EXCEEDED
from headroom.core.resources import EMPTY, Resources
from headroom.core.sizes.kind import WHOLE

PACE = scale_rate.ScalePolicy()
# A workload's status is behind its pods for a moment; what is still missing then is believed, and
# forgotten as soon as it has come.
CERTAIN = scale_rate.ScalePolicy(
    up=scale_rate.ScaleRate(0, timedelta(seconds=1), after=timedelta(seconds=5), least=1_000_000),
    down=scale_rate.ScaleRate(100, timedelta(seconds=1)),
)
START = scale_rate.Trail()
CALM = scale_rate.Stall()


@dataclass(frozen=True, slots=True)
class ForesightMemory:
    """What one look leaves for the next; `placed` are the guardians that were seen on a node."""

    trail: scale_rate.Trail = START
    certain: scale_rate.Trail = START
    stall: scale_rate.Stall = CALM
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
class LoadView:
    """The inputs of one decision: the shape of one slot, the load, pods known to come, what stands.

    `quota` is the one of the namespace's ResourceQuotas that allows the fewest slots, `memory` what
    the last decision left. `look_again` is when the inputs themselves may be others.
    """

    one: Resources
    load: utilization.Load
    guarded: Guarded
    forthcoming: Resources = EMPTY
    limits: Limits = NO_LIMITS
    quota: Tight | None = None
    most: int = MOST_SLOTS  # that the operator makes of one headroom
    memory: ForesightMemory | None = None
    look_again: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sized:
    """Slots by name.

    `asked` is how many there would be if nothing held the number.
    """

    names: tuple[str, ...] = ()
    asked: int = 0
    notes: tuple[Note, ...] = ()
    look_again: datetime | None = None


def foreseen(permille: int, view: LoadView, now: datetime) -> tuple[Sized, ForesightMemory]:
    """Say which slots keep the load under a threshold, and what to remember of this decision."""
    guarded, memory = view.guarded, view.memory
    if memory is None:  # After a restart what stands is where the number is.
        memory = ForesightMemory(scale_rate.Trail(len(guarded.bound)), placed=guarded.placed)
    coming = _pieces(view.forthcoming, view.one)
    certain = scale_rate.paced(memory.certain, min(coming, view.most), CERTAIN, now)
    by_rule = utilization.placeholders(view.load.used, view.one, permille)
    trail = scale_rate.paced(memory.trail, min(by_rule, view.most), PACE, now)
    count = certain.count + trail.count
    placed = bool(guarded.placed - memory.placed)
    stall = scale_rate.judged(memory.stall, guarded.waiting_since, placed, now)
    bound = sum(guarded.bound.values())
    target = utilization.bounded(count, view.load, bound, _bounds(view))
    notes = [_held(name, target.count, count, view.quota) for name in target.held_by]
    most = target.count
    if stall.held_back(now) and most > bound + 1:
        most = bound + 1
        notes.append(_stalled(stall, target.count - most))
    sized = Sized(
        names=tuple(_names(guarded.bound, most)),
        asked=coming + by_rule,
        notes=tuple(notes),
        look_again=earliest(
            view.look_again,
            scale_rate.next_move(trail, PACE, now),
            scale_rate.next_move(certain, CERTAIN, now),
            scale_rate.next_judgement(stall, guarded.waiting_since, now),
        ),
    )
    return sized, ForesightMemory(trail, certain, stall, guarded.placed)


def _pieces(amount: Resources, one: Resources) -> int:
    """How many slots of this shape hold so much."""
    return utilization.placeholders(amount, one, WHOLE // 2)


def _bounds(view: LoadView) -> utilization.SizeBounds:
    limits, quota = view.limits, view.quota.count if view.quota is not None else None
    slots = view.most if limits.slots is None else min(limits.slots, view.most)
    return utilization.SizeBounds(slots=slots, pods=limits.pods, nodes=limits.nodes, quota=quota)


def _held(bound: str, most: int, wanted: int, quota: Tight | None) -> Note:
    if bound == "quota" and quota is not None:
        return Note(QUOTA_EXCEEDED, quota.allows(wanted))
    return Note("LimitReached", f"spec.limits.{bound} allows {most} of {wanted} slots")


def _stalled(stall: scale_rate.Stall, fewer: int) -> Note:
    until = stall.until.strftime("%H:%M:%S") if stall.until is not None else ""
    words = f"no node came for those that wait: one stays, {fewer} more are asked for at {until}"
    return Note("Stalled", words)


def _names(bound: Mapping[str, bool], most: int) -> Iterator[str]:
    """So many slots: those that stand, except what is given back, then the lowest free names."""
    gone = frozenset(utilization.given_back(bound, most))
    kept = [name for name in sorted(bound, key=lambda each: (len(each), each)) if name not in gone]
    yield from kept
    free = (name for name in map(str, numbers()) if name not in bound)
    yield from islice(free, max(0, most - len(kept)))
