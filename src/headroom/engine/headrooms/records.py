"""What is known of headrooms: the objects that they read, and one frozen memory of each.

The records are a part of the ledger. They have no methods: the functions here, and the modules of
this package that observe, change them. Nothing is decided here; headrooms that must be decided
again are put on the agenda.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.findings.doors import reached
from headroom.core.headrooms.announced_pods import PodAutoscaler
from headroom.core.headrooms.companions import slot_set_ref
from headroom.core.headrooms.dependencies import Cause, causes
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.headrooms.memory import HeadroomMemory
from headroom.core.headrooms.node_overhead import daemon_set_ref
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.objects import Key, Pod
from headroom.core.owners import rule_keys
from headroom.core.promise.promise import HeadroomPromise, makes_promise
from headroom.core.subjects import headroom_subject
from headroom.engine.indexes import Index

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger


@dataclass(slots=True)
class HeadroomRecords:
    """Headrooms and their memories are found by the text of their parent."""

    headrooms: dict[str, Headroom] = field(default_factory=dict)
    headroom_index: Index[str] = field(default_factory=Index)
    memory: dict[str, HeadroomMemory] = field(default_factory=dict)
    promises: dict[str, HeadroomPromise] = field(default_factory=dict)
    owner_index: Index[str] = field(default_factory=Index)  # of owners without a node, by uid
    began: datetime | None = None  # when we first might act: who came before is not counted
    workloads: dict[tuple[str, WorkloadRef], Workload] = field(default_factory=dict)
    workload_index: Index[tuple[str, WorkloadRef]] = field(default_factory=Index)
    autoscalers: dict[Key, PodAutoscaler] = field(default_factory=dict)
    autoscaler_index: Index[Key] = field(default_factory=Index)
    quotas: dict[str, dict[str, ResourceQuota]] = field(default_factory=dict)  # by namespace, name
    hidden: dict[str, str] = field(default_factory=dict)  # kinds that we may not see, and why
    made: dict[str, OrderedDict[str, deque[datetime]]] = field(default_factory=dict)  # pods
    load: Index[Key] = field(default_factory=Index)  # of pods, by what they ask for: see `load`
    node_limit_refusals: dict[str, str] = field(
        default_factory=dict
    )  # why no guardian may wait, until a change

    def depending(self, cause: Cause) -> tuple[str, ...]:
        """The headrooms that something concerns."""
        return tuple(self.headroom_index.of(By.DEPENDING, cause))

    def workload_of(self, headroom: Headroom) -> Workload | None:
        """The workload that a headroom's slots are like, if there is one."""
        source = headroom.slot.source
        return self.workloads.get((headroom.parent.namespace, source)) if source else None


def file_headroom(ledger: Ledger, headroom: Headroom) -> None:
    """Put a headroom into the index."""
    parent = headroom.parent
    made = (slot_set_ref(parent), daemon_set_ref(parent))
    within = reached(headroom, ledger.policy.across_namespaces) if makes_promise(headroom) else ()
    rules = ((namespace, key) for namespace in within for key in rule_keys(headroom))
    entries = (
        *(Entry(By.DEPENDING, cause) for cause in causes(headroom)),
        *(Entry(By.COMPANION, (parent.namespace, ref)) for ref in made),
        *(Entry(By.OWNER_RULE, rule) for rule in rules),
    )
    ledger.slots.headroom_index.put(parent.whole, entries)


def reconsider(ledger: Ledger, *wholes: str) -> None:
    """Something that these headrooms depend on has changed: decide them again."""
    for whole in wholes:
        if not ledger.slots.memory[whole].stale:
            remember_headroom(ledger, whole, stale=True)
        touch(ledger, whole)


def touch(ledger: Ledger, whole: str) -> None:
    """Check a headroom again without a new calculation of its wanted slots."""
    ledger.agenda.touch(headroom_subject(ledger.slots.headrooms[whole].parent))


def remember_headroom(ledger: Ledger, whole: str, **changes: Any) -> HeadroomMemory:
    """Change fields of the memory of a headroom."""
    memory = ledger.slots.memory[whole] = replace(ledger.slots.memory[whole], **changes)
    return memory


def remember_objects(ledger: Ledger, whole: str, **changes: Any) -> None:
    """Change fields of the memory of the objects of a headroom's slots."""
    objects = replace(ledger.slots.memory[whole].objects, **changes)
    remember_headroom(ledger, whole, objects=objects)


def note_seated(ledger: Ledger, hold: Hold, owner: Pod) -> None:
    """Record that an owner got a slot; its headroom counts it."""
    if (memory := ledger.slots.memory.get(hold.group)) is not None:
        remember_headroom(ledger, hold.group, seated=(*memory.seated, owner))
        touch(ledger, hold.group)


def note_missed(ledger: Ledger, whole: str) -> None:
    """Record that a pod got no slot; the headroom that matches it counts it."""
    if (memory := ledger.slots.memory.get(whole)) is not None:
        remember_headroom(ledger, whole, misses=memory.misses + 1)
        touch(ledger, whole)
