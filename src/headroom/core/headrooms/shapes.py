"""Automatic shapes: which workloads are most likely to grow, and how many slots each gets.

History in, ranking out. The expected growth of a workload is counted in pods. Pods that it is about
to create or that wait for a node count fully, recently created pods by their age, and the room
below its autoscaler's maximum and its present size a little. A chosen workload stays unless another
is clearly ahead, and slots move only if a share is wrong by a whole slot: guardians must not be
replaced because a count grew by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headroom.core.headrooms.headrooms import (
    Auto,
    AutoStatus,
    Headroom,
    Shape,
    Workload,
    WorkloadRef,
)
from headroom.core.holds import ControllerMatch, ObjectMatch, OwnerRule, PodTemplate
from headroom.core.objects import LabelSelector
from headroom.core.selection import equal_labels, matches

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SETTLED = timedelta(minutes=10)  # Pods made so soon after their controller are its first ones.
POD = 1000  # What one pod counts; all in whole numbers, so that every machine ranks alike.
_A_DAY_AGO, _ROOM, _PRESENT = POD // 10, POD // 10, POD // 100
_AHEAD, _OF = 5, 4  # Another workload must be ahead by a quarter to take a place.
_DEPLOYMENT = "Deployment"
CHOICE_PAUSE = timedelta(minutes=1)  # A choice needs a pass over all pods.
NONE_IN_SCOPE = "NoWorkloadInScope"


@dataclass(frozen=True, slots=True)
class ShapeCandidate:
    """A workload and the evidence for its growth.

    `coming` are pods that it is about to make, `waiting` those without a node, `made` when its pods
    were made, without the first ones of a controller; `room` is how many more its autoscaler
    allows.
    """

    workload: Workload
    coming: int = 0
    waiting: int = 0
    made: tuple[datetime, ...] = ()
    room: int = 0


@dataclass(frozen=True, slots=True)
class ChosenWorkload:
    """A workload that was chosen, with its growth in thousandths of a pod, and why."""

    workload: Workload
    growth: int
    why: str

    @property
    def name(self) -> str:
        return shape_name(self.workload)


@dataclass(frozen=True, slots=True)
class Shapes:
    """The chosen shapes of a headroom, and since when; `had` is how many slots each had, by name.

    `seen` is how many workloads were in scope.
    """

    chosen: tuple[ChosenWorkload, ...] = ()
    had: Mapping[str, int] = field(default_factory=dict)
    seen: int = 0
    chosen_at: datetime | None = None

    @property
    def look_again(self) -> datetime | None:
        """When it is time to choose again; None: at once."""
        return self.chosen_at + CHOICE_PAUSE if self.chosen_at is not None else None

    def is_due(self, now: datetime) -> bool:
        """Whether it is time to choose again."""
        return self.look_again is None or now >= self.look_again


NO_SHAPES = Shapes()


def first_shapes(headroom: Headroom) -> Shapes:
    """What the object still says."""
    return Shapes(had=slots_had(headroom.status.auto))


def slots_had(status: AutoStatus | None) -> dict[str, int]:
    """How many slots each shape has, by name."""
    chosen = status.chosen if status is not None else ()
    return {f"{each.kind}/{each.namespace}/{each.name}": each.slots for each in chosen}


def still_there(memory: Shapes, workloads: Mapping[tuple[str, WorkloadRef], Workload]) -> Shapes:
    """The choice without workloads that are gone or useless, with their current state.

    If one is gone, it is time to choose again.
    """
    before = ((each, each.workload) for each in memory.chosen)
    found = ((each, workloads.get((old.namespace, old.ref))) for each, old in before)
    current = tuple(
        replace(each, workload=now)
        for each, now in found
        if now is not None and now.uid == each.workload.uid and not now.problems
    )
    if len(current) < len(memory.chosen):
        return replace(memory, chosen_at=None)
    return replace(memory, chosen=current)


def chosen_anew(
    memory: Shapes, evidence: Sequence[ShapeCandidate], top: int, now: datetime
) -> Shapes:
    """The choice from this evidence."""
    before = [each.name for each in memory.chosen] or list(memory.had)
    return replace(
        memory, chosen=ranked(evidence, top, before, now), seen=len(evidence), chosen_at=now
    )


def shape_name(workload: Workload) -> str:
    """Names a workload; no part of it may have a slash, so it names no other."""
    return f"{workload.ref.kind}/{workload.namespace}/{workload.ref.name}"


def in_scope(headroom: Headroom, auto: Auto, workload: Workload, there: Mapping[str, str]) -> bool:
    """Whether a workload is one to choose from; `there` are the labels of its namespace.

    Without a namespaceSelector it is the headroom's own namespace. Whether other namespaces are
    allowed at all is judged before.
    """
    if workload.ref.kind not in auto.kinds or workload.problems:
        return False
    if workload.ref.kind == _DEPLOYMENT and not _finding(workload):
        return False
    if auto.namespaces is None:
        if workload.namespace != headroom.parent.namespace:
            return False
    elif not matches(auto.namespaces, there):
        return False
    return auto.selector is None or matches(auto.selector, workload.labels)


def growth(candidate: ShapeCandidate, now: datetime) -> int:
    """How much a workload is expected to grow, in thousandths of a pod."""
    lately, earlier = _made(candidate, now)
    replicas = candidate.workload.replicas
    certain = POD * (candidate.coming + candidate.waiting + lately) + _A_DAY_AGO * earlier
    if candidate.workload.ref.kind == "Job":  # It makes what it makes, and never more.
        return certain
    return certain + _ROOM * min(candidate.room, replicas) + _PRESENT * replicas


def ranked(
    candidates: Iterable[ShapeCandidate], top: int, before: Sequence[str], now: datetime
) -> tuple[ChosenWorkload, ...]:
    """The workloads most likely to grow; a chosen one is replaced only by a clearly better one."""
    grown = ((growth(each, now), each) for each in candidates)
    growing = [(much, each) for much, each in grown if much > 0]
    growing.sort(key=lambda pair: _rank(pair[0], shape_name(pair[1].workload), before))
    return tuple(
        ChosenWorkload(each.workload, much, _why(each, much, now)) for much, each in growing[:top]
    )


def divided(
    total: int, chosen: Sequence[ChosenWorkload], had: Mapping[str, int]
) -> tuple[int, ...]:
    """How many of so many slots each gets: one first, by rank, the others by growth.

    A share that is less than one slot off what a workload had stays as it was. What is then left
    or missing goes to, or comes from, who is furthest off.
    """
    first = [1 if place < total else 0 for place in range(len(chosen))]
    rest, whole = total - sum(first), sum(each.growth for each in chosen)
    if not rest or not whole:
        return tuple(first)
    # In parts of the whole, so that no fraction is rounded before it is compared.
    aims = [one * whole + rest * each.growth for one, each in zip(first, chosen, strict=True)]
    slots = []
    for one, aim, each in zip(first, aims, chosen, strict=True):
        kept = had.get(each.name, -1)
        near = kept >= one and abs(kept * whole - aim) < whole
        slots.append(kept if near else aim // whole)
    while sum(slots) != total:
        step = 1 if sum(slots) < total else -1
        movable = [at for at in range(len(slots)) if step > 0 or slots[at] > first[at]]
        at = max(movable, key=lambda at: (step * (aims[at] - slots[at] * whole), -at))
        slots[at] += step
    return tuple(slots)


def slot_shapes(
    chosen: Sequence[ChosenWorkload], counts: Sequence[int], most: int
) -> list[tuple[PodTemplate, str]]:
    """The shape and the name of each slot: the first of each workload, then the second of each."""
    order = sorted(
        (index, place) for place, count in enumerate(counts) for index in range(min(count, most))
    )
    return [
        (chosen[place].workload.template, f"{chosen[place].name}/{index}")
        for index, place in order[:most]
    ]


def owner_of(headroom: Headroom, workload: Workload) -> OwnerRule:
    """The owner rule that matches the pods of a workload."""
    elsewhere = workload.namespace if workload.namespace != headroom.parent.namespace else ""
    ref = workload.ref
    if ref.kind == _DEPLOYMENT:  # Its pods belong to ReplicaSets that come and go.
        needs = equal_labels(sorted(_finding(workload).items()))
        place = ObjectMatch(namespace=elsewhere) if elsewhere else None
        return OwnerRule(object=place, selector=LabelSelector(needs))
    return OwnerRule(
        controller=ControllerMatch(ref.api_version, ref.kind, ref.name, namespace=elsewhere)
    )


def with_found_owners(headroom: Headroom, chosen: Iterable[ChosenWorkload]) -> Headroom:
    """The headroom with the owners that follow from what is chosen, where none are named."""
    if not headroom.finds_owners:
        return headroom
    rules = dict.fromkeys(owner_of(headroom, each.workload) for each in chosen)
    return replace(headroom, owners=tuple(rules))


def _finding(workload: Workload) -> Mapping[str, str]:
    """The labels by which its pods are found."""
    return workload.selector or workload.pod_labels


def auto_status(shapes: Shapes, slots: Sequence[int]) -> AutoStatus:
    """What the status shows of the choice."""
    return AutoStatus(
        candidates=shapes.seen,
        chosen=tuple(
            Shape(
                each.workload.ref.kind,
                each.workload.namespace,
                each.workload.ref.name,
                count,
                each.growth,
                each.why,
            )
            for each, count in zip(shapes.chosen, slots, strict=True)
        ),
    )


def none_chosen(shapes: Shapes) -> str:
    """The message that nothing is held, because no workload was chosen."""
    seen = f"none of the {shapes.seen} workloads in scope" if shapes.seen else "no workload"
    return f"spec.slot.auto: {seen} asks for room and is likely to grow"


def _rank(much: int, name: str, before: Sequence[str]) -> tuple[int, str]:
    return -much * (_AHEAD if name in before else _OF), name


def _made(candidate: ShapeCandidate, now: datetime) -> tuple[int, int]:
    lately = sum(1 for made in candidate.made if made > now - HOUR)
    return lately, sum(1 for made in candidate.made if now - DAY < made <= now - HOUR)


def _why(candidate: ShapeCandidate, much: int, now: datetime) -> str:
    lately, earlier = _made(candidate, now)
    parts = (
        (candidate.coming, "to be made"),
        (candidate.waiting, "without a node"),
        (lately, "made in the last hour"),
        (earlier, "made in the last day"),
        (candidate.room, "more allowed by its autoscaler"),
        (candidate.workload.replicas, "wanted"),
    )
    told = ", ".join(f"{count} {words}" for count, words in parts if count)
    return f"{much / POD:g} pods expected: {told}"
