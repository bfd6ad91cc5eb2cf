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
from typing import NamedTuple

from headroom.core.actions import CreateSlotSet, Done, Outcome, WriteOverhead
from headroom.core.derived_names import dns_label
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.headrooms.node_overhead import (
    DAEMON_SET,
    Overhead,
    daemon_set_ref,
    has_daemon_set,
    is_of,
)
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.holds import Hold
from headroom.core.names import GROUP, VERSION
from headroom.core.objects import Key, OwnerReference, Parent

SLOT_SET = (f"{GROUP}/{VERSION}", "SlotSet")
PAUSE = timedelta(minutes=1)  # before an object that was refused is tried again


@dataclass(frozen=True, slots=True)
class Companion:
    """One such object: what was written, until the watch shows it."""

    uid: str = ""
    shape: str = ""
    paused_until: datetime | None = None


NOT_MADE = Companion()


class CompanionDecision(NamedTuple):
    """What is known of such an object now, what to write, and when to look again."""

    companion: Companion
    write: CreateSlotSet | WriteOverhead | None = None
    wake_at: datetime | None = None


def slot_set_ref(parent: Parent) -> WorkloadRef:
    """The SlotSet of a headroom; a new headroom under an old name has another one."""
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
    return Companion(paused_until=now + PAUSE)


def decide_slot_set(
    companion: Companion, headroom: Headroom, there: Workload | None, now: datetime
) -> CompanionDecision:
    """Create the SlotSet; one of the same name that is somebody else's is not used."""
    if there is not None:
        uid = there.uid if is_of(there, headroom.parent) else ""
        return CompanionDecision(replace(companion, uid=uid))
    if companion.uid:
        return CompanionDecision(companion)
    return _rested(companion, CreateSlotSet(headroom.parent), now)


def decide_daemon_set(
    companion: Companion,
    headroom: Headroom,
    there: Workload | None,
    overhead: Overhead | None,
    now: datetime,
) -> CompanionDecision:
    """Create the DaemonSet, or bring it up to date.

    Not if somebody else's has its name, if nothing is to be counted and nothing is there, or if
    what is wanted (`overhead`) is not known: what is there stays.
    """
    if there is not None:
        if not is_of(there, headroom.parent) or overhead is None:
            return CompanionDecision(companion)
        companion = replace(companion, uid=there.uid, shape=companion.shape or there.made_as)
    elif overhead is None or not (companion.uid or has_daemon_set(headroom)):
        return CompanionDecision(companion)
    if companion.uid and companion.shape == overhead.shape:
        return CompanionDecision(companion)
    return _rested(companion, WriteOverhead(overhead, companion.uid), now)


def _rested(
    companion: Companion, write: CreateSlotSet | WriteOverhead, now: datetime
) -> CompanionDecision:
    """The write, after a pause if it was refused recently."""
    pause_end = companion.paused_until
    if pause_end is not None and now < pause_end:
        return CompanionDecision(companion, None, pause_end)
    return CompanionDecision(companion, write)


def daemon_set_owner(headroom: Headroom, companion: Companion) -> OwnerReference | None:
    """The DaemonSet as an owner of guardians, if it is there."""
    if not companion.uid or not has_daemon_set(headroom):
        return None
    return OwnerReference(*DAEMON_SET, daemon_set_ref(headroom.parent).name, companion.uid)


def owned(
    headroom: Headroom, wished: WantedSlots, slot_set: Companion, daemon_set: Companion
) -> WantedSlots:
    """The wish, with both as owners of its guardians; objects of slots are told one by one."""
    owner, controller = daemon_set_owner(headroom, daemon_set), None
    if slot_set.uid and has_slot_set(headroom):
        name = slot_set_ref(headroom.parent).name
        controller = OwnerReference(*SLOT_SET, name, slot_set.uid, controller=True)
    if headroom.slot_objects is not None:
        return wished
    slots = tuple(slot_owned(hold, owner, controller) for hold in wished.slots)
    return replace(wished, slots=slots)


def slot_owned(
    hold: Hold, owner: OwnerReference | None, controller: OwnerReference | None = None
) -> Hold:
    """A slot with a controller for its guardian and, if it is pinned to a node, a further owner."""
    template = hold.template
    if owner is None and controller is None:
        return hold
    owner = owner if owner is not None and template.node else template.owner
    controller = controller or template.controller
    return replace(hold, template=replace(template, owner=owner, controller=controller))
