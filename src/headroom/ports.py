"""The interfaces to the outside: a cluster to observe and change, a clock, and the Lease.

`kube` implements them over HTTP, `sim` in memory with a virtual clock. All code above is the same
for both.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Protocol

from headroom.core.actions import Action, Outcome
from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.demand.volumes import Stored
from headroom.core.eviction.budgets import Budget
from headroom.core.fast_dataclass import dataclass
from headroom.core.headrooms.announced_pods import PodAutoscaler
from headroom.core.headrooms.headrooms import Headroom, Workload
from headroom.core.holds import Hold
from headroom.core.objects import Namespace, Node, Pod
from headroom.core.quotas.quota import Quota

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
    | PodAutoscaler
)


@dataclass(frozen=True, slots=True)
class Seen:
    """The current state of the object. It may be repeated."""

    thing: Thing


@dataclass(frozen=True, slots=True)
class Lost:
    """The object was deleted; `thing` is its last known state. It may never have been seen."""

    thing: Thing


@dataclass(frozen=True, slots=True)
class AutoscalerSeen:
    """An autoscaler that counts DaemonSets on new nodes was installed while the operator runs."""


@dataclass(frozen=True, slots=True)
class KindHidden:
    """We may not list a kind that something needs, and why; an empty `why`: now we may."""

    kind: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Synced:
    """Everything that existed at the start was reported; from here on, changes."""


Event = Seen | Lost | AutoscalerSeen | KindHidden | Synced


class Cluster(Protocol):
    """A cluster: observe and change it."""

    def watch(self) -> AsyncGenerator[Event, None]:
        """Yield everything that exists, then `Synced`, then every change.

        A lost connection is recovered inside: what changed meanwhile arrives as ordinary events.
        Pod events keep the order of the API server. The reader closes it.
        """
        ...

    async def perform(self, action: Action) -> Outcome:
        """Perform one write. An error is an Outcome, never an exception."""
        ...


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, aware, UTC."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class Lease(Protocol):
    """Leader election."""

    async def acquire(self) -> None:
        """Wait until we lead."""
        ...

    async def lost(self) -> None:
        """Wait until we no longer lead; returns before another can lead."""
        ...

    async def release(self) -> None:
        """Release it, so that the next leader need not wait until it expires."""
        ...
