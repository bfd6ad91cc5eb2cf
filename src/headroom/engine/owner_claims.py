"""Freeze what decides which hold an owner at a door is offered: see `core.doors.hold_search`."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from headroom.core.claims import Offer, Refused
from headroom.core.doors.hold_search import Candidate, SearchView
from headroom.core.doors.offers import HoldAsked, answer
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.subjects import hold_subject
from headroom.engine.freeze import hold_room, node_view
from headroom.engine.handover_queue import left_beside, parked_for
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import labels_around
from headroom.engine.observation.owners import was_to_get


def search_view(ledger: Ledger, pod: Pod, door: int, now: datetime) -> SearchView:
    """The holds that may be for a pod, the best first."""
    busy, holds = ledger.agenda.busy, ledger.holds
    return SearchView(
        pod,
        door,
        (
            Candidate(hold, ledger.memory[parent].node, busy(hold_subject(hold.parent)))
            for parent in ledger.open.for_pod(pod)
            if (hold := holds[parent])
        ),
        (holds[parent] for parent in ledger.coming.for_pod(pod)),
        partial(hold_asked, ledger, now),
        partial(hold_room, ledger),
        partial(_interrupted, ledger, pod),
    )


def hold_asked(ledger: Ledger, now: datetime, hold: Hold) -> HoldAsked:
    """A hold that a pod asks for, as it is now."""
    room, ahead = hold_room(ledger, hold), parked_for(ledger, hold)
    node = room.guardian.node if room.guardian is not None else ""
    return HoldAsked(
        room,
        labels_around(ledger, node),
        partial(node_view, ledger, node, now),
        tuple(owner for owner, _ in ahead),
        left_beside(ledger, hold) if ahead else None,
    )


def offer_of(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> Offer | Refused:
    """What this hold says to this pod."""
    return answer(hold_asked(ledger, now, hold), pod, ledger.door(pod), ledger.policy, now)


def _interrupted(ledger: Ledger, pod: Pod) -> tuple[Hold, Pod | None] | None:
    """The hold that a pod was about to get, if it is neither offered nor promised now."""
    parent = was_to_get(ledger, pod)
    hold = ledger.holds.get(parent)
    if hold is None or parent in ledger.open or parent in ledger.coming or ledger.promised(hold):
        return None
    return hold, ledger.guardian_of(hold)
