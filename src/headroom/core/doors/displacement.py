"""Pods that ignore holds (Koordinator's label reservation-ignored): they may use held room.

They never become owners. If no room is free, they take part of what a guardian keeps for their own
namespace, never of another: a label that anyone can write gives no access to others' holds. The
guardian keeps the rest, and its hold reports what it lacks until that room is free again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from headroom.core.claims import Offer
from headroom.core.node.view import HeldRoom
from headroom.core.objects import Key, Pod
from headroom.core.owners import is_kept_for

Unfit = Callable[[Pod, str, frozenset[Key]], str | None]
"""Why a pod would not fit on a node without these other pods; None if it would fit."""


def displacement(pod: Pod, rooms: Iterable[HeldRoom], unfit: Unfit) -> Offer | None:
    """Find the guardian that loses least and has all the room that the pod asks for."""
    known = ((each.room.hold, each.room.guardian) for each in rooms if not each.moving)
    offers = [
        Offer(hold, guardian, guardian.requests.minus(pod.requests), claims=False)
        for hold, guardian in known
        if guardian is not None
        and guardian.node
        and is_kept_for(hold, pod.key.namespace)
        and pod.requests.fits_in(guardian.requests)
        and unfit(pod, guardian.node, frozenset({guardian.key})) is None
    ]
    return min(
        offers,
        key=lambda offer: (sum(offer.kept.values()), offer.hold.parent.identity),
        default=None,
    )
