"""Objects that a Headroom has besides its slots, created before its first guardian.

The SlotSet controls the guardians, so that disruption budgets count correctly; it never changes. A
PodDisruptionBudget with `maxUnavailable` or a percentage asks the controller of each selected pod
how many pods there should be. The scale of a Headroom is the number of its slots, for `kubectl
scale` and autoscalers. A budget would expect as many ready pods, and a guardian is never ready. The
scale of a SlotSet is 0. The Headroom is a second owner, so guardians stay if somebody deletes the
SlotSet.

The DaemonSet is how Karpenter counts slots per node on future machines, if the policy says so
(`core.headrooms.node_overhead`); it requests nothing while no slots are wanted. Both are deleted
with their Headroom, and created again if somebody deletes them. If one cannot be created, the slots
work without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.actions import Done, Outcome
from headroom.core.derived_names import dns_label
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.headrooms.node_overhead import (
    DAEMON_SET,
    daemon_set_ref,
    has_daemon_set,
    is_of,
    owned_too,
)
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.names import GROUP, VERSION
from headroom.core.objects import Key, OwnerReference, Parent

SLOT_SET = (f"{GROUP}/{VERSION}", "SlotSet")
PAUSE = timedelta(minutes=1)  # before an object that was refused is tried again


@dataclass(frozen=True, slots=True)
class Companion:
    """One such object: what was written, until the watch shows it."""

    uid: str = ""
    shape: str = ""
    rests_until: datetime | None = None


NOT_MADE = Companion()


def slot_set_ref(parent: Parent) -> WorkloadRef:
    """The SlotSet of a headroom; one made anew under an old name has another."""
    return WorkloadRef(*SLOT_SET, dns_label(parent.name, parent.kind, parent.uid))


def slot_set_key(parent: Parent) -> Key:
    """The namespace and name of the SlotSet of a headroom."""
    return Key(parent.namespace, slot_set_ref(parent).name)


def has_slot_set(headroom: Headroom) -> bool:
    """Whether the guardians are the headroom's own; objects of slots control theirs themselves."""
    return headroom.slot_objects is None and headroom.deleted is None and not headroom.problems


def written(uid: str, shape: str, outcome: Outcome, now: datetime) -> Companion:
    """An object was written, or was refused: then it is tried again later."""
    if isinstance(outcome, Done):
        return Companion(uid or outcome.uid, shape)
    return Companion(rests_until=now + PAUSE)


def seen_slot_set(companion: Companion, headroom: Headroom, there: Workload | None) -> Companion:
    """What is known of the SlotSet; one of the same name that is somebody else's is not used."""
    if there is None:
        return companion
    return replace(companion, uid=there.uid if is_of(there, headroom.parent) else "")


def seen_daemon_set(
    companion: Companion, headroom: Headroom, there: Workload | None
) -> Companion | None:
    """What is known of the DaemonSet; None if none is to be written.

    Somebody else's has its name, or nothing is to be counted and nothing is there.
    """
    if there is not None:
        if not is_of(there, headroom.parent):
            return None
        return replace(companion, uid=there.uid, shape=companion.shape or there.made_as)
    return companion if companion.uid or has_daemon_set(headroom) else None


def daemon_set_owner(headroom: Headroom, companion: Companion) -> OwnerReference | None:
    """The DaemonSet as an owner of guardians, if it is there."""
    if not companion.uid or not has_daemon_set(headroom):
        return None
    return OwnerReference(*DAEMON_SET, daemon_set_ref(headroom.parent).name, companion.uid)


def owned(
    headroom: Headroom, wished: WantedSlots, slot_set: Companion, daemon_set: Companion
) -> WantedSlots:
    """The wish, with both as owners of its guardians."""
    owner = daemon_set_owner(headroom, daemon_set)
    if owner is not None and headroom.slot_objects is None:
        wished = owned_too(wished, owner)
    if not slot_set.uid or not has_slot_set(headroom):
        return wished
    return _controlled(wished, headroom.parent, slot_set.uid)


def _controlled(wished: WantedSlots, parent: Parent, uid: str) -> WantedSlots:
    """The wish with the SlotSet of this uid as the controller of its guardians."""
    owner = OwnerReference(*SLOT_SET, slot_set_ref(parent).name, uid, controller=True)
    slots = tuple(
        replace(hold, template=replace(hold.template, controller=owner)) for hold in wished.slots
    )
    return replace(wished, slots=slots)
