"""Deleted nodes: what was held on them is no longer held.

An unknown node is not a deleted node: pods and nodes arrive in different streams, and a guardian
may be seen on a new node before the node itself.
"""

from __future__ import annotations

from headroom.core.subjects import hold_subject
from headroom.engine.ledger import Ledger

MOST_REMEMBERED = 10_000


class Departures:
    """Remembers the latest nodes that have gone."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._gone: dict[str, None] = {}

    def __contains__(self, node: str) -> bool:
        return node in self._gone

    def begin(self) -> None:
        """All is known now: a node that a status names and that is not there has gone before."""
        for hold in self._ledger.holds.values():
            node = hold.status.node
            if node and node not in self._ledger.nodes:
                self._gone[node] = None

    def arrived(self, node: str) -> None:
        self._gone.pop(node, None)

    def departed(self, node: str) -> None:
        """A node is gone; have the holds looked at whose guardian was last seen there."""
        ledger = self._ledger
        self._gone[node] = None
        if len(self._gone) > MOST_REMEMBERED:
            del self._gone[next(iter(self._gone))]
        for parent, hold in ledger.holds.items():
            if node in (ledger.memory[parent].node, hold.status.node):
                ledger.agenda.touch(hold_subject(hold.parent))
