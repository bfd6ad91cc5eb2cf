"""Decide whether a hold offers its room to a pod, from frozen views of the hold and of its node.

`claims` has the values that are the answer. A refusal with `waiting` passes with the next change on
the node, or with one of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from headroom.core.allocation import keeps_rest, kept_beside, policy_refusal, room_to_keep
from headroom.core.claims import Offer, Refused, standing_refusal
from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.holds import Hold
from headroom.core.node.kept_room import goes_without_place, returned_on
from headroom.core.node.view import HoldRoom, NodeView
from headroom.core.objects import Pod
from headroom.core.policy import Policy
from headroom.core.quotas.charges import is_charge
from headroom.core.resources import EMPTY, TOO_MANY_PODS, Resources

HANDED_OVER = "it is being handed over"
NOT_HELD = "its room is not held yet"


@dataclass(frozen=True, slots=True)
class HoldAsked:
    """A hold that a pod asks for. `labels` are those of the node of its guardian.

    `node` freezes this node, and is asked only if the rules of the hold let the pod in. `ahead` are
    owners whose handover out of the hold is about to start, `left` is what they leave for others to
    go with them. None: others have to wait.
    """

    room: HoldRoom
    labels: Mapping[str, str]
    node: Callable[[], NodeView]
    ahead: Sequence[Pod] = ()
    left: Resources | None = None


def answer(asked: HoldAsked, pod: Pod, door: int, policy: Policy, now: datetime) -> Offer | Refused:
    """What a hold answers a pod at one of our doors."""
    hold, guardian = asked.room.hold, asked.room.guardian
    refusal = standing_refusal(hold, pod, policy, now, asked.labels)
    if refusal is not None:
        return refusal
    users = [user for user in (*asked.room.owners, *asked.ahead) if not user.finished]
    beyond = policy_refusal(hold, users, pod)
    if beyond is not None:
        return Refused(hold.parent, beyond)
    if guardian is None or not guardian.node:
        return Refused(hold.parent, NOT_HELD, waiting=True)
    if asked.ahead:
        return _offer_beside(asked, guardian, pod, door)
    return _offer(asked, guardian, pod, door, now)


def _offer(asked: HoldAsked, guardian: Pod, pod: Pod, door: int, now: datetime) -> Offer | Refused:
    """Offer a hold whose rules allow the pod, if the pod fits and what stays held has a place."""
    view, room, hold = asked.node(), asked.room, asked.room.hold
    kept = kept_beside(hold, guardian.requests, pod.requests)
    node_full = bool(kept) and view.places < 1
    if node_full:
        if not keeps_rest(hold) and not goes_without_place(view, room):
            return _full_node(hold, guardian.node)
        kept = EMPTY  # The guardian of the rest has no place; a latch of the hold keeps the rest.
    needed = pod.requests + kept
    if needed.fits_in(guardian.requests):
        # Pods that count twice on this node for a moment do not touch the room of the guardian.
        without = {guardian.key} | view.unsettled | view.claim_keys
        if door == 2:  # We bind: nobody who is nominated to the node can use that room.
            without |= {other.key for other in view.nominated}
        others, why = EMPTY, view.unfit(pod, frozenset(without))
    else:
        others = returned_on(view, now, room.name)
        asking = replace(pod, requests=needed + others)
        why = view.unfit(asking, frozenset({guardian.key}))
    if why is not None and (view.unsettled or others):
        return _not_now(hold, guardian.node, f", for the moment: {why}")
    if why is not None:
        return Refused(hold.parent, f"on {guardian.node}: {why}")
    wanted = hold.allocate_once or pod.wish.needs_hold
    if not wanted and not any(name in guardian.requests for name in pod.requests):
        return Refused(hold.parent, "nothing that the pod asks for is left in it", waiting=True)
    return Offer(hold, guardian, kept, node_full=node_full)


def _offer_beside(asked: HoldAsked, guardian: Pod, pod: Pod, door: int) -> Offer | Refused:
    """Let a pod go along with owners whose handover is about to start, in what they leave."""
    hold, left = asked.room.hold, asked.left
    if left is None or door != 2:
        return Refused(hold.parent, HANDED_OVER, waiting=True)
    view, kept = asked.node(), kept_beside(hold, left, pod.requests)
    if kept and view.places < 1:
        return _full_node(hold, view.name)
    fits = (pod.requests + kept).fits_in(left)
    nominated = {other.key for other in view.nominated}
    without = frozenset({guardian.key} | view.unsettled | nominated)
    if not fits or view.unfit(pod, without) is not None:
        return Refused(hold.parent, "what others leave of it is not enough now", waiting=True)
    return Offer(hold, guardian, kept)


def not_open(room: HoldRoom, pod: Pod, policy: Policy, now: datetime) -> Refused:
    """Why a hold whose room is not free just now does not serve a pod."""
    hold, guardian = room.hold, room.guardian
    refusal = standing_refusal(hold, pod, policy, now)
    if refusal is not None:
        return refusal
    degraded = next((item for item in hold.status.conditions if item.type == "Degraded"), None)
    if degraded is not None and degraded.status == "True":
        return Refused(hold.parent, f"{degraded.reason}: {degraded.message}")
    if hold.status.phase == "Waiting":
        return Refused(hold.parent, next(item.message for item in hold.status.conditions))
    if not hold.allocate_once and guardian is not None and is_charge(guardian):
        return _full_node(hold, room.node)
    if not hold.allocate_once and _is_in_use(room):
        return Refused(hold.parent, "all of it is in use")
    return Refused(hold.parent, NOT_HELD, waiting=True)


def _is_in_use(room: HoldRoom) -> bool:
    """Whether owners have all of a hold, and none of them is about to leave."""
    users = [user for user in room.owners if user.occupies_node]
    leaving = any(user.deleted is not None for user in users)
    return bool(users) and not leaving and not room_to_keep(room.hold, users)


def _full_node(hold: Hold, node: str) -> Refused:
    """The owner takes the guardian's place. The guardian of the rest needs another one.

    Pods on their way count too, and some of them will take a guardian's place as well.
    """
    why = "what the pod leaves of it would need one more place"
    return _not_now(hold, node, f": {TOO_MANY_PODS}: {why}")


def _not_now(hold: Hold, node: str, why: str) -> Refused:
    return Refused(hold.parent, f"on {node}{why}", waiting=True, node=node)
