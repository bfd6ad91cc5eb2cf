"""LimitRange for pods: default requests and limits, and the allowed range.

The rules and messages are those of the real plugin (LimitRanger): defaults are set when a pod is
created; then each container, and the sum of each pod, is checked against minimum, maximum and
ratio. Limits of volume claims are not modelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from headroom.core.quantity import QuantityError, milli_of
from headroom.sim.api import kinds
from headroom.sim.api.values import Json, dig
from headroom.sim.errors import ApiError, forbidden

Amounts = dict[str, Any]
CONTAINER, POD = "Container", "Pod"


def with_defaults(pod: Json, ranges: Iterable[Json]) -> Json:
    """A new pod whose containers have the default limits and requests where they set none."""
    limits: Amounts = {}
    requests: Amounts = {}
    for item in _items(ranges, CONTAINER):
        default = {**_of(item, "max"), **_of(item, "default")}
        limits = {**default, **limits}
        requests = {**_of(item, "min"), **default, **_of(item, "defaultRequest"), **requests}
    if not limits and not requests:
        return pod
    spec = dict(pod.get("spec") or {})
    for field in ("initContainers", "containers"):
        if spec.get(field):
            spec[field] = [_filled(each, limits, requests) for each in spec[field]]
    return {**pod, "spec": spec}


def refusal(pod: Json, ranges: Iterable[Json]) -> ApiError | None:
    """Which limits a pod violates; None if it violates none."""
    known = list(ranges)
    spec = pod.get("spec") or {}
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    broken: list[str] = []
    for item in _items(known, CONTAINER):
        for container in containers:
            broken += _broken(item, CONTAINER, _asked(container, "requests"), _asked(container))
    for item in _items(known, POD):
        parts = spec.get("containers") or ()
        sums = [_sum(_asked(each, field) for each in parts) for field in ("requests", "limits")]
        broken += _broken(item, POD, *sums)
    if not broken:
        return None
    words = broken[0] if len(broken) == 1 else f"[{', '.join(broken)}]"
    return forbidden(kinds.POD, str(dig(pod, "metadata", "name")), words)


def _items(ranges: Iterable[Json], kind: str) -> list[Json]:
    found = (item for each in ranges for item in dig(each, "spec", "limits") or ())
    return [item for item in found if isinstance(item, dict) and item.get("type") == kind]


def _of(item: Json, field: str) -> Amounts:
    found = item.get(field)
    return found if isinstance(found, dict) else {}


def _filled(container: Json, limits: Amounts, requests: Amounts) -> Json:
    own = container.get("resources") or {}
    asked = {**own}
    for field, default in (("limits", limits), ("requests", requests)):
        merged = {**default, **(own.get(field) or {})}
        if merged:
            asked[field] = merged
    return {**container, "resources": asked}


def _asked(container: Json, field: str = "limits") -> Amounts:
    return dig(container, "resources", field) or {}


def _broken(item: Json, kind: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, least in sorted(_of(item, "min").items()):
        words = f"minimum {name} usage per {kind} is {least}"
        if name not in requests:
            yield f"{words}.  No request is specified"
        elif _milli(requests[name]) < _milli(least):
            yield f"{words}, but request is {requests[name]}"
        elif name in limits and _milli(limits[name]) < _milli(least):
            yield f"{words}, but limit is {limits[name]}"
    for name, most in sorted(_of(item, "max").items()):
        words = f"maximum {name} usage per {kind} is {most}"
        if name not in limits:
            yield f"{words}.  No limit is specified"
        elif _milli(limits[name]) > _milli(most):
            yield f"{words}, but limit is {limits[name]}"
        elif name in requests and _milli(requests[name]) > _milli(most):
            yield f"{words}, but request is {requests[name]}"
    for name, ratio in sorted(_of(item, "maxLimitRequestRatio").items()):
        words = f"{name} max limit to request ratio per {kind} is {ratio}"
        if not _milli(requests.get(name, "0")):
            yield f"{words}, but no request is specified or request is 0"
        elif name not in limits:
            yield f"{words}, but no limit is specified"
        elif _milli(limits[name]) * 1000 > _milli(ratio) * _milli(requests[name]):
            given = _milli(limits[name]) / _milli(requests[name])
            yield f"{words}, but provided ratio is {given:f}"


def _sum(amounts: Iterable[Amounts]) -> Amounts:
    total: dict[str, int] = {}
    for each in amounts:
        for name, amount in each.items():
            total[name] = total.get(name, 0) + _milli(amount)
    return {name: f"{amount}m" for name, amount in total.items()}


def _milli(amount: object) -> int:
    try:
        return milli_of(amount)
    except QuantityError:
        return 0  # The decoder of the pod reports what is wrong.
