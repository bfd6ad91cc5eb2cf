"""One question to the scheduling rules: would this pod fit on this node without those pods?"""

from __future__ import annotations

from headroom.core.objects import Key, Pod
from headroom.engine.ledger import Ledger
from headroom.scheduling.filters import feasible_on


def unfit(ledger: Ledger, pod: Pod, node: str, without: frozenset[Key]) -> str | None:
    """Say why the pod would not fit, or None when it would."""
    if node not in ledger.nodes:
        return f"there is no node {node}"
    return feasible_on(pod, node, ledger.state, without)
