"""Owners at the doors without a claim: which holds are offered to each.

A gated pod (door 1) gets a hold or is let go; a pod of our scheduler (door 2) gets a hold or free
room.
"""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from headroom.core.claims import (
    Offer,
    Refused,
    Search,
)
from headroom.core.doors.offers import HANDED_OVER, Applicant, not_open, offer, rules_refusal
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.selection import only_node
from headroom.core.subjects import hold_subject
from headroom.engine.doors.unfinished import begins_anew
from headroom.engine.freeze import hold_room, node_view
from headroom.engine.handover_queue import left_beside, parked_for
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import labels_around

MOST_COMING = 50  # A headroom may have thousands of slots on their way; they are all alike.


def search(ledger: Ledger, pod: Pod, now: datetime) -> Search:
    """Find the best hold that this pod may have and fits into: see core.hold_order."""
    if pod.wish.shuns or pod.wish.problem:
        return Search(None, problem=pod.wish.problem)
    refused = []
    only = only_node(pod.placement)  # Of a DaemonSet: the holds of other nodes are not for it.
    for parent in ledger.open.for_pod(pod):
        if only and ledger.memory[parent].node not in ("", only):
            continue
        hold = ledger.holds[parent]
        if ledger.agenda.busy(hold_subject(hold.parent)):
            refused.append(Refused(hold.parent, HANDED_OVER, waiting=True))
            continue
        answer = offer_of(ledger, hold, pod, now)
        if isinstance(answer, Offer):
            return Search(answer)
        refused.append(answer)
    coming = (ledger.holds[parent] for parent in ledger.coming.for_pod(pod))
    there = (hold for hold in coming if not only or hold.template.node in ("", only))
    for hold in islice(there, MOST_COMING):
        refused.append(not_open(hold_room(ledger, hold), pod, ledger.policy, now))
    return Search(None, (*refused, *begins_anew(ledger, pod, now)))


def offer_of(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> Offer | Refused:
    """What this hold says to this pod."""
    room, ahead = hold_room(ledger, hold), parked_for(ledger, hold)
    left = left_beside(ledger, hold) if ahead else None
    applicant = Applicant(pod, ledger.door(pod), tuple(owner for owner, _ in ahead), left)
    node = room.guardian.node if room.guardian is not None else ""
    refusal = rules_refusal(room, labels_around(ledger, node), applicant, ledger.policy, now)
    return refusal or offer(node_view(ledger, node, now), room, applicant, now)
