"""Decide which hold an owner is offered, and why the others are not.

The holds come in the order of preference (`hold_order`). The first that offers its room is taken,
so holds and nodes are frozen one by one, as they are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice

from headroom.core.claims import Offer, Refused, Search, standing_refusal
from headroom.core.doors.offers import HANDED_OVER, HoldAsked, answer, not_open
from headroom.core.fast_dataclass import dataclass
from headroom.core.holds import Hold
from headroom.core.node.view import HoldRoom
from headroom.core.objects import Pod
from headroom.core.policy import Policy
from headroom.core.selection import only_node

MOST_COMING = 50  # A headroom may have thousands of slots on their way; they are all alike.


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hold that may be claimed. `node` is where it is held; `writing`: it is being written."""

    hold: Hold
    node: str
    writing: bool


@dataclass(frozen=True, slots=True)
class SearchView:
    """A pod without a claim at one of our doors, and the holds that may match it.

    `open` may be claimed now, `coming` get their room soon; the best come first. `ask` freezes an
    open hold, `room_of` one that is coming. `interrupted` says which hold, with its guardian, the
    pod was about to get: one that stands, and that is neither offered nor expected by anybody now.
    """

    pod: Pod
    door: int
    open: Iterable[Candidate]
    coming: Iterable[Hold]
    ask: Callable[[Hold], HoldAsked]
    room_of: Callable[[Hold], HoldRoom]
    interrupted: Callable[[], tuple[Hold, Pod | None] | None]


def search(view: SearchView, policy: Policy, now: datetime) -> Search:
    """Find the best hold that this pod may have and fits into."""
    pod, refused = view.pod, []
    if pod.wish.avoids_holds or pod.wish.problem:
        return Search(None, problem=pod.wish.problem)
    only = only_node(pod.placement)  # Of a DaemonSet: the holds of other nodes are not for it.
    for each in view.open:
        if only and each.node not in ("", only):
            continue
        if each.writing:
            refused.append(Refused(each.hold.parent, HANDED_OVER, waiting=True))
            continue
        found = answer(view.ask(each.hold), pod, view.door, policy, now)
        if isinstance(found, Offer):
            return Search(found)
        refused.append(found)
    there = (hold for hold in view.coming if not only or hold.template.node in ("", only))
    for hold in islice(there, MOST_COMING):
        refused.append(not_open(view.room_of(hold), pod, policy, now))
    anew = _begins_anew(view, policy, now)
    return Search(None, (*refused, anew) if anew is not None else tuple(refused))


def _begins_anew(view: SearchView, policy: Policy, now: datetime) -> Refused | None:
    """The hold that a pod was about to get, if it will be offered in a moment.

    A hold with `allocateOnce` that is given to an owner is offered to no other pod. If that
    handover fails, it is undone first, and the owner may be checked before its hold is offered
    again. The same is true if the guardian is lost while the owner waits for its turn. The owner
    waits for it, and does not continue without the room that is kept for it.
    """
    known = view.interrupted()
    if known is None or standing_refusal(known[0], view.pod, policy, now) is not None:
        return None
    hold, guardian = known
    stands = guardian is not None and bool(guardian.node)
    why = "its handover has failed and begins anew" if stands else "its guardian was lost"
    return Refused(hold.parent, why, waiting=True, failed=True)
