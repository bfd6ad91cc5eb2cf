"""Decide whether a pod can have a hold, and if not, why.

An `Offer` is a yes with everything that the handover needs. A `Refused` is a no with a reason, so
that `headroom explain` can always answer. `allocation` says what a hold's policy allows,
`hold_order` what the pod itself wishes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from headroom.core.fast_dataclass import dataclass
from headroom.core.hold_order import affinity_refusal
from headroom.core.holds import Hold, OwnerUse
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    CLAIMED_SLOT_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
)
from headroom.core.objects import NO_LABELS, NO_WISH, Parent, Pod, identity
from headroom.core.owners import owner_refusal
from headroom.core.plan import earliest
from headroom.core.policy import Policy
from headroom.core.resources import Resources

REASONS_TOLD = 3


@dataclass(frozen=True, slots=True)
class Offer:
    """This hold can serve this pod: `kept` stays held afterwards (a reusable hold).

    A pod that does not claim takes the room without becoming an owner. With `preempts` other pods
    must end first: `guardian` is then what will be kept, not an existing pod. With `node_full` the
    node has no place for a second pod: nothing is `kept` by a guardian, see
    `hold_state.full_node`.
    """

    hold: Hold
    guardian: Pod
    kept: Resources
    claims: bool = True
    preempts: bool = False
    node_full: bool = False

    @property
    def node(self) -> str:
        return self.guardian.node


@dataclass(frozen=True, slots=True)
class Refused:
    """A no; `waiting` when the same question may be answered with yes in a moment.

    `owner` says whether the hold is meant for the pod at all; `node` is where something has to pass
    before the answer can be another. `failed`: the pod was about to get this hold, and did not.
    """

    parent: Parent
    reason: str
    waiting: bool = False
    owner: bool = True
    node: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """The result of the search for a hold: an offer, or the reasons why there is none."""

    offer: Offer | None
    refused: tuple[Refused, ...] = ()
    problem: str = ""

    @property
    def begins_anew(self) -> Parent | None:
        """The hold that the pod was about to get, if it will soon be offered again."""
        return next((each.parent for each in self.refused if each.failed), None)

    @property
    def on_its_way(self) -> bool:
        """Whether a suitable hold has no room yet, but may get it soon."""
        return any(refusal.waiting for refusal in self.refused)

    @property
    def why(self) -> str:
        if not self.refused:
            return self.problem or "no hold is for this pod"
        told = [
            f"{refusal.parent.title}: {refusal.reason}" for refusal in self.refused[:REASONS_TOLD]
        ]
        more = len(self.refused) - len(told)
        return "; ".join(told) + (f"; and {more} more" if more > 0 else "")


def claim_of(pod: Pod) -> tuple[str, str] | None:
    """The hold and the uid of its parent that a pod's claim names, if it carries one."""
    said = pod.annotations
    if CLAIMED_ANNOTATION not in said or not said[CLAIMED_ANNOTATION]:
        return None
    slot = said.get(CLAIMED_SLOT_ANNOTATION, "")
    uid = said.get(CLAIMED_UID_ANNOTATION, "")
    return identity(said[CLAIMED_ANNOTATION], slot) if slot else said[CLAIMED_ANNOTATION], uid


def is_claimant(hold: Hold, pod: Pod, across_namespaces: bool = False, known: bool = False) -> bool:
    """Whether the pod's claim is valid: right hold, right uid, a pod that the owner rules match.

    An annotation alone proves nothing: any user can write one on a pod. A pod that got the room
    stays an owner, even if its labels or the rules have changed: then it is `known` to have been
    one, or the hold's status names it, which only the operator may write.
    """
    if claim_of(pod) != (hold.parent.identity, hold.parent.uid):
        return False
    if known or owner_refusal(hold, pod, across_namespaces) is None:
        return True
    return bool(pod.node and pod.uid) and any(use.uid == pod.uid for use in hold.status.owners)


def owner_uses(claimants: Iterable[Pod]) -> tuple[OwnerUse, ...]:
    uses = (OwnerUse(pod.key.namespace, pod.key.name, pod.uid) for pod in claimants)
    return tuple(sorted(uses, key=lambda use: (use.uid, use.namespace, use.name)))


def expiry(hold: Hold) -> datetime | None:
    """When a hold ends by itself: the earliest of `expires`, its ttl and its tenure."""
    if hold.ttl is not None and not hold.ttl:
        return None
    by_ttl = hold.created + hold.ttl if hold.created and hold.ttl else None
    by_tenure = hold.tenure.ends_at(hold) if hold.tenure is not None else None
    return earliest(hold.expires, by_ttl, by_tenure)


def standing_refusal(
    hold: Hold, pod: Pod, policy: Policy, now: datetime, around: Mapping[str, str] = NO_LABELS
) -> Refused | None:
    """Why the spec of the hold or of the pod forbids it, independent of room; None if allowed.

    `around` are the labels of the hold's node, which a pod may select by.
    """
    ends = expiry(hold)
    if hold.problems:
        reason = f"its spec is invalid: {hold.problems[0]}"
    elif hold.terminal:
        reason = f"it is {hold.status.phase}"
    elif hold.deleted is not None:
        reason = "it is being deleted"
    elif ends is not None and ends <= now:
        reason = f"it expired at {ends.isoformat()}"
    else:
        not_owner = owner_refusal(hold, pod, policy.across_namespaces)
        if not_owner is not None:
            return Refused(hold.parent, not_owner, owner=False)
        if pod.wish is NO_WISH and not (hold.unschedulable or hold.taints):
            return None  # Most pods wish for nothing, and most holds are open to all.
        unwanted = affinity_refusal(pod, hold, around)
        return Refused(hold.parent, unwanted) if unwanted is not None else None
    return Refused(hold.parent, reason)
