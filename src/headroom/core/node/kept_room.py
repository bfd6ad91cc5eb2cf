"""What keeps the room of a hold on its node, beside or instead of a guardian.

All functions read a frozen `NodeView`. Room can be kept by a fence, by a latch of a handover, by a
latch of the hold itself, or by nothing for a moment: owners of reusable holds have returned it, and
the hold gets it back with its next guardian, some writes later. Until then the node looks emptier
than it is. Fences keep other pods off. For pods that we place ourselves, `returned_on` says how
much of the free room they must leave.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import reduce

from headroom.core.allocation import is_short, keeps_rest, room_to_keep
from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.fences import returns
from headroom.core.holds import Hold
from headroom.core.latches import claims_on, users_on
from headroom.core.node.view import HoldRoom, NodeView
from headroom.core.objects import ANYWHERE, Pod
from headroom.core.plan import earliest
from headroom.core.policy import Policy
from headroom.core.quotas.charges import is_charge
from headroom.core.renewal import Guardians
from headroom.core.resources import EMPTY, TOO_MANY_PODS, Resources

LONGEST_OWED = timedelta(seconds=30)
"""How long free room waits for the hold that it belongs to. A hold that may not have a guardian,
for example for lack of quota, does not keep others waiting."""


@dataclass(frozen=True, slots=True)
class KeptRoom:
    """What keeps the room of one hold on its node, beside or instead of a guardian.

    `latched` is what latches keep, nothing yet while they are too young to trust, and None without
    a latch; all that the hold may have where a fence keeps strangers off (`fenced`). `taken_over`
    is the part of it that a guardian had before, so that there is room for it. With `passing`, room
    that counts twice will soon count once. `whole`: all of a slot fits beside the owners that use
    it. `pinned`: a slot keeps its claim on what they use; `claimed`: a latch does that.
    `placeless`: no pod has a place on the node for the rest of the hold. `grows`: what owners do
    not use fits on the node. `young`: a latch of a handover keeps it, and is trusted in a moment.
    `wake_at` is when one of these answers changes by itself.
    """

    latched: Resources | None = None
    taken_over: Resources = EMPTY
    fenced: bool = False
    passing: bool = False
    whole: bool = True
    pinned: bool = False
    claimed: bool = False
    placeless: bool = False
    grows: bool = True
    young: bool = False
    wake_at: datetime | None = None


NOTHING_KEPT = KeptRoom()


def kept_room(
    view: NodeView, room: HoldRoom, roles: Guardians, policy: Policy, now: datetime
) -> KeptRoom:
    """See `KeptRoom`; `roles` says what the guardians of the room are to their hold."""
    pinned = _is_pinned(room.hold, roles.standing, view.name)
    lasting = pinned or is_crowded(view, room)
    fenced = None if roles.due else fenced_from(view, room, policy.free_room_wait)
    latches = _latches_on(view, room)
    firm = [latch for latch in latches if _is_firm(room, latch, now)]
    twice = view.handing_over or bool(view.unsettled - room.latch_keys)  # will soon count once
    passing = (fenced is not None or lasting) and twice
    taken = taken_over(view, room, firm) if room.slot_users or room.owners else EMPTY
    kept = _kept_by(room, firm) if latches else None
    return KeptRoom(
        latched=all_of(room) if fenced is not None and now >= fenced else kept,
        taken_over=taken,
        fenced=fenced is not None,
        passing=passing,
        whole=not room.slot_users or _fits(view, room, room.hold.template.pod.requests, now),
        pinned=pinned,
        claimed=lasting and any(not claims_on(latch) for latch in room.latches),
        placeless=lasting and not pinned,
        grows=could_hold_all(view, room, fenced is not None, taken, now),
        young=any(claims_on(latch) for latch in latches if latch not in firm),
        wake_at=earliest(
            fenced if fenced is not None and now < fenced else None,
            firm_later(room, latches, now),
            now + policy.first_look if passing else None,
        ),
    )


def _is_pinned(hold: Hold, guardian: Pod | None, node: str) -> bool:
    """Whether a slot is bound to a node, or has a rest standing there."""
    rests = guardian is not None and is_short(hold, guardian)
    return keeps_rest(hold) and bool(node) and (hold.template.node == node or rests)


def is_whole(room: HoldRoom, node: str) -> bool:
    """Whether a guardian keeps all of a hold that owners do not use."""
    return not _missing(room, node)


def could_have_back(view: NodeView, room: HoldRoom) -> bool:
    """Whether room is free on a node that a hold is about to have back.

    It is not if the hold could not have all of it back: then another pod has got it. Latches that
    have served count twice for a moment, and have got nothing.
    """
    if not _missing(room, view.name):
        return False
    size = room_to_keep(room.hold, room.users_on(view.name))
    without = view.unsettled | {pod.key for pod in (*room.guardians, *room.latches)}
    for latch, other in view.claims:  # A claim is larger than what its hold lacks.
        if other.name != room.name:
            without |= {latch.key}
            size = size + other.lacking
    return view.unfit(_of_size(room, size), without) is None


def returned(view: NodeView, room: HoldRoom, now: datetime) -> Resources:
    """What is free on a node and a hold is about to have back."""
    since = view.owed_since.get(room.name)
    if since is None or now >= since + LONGEST_OWED:
        return EMPTY
    return _missing(room, view.name).minus(room.latched_on(view.name))


def returned_on(view: NodeView, now: datetime, besides: str = "") -> Resources:
    """What is free on a node and belongs to holds, other than the one with the given name."""
    total = EMPTY
    for room in view.returning:
        if room.name != besides and room.node in ("", view.name):
            total = total + returned(view, room, now)
    return total


def _missing(room: HoldRoom, node: str) -> Resources:
    return room.lacking_on(node) if returns(room.hold) else EMPTY


def fenced_from(view: NodeView, room: HoldRoom, wait: timedelta) -> datetime | None:
    """From when on a fence keeps pods without a claim off a hold's node; None without a fence.

    A fence that is being removed keeps nobody off: it may be gone too early.
    """
    if room.hold.allocate_once or room.hold.pre_allocation or view.fence_changing:
        return None
    for fence in view.fences:
        if fence.since is not None and fence.pod.occupies_node and fence.pod.deleted is None:
            return fence.since + wait
    return None


def all_of(room: HoldRoom) -> Resources:
    """All that a hold may have: a fence keeps it as a latch would."""
    sizes = [pod.requests for pod in room.guardians]
    return reduce(Resources.largest, sizes, room.hold.template.pod.requests)


def taken_over(view: NodeView, room: HoldRoom, firm: list[Pod]) -> Resources:
    """What latches of handovers keep: a guardian had it, so there is room for it.

    The claim of a slot in use is as large as the slot, whatever room its node has. A guardian needs
    a place for a pod as well, and its owner may have got the one that it had.
    """
    served = [latch for latch in firm if claims_on(latch)]
    return _kept_by(room, served) if served and view.places >= 1 else EMPTY


def firm_later(room: HoldRoom, latches: list[Pod], now: datetime) -> datetime | None:
    """When the next latch of a hold will keep free room that it does not keep now."""
    to_come = (
        room.firm_from.get(latch.key)
        for latch in latches
        if latch.nominated and latch.key not in (*room.moving, *room.took_over)
    )
    return earliest(*(moment for moment in to_come if moment is not None and moment > now))


def _latches_on(view: NodeView, room: HoldRoom) -> list[Pod]:
    here = ("", view.name)
    return [latch for latch in room.latches if latch.nominated in here] if view.known else []


def _kept_by(room: HoldRoom, firm: list[Pod]) -> Resources:
    """What these latches keep that we have not given to owners yet."""
    lines = dict.fromkeys(line for latch in firm for line in claims_on(latch))
    given = (room.bound_by_us.get(line, EMPTY) for line in lines)
    return sum((latch.requests for latch in firm), EMPTY).minus(sum(given, EMPTY))


def _is_firm(room: HoldRoom, latch: Pod, now: datetime) -> bool:
    """Whether a latch keeps room now.

    One that is being moved keeps nothing. One that took the room over from a guardian keeps it at
    once; any other must have been nominated for a while before it keeps free room.
    """
    if not latch.nominated or latch.key in room.moving:
        return False
    firm = room.firm_from.get(latch.key)
    return latch.key in room.took_over or (firm is not None and now >= firm)


def could_hold_all(
    view: NodeView, room: HoldRoom, fenced: bool, taken: Resources, now: datetime
) -> bool:
    """Whether what owners do not use of a hold would fit on its node."""
    if room.hold.terminal:
        return True
    users = room.users
    if not users and not room.guardians and not fenced and not room.latches:
        return True
    size = room_to_keep(room.hold, users)
    return _fits(view, room, size, now) or bool(users and size and _took(view, room, size, taken))


def _took(view: NodeView, room: HoldRoom, size: Resources, taken: Resources) -> bool:
    """Whether the latch of a handover has the room, although others count twice there.

    Only if no bound pod has got it by now.
    """
    if not size.fits_in(taken):
        return False
    nominated = frozenset(pod.key for pod in view.nominated)
    return view.unfit(_of_size(room, size), nominated) is None


def goes_without_place(view: NodeView, room: HoldRoom) -> bool:
    """Whether an owner may leave a part of a hold where no guardian has a place for it.

    Only if pods that are there have all places. Owners on their way take the place of a guardian
    each, and may leave one free.
    """
    return returns(room.hold) and view.places_without_arrivals < 1


def is_crowded(view: NodeView, room: HoldRoom) -> bool:
    """Whether owners of a reusable hold left no place for the guardian of the rest.

    It stays so until that guardian has a place: a charge or a latch that was made for it says so.
    If a place is free and the room is not, places are not what it lacks.
    """
    hold, guardians = room.hold, room.guardians
    if not returns(hold) or not view.name or any(pod.node for pod in guardians):
        return False
    charges = not hold.pre_allocation and any(is_charge(pod) for pod in guardians)
    users, rest = room.users, room_to_keep(hold, room.users)
    if charges or any(users_on(latch) for latch in room.latches):
        without = room.latch_keys | view.claim_keys | view.unsettled
        return view.unfit(_of_size(room, rest), without) in (None, TOO_MANY_PODS)
    if not users or not rest or not goes_without_place(view, room):
        return False
    return view.unfit(_of_size(room, rest), room.latch_keys | view.claim_keys) == TOO_MANY_PODS


def _fits(view: NodeView, room: HoldRoom, size: Resources, now: datetime) -> bool:
    if any(size.fits_in(pod.requests) for pod in room.guardians if pod.node):
        return True
    besides, places = _arriving_besides(view, room)
    stands = any(pod.node == view.name for pod in room.guardians)
    if not stands and room.users:
        places += _places_owed(view)
    if places and view.places + stands <= places:
        return False
    size = size + besides
    without = {pod.key for pod in (*room.guardians, *room.latches)}
    slot = keeps_rest(room.hold)
    for latch, other in view.claims:
        if other.name != room.name:  # Its owners are counted by themselves.
            without.add(latch.key)
            if not (slot and keeps_rest(other.hold)):
                size = size + other.lacking
    if slot:
        size = size + returned_on(view, now, room.name)
    return view.unfit(_of_size(room, size), frozenset(without)) is None


def _arriving_besides(view: NodeView, room: HoldRoom) -> tuple[Resources, int]:
    """What other holds are about to take on a node beyond what their guardians have there.

    Room, and places for pods.
    """
    total, places = EMPTY, 0
    for other, size in view.arriving:
        if other.name != room.name:
            guardian = other.guardian
            there = guardian is not None and guardian.node == view.name
            total = total + (size.minus(guardian.requests) if guardian and there else size)
            places += not there
    return total, places


def _places_owed(view: NodeView) -> int:
    """How many places owners have just left on a node, for the guardians of their holds.

    A guardian that only keeps the rest beside an owner comes later: that owner has its place.
    """
    arriving = {other.name for other, _ in view.arriving}
    return sum(
        returns(room.hold)
        and room.node == view.name
        and not room.users
        and not any(pod.node for pod in room.guardians)
        and room.name not in arriving
        for room in view.returning
    )


def _of_size(room: HoldRoom, size: Resources) -> Pod:
    """A guardian of this size, for a node that is given."""
    return replace(room.hold.template.pod, requests=size, placement=ANYWHERE)
