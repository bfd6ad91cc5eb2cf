"""The controller of owners that carry a claim: `core.doors` decides about them.

Between two steps of a handover it also checks what the next step depends on (`premises`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from headroom.core.actions import Action, DeletePod, Denied, Invalid, Outcome, Ungate
from headroom.core.doors import carried_claims, premises
from headroom.core.doors.carried_claims import CarriedClaim
from headroom.core.doors.claim_decision import (
    GateView,
    NominatedOwner,
    OwnerStage,
    decide,
)
from headroom.core.doors.forbidden import FINISHING, forbidden, written
from headroom.core.fast_dataclass import replace
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.pod_memory import Refusal
from headroom.core.subjects import pod_subject
from headroom.engine.agenda import OWNER_PAUSE
from headroom.engine.freeze import claimed, hold_room, hold_used_by, node_view
from headroom.engine.handover_queue import rivals_on
from headroom.engine.ledger import Ledger


def waits_since(ledger: Ledger, moment: datetime) -> None:
    """Set the start of the waiting time of all pods at our doors."""
    for pod in [ledger.pods[key] for key in ledger.waiting]:
        ledger.pod_memory[pod.uid] = replace(ledger.pod_memory[pod.uid], since=moment)


def follow(ledger: Ledger, pod: Pod, at: OwnerStage, now: datetime) -> Iterator[Sequence]:
    """Continue with a pod that carries a claim: complete its handover, or take the claim back."""
    hold, policy = claimed(ledger, pod), ledger.policy
    if hold is not None and at is OwnerStage.NOMINATED:
        decision = decide(_view(ledger, pod, hold, now), policy, now)
    else:
        node = ledger.memory[hold.parent.identity].node if hold is not None else ""
        known = ledger.pod_memory[pod.uid]
        view = CarriedClaim(pod, at, hold, known, node, ledger.scheduler_activity)
        decision = carried_claims.decide(view, policy, now)
    subject, agenda = pod_subject(pod.key), ledger.agenda
    for uid, memory in decision.memories.items():
        ledger.pod_memory[uid] = memory
    for on in decision.waits:
        agenda.wait(subject, on)
    if decision.wake_at is not None:
        agenda.later(subject, decision.wake_at)
    if decision.failed:
        agenda.failed(subject, now, longest=OWNER_PAUSE)
    yield from decision.sequences


def _view(ledger: Ledger, pod: Pod, hold: Hold, now: datetime) -> GateView:
    node = node_view(ledger, pod.nominated, now)
    refused = (ledger.pod_memory[other.uid].refusal is not None for other in node.nominated)
    others = (
        nominated_owner(ledger, other, known)
        for other in sorted(node.nominated, key=lambda each: str(each.key))
        if (known := gated_claim(ledger, other)) is not None
        and not ledger.agenda.busy(pod_subject(other.key))
    )
    return GateView(
        nominated_owner(ledger, pod, hold),
        node,
        tuple(others),
        tuple(ledger.having(By.LATCH_OF_OWNER, pod.key)),
        bool(ledger.work.of(By.TAKE_BACK, node.name)) or any(refused),
        partial(rivals_on, ledger, node.name),
    )


def nominated_owner(ledger: Ledger, pod: Pod, hold: Hold) -> NominatedOwner:
    """An owner that is nominated and gated, frozen."""
    room = hold_room(ledger, hold)
    busy = (each.key for each in room.owners if ledger.agenda.busy(pod_subject(each.key)))
    return NominatedOwner(pod, room, ledger.pod_memory[pod.uid], frozenset(busy))


def gated_claim(ledger: Ledger, pod: Pod) -> Hold | None:
    """The hold that a gated pod has a true claim on."""
    return hold_used_by(ledger, pod) if CLAIM_GATE in pod.gates else None


def note_refused(ledger: Ledger, action: Action, outcome: Outcome) -> None:
    """Remember a write that was forbidden, if it may be part of a handover."""
    if isinstance(action, DeletePod | Ungate) and isinstance(outcome, Denied | Invalid):
        memory = ledger.pod_memory[action.uid]
        ledger.pod_memory[action.uid] = replace(memory, denied=outcome.message)


def note_ended(ledger: Ledger, sequence: Sequence, completed: bool) -> None:
    """A sequence has ended: undo the handovers of which a write was forbidden."""
    memories, denied = ledger.pod_memory, {}
    for write in written(sequence):
        if why := memories[write.uid].denied:
            denied[write.uid] = why
            memories[write.uid] = replace(memories[write.uid], denied="")
    if denied:
        for uid, why in forbidden(sequence, denied, _guardians(ledger, sequence)).items():
            memories[uid] = replace(memories[uid], refusal=Refusal(why))
    if sequence.work is Work.TAKE_BACK and not completed:
        owner = ledger.pods.get(sequence.subjects[1].key)
        if owner is not None:
            memories[owner.uid] = replace(memories[owner.uid], refusal=None)


def _guardians(ledger: Ledger, sequence: Sequence) -> dict[str, Key | None]:
    """The owners at the gate of a handover that are there, with what keeps their holds' room."""
    found: dict[str, Key | None] = {}
    for write in written(sequence):
        pod = ledger.pods.get(write.key) if isinstance(write, Ungate) else None
        hold = claimed(ledger, pod) if pod is not None else None
        guardian = ledger.guardian_of(hold) if hold is not None else None
        if pod is not None:
            found[pod.uid] = guardian.key if guardian is not None else None
    return found


def is_taken_back(ledger: Ledger, sequence: Sequence, pod: Pod) -> bool:
    """Whether an owner must be decided again at once, because its claim is taken back."""
    refusal = ledger.pod_memory[pod.uid].refusal
    return sequence.work in (*FINISHING, Work.TAKE_BACK) and refusal is not None


def missing(ledger: Ledger, sequence: Sequence, number: int) -> str:
    """What a step depends on and no longer exists, as text; empty if nothing has changed."""

    def gated(pod: Pod) -> NominatedOwner | None:
        hold = gated_claim(ledger, pod)
        full = bool(pod.nominated) and ledger.state.free_places(pod.nominated) < 1
        return None if hold is None or full else nominated_owner(ledger, pod, hold)

    return premises.missing(sequence, number, ledger.pods, gated)
