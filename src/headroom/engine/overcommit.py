"""Nodes whose pods request more than the node has: held room was taken.

A pod that names its node skips every scheduler, and a node may shrink. The guardian then still
exists, but its owner would not fit. The status of the hold says so.
"""

from __future__ import annotations

from headroom.core.holds import Hold
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.core.subjects import hold_subject
from headroom.engine.ledger import Ledger


def wake_overbooked(ledger: Ledger, node: str) -> None:
    """Something has changed on a node: decide its holds again, if it is too full."""
    if not node or not ledger.state.overbooked(node):
        return
    for pod in ledger.state.pods_on(node):
        guardian = pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN
        hold = ledger.holds.get(kept_for(pod)) if guardian else None
        if hold is not None:
            ledger.agenda.touch(hold_subject(hold.parent))


def overbooked_around(ledger: Ledger, hold: Hold, guardian: Pod | None) -> Resources:
    """What pods request beyond the capacity of a hold's node, of its resources and of places."""
    if guardian is None or not guardian.node:
        return EMPTY
    beyond = ledger.state.overbooked(guardian.node)
    return beyond.only(frozenset({*hold.template.pod.requests, PODS}))
