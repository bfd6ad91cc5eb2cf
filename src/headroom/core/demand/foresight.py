"""Decide how many slots a headroom that follows the load should have now, and which.

This module combines certain demand (missing pods of workloads), the rule that cannot oscillate
(`utilization`), the speed of changes and the backoff (`scale_rate`), and the limits. What must be
remembered between two calls is a value, `ForesightMemory`, that the engine stores.
`core.headrooms.wanted_slots` turns the result into slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count as numbers
from itertools import islice
from typing import NamedTuple

from headroom.core.demand import scale_rate, utilization
from headroom.core.demand.resource_quotas import Tight
from headroom.core.headrooms.headrooms import Limits
from headroom.core.headrooms.size_limits import MOST_SLOTS, Note, limit_note
from headroom.core.objects import Pod
from headroom.core.plan import earliest
from headroom.core.quotas.refusals import QUOTA_EXCEEDED
from headroom.core.resources import EMPTY, Resources

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
    """What one decision leaves for the next; `placed` are the guardians that were on a node."""

    trail: scale_rate.Trail = START
    certain: scale_rate.Trail = START
    stall: scale_rate.Stall = CALM
    placed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LoadView:
    """The inputs of one decision: the load, pods known to come, and what stands.

    `guardians` has that of each slot by name; None for one of before a restart, which counts as
    placed. `quota` is the one of the namespace's ResourceQuotas that allows the fewest slots,
    `memory` what the last decision left.
    """

    load: utilization.Load
    guardians: Mapping[str, Pod | None]
    forthcoming: Resources = EMPTY
    quota: Tight | None = None
    most: int = MOST_SLOTS  # that the operator makes of one headroom
    memory: ForesightMemory | None = None


class Sized(NamedTuple):
    """Slots by name, how many there would be if nothing held the number, and what to remember."""

    names: tuple[str, ...]
    asked: int
    notes: tuple[Note, ...]
    look_again: datetime | None
    memory: ForesightMemory


def foreseen(permille: int, one: Resources, limits: Limits, view: LoadView, now: datetime) -> Sized:
    """Say which slots of this shape keep the load under a threshold, within these limits."""
    bound = {slot: pod is None or bool(pod.node) for slot, pod in view.guardians.items()}
    guardians = [pod for pod in view.guardians.values() if pod is not None]
    placed = frozenset(pod.uid for pod in guardians if pod.node)
    created = (pod.created for pod in guardians if not pod.node)
    waiting_since = min((each for each in created if each is not None), default=None)
    # After a restart what stands is where the number is.
    memory = view.memory or ForesightMemory(scale_rate.Trail(len(bound)), placed=placed)
    coming = utilization.pieces(view.forthcoming, one)
    certain = scale_rate.paced(memory.certain, min(coming, view.most), CERTAIN, now)
    by_rule = utilization.placeholders(view.load.used, one, permille)
    trail = scale_rate.paced(memory.trail, min(by_rule, view.most), PACE, now)
    wanted, on_nodes = certain.count + trail.count, sum(bound.values())
    stall = scale_rate.judged(memory.stall, waiting_since, bool(placed - memory.placed), now)
    slots = view.most if limits.slots is None else min(limits.slots, view.most)
    quota = view.quota.count if view.quota is not None else None
    count, held_by = utilization.bounded(
        wanted, view.load, on_nodes, replace(limits, slots=slots), quota
    )
    notes = [_held(name, count, wanted, view.quota) for name in held_by]
    if stall.held_back(now) and count > on_nodes + 1:
        notes.append(_stalled(stall, count - on_nodes - 1))
        count = on_nodes + 1
    look_again = earliest(
        scale_rate.next_move(trail, PACE, now),
        scale_rate.next_move(certain, CERTAIN, now),
        scale_rate.next_judgement(stall, waiting_since, now),
    )
    memory = ForesightMemory(trail, certain, stall, placed)
    return Sized(
        tuple(slot_names(bound, count)), coming + by_rule, tuple(notes), look_again, memory
    )


def _held(bound: str, most: int, wanted: int, quota: Tight | None) -> Note:
    if bound == "quota" and quota is not None:
        return Note(QUOTA_EXCEEDED, quota.allows(wanted))
    return limit_note(bound, most, wanted)


def _stalled(stall: scale_rate.Stall, fewer: int) -> Note:
    until = stall.until.strftime("%H:%M:%S") if stall.until is not None else ""
    words = f"no node came for those that wait: one stays, {fewer} more are asked for at {until}"
    return Note("Stalled", words)


def slot_names(bound: Mapping[str, bool], most: int) -> Iterator[str]:
    """So many slots: those that stand, and then the lowest free names.

    Of those that stand the ones without a node are given back first, and among equals the highest.
    """
    lowest_first = sorted(bound, key=lambda name: (len(name), name))
    kept = frozenset(sorted(lowest_first, key=lambda name: not bound[name])[:most])
    yield from (name for name in lowest_first if name in kept)
    free = (name for name in map(str, numbers()) if name not in bound)
    yield from islice(free, max(0, most - len(kept)))
