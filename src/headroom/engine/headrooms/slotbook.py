"""Headrooms and what concerns them except pods: workloads, autoscalers, quotas and counts.

This is a part of the ledger. It decides nothing; it adds headrooms to the agenda that must be
decided again.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from headroom.core.demand.autoscalers import PodAutoscaler
from headroom.core.demand.quotaroom import ResourceQuota
from headroom.core.demand.utilization import Use
from headroom.core.headrooms import nodeoverhead, slotsets
from headroom.core.headrooms.dependencies import Cause, causes
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.headrooms.memory import HeadroomMemory
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.objects import Key, Pod
from headroom.core.subjects import headroom_subject
from headroom.engine.agenda import Agenda
from headroom.engine.indexes import Index
from headroom.engine.promises.arrivals import Arrivals
from headroom.engine.promises.book import PromiseBook


class SlotBook:
    """Headrooms by their parent's text, as are their counts."""

    def __init__(self, agenda: Agenda, across_namespaces: bool = False) -> None:
        self._agenda = agenda
        self.promises = PromiseBook(agenda, Arrivals(across_namespaces))
        self.headrooms: dict[str, Headroom] = {}
        self.headroom_index: Index[str] = Index()
        self.workloads: dict[tuple[str, WorkloadRef], Workload] = {}
        self.workload_index: Index[tuple[str, WorkloadRef]] = Index()
        self.autoscalers: dict[Key, PodAutoscaler] = {}
        self.autoscaler_index: Index[Key] = Index()
        self.quotas: dict[str, dict[str, ResourceQuota]] = {}  # by namespace and name
        self.hidden: dict[str, str] = {}  # kinds that we may not see, and why
        self.memory: dict[str, HeadroomMemory] = {}
        self.made: dict[str, OrderedDict[str, deque[datetime]]] = {}  # pods, see `autoshapes`
        self.use: Use | None = None  # what pods use, for as long as none has changed
        self.real = 0  # pods that are no placeholders, when they were last counted
        self.held_up: dict[str, str] = {}  # why no guardian is made, for as long as no pod changed

    def depend(self, old: Headroom | None, new: Headroom | None) -> None:
        """A headroom came, changed or went."""
        if old is not None and (new is None or new.parent.whole != old.parent.whole):
            self.headroom_index.put(old.parent.whole)
        if new is not None:
            parent = new.parent
            made = (slotsets.ref_of(parent), nodeoverhead.ref_of(parent))
            self.headroom_index.put(
                parent.whole,
                (
                    *(Entry(By.DEPENDING, cause) for cause in causes(new)),
                    *(Entry(By.COMPANION, (parent.namespace, ref)) for ref in made),
                ),
            )

    def upset(self, whole: str) -> None:
        """Something has changed that a headroom depends on."""
        if not self.memory[whole].stale:
            self.remember(whole, stale=True)
        self._agenda.touch(headroom_subject(self.headrooms[whole].parent))

    def concern(self, wholes: Iterable[str]) -> None:
        """Something has changed that these headrooms depend on."""
        for whole in wholes:
            self.upset(whole)

    def depending(self, cause: Cause) -> tuple[str, ...]:
        """The headrooms that something concerns."""
        return tuple(self.headroom_index.of(By.DEPENDING, cause))

    def workload_of(self, headroom: Headroom) -> Workload | None:
        """The workload that a headroom's slots are like, if there is one."""
        source = headroom.slot.source
        return self.workloads.get((headroom.parent.namespace, source)) if source else None

    def pods_changed(self) -> None:
        """What was worked out from all pods and nodes is not true any more."""
        self.use = None
        self.held_up.clear()

    def remember(self, whole: str, **changes: Any) -> HeadroomMemory:
        """Replace a part of what is remembered about a headroom."""
        self.memory[whole] = replace(self.memory[whole], **changes)
        return self.memory[whole]

    def remember_objects(self, whole: str, **changes: Any) -> None:
        """Replace a part of what is remembered about the objects of a headroom's slots."""
        self.remember(whole, objects=replace(self.memory[whole].objects, **changes))

    def note_seated(self, hold: Hold, owner: Pod) -> None:
        """Take down that a slot has found its owner, for its headroom to count."""
        if (memory := self.memory.get(hold.group)) is not None:
            self.remember(hold.group, seated=(*memory.seated, owner))
            self._agenda.touch(headroom_subject(self.headrooms[hold.group].parent))

    def note_missed(self, whole: str) -> None:
        """Take down that a pod went without, for the headroom that was for it to count."""
        if (memory := self.memory.get(whole)) is not None:
            self.remember(whole, misses=memory.misses + 1)
            self._agenda.touch(headroom_subject(self.headrooms[whole].parent))

    def see_promise(self, whole: str, pods: Iterable[Pod]) -> None:
        """A headroom is as we now have it, or is none of ours."""
        headroom = self.headrooms.get(whole)
        if headroom is not None:
            self.promises.want(headroom, pods)

    def forget(self, whole: str) -> None:
        """A headroom is gone, with what was not counted yet."""
        for known in (self.headrooms, self.memory, self.held_up):
            known.pop(whole, None)
        self.promises.forget(whole)
