"""The records of what is remembered about holds (`core.hold_state.memory`)."""

from __future__ import annotations

from headroom.core.hold_state.memory import NOTHING, HoldMemory
from headroom.core.holds import Hold
from headroom.core.subjects import Awaited, Change
from headroom.engine.agenda import Agenda


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
