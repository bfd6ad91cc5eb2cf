"""Explain a hold; for a hold without room, with the answer of every node."""

from __future__ import annotations

from dataclasses import replace

from headroom.cli import amounts
from headroom.cli.source import World
from headroom.cli.views.answers import Explanation, Fact, NodeAnswer
from headroom.cli.views.doors import without_door
from headroom.cli.views.hold_rows import end_of
from headroom.cli.views.offline_ledger import (
    IS_ONE_RUNNING,
    SEE_NODES,
    UNSEEN,
    ledger_of,
    node_answers,
)
from headroom.core.conditions import ready_in
from headroom.core.eviction.preallocation import permitted
from headroom.core.holds import Hold
from headroom.core.owners import judged
from headroom.core.policy import Policy


def explain_hold(world: World, hold: Hold, policy: Policy) -> Explanation:
    """Explain a hold; for a hold without room, with the answer of every node."""
    told = _standing(world, hold, policy)
    doors = without_door(world, hold, policy.across_namespaces)
    lack = (Fact("doors", doors),) if doors else ()
    return replace(told, facts=(*_facts(hold), *told.facts, *lack))


def _facts(hold: Hold) -> tuple[Fact, ...]:
    """The resources that its template requests."""
    requests = hold.template.pod.requests
    return (Fact("shape", amounts.told(requests)),) if requests else ()


def _standing(world: World, hold: Hold, policy: Policy) -> Explanation:
    subject = f"{hold.parent.kind.lower()} {hold.key}"
    hold = permitted(judged(hold, policy.across_namespaces), policy)
    if hold.problems:
        told = "; ".join(str(problem) for problem in hold.problems)
        return Explanation(
            subject, f"{subject} promises nothing: {told}.", next_step="fix its spec"
        )
    phase = hold.status.phase or "Pending"
    if phase == "Pending":
        return _explain_pending(world, hold, policy)
    if phase == "Available":
        ends = end_of(hold)
        until = f", until {ends.isoformat(timespec='seconds')}" if ends is not None else ""
        return Explanation(
            subject, f"{subject} is held on {hold.status.node}{until}{_users(hold)}."
        )
    if phase == "Succeeded":
        return Explanation(subject, f"{subject} was given away{_users(hold)}.")
    return Explanation(subject, f"{subject} is {phase}{_reason(hold)}.")


def _explain_pending(world: World, hold: Hold, policy: Policy) -> Explanation:
    subject = f"{hold.parent.kind.lower()} {hold.key}"
    summary = f"{subject} has no room yet{_reason(hold)}."
    ready = ready_in(hold.status.conditions)
    if ready is not None and ready.reason == "GuardianRefused":
        step = "fix the problem; the operator retries within two minutes"
        return Explanation(subject, summary, next_step=step)
    nodes = node_answers(world, ledger_of(world, policy), hold.template.pod)
    wanted = hold.template.node
    if wanted:
        nodes = tuple(_only_on(wanted, each) for each in nodes)
        if wanted not in {node.name for node in world.nodes}:
            summary = f"{subject} has no room: its template is for node {wanted}, which is missing."
    if not world.sees_room:
        return Explanation(subject, f"{summary.removesuffix('.')}; {UNSEEN}.")
    step = SEE_NODES if nodes and all(each.answer for each in nodes) else IS_ONE_RUNNING
    return Explanation(subject, summary, nodes=nodes, next_step=step)


def _only_on(wanted: str, answer: NodeAnswer) -> NodeAnswer:
    if answer.room.node == wanted:
        return answer
    return replace(answer, answer=f"the template is for node {wanted} (spec.nodeName)")


def _reason(hold: Hold) -> str:
    ready = ready_in(hold.status.conditions)
    if ready is None:
        return ""
    return f": {ready.message.rstrip('.')}" if ready.message else f" ({ready.reason})"


def _users(hold: Hold) -> str:
    names = ", ".join(use.name for use in hold.status.owners)
    return f", used by {names}" if names else ""
