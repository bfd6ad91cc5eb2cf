"""Taking back a handover through the gate that the API server forbids, in the reverse order.

If the owner's guardian is gone it is made again on the node, and only then the nomination goes, so
that the room is never bare. The owner tries again after a pause.

    nominated, guardian stands  →  disclaim
    nominated, guardian gone    →  make guardian, bound to the node  →  disclaim
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.actions import CreateGuardian, Disclaim
from headroom.core.claims import claim_of
from headroom.core.holds import Hold
from headroom.core.naming import guardian_name
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work, telling
from headroom.core.policies import to_keep
from headroom.core.statuses import tell_pod
from headroom.core.subjects import hold_subject, node_subject, pod_subject
from headroom.engine.agenda import OWNER_PAUSE
from headroom.engine.fitting import unfit
from headroom.engine.ledger import Ledger


def note_ended(ledger: Ledger, sequence: Sequence) -> None:
    """Let it be known of whose handover something was forbidden."""

    def guarding(owner: Key) -> Key | None:
        pod = ledger.pods.get(owner)
        claim = claim_of(pod) if pod is not None else None
        hold = ledger.holds.get(claim[0]) if claim is not None else None
        guardian = ledger.guardian_of(hold) if hold is not None else None
        return guardian.key if guardian is not None else None

    ledger.forbidden.ended(sequence, guarding)


def in_the_way(ledger: Ledger, hold: Hold) -> Pod | None:
    """The guardian that still has the owner's room; not one that keeps only the rest."""
    guardian = ledger.guardian_of(hold)
    left = to_keep(hold, ledger.claimants_of(hold))
    rest = guardian is not None and not hold.allocate_once and guardian.requests.fits_in(left)
    return None if rest else guardian


def take_back(ledger: Ledger, pod: Pod, hold: Hold, now: datetime) -> Iterator[Sequence]:
    """Undo a handover that was forbidden.

    Where that cannot be done without a gap it stays as it is, and is tried again after a pause.
    """
    why = ledger.forbidden.take(pod)
    back = _guardian_again(ledger, pod, hold)
    if back is None:
        ledger.agenda.failed(pod_subject(pod.key), now, longest=OWNER_PAUSE)
        return
    subjects = (pod_subject(pod.key), hold_subject(hold.parent), node_subject(pod.nominated))
    ledger.forbidden.undo(pod.nominated)
    ledger.released.pop(pod.uid, None)  # The next try stands nominated for as long as this one did.
    drop = Disclaim(pod.key, pod.uid, nominated=True)
    yield Sequence(Work.TAKE_BACK, subjects, (*back, (drop,)))
    message = f"the room of {hold.parent.title} cannot be handed over, and stays held: {why}"
    yield telling(tell_pod(pod, "NotMatched", message, now, warn=True))


def _guardian_again(
    ledger: Ledger, pod: Pod, hold: Hold
) -> tuple[tuple[CreateGuardian, ...], ...] | None:
    """The steps that give a hold its guardian back; none if it stands, None if that cannot be."""
    if in_the_way(ledger, hold) is not None:
        return ()
    if not hold.allocate_once or not pod.nominated:
        return None
    whole = replace(hold.template.pod, key=Key(hold.guardian_namespace, guardian_name(hold)))
    ours = frozenset({pod.key, *(latch.key for latch in ledger.latches_of(hold))})
    if unfit(ledger, whole, pod.nominated, ours) is not None:
        return None
    size = hold.template.pod.requests
    again = CreateGuardian(guardian_name(hold), hold, size, node=pod.nominated, bound=True)
    return ((again,),)
