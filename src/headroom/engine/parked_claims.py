"""Claims that were decided and wait for their node, and how many handovers are in progress."""

from __future__ import annotations

from headroom.core.handover import Claim
from headroom.core.index_entries import By, Entry
from headroom.core.objects import Key
from headroom.engine.indexes import Index


class ParkedClaims(dict[Key, Claim]):
    """By owner. Each reserves its hold."""

    def __init__(self) -> None:
        super().__init__()
        self.index: Index[Key] = Index()  # the same, by node and by hold
        self.under_way = 0  # handovers that were started and have not ended

    def park(self, claim: Claim) -> None:
        pod, offer = claim
        self[pod.key] = claim
        where = Entry(By.PARKED, offer.node), Entry(By.RESERVED, str(offer.hold.parent))
        self.index.put(pod.key, where)

    def take(self, key: Key) -> Claim:
        """A handover starts, or does not."""
        self.index.put(key)
        return self.pop(key)

    def nodes(self) -> tuple[str, ...]:
        """The nodes that claims wait for."""
        return tuple(self.index.all(By.PARKED))

    def on(self, node: str) -> tuple[Claim, ...]:
        """Those that wait for a node, in the order in which they came."""
        return tuple(self[key] for key in self.index.of(By.PARKED, node))

    def of(self, parent: str) -> tuple[Claim, ...]:
        """Those of owners that are about to be handed a hold."""
        return tuple(self[key] for key in self.index.of(By.RESERVED, parent))
