"""Kinds that are watched only because some object needs them.

Few clusters have a Headroom for every kind of workload, or one whose size depends on volumes or
quotas. So such a kind is watched from the moment that a Headroom needs it, or a pod at one of our
doors mounts a volume. Budgets matter where owners of one hold may have to give way to each other.
Without the permission to list budgets and quotas, the operator assumes that there are none: the API
server enforces quotas itself, and budgets restrict only evictions. A size that is learnt also reads
workloads and autoscalers, which announce pods; those that may not be listed are reported and do not
count.
"""

from __future__ import annotations

from collections.abc import Iterable

from headroom.core.headrooms.headrooms import NODE_CHUNK, Headroom
from headroom.core.holds import Hold
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod
from headroom.ports import Thing
from headroom.wire import kinds
from headroom.wire.objects.workloads import copied_kind

STORAGE = (kinds.VOLUME_CLAIMS, kinds.VOLUMES, kinds.STORAGE_CLASSES)
ATTACHING = (*STORAGE, kinds.CSI_NODES)
ANNOUNCING = (
    kinds.DEPLOYMENTS,
    kinds.STATEFUL_SETS,
    kinds.REPLICA_SETS,
    kinds.JOBS,
    kinds.AUTOSCALERS,
)
"""The kinds that say beforehand that pods will come."""


def needed_kinds(
    thing: Thing, schedulers: frozenset[str] = frozenset()
) -> tuple[kinds.Resource, ...]:
    """The kinds that have to be seen because of a thing; `schedulers` are names of ours."""
    if isinstance(thing, Pod):
        return ATTACHING if thing.claims and not thing.node and _is_ours(thing, schedulers) else ()
    if isinstance(thing, Hold):
        return () if thing.allocate_once else (kinds.BUDGETS,)
    if not isinstance(thing, Headroom):
        return ()
    copied = copied_kind(thing)
    found = (copied,) if copied is not None else ()
    if thing.slot.chunk == NODE_CHUNK:  # A slot for many owners, beside what stands on each node.
        found = (*found, kinds.BUDGETS, kinds.DAEMON_SETS)
    size = thing.size
    if size.by_load:
        found = (*found, kinds.RESOURCE_QUOTAS)
    if looks_ahead(thing):
        found = (*found, *ANNOUNCING)
    if size.reads_volumes:
        found = (*found, *STORAGE)
    return found


def shaping_kinds(things: Iterable[Thing]) -> tuple[kinds.Resource, ...]:
    """The kinds that say what the slots of these are like, each once."""
    needed = (kind for each in things for kind in needed_kinds(each))
    return tuple(
        dict.fromkeys(each for each in needed if each in (*kinds.WORKLOADS, kinds.AUTOSCALERS))
    )


def looks_ahead(headroom: Headroom) -> bool:
    """Whether a headroom goes by what workloads and autoscalers say of pods to come."""
    return headroom.size.learns or headroom.slot.auto is not None


def _is_ours(pod: Pod, schedulers: frozenset[str]) -> bool:
    return pod.scheduler in schedulers or CLAIM_GATE in pod.gates
