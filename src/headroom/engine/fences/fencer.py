"""The controller of fences: which nodes to look at, and when. `core.node.fence_decision` decides.

It looks only at nodes on which owners of reusable holds run, and only while a refused pod waits or
a fence exists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from headroom.core.claims import claim_of
from headroom.core.fences import is_fence, is_rival, place_latch, returns
from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.node.fence_decision import (
    FenceMemory,
    FenceView,
    PlaceLatch,
    decide,
)
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence
from headroom.core.subjects import fence_subject, hold_subject, pod_subject
from headroom.engine.fences.waiters import Waiters
from headroom.engine.freeze import node_view
from headroom.engine.hold_memory import note_use
from headroom.engine.ledger import Ledger

FRESH = FenceMemory()


class Fencer:
    """Knows the pods that wait, and what is remembered of each node."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._rivals = Waiters()
        self._memory: dict[str, FenceMemory] = {}  # by node

    def begin(self) -> None:
        """All is known now: owners may have ended, and fences be left, while nobody was there."""
        for parent, hold in self._ledger.holds.items():
            users = self._ledger.claimants_of(hold) if returns(hold) else ()
            for node in (hold.status.node, *(pod.node for pod in users)):
                if returns(hold) and node:
                    note_use(self._ledger, parent, node)
        self._look_everywhere()

    def see(self, pod: Pod, now: datetime) -> None:
        """The watch shows a pod."""
        if is_rival(pod):
            self._waits(pod)
        else:
            self._waits_no_more(pod.key)
        claim = claim_of(pod)
        hold = self._ledger.holds.get(claim[0]) if claim is not None else None
        if hold is not None and not hold.allocate_once and pod.occupies_node:
            note_use(self._ledger, str(hold.parent), pod.node)
        self._concern(pod)

    def lose(self, key: Key, old: Pod | None) -> None:
        """The watch shows that a pod is gone."""
        self._waits_no_more(key)
        if old is not None:
            self._note_lost(old)
            self._concern(old)

    def _note_lost(self, guardian: Pod) -> None:
        """A guardian is gone, deleted by somebody perhaps: behind a fence its room is kept."""
        if guardian.labels.get(ROLE_LABEL) != ROLE_GUARDIAN:
            return
        hold = self._ledger.holds.get(kept_for(guardian))
        fenced = bool(self._ledger.index.of(By.FENCE, guardian.node))
        own = hold is not None and guardian.key.namespace == hold.guardian_namespace
        if hold is not None and own and fenced and returns(hold):
            note_use(self._ledger, str(hold.parent), guardian.node)

    def _waits(self, pod: Pod) -> None:
        if self._rivals.add(pod):
            self._look_everywhere()

    def _waits_no_more(self, key: Key) -> None:
        if not self._rivals.remove(key):
            return
        usable = (node for node, memory in self._memory.items() if memory.fitting)
        for node in (*self._ledger.index.all(By.FENCE), *usable):
            self._look_again(node)  # On other nodes nothing changes.

    def _concern(self, pod: Pod) -> None:
        fenced = bool(self._ledger.index.of(By.FENCE, pod.node))
        if is_fence(pod) or fenced or (self._rivals and self._returning_on(pod.node)):
            self._look_again(pod.node)

    def _look_everywhere(self) -> None:
        for node in (*self._ledger.hold_index.all(By.RETURNING), *self._ledger.index.all(By.FENCE)):
            self._look_again(node)

    def _returning_on(self, node: str) -> tuple[str, ...]:
        """The holds that may get room back on a node."""
        return tuple(self._ledger.hold_index.of(By.RETURNING, node))

    def _look_again(self, node: str) -> None:
        self._ledger.agenda.touch(fence_subject(node))

    def look(self, node: str, now: datetime) -> Iterator[Sequence]:
        """Fence a node, or take its fence away, if that is due."""
        view = self._view(node, now)
        decision = decide(view, self._memory.get(node, FRESH), self._ledger.policy, now)
        if decision.memory == FRESH:
            self._memory.pop(node, None)
        else:
            self._memory[node] = decision.memory
        concerned = {room.name for room in view.rooms}
        for parent in self._returning_on(node):
            if parent not in concerned:
                note_use(self._ledger, parent, node, used=False)
        if decision.wake_at is not None:
            self._ledger.agenda.later(fence_subject(node), decision.wake_at)
        yield from decision.sequences

    def _view(self, node: str, now: datetime) -> FenceView:
        ledger, frozen = self._ledger, node_view(self._ledger, node, now)
        rivals, more = self._rivals.next(node)
        moving = (
            room.name
            for room in frozen.returning
            if ledger.agenda.busy(hold_subject(room.hold.parent)) or ledger.promised(room.hold)
        )
        return FenceView(
            frozen,
            tuple(map(tuple, rivals)),
            more,
            frozenset(moving),
            frozenset(pod.key for pod in frozen.nominated if pod.key in ledger.latches),
            Counter({home: len(keys) for home, keys in ledger.index.all(By.FENCE_FOR).items()}),
            self._place_latch(node),
        )

    def _place_latch(self, node: str) -> PlaceLatch:
        ledger, key = self._ledger, place_latch(node, self._ledger.policy.namespace)
        latch = ledger.pods.get(key)
        firm = ledger.firm_at(latch) if latch is not None and latch.nominated == node else None
        return PlaceLatch(latch is not None, firm, ledger.agenda.busy(pod_subject(key)))
