"""The slots of a headroom that follows gated pods: their node, size and name.

`core.demand.following` says which slots an owner needs. This module gives them the shape that
guardians are created from. `sizing` turns them into holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from headroom.core.demand.following import Follow, FollowerSlot, Following, beside, slot_of
from headroom.core.holds import PodTemplate
from headroom.core.names import BESIDE_LABEL, ROLE_LABEL
from headroom.core.naming import label_value, named_after, short_hash
from headroom.core.objects import Parent, Placement, Pod, PodTerm

TOLD = 2


@dataclass(frozen=True, slots=True)
class Followed:
    """An owner, and what it needs now."""

    owner: Pod
    needs: Following


@dataclass(frozen=True, slots=True)
class BesideSlot:
    """A slot next to its owner; `guardian` is empty unless a dialect prescribes the name.

    `awaits` is the owner while it has no node: until then the slot cannot have one either. From
    then on `next_to` is that node.
    """

    name: str
    template: PodTemplate
    guardian: str = ""
    awaits: str = ""
    next_to: str = ""


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
    parent: Parent, size: Follow, template: PodTemplate, followed: Iterable[Followed]
) -> Iterator[BesideSlot]:
    """The slots of all owners that are not over."""
    label = owner_label(parent, size)
    for each in followed:
        term = beside(each.owner, label)
        for slot in each.needs.slots:
            made = _shaped(template, term, slot)
            name, guardian = slot_of(each.owner, slot.part), ""
            if size.marks is not None:
                marks = size.marks
                own = ((marks.pod, each.owner.uid), (marks.part, label_value(slot.part)))
                labels = (*template.labels, *own)
                made = replace(made, labels=labels, priority_class=marks.priority_class)
                guardian = named_after(marks.prefix, each.owner.uid, slot.part)
            node = each.owner.node
            yield BesideSlot(name, made, guardian, "" if node else str(each.owner.key), node)


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
