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
from headroom.core.objects import ANYWHERE, Key, Pod
from headroom.core.quotas.namespaces import LimitsError, NamespaceLimits
from headroom.engine.freeze import standing_claims
from headroom.engine.ledger import Ledger
from headroom.engine.namespace_limits import limits_of
from headroom.engine.node_fit import unfit
from headroom.engine.observation.owners import owns


def reclaim_of(ledger: Ledger, hold: Hold, waits: bool) -> Reclaim | None:
    """Say who gives way to a slot; None when it is to be held like any other.

    `waits` says whether it waited already for others to give way.
    """
    if not hold.reclaims or hold.paused or not _is_lost(ledger, hold, waits):
        return None
    limits = limits_of(ledger, hold.home)
    why = str(limits) if isinstance(limits, LimitsError) else not_allowed(hold, limits)
    if not why and isinstance(limits, NamespaceLimits):
        found = _victims(ledger, hold, limits.preempt or 0)
        # Without victims it waits as any guardian does, and an autoscaler may help.
        return found if found is not None and (waits or not found.free) else None
    if ledger.guardian_of(hold) is None or _victims(ledger, hold, LOCKED_PRIORITY) is None:
        return None  # Nobody else is in its way: it waits as any guardian does.
    return Reclaim(refused=why)


def _is_lost(ledger: Ledger, hold: Hold, waits: bool) -> bool:
    """Whether kube-scheduler has found no room for a slot, or only a part of it is held."""
    if ledger.promised(hold) or ledger.lodgers_of(hold) or hold.template.node not in ledger.nodes:
        return False
    guardian = ledger.guardian_of(hold)
    if guardian is None:
        return waits
    if guardian.node:
        return not hold.template.pod.requests.fits_in(guardian.requests)
    return bool(guardian.unschedulable_message or guardian.gates)


def _victims(ledger: Ledger, hold: Hold, below: int) -> Reclaim | None:
    node = hold.template.node
    ours = (*ledger.guardians_of(hold), *ledger.latches_of(hold))
    claims = standing_claims(ledger, node)
    without = frozenset(pod.key for pod in (*ours, *claims))
    wanted = replace(hold.template.pod, placement=ANYWHERE)

    def fits(gone: frozenset[Key]) -> bool:
        return unfit(ledger, wanted, node, without | gone) is None

    there = [pod for pod in ledger.state.pods_on(node) if pod.key not in without]
    others = [pod for pod in there if _may_go(ledger, pod, below)]
    return victims(others, fits, ledger.budgets.values())


def _may_go(ledger: Ledger, pod: Pod, below: int) -> bool:
    claim = claim_of(pod)
    if not may_go(pod, below) or not ledger.policy.serves(pod.key.namespace):
        return False
    hold = ledger.holds.get(claim[0]) if claim is not None else None
    return hold is None or not owns(ledger, hold, pod)
