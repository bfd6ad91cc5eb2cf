"""The object between a Headroom and its guardians, so that disruption budgets count correctly.

A PodDisruptionBudget with `maxUnavailable` or a percentage asks the controller of each selected pod
how many pods there should be. The scale of a Headroom is the number of its slots, for `kubectl
scale` and autoscalers. A budget would expect as many ready pods, and a guardian is never ready. So
the controller of a guardian is the SlotSet of its Headroom, whose scale is 0. The Headroom is a
second owner, so guardians stay if somebody deletes the SlotSet.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.derived_names import dns_label
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.names import GROUP, VERSION
from headroom.core.objects import Key, OwnerReference, Parent

SLOT_SET = (f"{GROUP}/{VERSION}", "SlotSet")


def ref_of(parent: Parent) -> WorkloadRef:
    """The SlotSet of a headroom; one made anew under an old name has another."""
    return WorkloadRef(*SLOT_SET, dns_label(parent.name, parent.kind, parent.uid))


def key_of(parent: Parent) -> Key:
    """The namespace and name of the SlotSet of a headroom."""
    return Key(parent.namespace, ref_of(parent).name)


def applies(headroom: Headroom) -> bool:
    """Whether the guardians are the headroom's own; objects of slots control theirs themselves."""
    return headroom.slot_objects is None and headroom.deleted is None and not headroom.problems


def is_of(slot_set: Workload, parent: Parent) -> bool:
    """Whether a SlotSet belongs to this very object."""
    return bool(parent.uid) and slot_set.controller == parent.uid


def controlled(wished: WantedSlots, parent: Parent, uid: str) -> WantedSlots:
    """The wish with the SlotSet of this uid as the controller of its guardians."""
    owner = OwnerReference(*SLOT_SET, ref_of(parent).name, uid, controller=True)
    slots = tuple(
        replace(hold, template=replace(hold.template, controller=owner)) for hold in wished.slots
    )
    return replace(wished, slots=slots)
