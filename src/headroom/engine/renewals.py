"""Decide which slots of a headroom are renewed now: only a part at a time.

Each slot keeps its old guardian until the new one has a node, so a renewal needs extra room. To
renew all at once would need twice the room and flood the scheduler.
"""

from __future__ import annotations

from dataclasses import replace

from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.resources import Resources
from headroom.core.subjects import hold_subject
from headroom.engine.indexes import drop
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.scheduling.choose import ChosenNode, choose


class Renewals:
    """Slots that are being renewed and slots that wait to be, by headroom."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._going: dict[str, dict[str, None]] = {}
        self._waiting: dict[str, dict[str, None]] = {}

    def may(self, hold: Hold) -> bool:
        """Whether this hold's guardian may be renewed now; if not, it is told when it may."""
        whole, name = hold.group, str(hold.parent)
        if not whole:
            return True
        going = self._going.get(whole, {})
        if name not in going and len(going) >= self._most(whole):
            self._waiting.setdefault(whole, {})[name] = None
            return False
        self._going.setdefault(whole, {})[name] = None
        drop(self._waiting, whole, name)
        return True

    def over(self, hold: Hold) -> None:
        """This hold's guardian is as it should be, or the hold is gone: the next one may."""
        whole, name = hold.group, str(hold.parent)
        drop(self._waiting, whole, name)
        if name not in self._going.get(whole, ()):
            return
        drop(self._going, whole, name)
        for waiting in self._waiting.get(whole, ()):
            known = self._ledger.holds.get(waiting)
            if known is not None:
                self._ledger.agenda.touch(hold_subject(known.parent))
                return

    def fits_in_place(self, hold: Hold, old: Pod, size: Resources) -> bool:
        """Whether a hold's guardian of a size would find room where the old one stands."""
        ours = frozenset({old.key} | {latch.key for latch in self._ledger.latches_of(hold)})
        wanted = replace(_plain(hold), requests=size)
        return unfit(self._ledger, wanted, old.node, ours) is None

    def fits_beside(self, hold: Hold, old: Pod) -> bool:
        """Whether a hold's guardian would find room while the old one still stands."""
        ledger, wanted = self._ledger, _plain(hold)
        if hold.template.node:
            return unfit(ledger, wanted, hold.template.node, frozenset()) is None
        if unfit(ledger, wanted, old.node, frozenset()) is None:
            return True
        return isinstance(choose(wanted, ledger.state), ChosenNode)

    def _most(self, whole: str) -> int:
        slots = self._ledger.slots.count(whole)
        return max(1, -(-slots * self._ledger.policy.renewed_at_once // 100))


def _plain(hold: Hold) -> Pod:
    """The guardian of a hold as the scheduling rules see it."""
    return hold.template.pod
