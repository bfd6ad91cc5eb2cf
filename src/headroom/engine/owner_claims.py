"""Owners at the doors: which hold each gets, and what becomes of a claim half done.

A gated pod (door 1) gets a hold or is let go; a pod of our scheduler (door 2) gets a hold or free
room. Pods that carry a claim and have no node yet are followed until they have one, or until it is
clear that they will not get it; whatever state they are found in, the next step follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from headroom.core.actions import Action, Disclaim
from headroom.core.claims import (
    Offer,
    Refused,
    Search,
    claim_of,
)
from headroom.core.doors.offers import HANDED_OVER, Applicant, not_open, offer, rules_refusal
from headroom.core.handover import ungate
from headroom.core.holds import Hold
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod
from headroom.core.owners import owner_refusal
from headroom.core.plan import Sequence, Work, telling
from headroom.core.selection import only_node
from headroom.core.statuses import tell_pod
from headroom.core.subjects import hold_subject, pod_subject
from headroom.engine.doors.completion import disclaim, finish
from headroom.engine.doors.unfinished import begins_anew
from headroom.engine.freeze import hold_room, node_view
from headroom.engine.handover_queue import left_beside
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
    room, ahead = hold_room(ledger, hold), ledger.parked.of(str(hold.parent))
    left = left_beside(ledger, hold) if ahead else None
    applicant = Applicant(pod, ledger.door(pod), tuple(owner for owner, _ in ahead), left)
    node = room.guardian.node if room.guardian is not None else ""
    refusal = rules_refusal(room, labels_around(ledger, node), applicant, ledger.policy, now)
    return refusal or offer(node_view(ledger, node, now), room, applicant, now)


def follow(ledger: Ledger, pod: Pod, now: datetime) -> Iterator[Sequence]:
    """Go on with a pod that carries a claim: finish it, or take the claim back."""
    claim = claim_of(pod)
    hold = ledger.holds.get(claim[0]) if claim is not None else None
    ours = hold is not None and ledger.owners.has(hold, pod)
    if hold is None or not ours:
        if CLAIM_GATE in pod.gates:  # Left behind, or forged: either way it is not to wait for us.
            yield _let_go(pod)
            message = f"released: its claim does not stand: {_why_not_ours(hold, pod, ledger)}"
            yield Sequence(
                Work.TELL, (), ((tell_pod(pod, "NotMatched", message, now, warn=True),),)
            )
        elif not pod.node and not pod.finished:  # It got no room, and shall not say that it did.
            drop = Disclaim(pod.key, pod.uid)
            yield Sequence(Work.DISCLAIM, (pod_subject(pod.key),), ((drop,),))
        return
    if pod.node:
        ledger.released.pop(pod.uid, None)
        yield from _seated(ledger, hold, pod, now)
    elif CLAIM_GATE in pod.gates:
        yield from finish(ledger, pod, hold, now)
    elif pod.scheduler not in ledger.policy.scheduler_names:
        yield from _released(ledger, hold, pod, now)


def _why_not_ours(hold: Hold | None, pod: Pod, ledger: Ledger) -> str:
    if hold is None:
        return "there is no such hold"
    refusal = owner_refusal(hold, pod, ledger.policy.across_namespaces)
    return refusal or "it is for an older hold of that name"


def _seated(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> Iterator[Sequence]:
    """A claim on room of one node says nothing about another."""
    if hold.slot and hold.allocate_once:
        return  # The slot may be held again elsewhere by now.
    node = ledger.memory[str(hold.parent)].node or hold.status.node
    if hold.terminal or not node or pod.node == node:
        return
    yield disclaim(pod, hold, nominated=False)
    message = f"went to {pod.node} instead of the room of {hold.parent.title} on {node}; held again"
    yield telling(tell_pod(pod, "NotMatched", message, now, warn=True))


def _released(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> Iterator[Sequence]:
    """kube-scheduler has the owner now; if it cannot place it, the hold takes its room back.

    Not while it is away: the nomination keeps the room until it is back.
    """
    since = ledger.released.setdefault(pod.uid, now)
    limit = ledger.scheduler_activity.over_at(since, ledger.policy.unbound_claim_limit, now)
    if pod.unschedulable_since is None and now < limit:
        ledger.agenda.later(pod_subject(pod.key), limit)
        return
    yield disclaim(pod, hold, nominated=True)
    message = f"could not be placed in the room of {hold.parent.title}; held again"
    yield telling(tell_pod(pod, "NotMatched", message, now, warn=True))


def _let_go(pod: Pod) -> Sequence:
    steps: tuple[tuple[Action, ...], ...] = (
        (Disclaim(pod.key, pod.uid, nominated=bool(pod.nominated)),),
        (ungate(pod),),
    )
    return Sequence(Work.RELEASE, (pod_subject(pod.key),), steps)
