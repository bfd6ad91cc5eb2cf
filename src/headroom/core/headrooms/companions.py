"""Objects that a Headroom has besides its slots, created before its first guardian.

The SlotSet controls the guardians (`core.headrooms.slotsets` has the reason); it never changes. The
DaemonSet is how Karpenter counts slots per node on future machines, if the policy says so
(`core.headrooms.nodeoverhead`); it requests nothing while no slots are wanted. Both are deleted
with their Headroom, and created again if somebody deletes them. If one cannot be created, the slots
work without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.actions import Done, Outcome
from headroom.core.headrooms import nodeoverhead, slotsets
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.headrooms.nodeoverhead import DAEMON_SET
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.objects import OwnerReference

PAUSE = timedelta(minutes=1)  # before an object that was refused is tried again


@dataclass(frozen=True, slots=True)
class Companion:
    """One such object: what was written, until the watch shows it."""

    uid: str = ""
    shape: str = ""
    rests_until: datetime | None = None


NOT_MADE = Companion()


def written(uid: str, shape: str, outcome: Outcome, now: datetime) -> Companion:
    """An object was written, or was refused: then it is tried again later."""
    if isinstance(outcome, Done):
        return Companion(uid or outcome.uid, shape)
    return Companion(rests_until=now + PAUSE)


def seen_slot_set(companion: Companion, headroom: Headroom, there: Workload | None) -> Companion:
    """What is known of the SlotSet; one of the same name that is somebody else's is not used."""
    if there is None:
        return companion
    return replace(companion, uid=there.uid if slotsets.is_of(there, headroom.parent) else "")


def seen_daemon_set(
    companion: Companion, headroom: Headroom, there: Workload | None
) -> Companion | None:
    """What is known of the DaemonSet; None if none is to be written.

    Somebody else's has its name, or nothing is to be counted and nothing is there.
    """
    if there is not None:
        if not nodeoverhead.is_of(there, headroom.parent):
            return None
        return replace(companion, uid=there.uid, shape=companion.shape or there.made_as)
    return companion if companion.uid or nodeoverhead.applies(headroom) else None


def daemon_set_owner(headroom: Headroom, companion: Companion) -> OwnerReference | None:
    """The DaemonSet as an owner of guardians, if it is there."""
    if not companion.uid or not nodeoverhead.applies(headroom):
        return None
    return OwnerReference(*DAEMON_SET, nodeoverhead.ref_of(headroom.parent).name, companion.uid)


def owned(
    headroom: Headroom, wished: WantedSlots, slot_set: Companion, daemon_set: Companion
) -> WantedSlots:
    """The wish, with both as owners of its guardians."""
    owner = daemon_set_owner(headroom, daemon_set)
    if owner is not None and headroom.slot_objects is None:
        wished = nodeoverhead.owned_too(wished, owner)
    if not slot_set.uid or not slotsets.applies(headroom):
        return wished
    return slotsets.controlled(wished, headroom.parent, slot_set.uid)
