"""The limits of namespaces, and how much of them is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headroom.core.hold_state.limited import beyond_limit
from headroom.core.holds import Hold
from headroom.core.index_entries import By, usage_entries
from headroom.core.quotas.namespaces import (
    NO_LIMITS,
    LimitsError,
    NamespaceLimits,
    Usage,
    written,
)
from headroom.core.resources import EMPTY
from headroom.core.subjects import Awaited, Change
from headroom.engine.indexes import Index

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger


def limits_of(ledger: Ledger, namespace: str) -> NamespaceLimits | LimitsError:
    """The limits of a namespace: its own, or the default; the operator's own has none."""
    policy, known = ledger.policy, ledger.namespaces.get(namespace)
    default = NO_LIMITS if namespace == policy.namespace else policy.namespace_limits
    return written(known.limits if known is not None else "", default)


def limit_of(ledger: Ledger, hold: Hold) -> str:
    """The limit of its namespace that forbids a guardian of a hold; empty if none does."""
    others = used_by_others(ledger.usage, hold.home, hold.parent.identity)
    permit = ledger.memory[hold.parent.identity].permit
    return beyond_limit(hold, permit, limits_of(ledger, hold.home), others)


def count_usage(ledger: Ledger, hold: str) -> None:
    """Count what a hold uses of the limits of its namespace; wake holds that wait for less."""
    guardians = ledger.having(By.GUARDIAN, hold)
    entries = usage_entries(ledger.memory[hold].permit, guardians)
    now = {each.value: each.amount for each in entries}
    for _, namespace, amount in ledger.usage.put(hold, entries)[0]:
        left = now.get(namespace)
        if left is None or amount is None or not amount.fits_in(left):
            ledger.agenda.wake(Awaited(Change.USAGE, str(namespace)))


def used_by_others(usage: Index[str], namespace: str, hold: str) -> Usage:
    """What the other holds of a namespace use of its limits."""
    own = [each.amount or EMPTY for each in usage.entries(hold) if each.value == namespace]
    total = usage.total(By.USING, namespace)
    slots = len(usage.of(By.USING, namespace)) - len(own)
    return Usage(slots, total.minus(own[0]) if own else total)
