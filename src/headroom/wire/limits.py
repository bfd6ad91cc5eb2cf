"""The limits of a guardian: those of its template, so that quotas on limits and LimitRanges agree.

A ResourceQuota on `limits.cpu` refuses every pod that states no limit, and a LimitRange adds limits
of its own to such a pod. A guardian therefore has as much above its requests as the template has
above its own. A template without limits makes a guardian without limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headroom.core.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Resources
from headroom.wire.amounts import amounts_of

_LIMITED = (CPU, MEMORY, EPHEMERAL_STORAGE)
_WHOLE_CPU = 1000


def limits_of(spec: Mapping[str, Any], asked: Resources, requests: Resources) -> Resources:
    """The limits of a guardian with these requests.

    `spec` is the pod spec of its template, as plain dicts, `asked` what that spec requests.
    """
    stated = _stated(spec)
    limits = {
        name: requests[name] + max(0, stated[name] - asked[name])
        for name in _LIMITED
        if name in stated and name in requests
    }
    if all(limits.get(name) == requests[name] for name in (CPU, MEMORY)):
        # A pod of the class Guaranteed with whole CPUs may get cores of its own from the kubelet.
        limits[CPU] += not limits[CPU] % _WHOLE_CPU
    return Resources(limits)


def _stated(spec: Mapping[str, Any]) -> Resources:
    """The limits of a whole pod: of what one container leaves open there is none."""
    each = [_limits(container) for container in _containers(spec)]
    summed = {
        name: sum(limits[name] for limits in each)
        for name in _LIMITED
        if each and all(name in limits for limits in each)
    }
    return Resources({**summed, **_limits(spec).only(frozenset((CPU, MEMORY)))})


def _containers(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The containers that run for as long as the pod does."""
    yield from spec.get("containers") or ()
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            yield container


def _limits(holder: Mapping[str, Any]) -> Resources:
    limits = (holder.get("resources") or {}).get("limits")
    return amounts_of(msgspec.json.encode(limits), "limits") if limits else Resources()
