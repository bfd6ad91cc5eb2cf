"""What the wanted slots of a headroom depend on besides its own object.

The engine keeps headrooms by these keys, so that a change finds the headrooms that it concerns. A
size says what it depends on (`core.sizes.kind`); this module gives each answer its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from headroom.core.headrooms.headrooms import NODE_CHUNK, Headroom, WorkloadRef


class On(Enum):
    """What changes for all headrooms at once, or for those of one namespace."""

    NODES = "nodes"
    LOAD = "load"  # pods of the whole cluster
    WORKLOADS = "workloads"  # what any of them is about to create
    DAEMON_SETS = "daemonSets"
    SHAPES = "shapes"  # workloads that may be chosen as shapes
    FOLLOWED = "followed"  # pods that carry a gate, and their volumes
    ARRIVALS = "arrivals"  # owners that came, and workloads that announce some
    QUOTAS = "quotas"  # of its namespace, for itself
    SHARED_QUOTAS = "sharedQuotas"  # of its namespace, together with others of its kind


Cause = On | tuple[On, str] | tuple[str, WorkloadRef]
"""A namespace or a workload where it is not the whole cluster."""


def causes(headroom: Headroom) -> Iterator[Cause]:
    """What a headroom depends on."""
    size, slot, namespace = headroom.size, headroom.slot, headroom.parent.namespace
    chunked = slot.chunk == NODE_CHUNK
    asked: tuple[tuple[bool, Cause], ...] = (
        (size.by_node or chunked, On.NODES),
        (chunked, On.DAEMON_SETS),
        (size.by_load, On.LOAD),
        (size.by_load, (On.QUOTAS, namespace)),
        (size.looks_ahead, On.WORKLOADS),
        (slot.auto is not None, On.SHAPES),
        (size.follows is not None, On.FOLLOWED),
        (size.learns, On.ARRIVALS),
        (size.shares_quotas, (On.SHARED_QUOTAS, namespace)),
    )
    yield from (cause for depends, cause in asked if depends)
    if slot.source is not None:
        yield namespace, slot.source
