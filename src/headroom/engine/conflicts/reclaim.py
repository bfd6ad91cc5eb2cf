"""Slots of a node whose room others have: who gives way, from all that is known of the node.

Asked only for slots with `reclaim: Preempt` that have no whole guardian and whose owners, if any
came, have ended. A slot is looked at again when room gets free on its node and when the limits of
its namespace change.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.claims import claim_of
from headroom.core.eviction.reclaim import Reclaim, may_go, not_allowed, victims
from headroom.core.holds import Hold
from headroom.core.names import LOCKED_PRIORITY
from headroom.core.objects import ANYWHERE, Key, Namespace, Pod
from headroom.core.quotas.namespaces import LimitsError, NamespaceLimits
from headroom.core.subjects import hold_subject
from headroom.engine.freeze import standing_claims
from headroom.engine.ledger import Ledger
from headroom.engine.limits.allowance import limits_of
from headroom.engine.node_fit import unfit


class Reclaims:
    """Answers for one slot at a time, and remembers in the ledger which of them wait."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def forget(self, hold: Hold) -> None:
        self._ledger.slots.reclaiming.pop(str(hold.parent), None)

    def see_namespace(self, namespace: Namespace) -> None:
        """The limits of a namespace may have changed."""
        for parent in self._ledger.slots.reclaiming:
            hold = self._ledger.holds.get(parent)
            if hold is not None and hold.home == namespace.name:
                self._ledger.agenda.touch(hold_subject(hold.parent))

    def look(self, hold: Hold) -> Reclaim | None:
        """Say who gives way to a slot; None when it is to be held like any other."""
        ledger, parent = self._ledger, str(hold.parent)
        if not hold.reclaims or hold.paused or not self._is_lost(hold):
            self.forget(hold)
            return None
        limits = limits_of(ledger, hold.home)
        why = str(limits) if isinstance(limits, LimitsError) else not_allowed(hold, limits)
        if not why and isinstance(limits, NamespaceLimits):
            found = self._victims(hold, limits.preempt or 0)
            if found is None:
                self.forget(hold)  # It waits as any guardian does, and an autoscaler may help.
                return None
            if found.free and parent not in ledger.slots.reclaiming:
                return None
            ledger.slots.reclaiming[parent] = None
            ledger.last_node[parent] = hold.template.node
            return found
        if ledger.guardian_of(hold) is None or self._victims(hold, LOCKED_PRIORITY) is None:
            self.forget(hold)  # Nobody else is in its way: it waits as any guardian does.
            return None
        ledger.slots.reclaiming[parent] = None
        return Reclaim(refused=why)

    def _is_lost(self, hold: Hold) -> bool:
        """Whether kube-scheduler has found no room for a slot, or only a part of it is held."""
        ledger, room = self._ledger, hold.template.pod.requests
        if (
            ledger.promised(hold)
            or ledger.lodgers_of(hold)
            or hold.template.node not in ledger.nodes
        ):
            return False
        guardian = ledger.guardian_of(hold)
        if guardian is None:
            return str(hold.parent) in ledger.slots.reclaiming
        if guardian.node:
            return not room.fits_in(guardian.requests)
        return bool(guardian.unschedulable_message or guardian.gates)

    def _victims(self, hold: Hold, below: int) -> Reclaim | None:
        ledger, node = self._ledger, hold.template.node
        ours = (*ledger.guardians_of(hold), *ledger.latches_of(hold))
        without = frozenset(pod.key for pod in ours) | {
            latch.key for latch in standing_claims(ledger, node)
        }
        wanted = replace(hold.template.pod, placement=ANYWHERE)

        def fits(gone: frozenset[Key]) -> bool:
            return unfit(ledger, wanted, node, without | gone) is None

        there = [pod for pod in ledger.state.pods_on(node) if pod.key not in without]
        others = [pod for pod in there if self._may_go(pod, below)]
        return victims(others, fits, ledger.budgets.values())

    def _may_go(self, pod: Pod, below: int) -> bool:
        ledger, claim = self._ledger, claim_of(pod)
        if not may_go(pod, below) or not ledger.policy.serves(pod.key.namespace):
            return False
        hold = ledger.holds.get(claim[0]) if claim is not None else None
        return hold is None or not ledger.owners.has(hold, pod)
