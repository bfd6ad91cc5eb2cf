"""Why a pod waits or a hold is not held: what every hold and every node says to it.

Asks the very functions that the operator decides with, over objects read once; so the answer is
the operator's own, not a second opinion. `explain` prints what is made here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from headroom.cli.rooms import Room, rooms
from headroom.cli.source import World
from headroom.core.claims import Offer, claim_of, expiry, is_claimant
from headroom.core.holds import Hold
from headroom.core.names import (
    CLAIM_GATE,
    PARENT_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    SCHEDULER_NAME,
    WAIT_ANNOTATION,
)
from headroom.core.objects import Key, Pod
from headroom.core.owners import judged, owner_refusal
from headroom.core.policy import Policy
from headroom.engine.claiming import offer_of
from headroom.engine.engine import Engine
from headroom.engine.fitting import unfit
from headroom.engine.ledger import Ledger
from headroom.engine.placing import cannot_judge
from headroom.ports import Seen, Synced, Thing

IS_ONE_RUNNING = "is an operator running? kubectl get lease -A | grep headroom-operator"
SEE_NODES = "headroom get nodes  shows what is used, held and free"


@dataclass(frozen=True, slots=True)
class HoldAnswer:
    """What one hold says to a pod; `gives` when it would be given."""

    hold: Key
    gives: bool
    answer: str


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """What one node says; `room` is how full it is, an empty `answer` means that the pod fits."""

    room: Room
    answer: str


@dataclass(frozen=True, slots=True)
class Explanation:
    subject: str
    summary: str
    holds: tuple[HoldAnswer, ...] = ()
    nodes: tuple[NodeAnswer, ...] = ()
    next_step: str = ""


def explain_pod(world: World, pod: Pod, policy: Policy) -> Explanation:
    """Say where a pod stands, and what every hold and node says to it if it still waits."""
    subject = f"pod {pod.key}"
    if pod.node:
        return Explanation(subject, f"{subject} {_seat(world, pod, policy)}.")
    ledger = _ledger(world, policy)
    holds = tuple(
        _hold_answer(ledger, hold, pod, world.now)
        for hold in sorted(ledger.holds.values(), key=lambda hold: hold.key)
        if hold.key.namespace == pod.key.namespace or policy.across_namespaces
    )
    nodes = _node_answers(world, ledger, pod)
    return Explanation(
        subject, _why_pod_waits(pod, holds, nodes), holds, nodes, _pod_step(pod, holds, nodes)
    )


def explain_hold(world: World, hold: Hold, policy: Policy) -> Explanation:
    """Say how a hold stands, and for one without room what every node says to it."""
    subject = f"hold {hold.key}"
    hold = judged(hold, policy.across_namespaces)
    if hold.problems:
        told = "; ".join(str(problem) for problem in hold.problems)
        return Explanation(
            subject, f"{subject} promises nothing: {told}.", next_step="mend its spec"
        )
    phase = hold.status.phase or "Pending"
    if phase == "Pending":
        return _explain_pending(world, hold, policy)
    if phase == "Available":
        ends = expiry(hold)
        until = f", until {ends.isoformat(timespec='seconds')}" if ends is not None else ""
        return Explanation(
            subject, f"{subject} is held on {hold.status.node}{until}{_users(hold)}."
        )
    if phase == "Succeeded":
        return Explanation(subject, f"{subject} was given away{_users(hold)}.")
    return Explanation(subject, f"{subject} is {phase}{_reason(hold)}.")


def _explain_pending(world: World, hold: Hold, policy: Policy) -> Explanation:
    subject = f"hold {hold.key}"
    summary = f"{subject} has no room yet{_reason(hold)}."
    reason = next((item.reason for item in hold.status.conditions if item.type == "Ready"), "")
    if reason == "GuardianRefused":
        step = "mend what stands in the way; it is tried again by itself, within two minutes"
        return Explanation(subject, summary, next_step=step)
    nodes = _node_answers(world, _ledger(world, policy), hold.template.pod)
    wanted = hold.template.node
    if wanted:
        nodes = tuple(_only_on(wanted, each) for each in nodes)
        if wanted not in {node.name for node in world.nodes}:
            summary = f"{subject} has no room: its template is for node {wanted}, which is missing."
    step = SEE_NODES if nodes and all(each.answer for each in nodes) else IS_ONE_RUNNING
    return Explanation(subject, summary, (), nodes, step)


def _only_on(wanted: str, answer: NodeAnswer) -> NodeAnswer:
    if answer.room.node == wanted:
        return answer
    return replace(answer, answer=f"the template is for node {wanted} (spec.nodeName)")


def _ledger(world: World, policy: Policy) -> Ledger:
    engine = Engine(policy)
    things: list[Thing] = [*world.namespaces, *world.nodes, *world.holds, *world.pods]
    for thing in things:
        engine.observe(Seen(thing), world.now)
    engine.observe(Synced(), world.now)
    return engine.ledger


def _hold_answer(ledger: Ledger, hold: Hold, pod: Pod, now: datetime) -> HoldAnswer:
    answer = offer_of(ledger, hold, pod, now)
    if isinstance(answer, Offer):
        return HoldAnswer(hold.key, True, f"it may have this one, on {answer.node}")
    return HoldAnswer(hold.key, False, answer.reason)


def _node_answers(world: World, ledger: Ledger, pod: Pod) -> tuple[NodeAnswer, ...]:
    return tuple(
        NodeAnswer(room, unfit(ledger, pod, room.node, frozenset()) or "")
        for room in rooms(world.nodes, world.pods)
    )


def _seat(world: World, pod: Pod, policy: Policy) -> str:
    place = f"is {pod.phase} on {pod.node}"
    if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN:
        return f"{place} and keeps the room of {pod.annotations.get(PARENT_ANNOTATION)}"
    claim = claim_of(pod)
    if claim is None:
        return f"{place}, without a hold"
    hold = next((each for each in world.holds if str(each.parent) == claim[0]), None)
    if hold is None or is_claimant(hold, pod, policy.across_namespaces):
        return f"{place}, in the room of {claim[0]}"
    why = owner_refusal(hold, pod, policy.across_namespaces) or "it names another hold's uid"
    return f"{place}, without a hold: its claim on {claim[0]} does not stand, since {why}"


def _why_pod_waits(pod: Pod, holds: tuple[HoldAnswer, ...], nodes: tuple[NodeAnswer, ...]) -> str:
    others = [gate for gate in pod.gates if gate != CLAIM_GATE]
    if others:
        return f"pod {pod.key} waits: it is gated by {', '.join(others)}, which is not ours."
    if pod.unjudged and not pod.gates and pod.scheduler == SCHEDULER_NAME:
        return f"pod {pod.key} waits: {cannot_judge(pod)}."
    offered = next((each for each in holds if each.gives), None)
    if offered is not None and _at_a_door(pod):
        return f"pod {pod.key} waits for its handover: hold {offered.hold} is for it."
    if offered is not None:
        return f"pod {pod.key} waits beside hold {offered.hold}, which it does not ask for."
    if CLAIM_GATE in pod.gates and pod.annotations.get(WAIT_ANNOTATION) == "true":
        return f"pod {pod.key} waits for a hold, as it asks to ({WAIT_ANNOTATION}); none serves it."
    if CLAIM_GATE in pod.gates:
        return f"pod {pod.key} waits at our gate, though no hold is for it; an operator lets it go."
    if any(not each.answer for each in nodes):
        says = pod.unschedulable_message.rstrip(".") or "nothing yet"
        return f"pod {pod.key} waits, though a node has room; its scheduler says: {says}."
    return f"pod {pod.key} waits: no hold is for it and no node has the room."


def _pod_step(pod: Pod, holds: tuple[HoldAnswer, ...], nodes: tuple[NodeAnswer, ...]) -> str:
    waits_for_one = pod.annotations.get(WAIT_ANNOTATION) == "true"
    if any(gate != CLAIM_GATE for gate in pod.gates) or pod.unjudged:
        return ""
    if any(each.gives for each in holds) and not _at_a_door(pod):
        return f"to claim, a pod is created with the scheduling gate {CLAIM_GATE}"
    if any(each.gives for each in holds) or (CLAIM_GATE in pod.gates and not waits_for_one):
        return IS_ONE_RUNNING
    if nodes and all(each.answer for each in nodes):
        return SEE_NODES
    return ""


def _at_a_door(pod: Pod) -> bool:
    return CLAIM_GATE in pod.gates or pod.scheduler == SCHEDULER_NAME


def _reason(hold: Hold) -> str:
    ready = next((item for item in hold.status.conditions if item.type == "Ready"), None)
    if ready is None:
        return ""
    return f": {ready.message.rstrip('.')}" if ready.message else f" ({ready.reason})"


def _users(hold: Hold) -> str:
    names = ", ".join(use.name for use in hold.status.owners)
    return f", used by {names}" if names else ""
