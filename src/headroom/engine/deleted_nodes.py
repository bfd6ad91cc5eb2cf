"""Deleted nodes: what was held on them is no longer held.

An unknown node is not a deleted node: pods and nodes arrive in different streams, and a guardian
may be seen on a new node before the node itself.
"""

from __future__ import annotations

from headroom.core.subjects import hold_subject
from headroom.engine.ledger import Ledger

MOST_REMEMBERED = 10_000


def note_missing_nodes(ledger: Ledger) -> None:
    """All is known now: a node that a status names and that is not there has gone before."""
    named = (hold.status.node for hold in ledger.holds.values())
    gone = (node for node in named if node and node not in ledger.nodes)
    ledger.gone_nodes.update(dict.fromkeys(gone))


def node_deleted(ledger: Ledger, node: str) -> None:
    """A node is gone; have the holds looked at whose guardian was last seen there."""
    ledger.gone_nodes[node] = None
    if len(ledger.gone_nodes) > MOST_REMEMBERED:
        del ledger.gone_nodes[next(iter(ledger.gone_nodes))]
    for parent, hold in ledger.holds.items():
        if node in (ledger.memory[parent].node, hold.status.node):
            ledger.agenda.touch(hold_subject(hold.parent))
