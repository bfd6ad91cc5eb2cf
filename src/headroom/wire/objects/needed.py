"""Kinds that are watched only because some object goes by them.

Few clusters have a Headroom for every kind of workload, or one that goes by volumes or asks quotas;
so these are followed from the moment a Headroom needs one.
"""

from __future__ import annotations

from headroom.core.demand.following import Follow, PerVolume
from headroom.core.standing.headrooms import Headroom, Utilization
from headroom.ports import Thing
from headroom.wire.kinds import RESOURCE_QUOTAS, STORAGE_CLASSES, VOLUME_CLAIMS, VOLUMES, Resource
from headroom.wire.objects.workloads import copied_kind


def needed_kinds(thing: Thing) -> tuple[Resource, ...]:
    """The kinds that have to be seen because of a thing."""
    if not isinstance(thing, Headroom):
        return ()
    copied = copied_kind(thing)
    kinds = (copied,) if copied is not None else ()
    size = thing.size
    if isinstance(size, Utilization):
        kinds = (*kinds, RESOURCE_QUOTAS)
    if isinstance(size, Follow) and isinstance(size.slots, PerVolume):
        kinds = (*kinds, VOLUME_CLAIMS, VOLUMES, STORAGE_CLASSES)
    return kinds
