"""Check whether a pod would fit on a node without some other pods; find the labels of a node."""

from __future__ import annotations

from collections.abc import Mapping

from headroom.core.index_entries import By
from headroom.core.node.view import Unfit
from headroom.core.objects import NO_LABELS, Key, Pod
from headroom.engine.ledger import Ledger
from headroom.scheduling.filters import feasible_on


def unfit(ledger: Ledger, pod: Pod, node: str, without: frozenset[Key]) -> str | None:
    """Say why the pod would not fit, or None when it would; our own fences let our own by."""
    if node not in ledger.nodes:
        return f"there is no node {node}"
    fences = ledger.index.of(By.FENCE, node)
    return feasible_on(pod, node, ledger.state, without | frozenset(fences))


def unfit_on(ledger: Ledger, node: str) -> Unfit:
    """The same question about one node."""
    return lambda pod, without: unfit(ledger, pod, node, without)


def labels_around(ledger: Ledger, node: str) -> Mapping[str, str]:
    """The labels of a node; none of one that is not known."""
    known = ledger.nodes.get(node)
    return known.labels if known is not None else NO_LABELS
