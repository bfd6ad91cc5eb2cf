"""The records of what is remembered about holds (`core.hold_state.memory`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headroom.core.hold_state.memory import NOTHING, HoldMemory
from headroom.core.holds import Hold
from headroom.core.subjects import Awaited, Change
from headroom.engine.agenda import Agenda

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger


class HoldMemories(dict[str, HoldMemory]):
    """By parent of the hold; of a hold without a record nothing is known."""

    def __missing__(self, parent: str) -> HoldMemory:
        return NOTHING


def remember(memories: HoldMemories, agenda: Agenda, hold: Hold, memory: HoldMemory) -> None:
    """Replace the record of a hold; the end of its renewal is the turn of the next slot."""
    before = memories[str(hold.parent)]
    if memory is before:
        return
    if memory == NOTHING:
        memories.pop(str(hold.parent), None)
    else:
        memories[str(hold.parent)] = memory
    if before.renewing and not memory.renewing:
        for subject in agenda.waiting(Awaited(Change.RENEWAL, hold.group))[:1]:
            agenda.touch(subject)


def note_use(ledger: Ledger, parent: str, node: str, used: bool = True) -> None:
    """Owners of a hold are on a node, so that it may get room back there; or it has it back."""
    memory = ledger.memory[parent]
    if used == (node in memory.returns_on):
        return
    nodes = tuple(each for each in memory.returns_on if each != node)
    ledger.memory[parent] = replace(memory, returns_on=(*nodes, node) if used else nodes)
    ledger.file_hold(ledger.holds[parent])
