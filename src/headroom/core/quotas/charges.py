"""Room is charged to its namespace before anything keeps it.

A latch lives in the operator's namespace and is charged to nobody. It may replace room that pods of
the tenant are charged for: a replaced guardian, an owner that is leaving or on its way. If nothing
is charged yet, a gated guardian is created first that is never placed: the API server counts it
against the quotas of its namespace, or refuses it. When the room is free, the real guardian
replaces it.

    nothing ──gated guardian created──▶ charged ──latch created──▶ kept ──room free──▶ bound
       └──refused by a quota: no latch is created, and the hold says why
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headroom.core.actions import CreateGuardian, DeletePod
from headroom.core.derived_names import guardian_name
from headroom.core.handover import grow, put_back
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work
from headroom.core.resources import Resources
from headroom.core.subjects import hold_subject


@dataclass(frozen=True, slots=True)
class WaitingHold:
    """A hold that waits for room on a node: what stands for it, and whether the room is `free`."""

    hold: Hold
    node: str
    size: Resources
    free: bool
    guardians: tuple[Pod, ...] = ()
    latched: Resources | None = None


def is_charge(pod: Pod) -> bool:
    """Whether a guardian is only there to be charged: it is gated, so it never gets a node."""
    return bool(pod.gates) and not pod.node


def charged(hold: Hold, name: str, size: Resources) -> Sequence:
    """Have this much charged to the hold's namespace."""
    create = CreateGuardian(name, hold, size, gated=True)
    return Sequence(Work.HOLD, (hold_subject(hold.parent),), ((create,),))


def go_on(waiting: WaitingHold, latches: str) -> Sequence | None:
    """What a hold that waits needs next: its charge, then a latch, then its guardian."""
    hold, size = waiting.hold, waiting.size
    charge = next((pod for pod in waiting.guardians if _charges(pod, size)), None)
    others = tuple(pod for pod in waiting.guardians if pod is not charge)
    if others:
        return _without(hold, others)
    if charge is None:
        return charged(hold, guardian_name(hold), size)
    if waiting.latched is None:
        return grow(hold, waiting.node, size, latches)
    if not waiting.free or not size.fits_in(waiting.latched):
        return None
    return put_back(hold, waiting.node, size, charge)


def _charges(pod: Pod, size: Resources) -> bool:
    alive = pod.deleted is None and not pod.finished
    return alive and is_charge(pod) and pod.requests.only(size) == size


def _without(hold: Hold, pods: Iterable[Pod]) -> Sequence | None:
    """Delete pods of the hold; nothing to do while all of them are going."""
    gone = tuple(DeletePod(pod.key, pod.uid) for pod in pods if pod.deleted is None)
    return Sequence(Work.RELEASE, (hold_subject(hold.parent),), (gone,)) if gone else None
