"""The life of one hold: its guardian made, replaced, resized and let go; its status and its story.

`decide` looks at one hold and the pods that concern it and answers with one sequence at most, the
status the object should show, and when to look again. Claims are decided elsewhere; a hold with an
owner on its way is left alone until that has ended.

    Pending ──guardian bound──▶ Available ──owner bound, once──▶ Succeeded
       ▲                           │  └──owner bound, reusable──▶ Available (smaller guardian)
       └──guardian lost────────────┤
                                   └──ttl, expires──▶ Failed
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headroom.core.actions import CreateGuardian, DeletePod
from headroom.core.claims import expiry, owner_uses, used_by
from headroom.core.handover import grow, put_back, shrink
from headroom.core.holds import Hold, HoldStatus
from headroom.core.naming import guardian_name
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, earliest, hold_subject
from headroom.core.policy import Policy
from headroom.core.resources import Resources
from headroom.core.statuses import Facts, status_of


@dataclass(frozen=True, slots=True)
class HoldView:
    """One hold and all that concerns it at a moment.

    `trouble` is why the last try to make a guardian failed, `not_before` when the next may come;
    `node` is where its guardian was last seen; `promised` whether an owner is on its way into it;
    `latched` is what a latch of its own keeps there, nothing yet while it is too young to trust;
    `grows` whether a larger guardian would fit.
    """

    hold: Hold
    guardians: tuple[Pod, ...] = ()
    claimants: tuple[Pod, ...] = ()
    node: str = ""
    promised: bool = False
    latched: Resources | None = None
    grows: bool = True
    trouble: str = ""
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Life:
    """What a hold needs now; `status` is what its object should show."""

    status: HoldStatus
    sequence: Sequence | None = None
    wake_at: datetime | None = None


def decide(view: HoldView, now: datetime, policy: Policy) -> Life:
    """Say what one hold needs: at most one sequence, its status, and when to look again."""
    hold = view.hold
    if hold.problems:
        invalid = "; ".join(str(problem) for problem in hold.problems)
        return Life(status_of(Facts(hold, "Pending", "InvalidSpec", invalid), now))
    if hold.terminal:
        return Life(hold.status, _drop(view, view.guardians))
    seated = tuple(pod for pod in view.claimants if _seated(pod, view.node))
    if hold.allocate_once and seated:
        facts = Facts(hold, "Succeeded", "Succeeded", "", view.node, used_by(hold, seated))
        return Life(status_of(facts, now, owner_uses(seated)), _drop(view, view.guardians))
    ends = expiry(hold)
    if ends is not None and ends <= now:
        return _expired(view, ends, seated, now)
    if view.promised:
        return Life(hold.status, None, ends)
    life = _keep(view, seated, now, policy)
    return Life(life.status, life.sequence, earliest(life.wake_at, ends))


def _expired(view: HoldView, ends: datetime, seated: tuple[Pod, ...], now: datetime) -> Life:
    users = tuple(pod for pod in seated if not pod.finished)
    facts = Facts(
        view.hold,
        "Failed",
        "Expired",
        f"expired at {ends.isoformat()}",
        view.node,
        used_by(view.hold, users),
    )
    return Life(status_of(facts, now, owner_uses(users)), _drop(view, view.guardians))


def _keep(view: HoldView, seated: tuple[Pod, ...], now: datetime, policy: Policy) -> Life:
    """Have one healthy guardian of the right size, and say how it stands."""
    hold = view.hold
    users = tuple(pod for pod in seated if not pod.finished)
    used = used_by(hold, users)
    size = hold.template.pod.requests.minus(used)
    healthy = tuple(pod for pod in view.guardians if not pod.finished and pod.deleted is None)
    guardian = healthy[0] if healthy else None
    ended = tuple(pod for pod in view.guardians if pod.finished) + healthy[1:]
    node = view.node if users else ""
    if guardian is not None and guardian.node:
        node = guardian.node
    status = status_of(_standing(view, guardian, size, node, used), now, owner_uses(users))
    if ended:
        return Life(status, _drop(view, ended))
    if guardian is None:
        return _make(view, status, size, now, policy)
    if guardian.node and size != guardian.requests.only(hold.template.pod.requests):
        if not size:
            return Life(status, _drop(view, (guardian,)))
        grows = not size.fits_in(guardian.requests)
        if view.grows or not grows:
            return Life(status, _resized(view, guardian, size, policy))
    return Life(status)


def _resized(view: HoldView, guardian: Pod, size: Resources, policy: Policy) -> Sequence | None:
    """Begin anew, go on under a latch that stands already, or wait until one too small is gone."""
    whole = size.largest(guardian.requests)
    if view.latched is not None:
        covered = whole.fits_in(view.latched)
        return put_back(view.hold, guardian.node, size, guardian) if covered else None
    if size.fits_in(guardian.requests):
        return shrink(view.hold, guardian, size, policy.namespace)
    return grow(view.hold, guardian.node, whole, policy.namespace)


def _make(
    view: HoldView, status: HoldStatus, size: Resources, now: datetime, policy: Policy
) -> Life:
    hold = view.hold
    if not size or any(pod.deleted is not None for pod in view.guardians):
        return Life(status)  # All of it is in use, or the old guardian's name is about to be free.
    if view.not_before is not None and now < view.not_before:
        return Life(status, None, view.not_before)
    if view.node and view.latched is not None and view.grows and size.fits_in(view.latched):
        return Life(status, put_back(hold, view.node, size))
    if status.owners and view.node and view.grows:
        begin = grow(hold, view.node, size, policy.namespace)
        return Life(status, begin if view.latched is None else None)
    pin = view.node if status.owners else hold.template.node
    create = CreateGuardian(guardian_name(hold), hold, size, node=pin)
    return Life(status, Sequence("hold", (hold_subject(hold.parent),), ((create,),)))


def _standing(
    view: HoldView, guardian: Pod | None, size: Resources, node: str, used: Resources
) -> Facts:
    hold = view.hold
    if guardian is None and not size:
        return Facts(hold, "Available", "FullyUsed", "all of it is in use", node, used)
    if guardian is None and view.trouble:
        return Facts(hold, "Pending", "GuardianRefused", view.trouble, node, used, degraded=True)
    if guardian is None:
        return Facts(hold, "Pending", "WaitingForNode", "", node, used)
    if not guardian.node and guardian.unschedulable_message:
        why = guardian.unschedulable_message
        return Facts(hold, "Pending", "Unschedulable", why, node, used, degraded=True)
    if not guardian.node:
        return Facts(hold, "Pending", "WaitingForNode", "", node, used)
    if not size.fits_in(guardian.requests):
        why = "part of the room that was returned is used by other pods"
        return Facts(hold, "Available", "PartiallyHeld", why, node, used, degraded=not view.grows)
    return Facts(hold, "Available", "Available", "", node, used)


def _seated(pod: Pod, node: str) -> bool:
    """Whether a claimant got the room: a claim says nothing about the room of another node."""
    return bool(pod.node) and node in ("", pod.node) and not _rejected(pod)


def _rejected(pod: Pod) -> bool:
    """Whether the kubelet refused the pod at its door, so that it never used the room."""
    return pod.phase == "Failed" and pod.reason.startswith("OutOf")


def _drop(view: HoldView, pods: tuple[Pod, ...]) -> Sequence | None:
    gone = tuple(DeletePod(pod.key, pod.uid) for pod in pods if pod.deleted is None)
    return Sequence("release", (hold_subject(view.hold.parent),), (gone,)) if gone else None
