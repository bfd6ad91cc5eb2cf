"""Nodes whose pods ask for more than there is: somebody has taken room that is held.

A pod that names its node meets no scheduler, and a node may shrink. The guardian then still stands,
but its owner would not fit: a hold that said nothing of it would promise what is not there.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from headroom.core.holds import Hold
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.core.subjects import hold_subject
from headroom.core.waits.stabilization import Stabilization
from headroom.engine.ledger import Ledger

SETTLED = timedelta(seconds=2)  # A kubelet turns most such pods away by then.


class Overbooking:
    """Remembers since when each hold stands on a node with too many."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._beyond: Stabilization[str, bool] = Stabilization(SETTLED)

    def note(self, node: str) -> None:
        """Something has changed on a node: have the holds there looked at, if it is too full."""
        ledger = self._ledger
        if not node or not ledger.state.overbooked(node):
            return
        for pod in ledger.state.pods_on(node):
            hold = ledger.holds.get(kept_for(pod)) if _is_guardian(pod) else None
            if hold is not None:
                ledger.agenda.touch(hold_subject(hold.parent))

    def around(self, hold: Hold, guardian: Pod | None, now: datetime) -> Resources:
        """What pods ask for beyond what the node of a hold has, of its resources and of places.

        Nothing before it has lasted for a while; it is then looked at again.
        """
        parent, node = str(hold.parent), guardian.node if guardian is not None else ""
        beyond = self._ledger.state.overbooked(node) if node else EMPTY
        beyond = beyond.only(frozenset({*hold.template.pod.requests, PODS}))
        if not beyond:
            self._beyond.forget(parent)
            return EMPTY
        sure_at = self._beyond.tell(parent, True, now)
        if now < sure_at:
            self._ledger.agenda.later(hold_subject(hold.parent), sure_at)
            return EMPTY
        return beyond

    def forget(self, hold: Hold) -> None:
        self._beyond.forget(str(hold.parent))


def _is_guardian(pod: Pod) -> bool:
    return pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN
