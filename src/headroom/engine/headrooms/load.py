"""What pods ask for on each node, as totals of an index, for sizes that follow the load.

The index is kept for as long as a headroom depends on the load: other clusters pay nothing for it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from headroom.core.demand.utilization import Load, Use, load_on
from headroom.core.headrooms.dependencies import On
from headroom.core.index_entries import By, load_entries
from headroom.core.objects import Key, Pod
from headroom.engine.indexes import Index

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger


def note_load(ledger: Ledger, pod: Pod, gone: bool) -> None:
    """A pod has changed, or is gone."""
    if ledger.slots.depending(On.LOAD):
        ledger.slots.load.put(pod.key, () if gone else load_entries(pod))


def count_load(ledger: Ledger) -> None:
    """A headroom was created, changed or deleted: count all pods if one needs it, else none."""
    depends, load = bool(ledger.slots.depending(On.LOAD)), ledger.slots.load
    if depends != bool(load.all(By.TAKEN)):
        for pod in ledger.pods.values():
            load.put(pod.key, load_entries(pod) if depends else ())


def load_now(ledger: Ledger, shape: Pod) -> Load:
    """The load of the cluster as it is now, for slots of this shape."""
    return load_on(ledger.nodes.values(), use_of(ledger.slots.load, ledger.nodes), shape)


def real_pods(load: Index[Key]) -> int:
    """How many pods have not ended and are no placeholders."""
    return sum(map(len, load.all(By.USED).values()))


def use_of(load: Index[Key], nodes: Collection[str]) -> Use:
    """What pods ask for, on these nodes and on none."""
    used, taken = (
        {node: load.total(by, node) for node in (*nodes, "")} for by in (By.USED, By.TAKEN)
    )
    waiting = {asked: len(pods) for asked, pods in load.all(By.UNPLACED).items()}
    return Use(used, taken, real_pods(load), waiting)
