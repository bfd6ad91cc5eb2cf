"""PodDisruptionBudgets, as the API server writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headroom.core.eviction.budgets import Budget
from headroom.core.objects import Key, LabelSelector, Requirement
from headroom.wire.errors import DecodeError
from headroom.wire.objects.budgets import decode_budget

METADATA = {"name": "db", "namespace": "shop", "uid": "u1", "resourceVersion": "7"}


def read(**parts: Any) -> Budget:
    return decode_budget(json.dumps({"metadata": METADATA, **parts}).encode())


def test_whom_it_protects_and_how_many_may_go() -> None:
    budget = read(
        spec={"minAvailable": "50%", "selector": {"matchLabels": {"app": "db"}}},
        status={"disruptionsAllowed": 2, "disruptedPods": {"db-1": "2027-01-04T00:00:00Z"}},
    )
    protected = LabelSelector((Requirement("app", "In", ("db",)),))
    assert budget == Budget(Key("shop", "db"), protected, 2, frozenset({"db-1"}), "u1", "7")


def test_before_its_controller_has_looked_nobody_may_go() -> None:
    assert read(spec={"selector": {}}).allowed == 0
    assert read().selector is None


def test_what_cannot_be_read_is_named() -> None:
    with pytest.raises(DecodeError, match="PodDisruptionBudget/shop/db"):
        read(status={"disruptionsAllowed": "two"})
