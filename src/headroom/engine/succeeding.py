"""Where a hold waits for running pods to end, from all that is known of the cluster.

Asked only for holds with preAllocation that have no room yet. A hold that waits somewhere goes on
waiting there as long as that makes sense: its latch stands there already.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.holds import Hold
from headroom.core.names import LOCKED_PRIORITY, ROLE_LABEL
from headroom.core.objects import Key, Pod
from headroom.core.preallocating import Succession, may_succeed, succession
from headroom.engine.fitting import unfit
from headroom.engine.ledger import Ledger
from headroom.scheduling.choose import Chosen, choose


def succession_of(ledger: Ledger, hold: Hold) -> Succession | None:
    """Say where the hold waits and for whom; None when it is to be held like any other."""
    if not hold.pre_allocation or hold.terminal or _has_room(ledger, hold):
        return None
    wanted = replace(hold.template.pod, priority=LOCKED_PRIORITY)
    own = frozenset(latch.key for latch in ledger.latches_of(hold))

    def fits(node: str, without: frozenset[Key]) -> bool:
        right = hold.template.node in ("", node)
        return right and unfit(ledger, wanted, node, without | own) is None

    by_node = _candidates(ledger, hold)
    if hold.status.phase == "Waiting":
        here = hold.status.node
        if here in ledger.nodes and fits(here, frozenset()):
            return Succession(here)
        staying = succession(hold, {here: by_node.get(here, [])}, fits)
        if staying is not None:
            return staying
    if not hold.terms.needs_candidate and isinstance(choose(wanted, ledger.state), Chosen):
        return None
    return succession(hold, by_node, fits)


def _has_room(ledger: Ledger, hold: Hold) -> bool:
    guardian = ledger.guardian_of(hold)
    return (guardian is not None and bool(guardian.node)) or bool(ledger.claimants_of(hold))


def _candidates(ledger: Ledger, hold: Hold) -> dict[str, list[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in ledger.pods.values():
        ours = ROLE_LABEL in pod.labels
        if not ours and may_succeed(hold, pod, ledger.policy.across_namespaces):
            found.setdefault(pod.node, []).append(pod)
    return found
