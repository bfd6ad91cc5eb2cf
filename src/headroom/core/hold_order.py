"""Choose a hold if several match a pod, and reject those that the pod's own wish excludes.

A wish narrows what the owner rules allow; it never grants anything. Order: the order that the
authors of the holds set, then the hold that the pod fills best, then the oldest, then the first by
name. Nothing is random. `allocation` judges room and policies, `owners` judges who may claim.
"""

from __future__ import annotations

from collections.abc import Mapping

from headroom.core.amounts import format_amount
from headroom.core.holds import Hold
from headroom.core.objects import NO_LABELS, Node, Pod, Taint, Toleration, Wish
from headroom.core.resources import Resources
from headroom.core.selection import term_matches, tolerated, untolerated

CLOSED = Taint("node.kubernetes.io/unschedulable")
FULL_SCORE = 100

Preference = tuple[bool, int, int]


def affinity_refusal(pod: Pod, hold: Hold, around: Mapping[str, str] = NO_LABELS) -> str | None:
    """Why the pod's wish excludes this hold, or None; `around` are the labels of its node.

    A hold that the pod asks for by name is allowed in spite of its taints, and if it is closed.
    """
    wish = pod.wish
    if wish.problem:
        return wish.problem
    if wish.avoids_holds:
        return "the pod uses no holds (label reservation-ignored)"
    if wish.name and wish.name != hold.parent.name:
        return f"the pod asks for {wish.name}"
    if not wish.name:
        closed = hold.unschedulable or hold.taints
        why = _closed(wish, hold, pod.placement.tolerations) if closed else None
        why = why or _unwanted(wish, hold, around)
        if why is not None:
            return why
    return _inexact(wish, hold, pod.requests) if wish.exact else None


def _closed(wish: Wish, hold: Hold, own: tuple[Toleration, ...]) -> str | None:
    """Why a hold is closed to a pod with this wish; `own` are the tolerations of the pod itself."""
    if hold.unschedulable and not tolerated(CLOSED, wish.tolerations):
        return "it takes no new owners (spec.unschedulable)"
    if not wish.needs_hold and not hold.terms.binds_all:
        return None
    taint = untolerated(hold.taints, wish.tolerations if wish.needs_hold else own)
    if taint is None:
        return None
    return f"the pod does not tolerate its taint {{{taint.key}: {taint.value}}}"


def _unwanted(wish: Wish, hold: Hold, around: Mapping[str, str]) -> str | None:
    if not wish.selector and wish.terms is None:
        return None
    labels = {**around, **hold.labels}
    for key, value in wish.selector:
        if labels.get(key) != value:
            return f"the pod wants a hold with the label {key}={value}"
    # Terms are written as for nodes; a field in them means the name of the hold.
    seen = Node(hold.parent.name, labels=labels)
    if wish.terms is None or any(term_matches(term, seen) for term in wish.terms):
        return None
    return "its labels do not match the pod's reservation affinity"


def _inexact(wish: Wish, hold: Hold, asked: Resources) -> str | None:
    room = hold.template.pod.requests
    for name in wish.exact:
        if room[name] != asked[name]:
            has, wants = (format_amount(name, amount[name]) for amount in (room, asked))
            return f"the pod wants exactly its {wants} {name}, the hold has {has}"
    return None


def fullness(asked: Resources, room: Resources, used: Resources) -> int:
    """How full the pod would make a hold, in percent of each resource that it has, on average.

    A resource that would not be enough counts nothing; a pod that asks for nothing scores nothing.
    """
    if not asked or not room:
        return 0
    shares = (
        (asked[name] + used[name]) * FULL_SCORE // has
        for name, has in sorted(room.items())
        if asked[name] + used[name] <= has
    )
    return sum(shares) // len(room)


def preference(order: int, asked: Resources, room: Resources, used: Resources) -> Preference:
    """The sort key of holds before their age: a given order, then how well they fit."""
    return order == 0, order, -fullness(asked, room, used)
