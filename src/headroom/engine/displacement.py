"""Pods that ignore holds (Koordinator's label reservation-ignored): they may use held room.

They never become owners. If no room is free, they take part of what a guardian keeps for their own
namespace, never of another: a label that anyone can write gives no access to others' holds. The
guardian keeps the rest, and its hold reports what it lacks until that room is free again.
"""

from __future__ import annotations

from headroom.core.claims import Offer
from headroom.core.index_entries import By
from headroom.core.objects import Pod
from headroom.core.owners import is_kept_for
from headroom.core.subjects import hold_subject
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit


def displacement(ledger: Ledger, pod: Pod) -> Offer | None:
    """Find the guardian that loses least and has all the room that the pod asks for."""
    offers = [
        Offer(hold, guardian, guardian.requests.minus(pod.requests), claims=False)
        for parent in ledger.open
        for hold in (ledger.holds[parent],)
        for guardian in (ledger.guardian_of(hold),)
        if guardian is not None
        and is_kept_for(hold, pod.key.namespace)
        and not ledger.parked_by.of(By.RESERVED, parent)
        and guardian.node
        and not ledger.agenda.busy(hold_subject(hold.parent))
        and pod.requests.fits_in(guardian.requests)
        and unfit(ledger, pod, guardian.node, frozenset({guardian.key})) is None
    ]
    return min(
        offers,
        key=lambda offer: (sum(offer.kept.values()), offer.hold.parent.identity),
        default=None,
    )
