"""Owners at the doors without a claim: which holds are offered to each.

A gated pod (door 1) gets a hold or is let go; a pod of our scheduler (door 2) gets a hold or free
room.
"""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from headroom.core.claims import Offer, Refused, Search, standing_refusal
from headroom.core.doors.offers import HANDED_OVER, Applicant, not_open, offer, rules_refusal
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.selection import only_node
from headroom.core.subjects import hold_subject
from headroom.engine.freeze import hold_room, node_view
from headroom.engine.handover_queue import left_beside, parked_for
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import labels_around
from headroom.engine.observation.owners import was_to_get

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
    return Search(None, (*refused, *_begins_anew(ledger, pod, now)))


def _begins_anew(ledger: Ledger, pod: Pod, now: datetime) -> tuple[Refused, ...]:
    """The hold that a pod was about to get, if it stands and will be offered in a moment.

    A hold with `allocateOnce` that is given to an owner is offered to no other pod. If that
    handover fails, it is undone first, and the owner may be checked before its hold is offered
    again. The same is true if the guardian is lost while the owner waits for its turn. The owner
    waits for it, and does not continue without the room that is kept for it.
    """
    parent = was_to_get(ledger, pod)
    hold = ledger.holds.get(parent)
    if hold is None or parent in ledger.open or parent in ledger.coming or ledger.promised(hold):
        return ()
    if standing_refusal(hold, pod, ledger.policy, now) is not None:
        return ()
    guardian = ledger.guardian_of(hold)
    stands = guardian is not None and bool(guardian.node)
    why = "its handover has failed and begins anew" if stands else "its guardian was lost"
    return (Refused(hold.parent, why, waiting=True, failed=True),)


def offer_of(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> Offer | Refused:
    """What this hold says to this pod."""
    room, ahead = hold_room(ledger, hold), parked_for(ledger, hold)
    left = left_beside(ledger, hold) if ahead else None
    applicant = Applicant(pod, ledger.door(pod), tuple(owner for owner, _ in ahead), left)
    node = room.guardian.node if room.guardian is not None else ""
    refusal = rules_refusal(room, labels_around(ledger, node), applicant, ledger.policy, now)
    return refusal or offer(node_view(ledger, node, now), room, applicant, now)
