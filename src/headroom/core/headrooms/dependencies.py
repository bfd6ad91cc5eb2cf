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
    size, namespace = headroom.size, headroom.parent.namespace
    chunked = headroom.slot.chunk == NODE_CHUNK
    if size.by_node or chunked:
        yield On.NODES
    if chunked:
        yield On.DAEMON_SETS
    if size.by_load:
        yield On.LOAD
        yield On.QUOTAS, namespace
    if size.looks_ahead:
        yield On.WORKLOADS
    if headroom.slot.auto is not None:
        yield On.SHAPES
    if size.follows is not None:
        yield On.FOLLOWED
    if size.learns:
        yield On.ARRIVALS
    if size.shares_quotas:
        yield On.SHARED_QUOTAS, namespace
    if headroom.slot.source is not None:
        yield namespace, headroom.slot.source
