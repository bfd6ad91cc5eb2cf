"""PodDisruptionBudgets from their JSON: whom they protect, and how many more may go.

Their own controller works the number out in the status; until it has, nobody may go.
"""

from __future__ import annotations

from typing import Any

from headroom.core.eviction.budgets import Budget
from headroom.core.objects import Key
from headroom.wire.kinds import BUDGETS
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import Decoder
from headroom.wire.objects.selectors import Selector, optional_selector


class _BudgetSpec(JsonObject):
    selector: Selector | None = None


class _BudgetStatus(JsonObject):
    disruptions_allowed: int | None = None
    disrupted_pods: dict[str, Any] | None = None


class _BudgetObject(JsonObject):
    metadata: Metadata | None = None
    spec: _BudgetSpec | None = None
    status: _BudgetStatus | None = None


def _budget(read: _BudgetObject) -> Budget:
    metadata, status = read.metadata or Metadata(), read.status or _BudgetStatus()
    return Budget(
        key=Key(metadata.namespace or "", metadata.name or ""),
        selector=optional_selector((read.spec or _BudgetSpec()).selector),
        allowed=status.disruptions_allowed or 0,
        disrupted=frozenset(status.disrupted_pods or ()),
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
    )


decode_budget = Decoder(BUDGETS.kind, _BudgetObject, _budget)
