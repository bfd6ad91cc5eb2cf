"""Owners that already run and grow in place: they get the room that is held for them on their node.

A pod whose resize the kubelet deferred for lack of room claims a hold on its node. When the claim
is written, the guardian is deleted or made smaller, and the kubelet finds the room. No other pod
can take it, because kube-scheduler counts the larger pod from the moment of the request.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from headroom.core.actions import ClaimInPlace
from headroom.core.allocation import kept_beside, policy_refusal
from headroom.core.claims import standing_refusal
from headroom.core.fast_dataclass import replace
from headroom.core.node.kept_room import returned_on
from headroom.core.node.view import HeldRoom, HoldRoom, NodeView
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY
from headroom.core.subjects import hold_subject, pod_subject


def grow_in_place(
    pod: Pod, node: NodeView, rooms: Iterable[HeldRoom], policy: Policy, now: datetime
) -> Sequence | None:
    """Claim the first hold on the pod's own node that has what it asks for beyond what it has."""
    for room in (each.room for each in rooms if not each.moving):
        if _serves(room, pod, node, policy, now):
            parent, beside = room.hold.parent, pod.requests.minus(pod.growth)
            claim = ClaimInPlace(pod.key, pod.uid, parent, beside)
            subjects = (pod_subject(pod.key), hold_subject(parent))
            return Sequence(Work.GROW, subjects, ((claim,),))
    return None


def _serves(room: HoldRoom, pod: Pod, node: NodeView, policy: Policy, now: datetime) -> bool:
    hold, guardian = room.hold, room.guardian
    if guardian is None or guardian.node != pod.node:
        return False
    if standing_refusal(hold, pod, policy, now, node.labels) is not None:
        return False
    users = [user for user in room.owners if not user.finished]
    if policy_refusal(hold, users, replace(pod, requests=pod.growth)) is not None:
        return False
    kept = kept_beside(hold, guardian.requests, pod.growth)
    within = (pod.growth + kept).fits_in(guardian.requests)
    others = EMPTY if within else returned_on(node, now, room.name)
    grown = replace(pod, requests=pod.requests + kept + others)
    return node.unfit(grown, frozenset({guardian.key, pod.key})) is None
