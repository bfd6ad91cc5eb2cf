"""The limits of namespaces, and how much of them is used."""

from __future__ import annotations

from headroom.core.index_entries import By
from headroom.core.quotas.namespaces import (
    NO_LIMITS,
    LimitsError,
    NamespaceLimits,
    Usage,
    written,
)
from headroom.core.resources import EMPTY
from headroom.engine.indexes import Index
from headroom.engine.ledger import Ledger


def limits_of(ledger: Ledger, namespace: str) -> NamespaceLimits | LimitsError:
    """The limits of a namespace: its own, or the default; the operator's own has none."""
    policy, known = ledger.policy, ledger.namespaces.get(namespace)
    default = NO_LIMITS if namespace == policy.namespace else policy.namespace_limits
    return written(known.limits if known is not None else "", default)


def used_by_others(usage: Index[str], namespace: str, hold: str) -> Usage:
    """What others than a hold have of a namespace, or may have."""
    own = [each.amount or EMPTY for each in usage.entries(hold) if each.value == namespace]
    total = usage.total(By.USING, namespace)
    slots = len(usage.of(By.USING, namespace)) - len(own)
    return Usage(slots, total.minus(own[0]) if own else total)
