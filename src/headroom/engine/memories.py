"""Frozen records of what must be remembered between two decisions, by the name of the object."""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.hold_state.memory import HoldMemory
from headroom.core.holds import Hold
from headroom.core.index_entries import hold_entries
from headroom.core.quotas.quota import Demand, Quota
from headroom.core.quotas.refusals import QuotaRefusal
from headroom.core.subjects import Awaited, Change, Subject
from headroom.engine.indexes import Index
from headroom.engine.namespace_limits import count_usage

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger

_M = TypeVar("_M")


class Memories(dict[str, _M]):
    """Records by name. A missing name has the empty record, which is never stored."""

    def __init__(self, nothing: _M) -> None:
        super().__init__()
        self._nothing = nothing

    def __missing__(self, name: str) -> _M:
        return self._nothing

    def __setitem__(self, name: str, memory: _M) -> None:
        if memory == self._nothing:
            self.pop(name, None)
        else:
            super().__setitem__(name, memory)


@dataclass(frozen=True, slots=True)
class QuotaTables:
    """The quotas of dialects by name, the charge of each object, and the refusals."""

    objects: dict[str, Quota] = field(default_factory=dict)
    memory: Memories[object] = field(default_factory=partial(Memories[object], None))
    charges: dict[str, Demand] = field(default_factory=dict)  # what quotas may count
    charged: Index[str] = field(default_factory=Index)  # of these, by the quotas that count them
    refusals: dict[Subject, QuotaRefusal] = field(default_factory=dict)


def remember(ledger: Ledger, hold: Hold, memory: HoldMemory) -> None:
    """Replace the memory of a hold; when its renewal has ended, it is the turn of the next slot."""
    parent, agenda = hold.parent.identity, ledger.agenda
    before = ledger.memory[parent]
    if memory is before:
        return
    ledger.memory[parent] = memory
    if before.permit != memory.permit:
        count_usage(ledger, parent)
    if before.renewing and not memory.renewing:
        for subject in agenda.waiting(Awaited(Change.RENEWAL, hold.group))[:1]:
            agenda.touch(subject)


def note_returns_on(ledger: Ledger, parent: str, node: str, used: bool = True) -> None:
    """Note that a hold may get room back on a node, because its owners are there; or no more."""
    memory = ledger.memory[parent]
    if used == (node in memory.returns_on):
        return
    nodes = tuple(each for each in memory.returns_on if each != node)
    ledger.memory[parent] = replace(memory, returns_on=(*nodes, node) if used else nodes)
    file_hold(ledger, ledger.holds[parent])


def file_hold(ledger: Ledger, hold: Hold) -> None:
    """Put a hold into the index."""
    parent, across = hold.parent.identity, ledger.policy.across_namespaces
    memory = ledger.memory[parent]
    ledger.hold_index.put(parent, hold_entries(hold, across, memory.state, memory.returns_on))
