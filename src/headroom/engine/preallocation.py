"""Decide where a hold waits for running pods to end, from all known facts about the cluster.

This is only for holds with preAllocation that have no room yet. A hold that already waits on a node
continues to wait there as long as that makes sense: its latch is there. Such holds are decided
again whenever a pod changes whose place they could take.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.claims import claim_of
from headroom.core.eviction.preallocation import Succession, may_succeed, succession
from headroom.core.holds import Hold
from headroom.core.names import LOCKED_PRIORITY, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.subjects import hold_subject
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.scheduling.choose import ChosenNode, choose


class Successions:
    """Remembers the holds that wait for pods to end, or for such pods to be there."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._hopeful: dict[str, None] = {}

    def note(self, pod: Pod) -> None:
        """A pod has changed: have the holds looked at that could take its place."""
        if not pod.node:
            return
        for parent in self._hopeful:
            hold = self._ledger.holds.get(parent)
            if hold is not None and self._is_candidate(hold, pod):
                self._ledger.agenda.touch(hold_subject(hold.parent))

    def forget(self, hold: Hold) -> None:
        self._hopeful.pop(str(hold.parent), None)

    def look(self, hold: Hold) -> Succession | None:
        """Say where the hold waits and for whom; None when it is to be held like any other."""
        if not hold.pre_allocation or hold.terminal or self._has_room(hold):
            self.forget(hold)
            return None
        self._hopeful[str(hold.parent)] = None
        ledger = self._ledger
        wanted = replace(hold.template.pod, priority=LOCKED_PRIORITY)
        own = frozenset(latch.key for latch in ledger.latches_of(hold))

        def fits(node: str, without: frozenset[Key]) -> bool:
            right = hold.template.node in ("", node)
            return right and unfit(ledger, wanted, node, without | own) is None

        by_node = self._candidates(hold)
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

    def _has_room(self, hold: Hold) -> bool:
        guardian = self._ledger.guardian_of(hold)
        return (guardian is not None and bool(guardian.node)) or bool(
            self._ledger.claimants_of(hold)
        )

    def _candidates(self, hold: Hold) -> dict[str, list[Pod]]:
        found: dict[str, list[Pod]] = {}
        for pod in self._ledger.pods.values():
            if self._is_candidate(hold, pod):
                found.setdefault(pod.node, []).append(pod)
        return found

    def _is_candidate(self, hold: Hold, pod: Pod) -> bool:
        return (
            ROLE_LABEL not in pod.labels
            and may_succeed(hold, pod, self._ledger.policy.across_namespaces)
            and not self._goes_back(pod)
        )

    def _goes_back(self, pod: Pod) -> bool:
        """Whether what a pod leaves is another hold's, which holds it again."""
        claim = claim_of(pod)
        hold = self._ledger.holds.get(claim[0]) if claim is not None else None
        if hold is None or hold.terminal or hold.allocate_once:
            return False
        return any(pod.key == user.key for user in self._ledger.claimants_of(hold))
