"""The records of what is remembered about holds (`core.hold_state.memory`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headroom.core.hold_state.memory import HoldMemory
from headroom.core.holds import Hold
from headroom.core.subjects import Awaited, Change
from headroom.engine.namespace_limits import count_usage

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger


def remember(ledger: Ledger, hold: Hold, memory: HoldMemory) -> None:
    """Replace the record of a hold; the end of its renewal is the turn of the next slot."""
    parent, agenda = str(hold.parent), ledger.agenda
    before = ledger.memory[parent]
    if memory is before:
        return
    ledger.memory.put(parent, memory)
    if before.permit != memory.permit:
        count_usage(ledger, parent)
    if before.renewing and not memory.renewing:
        for subject in agenda.waiting(Awaited(Change.RENEWAL, hold.group))[:1]:
            agenda.touch(subject)
