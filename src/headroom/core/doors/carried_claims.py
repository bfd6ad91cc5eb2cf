"""Decide about pods that carry a claim and are not at the gate, and about claims that do not stand.

    STRAY    the claim was left behind or is forged ──▶ removed, and the pod does not wait for us
    LET_IN   kube-scheduler has the owner ──▶ BOUND, or the claim is taken back after a while
    BOUND    on another node than the hold ──▶ the claim is taken back

`claim_decision` decides about owners that are nominated and still gated.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.actions import Disclaim
from headroom.core.doors.claim_decision import GateDecision, OwnerStage, disclaim
from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.handover import ungate
from headroom.core.holds import Hold
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod
from headroom.core.owners import owner_refusal
from headroom.core.plan import Sequence, Work, event_sequence
from headroom.core.pod_memory import PodMemory
from headroom.core.policy import Policy
from headroom.core.statuses import tell_pod
from headroom.core.subjects import pod_subject
from headroom.core.waits.scheduler_activity import SchedulerActivity


@dataclass(frozen=True, slots=True)
class CarriedClaim:
    """A pod with a claim, and the hold that the claim names, if there is such a hold.

    `node` is where the room of the hold was last seen.
    """

    pod: Pod
    stage: OwnerStage
    hold: Hold | None
    memory: PodMemory
    node: str
    scheduler_activity: SchedulerActivity


def decide(view: CarriedClaim, policy: Policy, now: datetime) -> GateDecision:
    """Decide about a pod that carries a claim."""
    hold, pod = view.hold, view.pod
    if hold is None or view.stage is OwnerStage.STRAY:
        return _stray(hold, pod, policy, now)
    if view.stage is OwnerStage.BOUND:
        decision, memory = _bound(hold, view, now), view.memory
        if memory.nominated_since is None:
            return decision
        return replace(decision, memories={pod.uid: replace(memory, nominated_since=None)})
    if pod.scheduler in policy.scheduler_names:
        return GateDecision()
    return _let_in(hold, view, policy, now)


def _stray(hold: Hold | None, pod: Pod, policy: Policy, now: datetime) -> GateDecision:
    gated = CLAIM_GATE in pod.gates
    drop = Disclaim(pod.key, pod.uid, nominated=gated and bool(pod.nominated))
    if gated:  # It is not to wait for us.
        release = Sequence(Work.RELEASE, (pod_subject(pod.key),), ((drop,), (ungate(pod),)))
        message = f"released: its claim does not stand: {_why_not_ours(hold, pod, policy)}"
        return GateDecision((release, _told(pod, message, now)))
    if pod.node or pod.finished:
        return GateDecision()
    # It got no room, and shall not say that it did.
    return GateDecision((Sequence(Work.DISCLAIM, (pod_subject(pod.key),), ((drop,),)),))


def _why_not_ours(hold: Hold | None, pod: Pod, policy: Policy) -> str:
    if hold is None:
        return "there is no such hold"
    refusal = owner_refusal(hold, pod, policy.across_namespaces)
    return refusal or "it is for an older hold of that name"


def _bound(hold: Hold, view: CarriedClaim, now: datetime) -> GateDecision:
    """An owner with a node: a claim on room of another node is taken back."""
    if hold.slot and hold.allocate_once:
        return GateDecision()  # The slot may be held again elsewhere by now.
    pod, node = view.pod, view.node or hold.status.node
    if hold.terminal or not node or pod.node == node:
        return GateDecision()
    message = f"went to {pod.node} instead of the room of {hold.parent.title} on {node}; held again"
    return GateDecision((disclaim(pod, hold, nominated=False), _told(pod, message, now)))


def _let_in(hold: Hold, view: CarriedClaim, policy: Policy, now: datetime) -> GateDecision:
    """kube-scheduler has the owner now; if it cannot place it, the hold takes its room back.

    Not while it is away: the nomination keeps the room until it is back.
    """
    pod, since = view.pod, view.memory.nominated_since or now
    memories = {pod.uid: replace(view.memory, nominated_since=since)}
    limit = view.scheduler_activity.over_at(since, policy.unbound_claim_limit, now)
    if pod.unschedulable_since is None and now < limit:
        return GateDecision(wake_at=limit, memories=memories)
    message = f"could not be placed in the room of {hold.parent.title}; held again"
    back = disclaim(pod, hold, nominated=True)
    return GateDecision((back, _told(pod, message, now)), memories=memories)


def _told(pod: Pod, message: str, now: datetime) -> Sequence:
    return event_sequence(tell_pod(pod, "NotMatched", message, now, warn=True))
