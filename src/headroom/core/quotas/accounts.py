"""Which quotas are in force, what counts under each, and what a quota's object needs.

`engine.quotas` keeps the entries of everything that was allowed in an index; `limits` has the
arithmetic, and `statuses` writes the status.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from headroom.core.actions import SetFinalizers
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.index_entries import By, Entry
from headroom.core.objects import Parent
from headroom.core.quotas.limits import (
    CLUSTER,
    Quota,
    QuotaBounds,
    QuotaDemand,
    QuotaStatus,
    applies,
    next_look,
    order_demand,
    ticket_demand,
)
from headroom.core.quotas.statuses import Account, status_of

FREED_AGAIN = timedelta(seconds=1)  # The watch has shown by then that a finalizer is gone.
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class QuotaRecord:
    """What must be remembered of a quota between two decisions."""

    bounds: QuotaBounds | None = None  # that were in force when it was last decided
    turns_at: datetime | None = None  # when a window may open or close
    freed_at: datetime | None = None  # when its finalizer was last taken off


@dataclass(frozen=True, slots=True)
class QuotaDecision:
    """What a quota's object needs; `turned`: other limits are in force than before."""

    record: QuotaRecord
    status: QuotaStatus | None = None
    free: SetFinalizers | None = None
    wake_at: datetime | None = None
    turned: bool = False


def decide(quota: Quota, record: QuotaRecord, account: Account, now: datetime) -> QuotaDecision:
    """The status of a quota, or its finalizers where it is only kept by one; when to look again."""
    turned = record.bounds is not None and record.bounds != account.limits
    turns_at = record.turns_at
    if turns_at is None or now >= turns_at:
        turns_at = next_look(quota, now)
    record = replace(record, bounds=account.limits, turns_at=turns_at)
    if quota.freed is None:
        return QuotaDecision(record, status_of(quota, account, now), None, turns_at, turned)
    if record.freed_at is not None and now < record.freed_at + FREED_AGAIN:
        again = record.freed_at + FREED_AGAIN
        return QuotaDecision(record, None, None, min(again, turns_at or again), turned)
    free = SetFinalizers(quota.parent, quota.version, quota.freed)
    return QuotaDecision(replace(record, freed_at=now), None, free, turns_at, turned)


def in_force(quotas: Iterable[Quota]) -> tuple[Quota, ...]:
    """The quotas that limit anything, by name; for the whole cluster only the oldest does."""
    sound = [each for each in quotas if not each.problems and each.deleted is None]
    for_all = [each for each in sound if each.scope.kind == CLUSTER]
    oldest = min(for_all, key=age, default=None)
    counting = (each for each in sound if each.scope.kind != CLUSTER or each is oldest)
    return tuple(sorted(counting, key=lambda each: each.parent.name))


def instead_of(quota: Quota, limiting: tuple[Quota, ...]) -> str:
    """The name of the quota that is in force in the place of this one, if there is one."""
    if quota.problems or quota.deleted is not None or quota.scope.kind != CLUSTER:
        return ""
    oldest = next(each.parent.name for each in limiting if each.scope.kind == CLUSTER)
    return oldest if oldest != quota.parent.name else ""


def quota_entries(
    quota: Quota, parent: Parent, demand: QuotaDemand, labels: Mapping[str, str]
) -> tuple[Entry, ...]:
    """Where an object counts under a quota: in all, and in its namespace, which has these labels.

    A quota counts objects of its own API group.
    """
    if quota.parent.api_version != parent.api_version or not applies(quota.scope, demand, labels):
        return ()
    places = ((quota.parent.name, ""), (quota.parent.name, demand.namespace))
    return tuple(Entry(By.QUOTA, each, demand.amounts) for each in places)


def demand_of(wanted: Hold | Headroom) -> QuotaDemand:
    """What an object takes of the quotas that it is under."""
    if isinstance(wanted, Headroom):
        return order_demand(wanted.parent.namespace, wanted.labels)
    duration = wanted.tenure.duration if wanted.tenure is not None else wanted.ttl
    requests = wanted.template.pod.requests
    return ticket_demand(wanted.parent.namespace, wanted.labels, requests, duration)


def had_room(hold: Hold) -> bool:
    """Whether an object says that its slot had room once: it was made for one, or has begun."""
    told = hold.status.chronicle
    begun = told is not None and told.activated is not None
    return hold.member is not None or begun or hold.status.phase in ("Available", "Succeeded")


def age(thing: Headroom | Quota) -> tuple[datetime, str, str]:
    return thing.created or _LONG_AGO, thing.parent.namespace, thing.parent.name
