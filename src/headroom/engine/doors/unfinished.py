"""Owners whose handover began and did not end: they wait for their hold.

A hold with `allocateOnce` that is given to an owner is offered to no other pod. If that handover
fails, it is undone first, and the owner may be checked before its hold is offered again. Without
this module it would find nothing, and continue without the room that is kept for it.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.claims import Refused, standing_refusal
from headroom.core.objects import Pod
from headroom.core.subjects import hold_subject
from headroom.engine.ledger import Ledger


def begins_anew(ledger: Ledger, pod: Pod, now: datetime) -> tuple[Refused, ...]:
    """The hold that a pod was about to get, if it stands and will be offered in a moment."""
    parent = ledger.owners.was_to_get(pod)
    hold = ledger.holds.get(parent)
    if hold is None or parent in ledger.open or parent in ledger.coming or ledger.promised(hold):
        return ()
    guardian = ledger.guardian_of(hold)
    if guardian is None or not guardian.node or standing_refusal(hold, pod, ledger.policy, now):
        return ()
    ledger.agenda.touch(hold_subject(hold.parent))
    ledger.waiting[pod.key] = now  # The time that the attempt took was not the owner's.
    return (Refused(hold.parent, "its handover has failed and begins anew", waiting=True),)
