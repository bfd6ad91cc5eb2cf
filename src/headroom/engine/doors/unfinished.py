"""Owners that were about to get a hold, and did not get it yet: they wait for it.

A hold with `allocateOnce` that is given to an owner is offered to no other pod. If that handover
fails, it is undone first, and the owner may be checked before its hold is offered again. The same
is true if the guardian is lost while the owner waits for its turn. Without this module the owner
would find nothing, and continue without the room that is kept for it.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.claims import Refused, standing_refusal
from headroom.core.objects import Pod
from headroom.engine.ledger import Ledger
from headroom.engine.observation.owners import was_to_get


def begins_anew(ledger: Ledger, pod: Pod, now: datetime) -> tuple[Refused, ...]:
    """The hold that a pod was about to get, if it stands and will be offered in a moment."""
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
