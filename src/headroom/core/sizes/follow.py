"""`size.follow`: slots next to each pod that carries a gate: their node, size and name.

`core.demand.followers` says which slots an owner needs, and when its gate is removed. This module
gives them the shape that guardians are created from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from headroom.core.demand.followers import (
    DEADLINE,
    FixedCount,
    Followed,
    FollowerSlot,
    FromAnnotation,
    Marks,
    PerVolume,
    beside,
    slot_of,
)
from headroom.core.derived_names import label_value, named_after, short_hash
from headroom.core.fast_dataclass import replace
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.headrooms.size_limits import Note, cut_to, reached
from headroom.core.headrooms.wanted_slots import SizeView, WantedSlots, as_hold
from headroom.core.holds import Hold, PodTemplate
from headroom.core.names import BESIDE_LABEL, ROLE_LABEL
from headroom.core.objects import Parent, Placement, Pod, PodTerm
from headroom.core.sizes.kind import Size, slots_told

TOLD = 2
ONE = FixedCount()


@dataclass(frozen=True, slots=True)
class Follow(Size):
    """Slots next to each pod that carries a gate, and how long it may be kept waiting for them.

    Without a `deadline` it may be for ever. With `everywhere` the pods are those of every namespace
    but the headroom's own, else those of its own.
    """

    held_once: ClassVar[bool] = True

    gate: str
    slots: FixedCount | PerVolume | FromAnnotation = ONE
    deadline: timedelta | None = DEADLINE
    everywhere: bool = False
    marks: Marks | None = None

    @property
    def in_parts(self) -> bool:
        return isinstance(self.slots, PerVolume)

    @property
    def reads_volumes(self) -> bool:
        return isinstance(self.slots, PerVolume)

    @property
    def follows(self) -> Follow:
        return self

    def wish(
        self, headroom: Headroom, template: PodTemplate, view: SizeView, now: datetime
    ) -> WantedSlots:
        """A claimed slot is not held again: what it was held for has come."""
        needless = view.spent.union(name for name, _ in view.covered_by_others)
        every = beside_slots(headroom, self, template, view)
        beside = [hold for hold in every if hold.slot not in needless]
        asked, shaped = len(beside), [(hold.template, hold.slot) for hold in beside[: view.most]]
        chosen, notes, later = reached(shaped, headroom.limits, view.standing, view.batch_limits)
        slots = tuple(beside[place] for place in chosen)
        said = (
            Note("CannotFollow", troubles(view.followed)),
            Note("RoomBeside", first_few(view.covered_by_others)),
        )
        told = (note for note in said if note.message)
        return WantedSlots(slots, asked, (*told, *cut_to(view.most, asked), *notes), later=later)

    def kept(
        self, headroom: Headroom, template: PodTemplate, view: SizeView, now: datetime
    ) -> tuple[Hold, ...]:
        wished = self.wish(headroom, template, view, now)
        return tuple(hold for hold in wished.slots if hold.slot in view.standing)

    def words(self, headroom: Headroom, workload: Workload | None) -> str:
        match self.slots:
            case FixedCount(count):
                slots = slots_told(count)
            case PerVolume(driver):
                slots = f"a slot for each volume of {driver}"
            case FromAnnotation(key):
                slots = f"as many slots as its annotation {key} says,"
        return f"{slots} next to each pod that is gated by {self.gate}"


def owner_label(parent: Parent, size: Follow) -> str:
    """The label under which an owner carries its uid, so that slots find its node.

    Every headroom has one of its own: a pod may carry the gates of several.
    """
    if size.marks is not None:
        return size.marks.owner
    return f"{BESIDE_LABEL}-{short_hash(parent.whole, parent.uid)}"


def is_owner(parent: Parent, size: Follow, pod: Pod) -> bool:
    """Whether slots follow a pod: it carries the gate, or did and is known by its label."""
    own = pod.key.namespace == parent.namespace
    if ROLE_LABEL in pod.labels or own == size.everywhere:
        return False
    return size.gate in pod.gates or pod.labels.get(owner_label(parent, size)) == pod.uid


def beside_slots(
    headroom: Headroom, size: Follow, template: PodTemplate, view: SizeView
) -> Iterator[Hold]:
    """The slots of all owners that are not over.

    `awaits` is the owner while it has no node: until then the slot cannot have one either. From
    then on `next_to` is that node. `guardian` is empty unless a dialect prescribes the name.
    """
    label = owner_label(headroom.parent, size)
    for each in view.followed:
        term, node = beside(each.owner, label), each.owner.node
        for slot in each.needs.slots:
            made, guardian = _shaped(template, term, slot), ""
            if size.marks is not None:
                marks = size.marks
                own = ((marks.pod, each.owner.uid), (marks.part, label_value(slot.part)))
                labels = (*template.labels, *own)
                made = replace(made, labels=labels, priority_class=marks.priority_class)
                guardian = named_after(marks.prefix, each.owner.uid, slot.part)
            hold = as_hold(headroom, made, slot_of(each.owner, slot.part), view)
            awaits = "" if node else str(each.owner.key)
            yield replace(hold, guardian=guardian, awaits=awaits, next_to=node)


def troubles(followed: Iterable[Followed]) -> str:
    """What keeps owners waiting that somebody has to mend, the first few by name."""
    return first_few(
        [
            (f"pod {each.owner.key}", each.needs.message)
            for each in followed
            if each.needs.reason == "CannotFollow"
        ]
    )


def first_few(told: Sequence[tuple[str, str]]) -> str:
    """What there is to say of some, the first few by name."""
    more = [f"and {len(told) - TOLD} more"] if len(told) > TOLD else []
    return "; ".join((*(f"{name}: {words}" for name, words in told[:TOLD]), *more))


def _shaped(template: PodTemplate, term: PodTerm, slot: FollowerSlot) -> PodTemplate:
    """The template for one slot: of its own size where it has one, next to its owner."""
    pod = replace(template.pod, placement=_next_to(template.pod.placement, term))
    if slot.requests is not None:
        pod = replace(pod, requests=slot.requests, nonzero_requests=slot.requests)
    size = "" if slot.requests is None else repr(sorted(slot.requests.items()))
    return replace(template, pod=pod, beside=term, shape=short_hash(template.shape, size))


def _next_to(placement: Placement, term: PodTerm) -> Placement:
    affinity = placement.pod_affinity
    return replace(placement, pod_affinity=replace(affinity, required=(*affinity.required, term)))
