"""A hold that has ended, or whose guardian somebody else has ended.

What is left of a hold is there to be read for a while, then its object is deleted.

If somebody else ends the guardian, the room is held again where it was. The kubelet lets a Locked
guardian keep its room for a few seconds more. In this time a latch as large as the guardian is
nominated to its node. A pod that preempted the guardian is more important than the latch, so the
latch is not in its way.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.actions import DeleteObject
from headroom.core.allocation import reported_use
from headroom.core.claims import owner_uses
from headroom.core.handover import bind_guardian, delete_unless_placed, grow
from headroom.core.hold_state.view import HoldDecision, HoldView
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work
from headroom.core.policy import Policy
from headroom.core.resources import Resources
from headroom.core.statuses import Facts, ended_at, status_of
from headroom.core.subjects import hold_subject


def ended(
    view: HoldView,
    seated: tuple[Pod, ...],
    reason: tuple[str, str],
    now: datetime,
    policy: Policy,
) -> HoldDecision:
    """A hold ends, for a reason (one word and one sentence): delete its guardians.

    The `seated` owners have their room and keep it.
    """
    users = tuple(pod for pod in seated if not pod.finished)
    used = reported_use(view.hold, users)
    facts = Facts(view.hold, "Failed", *reason, view.node, used)
    status = status_of(facts, now, owner_uses(users))
    return HoldDecision(status, _given_back(view), read_until(view, now, policy))


def _given_back(view: HoldView) -> Sequence | None:
    return None if view.replacement.stays else drop(view, view.guardians)


def over(view: HoldView, now: datetime, policy: Policy) -> HoldDecision:
    """A hold that has ended: its object can be read for a while, and is deleted then."""
    hold, release = view.hold, _given_back(view)
    until = read_until(view, ended_at(hold), policy)
    if until is None or release is not None:
        return HoldDecision(hold.status, release)
    if now < until:
        return HoldDecision(hold.status, None, until)
    steps = ((DeleteObject(hold.parent),),)
    return HoldDecision(hold.status, Sequence(Work.OBJECT, (hold_subject(hold.parent),), steps))


def read_until(view: HoldView, ended: datetime | None, policy: Policy) -> datetime | None:
    """Until when the object of an ended hold is kept; None if something else decides that."""
    hold = view.hold
    ours = not hold.slot and hold.member is None and hold.tenure is None
    if ended is None or not ours or hold.deleted is not None:
        return None
    return ended + (policy.orphaned_kept_for if view.homeless else policy.ended_kept_for)


def drop(view: HoldView, pods: tuple[Pod, ...]) -> Sequence | None:
    """Delete guardians of a hold, if there are any."""
    # Also those that are ending already: their kubelets would take a while.
    gone = tuple(delete_unless_placed(pod) for pod in pods)
    return Sequence(Work.RELEASE, (hold_subject(view.hold.parent),), (gone,)) if gone else None


def keep_rest(view: HoldView, size: Resources, latches: str) -> Sequence | None:
    """Hold what is left (`view.rest`) of what the hold is to keep (`size`).

    When every cycle of kube-scheduler sees the latch, the old guardian is deleted at once: a pod
    that waits for its room, or a drain, does not have to wait for the kubelet.
    """
    if view.kept.latched is None:
        return grow(view.hold, view.node, size, latches)
    if not view.rest.fits_in(view.kept.latched):
        return None
    return bind_guardian(view.hold, view.node, view.rest, *view.guardians)
