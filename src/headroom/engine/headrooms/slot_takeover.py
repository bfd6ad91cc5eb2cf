"""A slot that follows a pod onto a full node gets the room of an existing hold there.

kube-scheduler places its guardian next to its owner. If that node has no room for it, the guardian
is treated as an owner at door 2: of a hold on this node whose rules match it. It takes the hold's
place under a latch, and the hold is held again as its own rules say.

This is for Locked slots only: their followers use our doors and wait while the room moves. A
follower that preempts would not wait. While the latch counts, it would find the node too full and
evict another pod; it can use an existing Preemptible slot instead.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.claims import Offer
from headroom.core.handover import is_quick
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.latches import kept_for
from headroom.core.objects import Pod
from headroom.core.subjects import hold_subject, node_changed, pod_subject
from headroom.engine.freeze import unfit, unsettled_on
from headroom.engine.handover_queue import park
from headroom.engine.latch_controller import latched
from headroom.engine.ledger import Ledger
from headroom.engine.owner_controller import offer_of


def move_in(ledger: Ledger, guardian: Pod, now: datetime) -> None:
    """Give a guardian that finds no room next to its owner the room of a hold on that node."""
    if ledger.door(guardian) != 2 or guardian.key in ledger.parked or latched(ledger, guardian):
        return
    slot = ledger.holds[kept_for(guardian)]
    if slot.mode == PREEMPTIBLE:
        return
    if unfit(ledger, guardian, slot.next_to, frozenset()) is None:
        return  # kube-scheduler places it.
    if unsettled_on(ledger, slot.next_to):  # What counts twice just now may leave room enough.
        _wait(ledger, slot, guardian, now)
        return
    offer = _offer(ledger, slot, guardian, now)
    if offer is not None:
        park(ledger, guardian, offer)


def _offer(ledger: Ledger, slot: Hold, guardian: Pod, now: datetime) -> Offer | None:
    """The best hold on the node that is large enough, except slots that follow other pods."""
    for parent in ledger.open.for_pod(guardian):
        hold = ledger.holds[parent]
        if ledger.memory[parent].node != slot.next_to or hold.template.beside is not None:
            continue
        if ledger.agenda.busy(hold_subject(hold.parent)):
            _wait(ledger, slot, guardian, now)
            continue
        answer = offer_of(ledger, hold, guardian, now)
        if isinstance(answer, Offer) and is_quick((guardian, answer)):
            return answer
    return None


def _wait(ledger: Ledger, slot: Hold, guardian: Pod, now: datetime) -> None:
    """Look again when something changes on the node, or soon."""
    subject = pod_subject(guardian.key)
    ledger.agenda.wait(subject, on=node_changed(slot.next_to))
    ledger.agenda.later(subject, now + ledger.policy.first_look)
