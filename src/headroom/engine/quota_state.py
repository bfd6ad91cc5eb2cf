"""One quota: the objects that count under it, those that wait, and its current limits.

`quotas` contains all of them and knows which objects belong to which; this module handles one.
"""

from __future__ import annotations

from datetime import datetime

from headroom.core.quotas.limits import (
    Exceeded,
    Quota,
    QuotaBounds,
    QuotaDemand,
    bounds,
    next_look,
    refusal,
)
from headroom.core.quotas.statuses import Account
from headroom.core.resources import EMPTY, Resources
from headroom.core.subjects import Subject


class Page:
    """`waiting` are who was refused, by subject, with the sentence; `stale` asks for a recount."""

    def __init__(self, quota: Quota) -> None:
        self.quota = quota
        self.waiting: dict[Subject, str] = {}
        self.woken = False
        self.stale = True
        self.freed_at: datetime | None = None
        self.next_turn: datetime | None = None
        self._used = EMPTY
        self._used_by: dict[str, Resources] = {}
        self._limits: QuotaBounds | None = None
        self._told: QuotaBounds | None = None

    @property
    def sound(self) -> bool:
        """Whether the quota could be in force."""
        return not self.quota.problems and self.quota.deleted is None

    def change(self, quota: Quota) -> bool:
        """Take a newer version of the quota; say whether it limits anything else than before."""
        before, self.quota = self.quota, quota
        if (before.generation, before.deleted) == (quota.generation, quota.deleted):
            return False
        self._limits = None
        self.stale = self.stale or before.scope != quota.scope
        return True

    def clear(self) -> None:
        """Count from nothing."""
        self._used, self._used_by, self.stale = EMPTY, {}, False

    def add(self, demand: QuotaDemand) -> None:
        if not self.stale:
            self._count(demand.namespace, self.used_in(demand.namespace) + demand.amounts)
            self._used = self._used + demand.amounts

    def take(self, demand: QuotaDemand) -> None:
        if not self.stale:
            self._count(demand.namespace, self.used_in(demand.namespace) - demand.amounts)
            self._used = self._used - demand.amounts

    def used_in(self, namespace: str) -> Resources:
        return self._used_by.get(namespace, EMPTY)

    def refusal(self, demand: QuotaDemand, now: datetime) -> Exceeded | None:
        """Say why there is no room for a demand, or None."""
        there = self.used_in(demand.namespace)
        return refusal(self.quota, self.limits(now), demand, self._used, there)

    def limits(self, now: datetime) -> QuotaBounds:
        """The limits that hold now, worked out once until a window may turn."""
        if self._limits is None or (self.next_turn is not None and now >= self.next_turn):
            self._limits = bounds(self.quota, now)
            self.next_turn = next_look(self.quota, now)
        return self._limits

    def turned(self, now: datetime) -> bool:
        """Say whether other limits hold now than when this was last asked."""
        before, self._told = self._told, self.limits(now)
        return before is not None and self._told != before

    def account(self, now: datetime, instead: str) -> Account:
        """How the quota stands; `instead` is the one in force in its place, if there is one."""
        waiting = tuple(self.waiting[subject] for subject in sorted(self.waiting))
        return Account(self.limits(now), self._used, self._used_by, waiting, instead)

    def _count(self, namespace: str, used: Resources) -> None:
        if used:
            self._used_by[namespace] = used
        else:
            self._used_by.pop(namespace, None)
