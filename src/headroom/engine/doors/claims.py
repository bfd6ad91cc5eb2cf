"""The controller of owners that carry a claim: `core.doors.claim_decision` decides about them.

It also says, between any two steps of a handover, what the next step rests on. While a sequence is
written, others change and delete objects. Up to the deletion of the guardian a handover can be left
as it is and decided afresh, and the hold has lost nothing. So before that step, and before every
later one that relies on a latch, its premises are checked against what the watch has shown
meanwhile. A sequence that is stopped here goes on as after a crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial

from headroom.core.actions import (
    Action,
    Bind,
    CreateLatch,
    DeletePod,
    Denied,
    Disclaim,
    Invalid,
    MoveLatch,
    Outcome,
    Ungate,
)
from headroom.core.claims import claim_of
from headroom.core.doors.claim_decision import (
    GateView,
    NominatedOwner,
    OwnerStage,
    decide,
    disclaim,
    stage_of,
)
from headroom.core.doors.forbidden import FINISHING, forbidden, written
from headroom.core.handover import ungate
from headroom.core.holds import Hold
from headroom.core.index_entries import By
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Key, Pod
from headroom.core.owners import owner_refusal
from headroom.core.plan import Sequence, Work, telling
from headroom.core.pod_memory import Refusal
from headroom.core.statuses import tell_pod
from headroom.core.subjects import pod_subject
from headroom.engine.agenda import OWNER_PAUSE
from headroom.engine.freeze import hold_room, node_view
from headroom.engine.handover_queue import rivals_on
from headroom.engine.latch_controller import latched
from headroom.engine.ledger import Ledger
from headroom.engine.observation.owners import owns


def waits_since(ledger: Ledger, moment: datetime) -> None:
    """Let the time of all who wait at our doors begin then."""
    for pod in ledger.having(By.WAITING, ""):
        ledger.pod_memory[pod.uid] = replace(ledger.pod_memory[pod.uid], since=moment)


def claimed(ledger: Ledger, pod: Pod) -> Hold | None:
    """The hold that a pod names in its claim, if it is there."""
    claim = claim_of(pod)
    return ledger.holds.get(claim[0]) if claim is not None else None


def stage(ledger: Ledger, pod: Pod) -> OwnerStage:
    """How far an owner is on its way."""
    claim, named = claim_of(pod), ledger.index.of(By.LATCH_OF_OWNER, pod.key)
    hold = ledger.holds.get(claim[0]) if claim is not None else None
    stands = hold is not None and owns(ledger, hold, pod)
    is_latched = bool(named) and latched(ledger, pod)
    return stage_of(pod, ledger.door(pod), stands, pod.key in ledger.parked, is_latched)


def follow(ledger: Ledger, pod: Pod, at: OwnerStage, now: datetime) -> Iterator[Sequence]:
    """Go on with a pod that carries a claim: finish it, or take the claim back."""
    hold = claimed(ledger, pod)
    if hold is None or at is OwnerStage.STRAY:
        yield from _stray(ledger, hold, pod, now)
    elif at is OwnerStage.BOUND:
        memory = ledger.pod_memory[pod.uid]
        ledger.pod_memory[pod.uid] = replace(memory, nominated_since=None)
        yield from _seated(ledger, hold, pod, now)
    elif at is OwnerStage.NOMINATED:
        yield from _finish(ledger, pod, hold, now)
    elif pod.scheduler not in ledger.policy.scheduler_names:
        yield from _let_in(ledger, hold, pod, now)


def _finish(ledger: Ledger, pod: Pod, hold: Hold, now: datetime) -> Iterator[Sequence]:
    """Go on with an owner that is nominated and gated."""
    subject, agenda = pod_subject(pod.key), ledger.agenda
    decision = decide(_view(ledger, pod, hold, now), ledger.policy, now)
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
    hold = claimed(ledger, pod) if CLAIM_GATE in pod.gates else None
    return hold if hold is not None and owns(ledger, hold, pod) else None


def _stray(ledger: Ledger, hold: Hold | None, pod: Pod, now: datetime) -> Iterator[Sequence]:
    """A claim that does not stand: left behind, or forged."""
    drop = Disclaim(pod.key, pod.uid, nominated=CLAIM_GATE in pod.gates and bool(pod.nominated))
    if CLAIM_GATE in pod.gates:  # It is not to wait for us.
        yield Sequence(Work.RELEASE, (pod_subject(pod.key),), ((drop,), (ungate(pod),)))
        message = f"released: its claim does not stand: {_why_not_ours(hold, pod, ledger)}"
        yield telling(tell_pod(pod, "NotMatched", message, now, warn=True))
    elif not pod.node and not pod.finished:  # It got no room, and shall not say that it did.
        yield Sequence(Work.DISCLAIM, (pod_subject(pod.key),), ((drop,),))


def _why_not_ours(hold: Hold | None, pod: Pod, ledger: Ledger) -> str:
    if hold is None:
        return "there is no such hold"
    refusal = owner_refusal(hold, pod, ledger.policy.across_namespaces)
    return refusal or "it is for an older hold of that name"


def _seated(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> Iterator[Sequence]:
    """A claim on room of one node says nothing about another."""
    if hold.slot and hold.allocate_once:
        return  # The slot may be held again elsewhere by now.
    node = ledger.memory[hold.parent.identity].node or hold.status.node
    if hold.terminal or not node or pod.node == node:
        return
    yield disclaim(pod, hold, nominated=False)
    message = f"went to {pod.node} instead of the room of {hold.parent.title} on {node}; held again"
    yield telling(tell_pod(pod, "NotMatched", message, now, warn=True))


def _let_in(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> Iterator[Sequence]:
    """kube-scheduler has the owner now; if it cannot place it, the hold takes its room back.

    Not while it is away: the nomination keeps the room until it is back.
    """
    memory = ledger.pod_memory[pod.uid]
    since = memory.nominated_since or now
    ledger.pod_memory[pod.uid] = replace(memory, nominated_since=since)
    limit = ledger.scheduler_activity.over_at(since, ledger.policy.unbound_claim_limit, now)
    if pod.unschedulable_since is None and now < limit:
        ledger.agenda.later(pod_subject(pod.key), limit)
        return
    yield disclaim(pod, hold, nominated=True)
    message = f"could not be placed in the room of {hold.parent.title}; held again"
    yield telling(tell_pod(pod, "NotMatched", message, now, warn=True))


def note_settled(ledger: Ledger, action: Action, outcome: Outcome) -> None:
    """Take note of a write that was forbidden, if it may be part of a handover."""
    if isinstance(action, DeletePod | Ungate) and isinstance(outcome, Denied | Invalid):
        memory = ledger.pod_memory[action.uid]
        ledger.pod_memory[action.uid] = replace(memory, denied=outcome.message)


def note_ended(ledger: Ledger, sequence: Sequence, completed: bool) -> None:
    """A sequence has ended: owners of whose handover something was forbidden go back."""
    refused: dict[Key, str] = {}
    owners: dict[str, list[Key]] = {}
    for write in written(sequence):
        memory = ledger.pod_memory[write.uid]
        if memory.denied:
            refused[write.key] = memory.denied
            ledger.pod_memory[write.uid] = replace(memory, denied="")
        pod = ledger.pods.get(write.key) if isinstance(write, Ungate) else None
        hold = claimed(ledger, pod) if pod is not None else None
        guardian = ledger.guardian_of(hold) if hold is not None else None
        if pod is not None:
            owners[pod.uid] = [pod.key, *([guardian.key] if guardian is not None else [])]
    for uid, why in forbidden(refused, owners).items() if sequence.work in FINISHING else ():
        ledger.pod_memory[uid] = replace(ledger.pod_memory[uid], refusal=Refusal(why))
    if sequence.work is Work.TAKE_BACK and not completed:
        owner = ledger.pods.get(sequence.subjects[1].key)
        if owner is not None:
            ledger.pod_memory[owner.uid] = replace(ledger.pod_memory[owner.uid], refusal=None)


def is_taken_back(ledger: Ledger, sequence: Sequence, pod: Pod) -> bool:
    """Whether an owner is to be looked at once more at once, because its claim goes."""
    refusal = ledger.pod_memory[pod.uid].refusal
    return sequence.work in (*FINISHING, Work.TAKE_BACK) and refusal is not None


def missing(ledger: Ledger, sequence: Sequence, number: int) -> str:
    """What a step rests on and is not there any more, in words; empty if all is as it was."""
    before = (action for step in sequence.steps[:number] for action in step)
    for latch in (each.key for each in before if isinstance(each, CreateLatch | MoveLatch)):
        if latch not in ledger.pods:
            return f"latch {latch.name} is gone"
    if not any(isinstance(action, DeletePod) for action in sequence.steps[number]):
        return ""
    later = (action for step in sequence.steps[number:] for action in step)
    changed = (_changed(ledger, action) for action in later if isinstance(action, Bind | Ungate))
    return next((why for why in changed if why), "")


def _changed(ledger: Ledger, action: Bind | Ungate) -> str:
    """Why an owner does not come, or not as it was to."""
    pod = ledger.pods.get(action.key)
    if pod is None or pod.uid != action.uid or pod.deleted is not None:
        return f"owner {action.key} is gone"
    hold = gated_claim(ledger, pod) if isinstance(action, Ungate) else None
    if hold is None or ledger.state.free_places(pod.nominated) < 1:
        return ""  # Without a place nothing keeps the rest of the hold: see `hold_state.full_node`.
    if nominated_owner(ledger, pod, hold).cannot_finish:
        return f"{hold.parent.title} has changed"
    return ""
