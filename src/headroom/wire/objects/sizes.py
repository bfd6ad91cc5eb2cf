"""What the fields of `spec.size` become: one maker for each size of a Headroom."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.demand.followers import DEADLINE, FixedCount, FromAnnotation, PerVolume
from headroom.core.promise.report import MEMORY
from headroom.core.sizes.adaptive import Adaptive
from headroom.core.sizes.follow import Follow
from headroom.core.sizes.kind import Size
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from headroom.core.sizes.utilization import Utilization
from headroom.wire.objects.values import Makers


def _size(replicas: int = 0, percent: int | None = None, **other: Size) -> Size:
    """The one that is given."""
    if percent is not None:
        return Percent(percent)
    return next(iter(other.values()), Replicas(replicas))


def _follow(
    gate: str,
    slots: int = 1,
    per_volume: PerVolume | None = None,
    from_annotation: str = "",
    deadline: timedelta = DEADLINE,
) -> Follow:
    named = FromAnnotation(from_annotation) if from_annotation else FixedCount(slots)
    return Follow(gate, per_volume or named, deadline)


def _adaptive(
    start_within: timedelta,
    ratio: float,
    min: int = 0,
    max: int | None = None,
    memory: timedelta = MEMORY,
    release_after: timedelta | None = None,
) -> Adaptive:
    return Adaptive(start_within, ratio, min, max, memory, release_after)


MAKERS: Makers = {
    "HeadroomSize": _size,
    "SizePerNode": PerNode,
    "SizeUtilization": lambda threshold: Utilization(round(threshold * 1000)),
    "SizeFollow": _follow,
    "FollowVolumes": PerVolume,
    "SizeAdaptive": _adaptive,
}
