"""Calculate the slots that a headroom wants, as Holds, and what limits their number.

Everything is calculated from the current state, so a lost slot is simply wanted again, under its
own name: its index, or its node. The engine compares the result with the existing guardians.
`windows` says whether the headroom is on; the size itself (`core.sizes`) which slots it wants. What
all sizes share is here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from headroom.core.demand.followers import Followed
from headroom.core.demand.quota_memory import NOTHING_SAID, QuotaMemory
from headroom.core.demand.resource_quotas import QuotaAllowance
from headroom.core.headrooms import shapes as choice
from headroom.core.headrooms.chunks import pods_a_node, times
from headroom.core.headrooms.eligibility import Exclusion
from headroom.core.headrooms.headrooms import (
    ALWAYS,
    NEVER,
    NODE_CHUNK,
    PREEMPT,
    AutoStatus,
    Headroom,
    Workload,
)
from headroom.core.headrooms.size_limits import (
    MOST_SLOTS,
    Note,
    Shaped,
    allowed,
    cut_to,
    limit_note,
    reached,
)
from headroom.core.headrooms.slot_batch import BatchLimits, Indexes, within
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Node
from headroom.core.promise.announced import Learnt
from headroom.core.resources import EMPTY, Resources
from headroom.core.sizes.kind import Size

if TYPE_CHECKING:
    from headroom.core.demand.foresight import ForesightMemory, LoadView

GRACE = timedelta(seconds=40)
USED_UP, NO_NODE = "UsedUp", "NoEligibleNode"
SOURCE = "spec.slot.from: "
NO_BATCH_LIMITS = BatchLimits()
PAUSED = Note("Paused", "spec.paused: nothing is held anew and nothing is given back")


@dataclass(frozen=True, slots=True)
class SizeView:
    """What the wanted slots depend on besides their headroom.

    Slots by name: `standing` are there now; `spent` were claimed and count as used up where nothing
    is refilled. `overhead` is what stands on a node anyway, for slots as large as a node. `load` is
    for sizes that go by it; `learnt` and `room` are what the engine worked out from owners and
    quotas, `quotas` what to remember of the latter; `look_again` is when these may be others.
    `followed` are the owners of a headroom that follows gated pods, `covered_by_others` those of
    its slots that others serve, with words. `shapes` are those that were chosen for it. `most` is
    how many slots the operator makes of one headroom, `grace` how long a node that is not ready
    keeps its slots.
    """

    window: ActiveWindow | None
    nodes: Collection[Node] = ()
    workload: Workload | None = None
    standing: frozenset[str] = frozenset()
    spent: frozenset[str] = frozenset()
    overhead: Resources = EMPTY
    load: LoadView | None = None
    learnt: Learnt | None = None
    followed: tuple[Followed, ...] = ()
    covered_by_others: tuple[tuple[str, str], ...] = ()
    room: QuotaAllowance | None = None
    quotas: QuotaMemory = NOTHING_SAID
    look_again: datetime | None = None
    batch_limits: BatchLimits = NO_BATCH_LIMITS
    shapes: choice.Shapes = choice.NO_SHAPES
    most: int = MOST_SLOTS
    grace: timedelta = GRACE


@dataclass(frozen=True, slots=True)
class WantedSlots:
    """The slots to hold; `asked` is how many there would be without limits.

    `later` are wished for as well, but looked after only when the others are placed. `foresight` is
    what the next decision of a size that goes by the load has to know of this one.
    Where it is `frozen` we cannot know what is wanted: nothing is made and nothing given back.
    """

    slots: tuple[Hold, ...] = ()
    asked: int = 0
    notes: tuple[Note, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    look_again: datetime | None = None
    frozen: bool = False
    later: int = 0
    auto: AutoStatus | None = None
    foresight: ForesightMemory | None = None

    @property
    def count(self) -> int:
        """How many slots are wished for, now and later."""
        return len(self.slots) + self.later


CLOSED = WantedSlots(notes=(Note("OutsideSchedule", "no window of spec.schedule is open"),))


def wish(headroom: Headroom, view: SizeView, now: datetime) -> WantedSlots:
    """Calculate which slots should exist; the result is the same for the same view."""
    if headroom.deleted is not None:
        return WantedSlots()
    if headroom.problems:
        note = Note("InvalidSpec", "; ".join(map(str, headroom.problems)))
        return WantedSlots(notes=(note,), frozen=True)
    if headroom.slot.auto is not None:
        return _shaped(headroom, view)
    template = template_for(headroom, view.workload)
    if isinstance(template, Note):
        return WantedSlots(notes=(template,), frozen=True)
    if headroom.paused:
        slots = _kept(headroom, template, view, now)
        return WantedSlots(slots, len(slots), (PAUSED,))
    size = view.window.size if view.window is not None else headroom.size
    own = size.wish(headroom, template, view, now) if view.window or size.by_load else None
    if view.window is None:  # A size that goes by the load still follows it.
        return replace(CLOSED, foresight=own.foresight if own is not None else None)
    return _counted(headroom, size, template, view) if own is None else own


def surplus(headroom: Headroom, wished: WantedSlots, view: SizeView) -> tuple[str, ...]:
    """The existing slots to delete, the highest first; none while paused or frozen."""
    if wished.frozen or (headroom.paused and headroom.deleted is None):
        return ()
    wanted = {hold.slot for hold in wished.slots}
    return tuple(sorted(view.standing - wanted, key=height, reverse=True))


def _counted(headroom: Headroom, size: Size, template: PodTemplate, view: SizeView) -> WantedSlots:
    """So many slots of one shape, with the lowest numbers as names."""
    learnt = view.learnt or Learnt(_number(size, view.workload))
    asked = learnt.count
    if headroom.slot.chunk == NODE_CHUNK:
        most = pods_a_node(template, view.nodes, view.overhead)
        template, asked = times(template, most), -(-asked // most)
    names = _indexes(headroom, asked, view)
    left = len(names)
    wished = _alike(headroom, template, names.first(view.most), view)
    notes = (*used_up(asked, left), *cut_to(view.most, left), *wished.notes, *learnt.notes)
    return replace(wished, asked=left, notes=notes, look_again=learnt.look_again)


def _shaped(headroom: Headroom, view: SizeView) -> WantedSlots:
    """Slots like the pods of the workloads that were chosen, the first of each before the second.

    While paused, what stands is left alone: its workload may be none of the chosen any more.
    """
    if headroom.paused:
        there = len(view.standing)
        return WantedSlots(
            (), there, (PAUSED,), frozen=True, later=there, auto=headroom.status.auto
        )
    if view.window is None:
        return CLOSED
    size, shapes, chosen = view.window.size, view.shapes, view.shapes.chosen
    learnt = view.learnt or Learnt(_number(size, None))
    if size.of_workload:
        counts = tuple(_number(size, each.workload) for each in chosen)
    else:
        counts = choice.divided(min(learnt.count, view.most), chosen, shapes.had)
    shaped = choice.slot_shapes(chosen, counts, view.most)
    asked = sum(counts) if chosen else learnt.count
    slots, notes, later = within_reach(headroom, shaped, view)
    notes = (*cut_to(view.most, asked), *notes, *learnt.notes)
    if not chosen:
        notes = (Note(choice.NONE_IN_SCOPE, choice.none_chosen(shapes)), *notes)
    again = min(filter(None, (learnt.look_again, shapes.look_again)), default=None)
    return WantedSlots(
        slots, asked, notes, look_again=again, later=later, auto=choice.auto_status(shapes, counts)
    )


def _alike(
    headroom: Headroom, template: PodTemplate, names: Indexes, view: SizeView
) -> WantedSlots:
    """Slots of one shape: as many as the limits allow, and of these those of this batch."""
    count, limit = allowed(template, headroom.limits, len(names))
    notes = (limit_note(limit, count, len(names)),) if limit else ()
    chosen, later = within(names.first(count), view.standing, view.batch_limits)
    slots = tuple(as_hold(headroom, template, name, view) for name in chosen)
    return WantedSlots(slots, len(names), notes, later=later)


def within_reach(
    headroom: Headroom, shaped: Sequence[Shaped], view: SizeView
) -> tuple[tuple[Hold, ...], tuple[Note, ...], int]:
    """Those of these slots that the limits and the batch leave; why, and how many come later."""
    places, notes, later = reached(shaped, headroom.limits, view.standing, view.batch_limits)
    return tuple(as_hold(headroom, *shaped[place], view) for place in places), notes, later


def height(slot: str) -> tuple[int, str]:
    """Sort numbers as numbers; the order of nodes only has to be the same each time."""
    return len(slot), slot


def template_for(headroom: Headroom, workload: Workload | None) -> PodTemplate | Note:
    """The shape of a headroom's slots: its own, or that of its workload's pods."""
    if headroom.slot.template is not None:
        return headroom.slot.template
    source = headroom.slot.source
    if workload is None or workload.ref != source:
        return Note("WorkloadMissing", f"{SOURCE}there is no {source} in this namespace")
    if workload.problems:
        told = "; ".join(map(str, workload.problems))
        return Note("WorkloadUnusable", f"{SOURCE}{source}: {told}")
    return workload.template


def _number(size: Size, workload: Workload | None) -> int:
    return size.number(workload.replicas if workload is not None else 0)


def _indexes(headroom: Headroom, asked: int, view: SizeView) -> Indexes:
    """The lowest indexes; where nothing is refilled, claimed slots count and are left alone."""
    taken = view.spent if headroom.refill == NEVER else frozenset()
    return Indexes(asked - len(taken), taken)


def used_up(asked: int, left: int) -> tuple[Note, ...]:
    """Say how many slots were used and stay so, where nothing is refilled."""
    if left >= asked:
        return ()
    return (Note(USED_UP, f"{asked - left} of {asked} slots are used up and not refilled"),)


def as_hold(headroom: Headroom, template: PodTemplate, name: str, view: SizeView) -> Hold:
    """One slot as a hold of its own; when it is renewed is up to the headroom, so it has no ttl.

    Its version stays empty: a headroom's status changes often, and its slots with it would not.
    """
    renewed = view.window.started_at if view.window and headroom.refill == ALWAYS else None
    return Hold(
        parent=replace(headroom.parent, slot=name),
        template=template,
        owners=headroom.owners,
        mode=headroom.mode,
        created=headroom.created,
        ttl=None,
        allocate_once=headroom.slot.chunk != NODE_CHUNK,
        fresh_since=renewed,
        lifetime=headroom.slot_lifetime if headroom.refill != NEVER else None,
        reclaims=headroom.reclaim == PREEMPT and bool(template.node),
        paused=headroom.paused,
        deleted=headroom.deleted,
        generation=headroom.generation,
    )


def _kept(
    headroom: Headroom, template: PodTemplate, view: SizeView, now: datetime
) -> tuple[Hold, ...]:
    """The existing slots as they are."""
    kept = headroom.size.kept(headroom, template, view, now)
    if kept is not None:
        return kept
    ordered = sorted(view.standing, key=height)
    return tuple(as_hold(headroom, template, name, view) for name in ordered)
