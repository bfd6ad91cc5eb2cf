"""Korder's Quota: what counts under it, whether one more fits, and what its object needs.

`limits` has the arithmetic, and `quota_status` writes the status; `engine.quotas` keeps count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headroom.core.actions import SetFinalizers, Tell
from headroom.core.holds import Problem
from headroom.core.quotas.quota import Account, Demand, Quota, QuotaDecision
from headroom.core.resources import Resources
from headroom.dialects.korder.rules import limits
from headroom.dialects.korder.rules.quota_status import status_events, status_of

FREED_AGAIN = timedelta(seconds=1)  # The watch has shown by then that a finalizer is gone.


@dataclass(frozen=True, slots=True)
class QuotaRecord:
    """What must be remembered of a quota between two decisions."""

    version: tuple[int, datetime | None] | None = None  # generation, and when it was deleted
    bounds: limits.QuotaBounds | None = None  # that were in force when it was last decided
    turns_at: datetime | None = None  # when a window may open or close
    freed_at: datetime | None = None  # when its finalizer was last taken off


NEW = QuotaRecord()


@dataclass(frozen=True, slots=True)
class KorderQuota(Quota):
    """`problems` keep a quota out of force, `warnings` do not; both are told.

    `freed` is its list of finalizers without the one that its former controller left on it, where
    that is all that keeps a deleted object; None: there is nothing to take off.
    """

    scope: limits.Scope = limits.EVERYWHERE
    hard: limits.Ceiling = limits.UNLIMITED
    shares: tuple[limits.QuotaShare, ...] = ()
    windows: tuple[limits.TimeWindow, ...] = ()
    freed: tuple[str, ...] | None = None
    warnings: tuple[Problem, ...] = ()
    status: limits.QuotaStatus = field(default_factory=limits.QuotaStatus)

    @property
    def exclusive(self) -> str:
        return limits.CLUSTER if self.scope.kind == limits.CLUSTER else ""

    @property
    def by_namespace(self) -> bool:
        return self.scope.kind == limits.NAMESPACE_SELECTOR

    @property
    def namespaces(self) -> tuple[str, ...]:
        return tuple(share.namespace for share in self.shares)

    def amounts(self, demand: Demand, labels: Mapping[str, str]) -> Resources | None:
        return limits.taken(demand) if limits.applies(self.scope, demand, labels) else None

    def refusal(self, demand: Demand, used: Resources, there: Resources, now: datetime) -> str:
        why = limits.exceeded(self.parent.name, limits.bounds(self, now), demand, used, there)
        return str(why) if why is not None else ""

    def decide(self, memory: object, account: Account, now: datetime) -> QuotaDecision:
        """The status, or the finalizers of one that is only kept by one; when to look again."""
        record = memory if isinstance(memory, QuotaRecord) else NEW
        current, version = limits.bounds(self, now), (self.generation, self.deleted)
        turned = record.bounds is not None and record.bounds != current
        turns_at = record.turns_at
        if turns_at is None or now >= turns_at or record.version != version:
            turns_at = limits.next_look(self, now)
        record = replace(record, version=version, bounds=current, turns_at=turns_at)
        if self.freed is None:
            status = status_of(self, current, account, now)
            return QuotaDecision(record, status, None, turns_at, turned)
        if record.freed_at is not None and now < record.freed_at + FREED_AGAIN:
            again = record.freed_at + FREED_AGAIN
            return QuotaDecision(record, None, None, min(again, turns_at or again), turned)
        free = SetFinalizers(self.parent, self.version, self.freed)
        return QuotaDecision(replace(record, freed_at=now), None, free, turns_at, turned)

    def status_events(self, status: limits.QuotaStatus, now: datetime) -> tuple[Tell, ...]:
        return status_events(self, status, now)
