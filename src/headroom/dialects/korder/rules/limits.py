"""Quotas: how much all objects of a scope may hold together, and whether one more fits.

A quota counts objects that want slots (`orders`), single slots (`tickets`) and what these keep
(`reserved.cpu`, `reserved.nvidia.com/gpu`), all in exact whole numbers; `max-duration` limits each
slot separately. `quota` is the object, which `quota_status` describes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from headroom.core.amounts import format_amount, format_span
from headroom.core.objects import Condition, LabelSelector
from headroom.core.quotas.quota import Demand
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.core.selection import matches
from headroom.dialects.korder.rules.hours import Hours, look_again

if TYPE_CHECKING:
    from headroom.dialects.korder.rules.quota import KorderQuota

CLUSTER = "Cluster"
NAMESPACE_SELECTOR = "NamespaceSelector"
NAMESPACE_LIST = "NamespaceList"
OBJECT_SELECTOR = "ObjectSelector"
SCOPES = (CLUSTER, NAMESPACE_SELECTOR, NAMESPACE_LIST, OBJECT_SELECTOR)
ORDERS = "orders"
TICKETS = "tickets"
RESERVED = "reserved."
MAX_DURATION = "max-duration"
EVERYTHING = LabelSelector()


@dataclass(frozen=True, slots=True)
class Scope:
    """Which objects count: all, those of some namespaces, or those with some labels."""

    kind: str = CLUSTER
    namespaces: tuple[str, ...] = ()
    selector: LabelSelector = EVERYTHING


@dataclass(frozen=True, slots=True)
class Ceiling:
    """At most so much by name, and no slot for longer than `longest`; what is absent is free."""

    amounts: Mapping[str, int] = field(default_factory=dict)
    longest: timedelta | None = None


EVERYWHERE = Scope()
UNLIMITED = Ceiling()


@dataclass(frozen=True, slots=True)
class QuotaShare:
    """What one namespace of the scope may have of it at most."""

    namespace: str
    ceiling: Ceiling


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """While it is open, what may be reserved is so many times as much."""

    name: str
    hours: Hours
    multiplier: Fraction


@dataclass(frozen=True, slots=True)
class QuotaStatus:
    hard: Ceiling = Ceiling()
    used: Resources = EMPTY
    window: str = ""
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0


@dataclass(frozen=True, slots=True)
class QuotaBounds:
    """The ceilings of a quota at a moment; `window` is the name of the one that is open."""

    hard: Ceiling
    shares: tuple[QuotaShare, ...] = ()
    window: str = ""


@dataclass(frozen=True, slots=True)
class Exceeded:
    """Which quota says no, by which of its fields, and the numbers behind it."""

    quota: str
    path: str
    name: str
    used: int
    wanted: int
    most: int

    def __str__(self) -> str:
        used, wanted, most = (
            spelled(self.name, number) for number in (self.used, self.wanted, self.most)
        )
        where = f"Quota {self.quota}: {self.path}[{self.name}]"
        if self.name == MAX_DURATION:
            wanted = wanted if self.wanted else "without end"
            return f"{where}: wanted {wanted}, at most {most}"
        return f"{where}: used {used}, wanted {wanted} more, at most {most}"


def taken(demand: Demand) -> Resources:
    """What an object takes: one that wants slots itself, a slot itself and all that it keeps."""
    if demand.requests is None:
        return Resources({ORDERS: 1})
    reserved = {f"{RESERVED}{name}": amount for name, amount in demand.requests.items()}
    return Resources({TICKETS: 1, **reserved})


def applies(scope: Scope, demand: Demand, namespace_labels: Mapping[str, str]) -> bool:
    """Say whether an object is within a scope."""
    match scope.kind:
        case "Cluster":
            return True
        case "NamespaceList":
            return demand.parent.namespace in scope.namespaces
        case "NamespaceSelector":
            return matches(scope.selector, namespace_labels)
        case "ObjectSelector":
            return matches(scope.selector, demand.labels)
        case _:
            return False


def bounds(quota: KorderQuota, now: datetime) -> QuotaBounds:
    """The ceilings that hold now; of several open windows the first in the list counts."""
    open_now = next((each for each in quota.windows if each.hours.open_at(now)), None)
    if open_now is None:
        return QuotaBounds(quota.hard, quota.shares)
    shares = tuple(
        QuotaShare(share.namespace, _scaled(share.ceiling, open_now.multiplier))
        for share in quota.shares
    )
    return QuotaBounds(_scaled(quota.hard, open_now.multiplier), shares, open_now.name)


def next_look(quota: KorderQuota, now: datetime) -> datetime | None:
    """Say when a window may open or close; None for a quota without windows."""
    return look_again([each.hours for each in quota.windows], now) if quota.windows else None


def exceeded(
    quota: str, limits: QuotaBounds, demand: Demand, used: Resources, used_there: Resources
) -> Exceeded | None:
    """Say what of a quota has no room for a demand, or None.

    `used` is what counts for the quota already, `used_there` the part of the demand's namespace.
    """
    amounts = taken(demand)
    for path, ceiling, before in _ceilings(limits, demand.parent.namespace, used, used_there):
        for name in sorted(amounts):
            most = ceiling.amounts.get(name)
            if most is not None and before[name] + amounts[name] > most:
                return Exceeded(quota, path, name, before[name], amounts[name], most)
        longest = ceiling.longest
        if longest is None or demand.requests is None:
            continue
        if not demand.duration or demand.duration > longest:
            wanted = _seconds(demand.duration or timedelta())
            return Exceeded(quota, path, MAX_DURATION, 0, wanted, _seconds(longest))
    return None


def surpassed(
    limits: QuotaBounds, used: Resources, used_by: Mapping[str, Resources]
) -> Iterator[tuple[str, str, int, int]]:
    """Where more is used than may be: path, name, used and the most allowed."""
    for name, most in sorted(limits.hard.amounts.items()):
        if used[name] > most:
            yield "spec.hard", name, used[name], most
    for share in limits.shares:
        there = used_by.get(share.namespace, EMPTY)
        for name, most in sorted(share.ceiling.amounts.items()):
            if there[name] > most:
                yield _share_path(share.namespace), name, there[name], most


def unit_of(name: str) -> str:
    """The resource whose units a quota counts a name in; counts of objects go like pods."""
    return name.removeprefix(RESERVED) if name.startswith(RESERVED) else PODS


def spelled(name: str, number: int) -> str:
    """Print a number of a quota's as a quantity; durations as people write them."""
    if name == MAX_DURATION:
        return format_span(timedelta(seconds=number))
    return format_amount(unit_of(name), number)


def _ceilings(
    limits: QuotaBounds, namespace: str, used: Resources, used_there: Resources
) -> Iterator[tuple[str, Ceiling, Resources]]:
    yield "spec.hard", limits.hard, used
    for share in limits.shares:
        if share.namespace == namespace:
            yield _share_path(namespace), share.ceiling, used_there


def _share_path(namespace: str) -> str:
    return f"spec.allocation[{namespace}].limits"


def _scaled(ceiling: Ceiling, multiplier: Fraction) -> Ceiling:
    """Scale what may be reserved, rounding down; how many objects and how long stays."""
    amounts = {
        name: most * multiplier.numerator // multiplier.denominator
        if name.startswith(RESERVED)
        else most
        for name, most in ceiling.amounts.items()
    }
    return Ceiling(amounts, ceiling.longest)


def _seconds(duration: timedelta) -> int:
    """Whole seconds, rounded up: what is a little too long should look too long."""
    return -(-duration // timedelta(seconds=1))
