"""The only seams: a cluster to see and act on, a clock, and the right to lead.

`kube` implements them over HTTP, `sim` in memory with a virtual clock. Everything above is the
same code on both.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, assert_never

from headroom.core.actions import Action, Outcome
from headroom.core.demand.autoscalers import Autoscaler
from headroom.core.demand.quotaroom import ResourceQuota
from headroom.core.demand.volumes import NodeDrivers, StorageClass, Stored, Volume, VolumeClaim
from headroom.core.eviction.budgets import Budget
from headroom.core.holds import Hold
from headroom.core.objects import Key, Namespace, Node, Parent, Pod
from headroom.core.quotas.limits import Quota
from headroom.core.standing.headrooms import Headroom, Workload

Thing = (
    Pod
    | Node
    | Namespace
    | Hold
    | Headroom
    | Workload
    | Quota
    | Stored
    | ResourceQuota
    | Budget
    | Autoscaler
)


@dataclass(frozen=True, slots=True)
class Seen:
    """This is now true of the object. May repeat."""

    thing: Thing


@dataclass(frozen=True, slots=True)
class PodGone:
    key: Key
    uid: str


@dataclass(frozen=True, slots=True)
class NodeGone:
    name: str


@dataclass(frozen=True, slots=True)
class NamespaceGone:
    name: str


@dataclass(frozen=True, slots=True)
class HoldGone:
    parent: Parent


@dataclass(frozen=True, slots=True)
class HeadroomGone:
    parent: Parent


@dataclass(frozen=True, slots=True)
class WorkloadGone:
    workload: Workload


@dataclass(frozen=True, slots=True)
class AutoscalerSeen:
    """An autoscaler that counts DaemonSets on new nodes has come while the operator runs."""


@dataclass(frozen=True, slots=True)
class ResourceQuotaGone:
    quota: ResourceQuota


@dataclass(frozen=True, slots=True)
class BudgetGone:
    key: Key


@dataclass(frozen=True, slots=True)
class AutoscalerGone:
    autoscaler: Autoscaler


@dataclass(frozen=True, slots=True)
class KindHidden:
    """We may not see a kind that something needs, and why; an empty `why`: now we may."""

    kind: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class StoredGone:
    """A volume claim, a volume or a storage class is no more."""

    stored: Stored


@dataclass(frozen=True, slots=True)
class QuotaGone:
    parent: Parent


@dataclass(frozen=True, slots=True)
class Synced:
    """Everything that was there at the start has been told; from here on, changes."""


Event = (
    Seen
    | PodGone
    | NodeGone
    | NamespaceGone
    | HoldGone
    | HeadroomGone
    | WorkloadGone
    | AutoscalerSeen
    | StoredGone
    | ResourceQuotaGone
    | BudgetGone
    | AutoscalerGone
    | KindHidden
    | QuotaGone
    | Synced
)


def gone(thing: Thing) -> Event:
    """The event that says a thing is no more."""
    match thing:
        case Pod():
            return PodGone(thing.key, thing.uid)
        case Node():
            return NodeGone(thing.name)
        case Namespace():
            return NamespaceGone(thing.name)
        case Hold():
            return HoldGone(thing.parent)
        case Headroom():
            return HeadroomGone(thing.parent)
        case Workload():
            return WorkloadGone(thing)
        case VolumeClaim() | Volume() | StorageClass() | NodeDrivers():
            return StoredGone(thing)
        case ResourceQuota():
            return ResourceQuotaGone(thing)
        case Budget():
            return BudgetGone(thing.key)
        case Autoscaler():
            return AutoscalerGone(thing)
        case Quota():
            return QuotaGone(thing.parent)
        case _:
            assert_never(thing)


class Cluster(Protocol):
    """Where pods live."""

    def watch(self) -> AsyncGenerator[Event, None]:
        """Tell all that is there, then `Synced`, then every change, for ever.

        A lost connection is healed inside: what changed meanwhile arrives as ordinary events.
        Pod events keep the order in which the API server made them. Whoever reads closes it.
        """
        ...

    async def perform(self, action: Action) -> Outcome:
        """Do one write. Trouble is an Outcome, never an exception."""
        ...


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, aware, UTC."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class Lease(Protocol):
    """The right to act alone."""

    async def acquire(self) -> None:
        """Wait until we lead."""
        ...

    async def lost(self) -> None:
        """Wait until we no longer lead; returns before another can."""
        ...

    async def release(self) -> None:
        """Give it up, so that the next one need not wait for expiry."""
        ...
