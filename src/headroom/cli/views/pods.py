"""Explain why a pod waits or where it runs: the answers of every hold, slot and node."""

from __future__ import annotations

from datetime import datetime

from headroom.cli import amounts
from headroom.cli.source import World
from headroom.cli.views import offline_ledger
from headroom.cli.views.answers import Explanation, Fact, HoldAnswer, NodeAnswer, called
from headroom.core import names
from headroom.core.claims import Offer, claim_of, is_claimant
from headroom.core.doors.owner_decision import unsupported_message
from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.latches import kept_for
from headroom.core.objects import Pod
from headroom.core.owners import owner_refusal
from headroom.core.policy import Policy
from headroom.core.sizes.follow import is_owner
from headroom.engine.ledger import Ledger
from headroom.engine.owner_controller import offer_of

SEE_FOLLOWERS = "its events say what is in the way: kubectl describe pod"


def explain_pod(world: World, pod: Pod, policy: Policy) -> Explanation:
    """Explain a pod; if it waits, with the answer of every hold and node."""
    subject = f"pod {pod.key}"
    if pod.node:
        return Explanation(subject, f"{subject} {_seat(world, pod, policy)}.")
    followers = _followers(world, pod)
    if followers:
        return Explanation(subject, f"{subject} waits: {followers}.", next_step=SEE_FOLLOWERS)
    if not world.sees_room:
        return _waits_unseen(world, pod, policy)
    ledger = offline_ledger.ledger_of(world, policy)
    holds = tuple(
        _hold_answer(ledger, hold, pod, world.now)
        for hold in sorted(ledger.holds.values(), key=_place)
        if hold.key.namespace in ("", pod.key.namespace) or policy.across_namespaces
    )
    nodes = offline_ledger.node_answers(world, ledger, pod)
    return Explanation(
        subject,
        f"{subject} waits{_why_pod_waits(pod, ledger.door(pod), holds, nodes)}.",
        facts=(Fact("asks for", amounts.told(pod.requests)),) if pod.requests else (),
        holds=holds,
        nodes=nodes,
        next_step=_pod_step(pod, ledger.door(pod), holds, nodes),
    )


def _waits_unseen(world: World, pod: Pod, policy: Policy) -> Explanation:
    """Explain a waiting pod without its nodes: its own condition, and its possible holds."""
    says = pod.unschedulable_message.rstrip(".") or "nothing yet"
    holds = tuple(
        HoldAnswer(hold.parent, not why, why or "it is for this pod", hold.group)
        for hold in sorted(world.holds, key=_place)
        if hold.key.namespace in ("", pod.key.namespace)
        for why in (owner_refusal(hold, pod, policy.across_namespaces) or "",)
    )
    told = f"pod {pod.key} waits; its scheduler says: {says}; {offline_ledger.UNSEEN}."
    return Explanation(f"pod {pod.key}", told, holds=holds)


def _followers(world: World, pod: Pod) -> str:
    """Text: which headrooms remove a gate from a pod when their slots are ready."""
    told = [
        f"{headroom.parent} creates its slots before it removes the gate {rule.gate}"
        for headroom in sorted(world.headrooms, key=lambda headroom: headroom.key)
        if (rule := headroom.size.follows) is not None
        and rule.gate in pod.gates
        and is_owner(headroom.parent, rule, pod)
    ]
    return " and ".join(told)


def _place(hold: Hold) -> tuple[str, str, str, int, str]:
    """Sort holds by name, and slots of each headroom in their own order."""
    parent = hold.parent
    return parent.namespace, parent.name, parent.kind, len(parent.slot), parent.slot


def _hold_answer(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> HoldAnswer:
    if hold.mode == PREEMPTIBLE:
        answer = "Preemptible: no pod claims it, more important pods preempt it"
        return HoldAnswer(hold.parent, False, answer, hold.group)
    found = offer_of(ledger, hold, pod, now)
    if isinstance(found, Offer):
        return HoldAnswer(hold.parent, True, f"it can get this one, on {found.node}", hold.group)
    return HoldAnswer(hold.parent, False, found.reason, hold.group)


def _seat(world: World, pod: Pod, policy: Policy) -> str:
    place = f"is {pod.phase} on {pod.node}"
    claim = claim_of(pod)
    if pod.labels.get(names.ROLE_LABEL) == names.ROLE_GUARDIAN:
        given = f", which {claim[0]} gave it" if claim is not None else ""
        return f"{place} and keeps the room of {kept_for(pod)}{given}"
    if claim is None:
        return f"{place}, without a hold"
    hold = offline_ledger.ledger_of(world, policy).holds.get(claim[0])
    if hold is None or is_claimant(hold, pod, policy.across_namespaces):
        return f"{place}, in the room of {claim[0]}"
    why = owner_refusal(hold, pod, policy.across_namespaces) or "it names another hold's uid"
    return f"{place}, without a hold: its claim on {claim[0]} is not valid, because {why}"


def _why_pod_waits(
    pod: Pod, door: int, holds: tuple[HoldAnswer, ...], nodes: tuple[NodeAnswer, ...]
) -> str:
    others = [gate for gate in pod.gates if gate != names.CLAIM_GATE]
    if others:
        return f": it is gated by {', '.join(others)}, which is not ours"
    if pod.unsupported and door == 2:
        return f": {unsupported_message(pod.unsupported)}"
    if pod.claims and pod.unschedulable_message and door:  # Volumes are not read here.
        return f"; its scheduler says: {pod.unschedulable_message.rstrip('.')}"
    offered = next((each for each in holds if each.gives), None)
    if offered is not None and door:
        return f" for its handover: {called(offered.parent)} is for it"
    if offered is not None:
        return f" beside {called(offered.parent)}, which it does not ask for"
    if door == 1 and pod.annotations.get(names.WAIT_ANNOTATION) == "true":
        return f" for a hold, as it asks to ({names.WAIT_ANNOTATION}); none serves it"
    if door == 1:
        return " at our gate, although no hold is for it; an operator releases it"
    if any(not each.answer for each in nodes):
        says = pod.unschedulable_message.rstrip(".") or "nothing yet"
        return f", although a node has room; its scheduler says: {says}"
    return ": no hold is for it and no node has the room"


def _pod_step(
    pod: Pod, door: int, holds: tuple[HoldAnswer, ...], nodes: tuple[NodeAnswer, ...]
) -> str:
    waits_for_one = pod.annotations.get(names.WAIT_ANNOTATION) == "true"
    if any(gate != names.CLAIM_GATE for gate in pod.gates) or pod.unsupported:
        return ""
    if any(each.gives for each in holds) and not door:
        return f"to claim, a pod is created with the scheduling gate {names.CLAIM_GATE}"
    if any(each.gives for each in holds) or (door == 1 and not waits_for_one):
        return offline_ledger.IS_ONE_RUNNING
    if nodes and all(each.answer for each in nodes):
        return offline_ledger.SEE_NODES
    return ""
