"""Nodes whose pods ask for more than there is: somebody has taken room that is held.

A pod that names its node meets no scheduler, and a node may shrink. The guardian then still stands,
but its owner would not fit: a hold that said nothing of it would promise what is not there.
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
    """Something has changed on a node: have the holds there looked at, if it is too full."""
    if not node or not ledger.state.overbooked(node):
        return
    for pod in ledger.state.pods_on(node):
        guardian = pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN
        hold = ledger.holds.get(kept_for(pod)) if guardian else None
        if hold is not None:
            ledger.agenda.touch(hold_subject(hold.parent))


def overbooked_around(ledger: Ledger, hold: Hold, guardian: Pod | None) -> Resources:
    """What pods ask for beyond what the node of a hold has, of its resources and of places."""
    if guardian is None or not guardian.node:
        return EMPTY
    beyond = ledger.state.overbooked(guardian.node)
    return beyond.only(frozenset({*hold.template.pod.requests, PODS}))
