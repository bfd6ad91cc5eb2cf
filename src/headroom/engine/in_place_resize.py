"""Owners that already run and grow in place: they get the room that is held for them on their node.

A pod whose resize the kubelet deferred for lack of room claims a hold on its node. When the claim
is written, the guardian is deleted or made smaller, and the kubelet finds the room. No other pod
can take it, because kube-scheduler counts the larger pod from the moment of the request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.actions import ClaimInPlace
from headroom.core.allocation import kept_beside, policy_refusal
from headroom.core.claims import standing_refusal
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.node.kept_room import returned_on
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work
from headroom.core.resources import EMPTY
from headroom.core.subjects import hold_subject, pod_subject
from headroom.engine.freeze import node_view
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import labels_around, unfit


def grow_in_place(ledger: Ledger, pod: Pod, now: datetime) -> Iterator[Sequence]:
    """Claim the best hold on the pod's own node that has what it asks for beyond what it has."""
    for parent in ledger.open.for_pod(replace(pod, requests=pod.growth)):
        hold = ledger.holds[parent]
        busy = ledger.agenda.busy(hold_subject(hold.parent))
        if (
            not busy
            and not ledger.parked_by.of(By.RESERVED, parent)
            and _serves(ledger, hold, pod, now)
        ):
            beside = pod.requests.minus(pod.growth)
            claim = ClaimInPlace(pod.key, pod.uid, hold.parent, beside)
            subjects = (pod_subject(pod.key), hold_subject(hold.parent))
            yield Sequence(Work.GROW, subjects, ((claim,),))
            return


def _serves(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> bool:
    guardian = ledger.guardian_of(hold)
    if guardian is None or guardian.node != pod.node:
        return False
    around = labels_around(ledger, pod.node)
    growth = replace(pod, requests=pod.growth)
    users = [user for user in ledger.claimants_of(hold) if not user.finished]
    if standing_refusal(hold, pod, ledger.policy, now, around) is not None:
        return False
    if policy_refusal(hold, users, growth) is not None:
        return False
    kept = kept_beside(hold, guardian.requests, pod.growth)
    within = (pod.growth + kept).fits_in(guardian.requests)
    view = node_view(ledger, pod.node, now)
    others = EMPTY if within else returned_on(view, now, hold.parent.identity)
    grown = replace(pod, requests=pod.requests + kept + others)
    return unfit(ledger, grown, pod.node, frozenset({guardian.key, pod.key})) is None
