"""Whether a hold is to be had by a pod, and why not.

An `Offer` is a yes with all that the handover needs; a `Refused` is a no in words, kept so that
`headroom explain` can always answer. What one hold still has to give is worked out here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from headroom.core.holds import Hold, OwnerUse
from headroom.core.names import CLAIMED_ANNOTATION, CLAIMED_UID_ANNOTATION
from headroom.core.objects import Parent, Pod
from headroom.core.owners import owner_refusal
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY, Resources


@dataclass(frozen=True, slots=True)
class Offer:
    """This hold can serve this pod: `kept` stays held afterwards (a reusable hold)."""

    hold: Hold
    guardian: Pod
    kept: Resources

    @property
    def node(self) -> str:
        return self.guardian.node


@dataclass(frozen=True, slots=True)
class Refused:
    """A no; `waiting` when the same question may be answered with yes in a moment."""

    parent: Parent
    reason: str
    waiting: bool = False


def claim_of(pod: Pod) -> tuple[str, str] | None:
    """The parent and the uid that a pod's claim names, if it carries one."""
    parent = pod.annotations.get(CLAIMED_ANNOTATION)
    return (parent, pod.annotations.get(CLAIMED_UID_ANNOTATION, "")) if parent else None


def is_claimant(hold: Hold, pod: Pod, across_namespaces: bool = False) -> bool:
    """Whether the pod's claim is one we would have given: right hold, right uid, a true owner.

    An annotation alone proves nothing: anyone may write one on a pod of their own.
    """
    return (
        claim_of(pod) == (str(hold.parent), hold.parent.uid)
        and owner_refusal(hold, pod, across_namespaces) is None
    )


def used_by(hold: Hold, claimants: Iterable[Pod]) -> Resources:
    """What owners use of a hold, never more than it has: the rest they take from the node."""
    total = EMPTY
    for pod in claimants:
        total = total + pod.requests
    room = hold.template.pod.requests
    return Resources({name: min(total[name], room[name]) for name in room})


def owner_uses(claimants: Iterable[Pod]) -> tuple[OwnerUse, ...]:
    uses = (OwnerUse(pod.key.namespace, pod.key.name, pod.uid) for pod in claimants)
    return tuple(sorted(uses, key=lambda use: (use.uid, use.namespace, use.name)))


def expiry(hold: Hold) -> datetime | None:
    """When a hold ends by itself: the earlier of `expires` and its ttl."""
    if hold.ttl is not None and not hold.ttl:
        return None
    by_ttl = hold.created + hold.ttl if hold.created and hold.ttl else None
    ends = [moment for moment in (hold.expires, by_ttl) if moment is not None]
    return min(ends, default=None)


def standing_refusal(hold: Hold, pod: Pod, policy: Policy, now: datetime) -> Refused | None:
    """Say no for what the hold's and the pod's own words forbid, whatever room there is."""
    ends = expiry(hold)
    if hold.problems:
        reason = f"its spec is invalid: {hold.problems[0]}"
    elif hold.terminal:
        reason = f"it is {hold.status.phase}"
    elif hold.deleted is not None:
        reason = "it is being deleted"
    elif ends is not None and ends <= now:
        reason = f"it expired at {ends.isoformat()}"
    elif hold.unschedulable:
        reason = "it takes no new owners (spec.unschedulable)"
    else:
        not_owner = owner_refusal(hold, pod, policy.across_namespaces)
        if not_owner is None:
            return None
        reason = not_owner
    return Refused(hold.parent, reason)


def consider(hold: Hold, guardian: Pod | None, pod: Pod, unfit: str | None) -> Offer | Refused:
    """Offer a hold whose rules allow the pod, if its room is there and the pod fits.

    `unfit` says why the pod would not fit on the guardian's node even without the guardian.
    """
    if guardian is None or not guardian.node:
        return Refused(hold.parent, "its room is not held yet", waiting=True)
    if unfit is not None:
        return Refused(hold.parent, f"on {guardian.node}: {unfit}")
    if hold.allocate_once:
        return Offer(hold, guardian, EMPTY)
    if not any(name in guardian.requests for name in pod.requests):
        return Refused(hold.parent, "nothing that the pod asks for is left in it", waiting=True)
    return Offer(hold, guardian, guardian.requests.minus(pod.requests))
