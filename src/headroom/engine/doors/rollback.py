"""Taking back a handover through the gate that the API server forbids, in the reverse order.

If the owner's guardian is gone it is made again on the node. The nomination goes when no cycle of
kube-scheduler is left that began before the guardian was there, so that the room is never bare; and
with it the latches of the handover, since room that counts twice would keep others on that node
from theirs. The owner tries again after a pause.

    nominated, guardian stands  →  disclaim, delete latches
    nominated, guardian gone    →  make guardian, bound to the node  →  a moment later as above
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.actions import CreateGuardian, DeletePod, Disclaim, Ungate
from headroom.core.allocation import ports_beside, to_keep
from headroom.core.claims import claim_of
from headroom.core.derived_names import guardian_name
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work, telling
from headroom.core.statuses import tell_pod
from headroom.core.subjects import hold_subject, node_changed, node_subject, pod_subject
from headroom.engine.agenda import OWNER_PAUSE
from headroom.engine.doors.forbidden import FINISHING
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit


def note_ended(ledger: Ledger, sequence: Sequence, completed: bool) -> None:
    """Let it be known of whose handover something was forbidden."""
    owners: dict[str, list[Key]] = {}
    for owner in (each for each in sequence.actions if isinstance(each, Ungate)):
        pod = ledger.pods.get(owner.key)
        claim = claim_of(pod) if pod is not None else None
        hold = ledger.holds.get(claim[0]) if claim is not None else None
        guardian = ledger.guardian_of(hold) if hold is not None else None
        if pod is not None:
            owners[pod.uid] = [owner.key, *([guardian.key] if guardian is not None else [])]
    ledger.forbidden.ended(sequence, owners)
    if sequence.work is Work.TAKE_BACK:
        node, owner_subject, _ = sequence.subjects
        ledger.forbidden.undone(node.identity)
        owner_now = ledger.pods.get(owner_subject.key)
        if owner_now is not None and not completed:
            ledger.forbidden.forget(owner_now.uid)


def is_taken_back(ledger: Ledger, sequence: Sequence, pod: Pod) -> bool:
    """Whether an owner is to be looked at once more at once, because its claim goes."""
    return sequence.work in (*FINISHING, Work.TAKE_BACK) and ledger.forbidden.has(pod)


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
    refusal, node = ledger.forbidden.of(pod), pod.nominated
    subjects = (node_subject(node), pod_subject(pod.key), hold_subject(hold.parent))
    if in_the_way(ledger, hold) is None:
        if _others_arrive(ledger, pod):  # A guardian beside our nomination would be in their way.
            ledger.agenda.wait(pod_subject(pod.key), on=node_changed(node))
            ledger.agenda.later(pod_subject(pod.key), now + ledger.policy.first_look)
            return
        again = _guardian_again(ledger, pod, hold) if refusal.kept_from is None else None
        if again is None:
            ledger.forbidden.forget(pod.uid)
            ledger.agenda.failed(pod_subject(pod.key), now, longest=OWNER_PAUSE)
            return
        ledger.forbidden.kept(pod, now + ledger.policy.latch_linger)
        ledger.forbidden.undo(node)
        yield Sequence(Work.TAKE_BACK, subjects, ((again,),))
        return
    if refusal.kept_from is not None and now < refusal.kept_from:
        ledger.agenda.later(pod_subject(pod.key), refusal.kept_from)
        return
    ledger.forbidden.forget(pod.uid)
    ledger.forbidden.undo(node)
    ledger.released.pop(pod.uid, None)  # The next try stands nominated for as long as this one did.
    latches = ledger.having(By.LATCH_OF_OWNER, pod.key)
    gone = tuple(DeletePod(latch.key, latch.uid) for latch in latches)
    yield Sequence(Work.TAKE_BACK, subjects, ((Disclaim(pod.key, pod.uid, nominated=True), *gone),))
    message = f"the room of {hold.parent.title} cannot be handed over, and stays held"
    told = tell_pod(pod, "HandoverForbidden", f"{message}: {refusal.why}", now, warn=True)
    yield telling(told)


def _others_arrive(ledger: Ledger, pod: Pod) -> bool:
    """Whether owners that were let through the gate are on their way to the same node."""
    return any(
        other.key != pod.key and CLAIM_GATE not in other.gates and claim_of(other) is not None
        for other in ledger.state.nominated_on(pod.nominated)
    )


def _guardian_again(ledger: Ledger, pod: Pod, hold: Hold) -> CreateGuardian | None:
    """What gives a hold its guardian back on the node; None where there is no room for it.

    It is as large as the guardian that this handover deleted: all that owners that came before
    leave of a reusable hold. The owner's room is kept by its nomination, the rest of a reusable
    hold by a latch; what a hold for one has beyond its owner may be gone.
    """
    if not pod.nominated or ledger.guardian_of(hold) is not None:
        return None
    template = hold.template.pod
    before_it = () if hold.allocate_once else ledger.claimants_of(hold)
    others = tuple(each for each in before_it if each.key != pod.key)
    size, ports = to_keep(hold, others), ports_beside(template.placement.ports, others)
    before = replace(
        template,
        key=Key(hold.guardian_namespace, guardian_name(hold)),
        requests=size,
        placement=replace(template.placement, ports=ports),
    )
    ours = frozenset({pod.key, *(latch.key for latch in ledger.latches_of(hold))})
    if unfit(ledger, before, pod.nominated, ours) is not None:
        return None
    return CreateGuardian(
        before.key.name, hold, size, node=pod.nominated, bound=True, ports=ports or None
    )
