"""Decide where a hold waits for running pods to end, from all known facts about the cluster.

This is only for holds with preAllocation that have no room yet. A hold that already waits on a node
continues to wait there as long as that makes sense: its latch is there. Such holds are decided
again whenever a pod changes whose place they could take.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.claims import claim_of
from headroom.core.eviction.preallocation import Succession, may_succeed, succession
from headroom.core.hold_state.decision import CANDIDATES
from headroom.core.holds import Hold
from headroom.core.names import LOCKED_PRIORITY, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.subjects import hold_subject
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.scheduling.choose import ChosenNode, choose


def wake_waiting_holds(ledger: Ledger, pod: Pod) -> None:
    """A pod has changed: have the holds looked at that could take its place."""
    for subject in ledger.agenda.waiting(CANDIDATES) if pod.node else ():
        hold = ledger.holds.get(subject.identity)
        if hold is not None and _is_candidate(ledger, hold, pod):
            ledger.agenda.touch(hold_subject(hold.parent))


def needs_place(ledger: Ledger, hold: Hold) -> bool:
    """Whether a hold has no room yet and may take the place of running pods."""
    if not hold.pre_allocation or hold.terminal:
        return False
    guardian = ledger.guardian_of(hold)
    return (guardian is None or not guardian.node) and not ledger.claimants_of(hold)


def awaited_by(ledger: Ledger, hold: Hold) -> Succession | None:
    """Say where such a hold waits and for whom; None when it is to be held like any other."""
    wanted = replace(hold.template.pod, priority=LOCKED_PRIORITY)
    own = frozenset(latch.key for latch in ledger.latches_of(hold))

    def fits(node: str, without: frozenset[Key]) -> bool:
        right = hold.template.node in ("", node)
        return right and unfit(ledger, wanted, node, without | own) is None

    by_node: dict[str, list[Pod]] = {}
    for pod in ledger.pods.values():
        if _is_candidate(ledger, hold, pod):
            by_node.setdefault(pod.node, []).append(pod)
    if hold.status.phase == "Waiting":
        here = hold.status.node
        if here in ledger.nodes and fits(here, frozenset()):
            return Succession(here)
        staying = succession(hold, {here: by_node.get(here, [])}, fits)
        if staying is not None:
            return staying
    if not hold.terms.needs_candidate and isinstance(choose(wanted, ledger.state), ChosenNode):
        return None
    return succession(hold, by_node, fits)


def _is_candidate(ledger: Ledger, hold: Hold, pod: Pod) -> bool:
    return (
        ROLE_LABEL not in pod.labels
        and may_succeed(hold, pod, ledger.policy.across_namespaces)
        and not _goes_back(ledger, pod)
    )


def _goes_back(ledger: Ledger, pod: Pod) -> bool:
    """Whether what a pod leaves is another hold's, which holds it again."""
    claim = claim_of(pod)
    hold = ledger.holds.get(claim[0]) if claim is not None else None
    if hold is None or hold.terminal or hold.allocate_once:
        return False
    return any(pod.key == user.key for user in ledger.claimants_of(hold))
